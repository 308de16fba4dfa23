"""The one reader of record lines: what a line must hold to be one.

A line that is no JSON object, or whose kind lacks what is read of it later, is no line: a record damaged on the disk
never stops a command. `faults` tells of such lines where they matter, before a turn is taken back.
"""

from __future__ import annotations

import json
import re
from binascii import Error as NoBase64
from collections.abc import Callable
from pathlib import PurePosixPath

from rolecall.campaign.frontmatter import MAX_DEPTH
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.campaign.splices import unpacked

_SHA = re.compile(r"[0-9a-f]{64}")
_TORN_WRITE = re.compile(rb'\{"do": "write", "path": ("(?:[^"\\]|\\.)*"), "op": ("(?:[^"\\]|\\.)*")')
_TEXTS = ("op", "path", "text", "key", "title", "was", "phase", "model", "reason", "source")


def json_object(raw: bytes) -> dict | None:
    """The JSON object a line holds; None for anything else (torn, not JSON, nested deeper than can be read)."""
    try:
        line = json.loads(raw.decode("utf-8", "surrogatepass")) if raw.strip() else None
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def read(data: bytes) -> list[dict]:
    """The sound lines of a record, in order."""
    return [line for raw in data.split(b"\n") if (line := json_object(raw)) is not None and is_sound(line)]


def is_sound(line: dict) -> bool:
    """Whether a line is of a known kind and holds what that kind is read for, in the right types."""
    kind = line.get("do")
    return isinstance(kind, str) and kind in _KINDS and _KINDS[kind](line)


def faults(data: bytes) -> list[int]:
    """The numbers, from 1, of lines that are damaged and not merely torn by a kill.

    A torn `write` changed nothing, and its effect was written and noted again afterwards; one that was not is damage.
    """
    sound = [(line["path"], line["op"]) for line in read(data) if line["do"] == "write"]
    found = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = json_object(raw)
        if line is None:
            torn = _TORN_WRITE.match(raw)
            bad = bool(torn) and tuple(json_text(part) for part in torn.groups()) not in sound
        else:
            kind = line.get("do")
            bad = not isinstance(kind, str) or (kind in _KINDS and not is_sound(line))
        if bad:
            found.append(number)
    return found


def json_text(raw: bytes) -> str:
    """A JSON string's text; empty when it is none."""
    try:
        return str(json.loads(raw))
    except (ValueError, RecursionError):
        return ""


def is_effect(data: object) -> bool:
    """Whether this is an effect as `effects.encode` writes it."""
    from rolecall.campaign import effects  # it is made of records itself

    if not isinstance(data, dict) or not is_path(data.get("path")) or not _is_number(data.get("turn")):
        return False
    lines, facts = data.get("lines", []), data.get("facts", {})
    known = {"turn", "lines", "facts", *_TEXTS}
    return (
        set(data) <= known
        and all(isinstance(data.get(key, ""), str) for key in _TEXTS)
        and data.get("op") in effects.OPS
        and isinstance(facts, dict)
        and _is_value(facts)
        and isinstance(lines, list)
        and all(isinstance(one, str) for one in lines)
        and _suits(data["op"], data, facts)
    )


def _suits(op: str, data: dict, facts: dict) -> bool:
    """Whether an effect has what its operation cannot do without."""
    if op in ("record", "facts", "absorb"):
        return data.get("key") in ENTRY_KINDS and (op != "record" or isinstance(facts.get("name"), str))
    return op != "item" or all(_is_item(data.get(key, "")) for key in ("text", "was"))


def _is_value(value: object, depth: int = 0) -> bool:
    """Whether this is a value of front matter: texts, lists and mappings of them."""
    if isinstance(value, dict):
        return depth < MAX_DEPTH and all(isinstance(k, str) and _is_value(v, depth + 1) for k, v in value.items())
    if isinstance(value, list):
        return depth < MAX_DEPTH and all(_is_value(one, depth + 1) for one in value)
    return isinstance(value, str)


def _is_item(text: str) -> bool:
    """Whether a text is an item of a list as an effect carries it: none, a text or a mapping of texts, in JSON."""
    try:
        return not text or _is_value(json.loads(text))
    except (ValueError, RecursionError):
        return False


def _is_number(value: object, least: int = 0) -> bool:
    return type(value) is int and least <= value < 10**9


def is_path(value: object) -> bool:
    """Whether a value is a path inside a campaign."""
    if not isinstance(value, str) or not value or "\0" in value:
        return False
    path = PurePosixPath(value)
    return not path.is_absolute() and ".." not in path.parts and bool(path.parts)


def _is_packed(value: object) -> bool:
    try:
        return isinstance(value, str) and unpacked(value) is not None
    except (ValueError, NoBase64):
        return False


def _begin(line: dict) -> bool:
    if "fold" in line:
        return _is_number(line["fold"]) and isinstance(line.get("covers"), str)
    if "ingest" in line:
        texts = ("file", "sha256", "original", "folder")
        return _is_number(line["ingest"], 1) and all(isinstance(line.get(key), str) for key in texts)
    if "rename" in line:
        named = all(isinstance(line.get(key), str) and line[key] for key in ("old", "new"))
        return named and is_path(line["rename"]) and is_path(line.get("target"))
    if "fix" in line:
        return _is_number(line["fix"], 1)
    if "proposal" in line:
        return _is_number(line["proposal"])
    if "import" in line:
        originals = line.get("files")
        sound = isinstance(originals, list) and all(map(_is_original, originals))
        return sound and is_path(line["import"]) and _is_number(line.get("makes", 0))
    action, swipe = line.get("action"), line.get("swipe", 1)
    sound = isinstance(action, str) and isinstance(line.get("seed", ""), str)
    return sound and _is_number(line.get("turn")) and _is_number(swipe, 1)


def _is_original(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and is_path(pair[0]) and isinstance(pair[1], str)


def _plan(line: dict) -> bool:
    effects = line.get("effects")
    return (
        isinstance(effects, list)
        and all(is_effect(one) for one in effects)
        and isinstance(line.get("model", ""), str)
        and isinstance(line.get("phase", ""), str)
        and isinstance(line.get("passages", []), list)
    )


def _write(line: dict) -> bool:
    texts = ("op", "kept", "text", "phase", "model", "reason", "source")
    return (
        is_path(line.get("path"))
        and "op" in line
        and all(isinstance(line.get(key, ""), str) for key in texts)
        and type(line.get("at")) is int
        and line["at"] >= 0
        and _is_packed(line.get("old"))
        and _is_packed(line.get("new"))
        and all(isinstance(line.get(key), str) and _SHA.fullmatch(line[key]) for key in ("before", "after"))
        and isinstance(line.get("made", False), bool)
        and all(_is_number(line.get(key, 0)) for key in ("turn", "trail"))
        and isinstance(line.get("of", []), list)
        and all(_is_number(one) for one in line.get("of", ()))
        and ("turn" in line or line["op"] not in ("section", "journal"))
    )


def _reverted(line: dict) -> bool:
    return all(isinstance(line.get(key), str) for key in ("write", "result"))


def _caught_up(line: dict) -> bool:
    turns = line.get("turns")
    return isinstance(turns, list) and all(_is_number(one) for one in turns)


def _historian(line: dict) -> bool:
    effects = line.get("effects", [])
    sound = isinstance(effects, list) and all(is_effect(one) for one in effects)
    return (
        sound and all(_is_number(line.get(key)) for key in ("first", "last")) and isinstance(line.get("why", ""), str)
    )


def _directive(line: dict) -> bool:
    return isinstance(line.get("digest"), str)


def _usage(line: dict) -> bool:
    layers, dropped = line.get("layers"), line.get("dropped", [])
    return (
        isinstance(layers, list)
        and all(is_spent(one) for one in layers)
        and isinstance(dropped, list)
        and all(_is_dropped(one) for one in dropped)
    )


def _is_dropped(row: object) -> bool:
    """Whether this says who went without, and what they would have cost."""
    if not isinstance(row, dict) or not isinstance(row.get("layer"), str):
        return False
    return _is_number(row.get("tokens")) and type(row.get("money")) in (int, float) and 0 <= row["money"] < 10**9


def is_spent(row: object) -> bool:
    """Whether this says what one layer used of one model."""
    return (
        isinstance(row, dict)
        and all(isinstance(row.get(key), str) for key in ("layer", "model"))
        and all(type(row.get(key)) is int and 0 <= row[key] < 10**12 for key in ("fresh", "cached", "written", "out"))
    )


def _afterwork(line: dict) -> bool:
    suggested = line.get("suggestions", [])
    return (
        isinstance(suggested, list)
        and all(isinstance(one, str) for one in suggested)
        and isinstance(line.get("music", ""), str)
    )


def _before(line: dict) -> bool:
    effects, fragments = line.get("effects"), line.get("fragments")
    return (
        isinstance(effects, list)
        and all(is_effect(one) for one in effects)
        and isinstance(fragments, list)
        and all(isinstance(f, list) and [type(part) for part in f] == [str, dict] for f in fragments)
    )


def _reopened(line: dict) -> bool:
    effects, counted = line.get("effects", []), line.get("counted", [])
    return (
        isinstance(effects, list)
        and all(is_effect(one) for one in effects)
        and isinstance(counted, list)
        and all(isinstance(one, dict) and _is_share(one) for one in counted)
    )


def _counted(line: dict) -> bool:
    gone = line.get("without")
    whole = isinstance(gone, list) and all(_is_number(one) for one in gone)
    return whole and _is_number(line.get("stretch")) and _is_share(line)


def _owed(line: dict) -> bool:
    write = line.get("write")
    return isinstance(write, dict) and write.get("do") == "write" and _write(write) and _is_number(line.get("of"))


def _is_share(line: dict) -> bool:
    by, at = line.get("by"), line.get("at")
    return (
        is_path(line.get("path"))
        and all(isinstance(line.get(key), str) for key in ("line", "put"))
        and (line.get("was") is None or isinstance(line["was"], str))
        and type(at) is int
        and (by is None or (type(by) is int and at >= 0))
    )


def _plain(_: dict) -> bool:
    return True


_KINDS: dict[str, Callable[[dict], bool]] = {
    "begin": _begin,
    "plan": _plan,
    "before": _before,
    "write": _write,
    "reverted": _reverted,
    "caught_up": _caught_up,
    "historian": _historian,
    "directive": _directive,
    "usage": _usage,
    "afterwork": _afterwork,
    "reopened": _reopened,
    "counted": _counted,
    "owed": _owed,
    **dict.fromkeys(("unwritten", "unwound", "told", "closed", "missed", "late"), _plain),
}

"""Folders in which anything may have become of a file: settings, notes, turn records, feed and notes of this machine; and every command there."""

from __future__ import annotations

import atexit
import io
import json
import os
import shutil
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from unittest.mock import patch

from hypothesis import strategies as st

from rolecall.campaign import recordlines, records
from rolecall.campaign.effects import decode
from rolecall.campaign.settings import read_settings
from rolecall.errors import SettingsError
from rolecall.models import events
from tests.fuzz.matter import ODD, bent, dumped, junk, torn
from tests.turn import world

COMMANDS = (
    ("status",), ("status", "--json"), ("list", "--json"), ("show", "Sera"), ("check",), ("check", "--json"), ("search", "the ledger"), ("context", "I wait."),
    ("context", "--last"), ("graph", "--format", "json"), ("snapshot",), ("activity",), ("why", "campaign-state.md"), ("why", "characters/sera.md:9"),
    ("proposals",), ("swipe", "--list"), ("timeline",), ("models",), ("undo",), ("undo", "2"), ("fold",), ("check", "--fix"),
    ("rename", "Sera", "Serah"), ("export", "markdown", "-o", "x.md"), ("export", "sillytavern-lorebook", "-o", "x.json"),
    ("turn", "I wait."), ("swipe",),
)  # fmt: skip
SCRIPT = "- text: The tide turns.\n  tools:\n    - {name: append_journal, arguments: {text: Sera kept the ledger.}}\n"
ROW = '{"at": "2026-01-02T03:04:05", "turn": 3, "phase": "pre-gen", "type": "retrieve", "text": "x"}\n'
MACHINE = {".rolecall/directive.json": '{"turn": 5, "narrator": "x", "fragments": [{}], "effects": [], "seen": [], "model": "m"}',
           ".rolecall/died.json": '{"pid": 1, "command": "play", "started": "2026-01-02 03:04:05"}', ".rolecall/drafts/T0006.md": "I wait.\n",
           ".rolecall/proposals/0001.json": '{"number": 1, "effects": [], "line": "x"}'}  # fmt: skip


def commanded(root: Path, *arguments: str) -> tuple[int, str]:
    """(exit code, what went to stderr) of a command in this process; a fault of ours is raised."""
    from rolecall.cli import main

    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    argv = ["rolecall", "-C", str(root), *arguments]
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(sys, "argv", argv),
        patch.object(sys, "stdin", io.StringIO()),
    ):
        code = main._run()
    return code, err.getvalue()


@cache
def _tale() -> Path:
    """Two turns told with all layers, by one model in the file, and a little of everything else the machine keeps."""
    place = tempfile.mkdtemp(prefix="fuzz-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    root = Path(place) / "tale"
    world.make(root)
    (root / "script.yaml").write_text(SCRIPT * 9)
    for action in ("I look.", "I wait."):
        code, said = commanded(root, "turn", action, "--model", f"scripted:{root / 'script.yaml'}")
        assert code == 0, said
    for path, text in MACHINE.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return root


@cache
def _paths() -> list[str]:
    root = _tale()
    found = [place.relative_to(root).as_posix() for place in sorted(root.rglob("*")) if place.is_file()]
    return [path for path in found if path != "script.yaml" and not path.startswith(".rolecall/lock")]


@st.composite
def damages(draw) -> dict[str, bytes]:
    """What one or two files are by now: cut, doubled, of other values; of JSON, line by line."""
    changed = {}
    for path in draw(st.lists(st.deferred(lambda: st.sampled_from(_paths())), min_size=1, max_size=2)):
        data = (_tale() / path).read_bytes()
        if path.endswith((".json", ".jsonl")) and draw(st.integers(0, 3)):
            lines = data.splitlines()
            at = draw(st.integers(0, max(0, len(lines) - 1)))
            with suppress(ValueError, IndexError):
                lines[at] = dumped(draw(bent([json.loads(lines[at])])))
            changed[path] = b"\n".join(lines) + b"\n"
        else:
            changed[path] = draw(torn(st.just(data)))
    return changed


def command(damaged: dict[str, bytes], commands: list[tuple[str, ...]]) -> None:
    """Whatever became of the files: each command does its work, or says in a line what is wrong; none is a fault of ours."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        root = Path(place) / "tale"
        shutil.copytree(_tale(), root)
        for path, data in damaged.items():
            (root / path).write_bytes(data)
        here = {"XDG_CACHE_HOME": place, "ROLECALL_DEBUG": "1", "PATH": os.environ.get("PATH", ""), "HOME": place}
        with patch.dict(os.environ, here, clear=True):
            for one in commands:
                model = (
                    ("--model", f"scripted:{root / 'script.yaml'}")
                    if one[0] in ("turn", "swipe", "fold") and "--list" not in one
                    else ()
                )
                out = (*one[:-1], str(Path(place) / one[-1])) if "-o" in one else one
                code, said = commanded(root, *out, *model)
                assert code in (0, 1), (one, code, said)


# -- by themselves, and so a hundred times quicker

SETTINGS = [
    world.SETTINGS.encode() % 3500,
    b"format: 1\nname: X\nlanguage: de\nmodels:\n  default: [anthropic/NAME, local/smollm2]\n  turn_dm: off\ntimeouts: {turn_dm: 5}\n"
    b"memory:\n  fold_at: 3500\ncontext: {budget: 8000}\ngit: auto\ncontinuity: repair\nmusic: on\ncurrency: EUR\n"
    b"prices:\n  openai/NAME: {fresh: 2.5, cached: 0.25, out: 10}\nceiling: {turn: 0.1, session_tokens: 5000}\n",
]
NUMBERS = [
    b"nan",
    b"-inf",
    b"1e400",
    b"0x10",
    b"1_000",
    b"\xd9\xa3",
    b"9" * 5000,
    b"1.5",
    b"''",
    b"[1]",
    b"{}",
    b"on",
    b"~",
]


@st.composite
def settings(draw) -> bytes:
    """Settings with values of another sort, cut and doubled."""
    lines = draw(st.sampled_from(SETTINGS)).split(b"\n")
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        head, colon, rest = lines[at].rpartition(b": ")
        if colon:
            lines[at] = head + colon + draw(st.sampled_from(NUMBERS) | junk) + (b"}" if rest.endswith(b"}") else b"")
    return draw(torn(st.just(b"\n".join(lines))))


def setting(data: bytes) -> None:
    """`rolecall.yaml` is read, or refused with its line."""
    with suppress(SettingsError):
        read = read_settings(data)
        assert all(
            isinstance(number, float | int) and number == number
            for number in (*read.timeouts.values(), *read.ceiling.values())
        )


@cache
def _lines() -> list[dict]:
    folder = _tale() / records.TURNS
    return [json.loads(line) for place in sorted(folder.rglob("*.jsonl")) for line in place.read_bytes().splitlines()]


SHA = "0" * 64
RECORDS = [
    b'{"do": "write", "path": "a.md", "op": "history", "turn": 4, "at": 3, "old": "", "new": "x", "before": "%s", "after": "%s"}'
    % (SHA.encode(), SHA.encode()),
    b'{"do": "plan", "model": "m", "phase": "x", "passages": [], "effects": [{"op": "item", "path": "a.md", "turn": 4, "text": "[1]"}]}\n{"do": "told"}\n{"do": "closed"}',
    b'{"do": "usage", "layers": [{"layer": "dm", "model": "m", "fresh": 1, "cached": 0, "written": 0, "out": 2}], "dropped": []}',
    b'{"do": "before", "effects": [], "fragments": [["dm", {"resources": []}]]}\n{"do": "reverted", "write": "x", "result": "y"}',
    b'{"type": "used", "fresh": 1, "out": 2}\n{"type": "call", "id": "1", "name": "x", "arguments": {}}\n{"type": "stopped", "reason": "end"}',
]
LINES = st.lists(
    st.deferred(lambda: bent(_lines())).map(dumped) | torn(st.deferred(lambda: st.sampled_from(_lines())).map(dumped)),
    max_size=4,
)


def record(lines: list[bytes]) -> None:
    """A record's lines and the events of an answer are read, or are none."""
    data = b"\n".join(lines)
    recordlines.faults(data)
    for line in recordlines.read(data):
        for one in line.get("effects", ()) if line["do"] in ("plan", "before", "historian") else ():
            decode(one)
    for raw in lines:
        value = recordlines.json_object(raw)
        if value is not None:
            with suppress(ValueError):
                events.decode(value)


TARGETS = {
    "settings": (setting, {"data": settings() | torn(st.sampled_from([one.encode("utf-8", "surrogatepass") for one in ODD]))}),
    "records": (record, {"lines": LINES}),
    "commands": (command, {"damaged": damages(), "commands": st.lists(st.sampled_from(COMMANDS), min_size=1, max_size=2)}),
}  # fmt: skip

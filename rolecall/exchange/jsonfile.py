"""JSON of strangers, read within bounds: size, number of values, nesting, and keys that stand twice.

A key that stands twice makes its object a `Doubled`: whoever reads an entry sets just that entry aside, whoever needs the
object itself refuses it. Nothing is guessed.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator

from rolecall.errors import ExchangeError

MAX_BYTES = 32 * 1024 * 1024
MAX_VALUES = 4_000_000  # brackets, braces and commas: no more values than that
MAX_DEPTH = 64  # lists in objects in lists


class Doubled(dict):
    """An object of which one key, `twice`, stands in the file more than once."""

    twice = ""


def loads(data: bytes, path: object) -> object:
    """The value of a JSON document; ExchangeError when it is none, or is past all measure."""
    if len(data) > MAX_BYTES:
        raise ExchangeError("the JSON is larger than 32 MiB", path=path, remedy="split it")
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_VALUES:
        raise ExchangeError(f"the JSON holds more than {MAX_VALUES:,} values", path=path, remedy="split it")
    try:
        value = json.loads(_decoded(data, path), object_pairs_hook=_object, parse_constant=_constant, strict=False)
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:]
        raise ExchangeError(f"broken JSON ({what})", path=path, line=error.lineno, remedy="export it again") from None
    except RecursionError:
        raise _too_deep(path) from None
    except ValueError as error:
        raise ExchangeError(f"broken JSON ({error})", path=path, remedy="export it again") from None
    _refuse_deep(value, path)
    return value


def twice(value: object) -> str:
    """The first key that stands twice in an object somewhere inside a value; empty when there is none."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Doubled):
            return one.twice
        waiting += _children(one)
    return ""


def _decoded(data: bytes, path: object) -> str:
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ExchangeError("this is not UTF-8", path=path, line=line, remedy="save it as UTF-8") from None


def _object(pairs: list[tuple[str, object]]) -> dict:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    doubled = Doubled(made)
    doubled.twice = next(key for key, _ in pairs if key in seen or seen.add(key))
    return doubled


def _constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def _refuse_deep(value: object, path: object) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for one in level for child in _children(one)]
        if not level:
            return
    raise _too_deep(path)


def _too_deep(path: object) -> ExchangeError:
    return ExchangeError(f"the JSON is nested deeper than {MAX_DEPTH} levels", path=path, remedy="this is no export")


def _children(value: object) -> Iterator[object]:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (child for child in held if isinstance(child, dict | list))

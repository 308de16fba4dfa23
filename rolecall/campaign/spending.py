"""What models were paid for in a campaign, read from its records: every attempt counts, also what was taken back later.

A turn's record says it per layer and model in its `usage` line. A record without one (that of a fold or an ingest, an older
one, or one that a kill cut short) is read call by call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rolecall.campaign import archive, recordlines

_COUNTS = ("fresh", "cached", "written", "out")
_LINE = re.compile(rb'^\{"do": "usage".*$', re.MULTILINE)


def of_campaign(root: Path) -> tuple[int, list[dict]]:
    """(how many records hold a cost, rows `{layer, model, fresh, cached, written, out}` added up by layer and model)."""
    total: dict[tuple[str, str], dict] = {}
    count = 0
    for folder in _folders(root):
        rows = of_record(root, folder)
        count += bool(rows) and folder.startswith(archive.TURNS)
        for row in rows:
            sum_ = total.setdefault((row["layer"], row["model"]), {**row, **dict.fromkeys(_COUNTS, 0)})
            for key in _COUNTS:
                sum_[key] += row[key]
    return count, [total[key] for key in sorted(total)]


def of_record(root: Path, folder: str) -> list[dict]:
    """The rows of one record."""
    lines = usage_lines(root, folder)
    if lines:
        return [row for line in lines for row in line["layers"]]
    return list(_by_calls(root, folder))


def usage_lines(root: Path, folder: str) -> list[dict]:
    """The `usage` lines of a record: one for each time it was worked on."""
    found = (recordlines.json_object(raw) for raw in _LINE.findall(archive.raw(root, folder)))
    return [line for line in found if line is not None and recordlines.is_sound(line)]


def _folders(root: Path) -> Iterator[str]:
    """Every record there is, whatever became of its turn, and the folds and edits."""
    for place in (archive.TURNS, archive.FOLDS, archive.EDITS):
        if (root / place).is_dir():
            yield from (f"{place}/{name}" for name in sorted(p.name for p in (root / place).iterdir() if p.is_dir()))


def _by_calls(root: Path, folder: str) -> Iterator[dict]:
    place = root / folder / "calls"
    for name in sorted(p.name for p in place.iterdir() if p.name.endswith(".jsonl")) if place.is_dir() else ():
        head = archive.plain(root, f"{folder}/calls/{name[:-1]}") or b""
        if b'"again": true' in head[:200]:
            continue  # paid for by an earlier attempt
        model = ""
        for raw in (archive.plain(root, f"{folder}/calls/{name}") or b"").split(b"\n"):
            event = (
                recordlines.json_object(raw) if raw.startswith((b'{"type": "answered"', b'{"type": "used"')) else None
            )
            if event is None:
                continue
            model = str(event.get("spec", model))
            counts = {key: event.get("cache_write" if key == "written" else key) for key in _COUNTS}
            row = {"layer": name.partition("-")[2].removesuffix(".jsonl"), "model": model, **counts}
            if recordlines.is_spent(row):
                yield row

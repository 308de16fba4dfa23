"""A record's writes: its own are never waited for, somebody else's save is."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from rolecall.campaign import records


@pytest.fixture
def pauses(monkeypatch) -> list[float]:
    """Every pause from now on. None of them lasts, and no change grows old by itself, however slow the machine is."""
    taken: list[float] = []
    monkeypatch.setattr(records, "QUIET", 3600.0)
    monkeypatch.setattr(time, "sleep", taken.append)
    return taken


def touched(place: Path, ahead: float) -> None:
    """As if somebody had changed it so many seconds from now."""
    at = time.time_ns() + int(ahead * 1e9)
    os.utime(place, ns=(at, at))


def made(record: records.Record, path: str) -> None:
    assert record.write(path, "entry", lambda before: (before or b"") + f"{path}\n".encode())


def test_forty_new_files_are_not_waited_for(tmp_path, pauses):
    (tmp_path / "characters").mkdir()
    record = records.begin(tmp_path, 1, "act")
    for number in range(40):
        made(record, f"{('characters', 'lore', 'items/rings')[number % 3]}/{number}.md")
    assert pauses == []
    assert len(list(tmp_path.glob("*/**/*.md"))) == 40
    assert len(records.writes(tmp_path, record.folder)) == 40


def test_a_new_file_beside_one_we_replaced_or_lengthened_is_not_waited_for(tmp_path, pauses):
    (tmp_path / "lore").mkdir()
    for name in ("old", "long"):
        (tmp_path / "lore" / f"{name}.md").write_bytes(b"first\n")
    record = records.begin(tmp_path, 1, "act")
    assert record.write("lore/old.md", "entry", lambda before: b"another\n")
    assert record.write("lore/long.md", "entry", lambda before: before + b"second\n")
    made(record, "lore/new.md")
    assert pauses == []


def test_a_new_file_is_waited_for_where_somebody_else_is_saving(tmp_path, pauses):
    (tmp_path / "lore").mkdir()
    record = records.begin(tmp_path, 1, "act")
    made(record, "lore/a.md")
    touched(tmp_path / "lore", 5)  # an editor put a file there after ours
    record_waits(record, pauses, tmp_path, "lore/b.md")


def test_our_write_in_a_folder_that_somebody_else_just_changed_does_not_hide_that(tmp_path, pauses):
    (tmp_path / "lore").mkdir()
    (tmp_path / "lore" / "old.md").write_bytes(b"first\n")
    record = records.begin(tmp_path, 1, "act")
    touched(tmp_path / "lore", 5)  # known to be another's when ours comes
    assert record.write("lore/old.md", "entry", lambda before: b"another\n")
    record_waits(record, pauses, tmp_path, "lore/b.md")


def record_waits(record: records.Record, pauses: list[float], root: Path, path: str) -> None:
    """A write of that missing file pauses, and the save is over with the first pause."""
    assert pauses == []
    first: list[float] = []

    def pass_time(seconds: float) -> None:
        first.append(seconds)
        touched((root / path).parent, -60)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", pass_time)
        made(record, path)
    assert len(first) == 1 and 0 < first[0] <= records.QUIET

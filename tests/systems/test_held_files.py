"""Files that another program has open, on Windows: neither replaced nor removed meanwhile. Whole commands, nothing lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rolecall.campaign import displacing, files
from rolecall.errors import Conflict, StorageError
from rolecall.turn.lifecycle import Listener
from tests.systems.disk import SYSTEMS, Disk
from tests.turn.world import Teller, assert_laws, game, make, text


@pytest.fixture(params=["NTFS", "FAT"])
def windows(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """A campaign on a disk of Windows."""
    import rolecall.search.index  # noqa: F401

    root = tmp_path / "disk"
    root.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
    made = Disk(SYSTEMS[request.param], root)
    made.patch(monkeypatch)
    make(root / "tale")
    return made


def _hold(windows: Disk, path: str) -> str:
    place = windows.real(windows.root / "tale" / path)
    windows.held.add(place)
    return place


@pytest.mark.parametrize("path", ["arcs/ledger.md", "campaign-state.md", "characters/marta.md"])
def test_a_file_that_stays_open_loses_nothing_and_the_next_command_finishes(windows: Disk, path: str) -> None:
    tale = windows.root / "tale"
    place = _hold(windows, path)
    before = text(tale)
    try:
        game(tale, Teller()).tell("I ask for the ashes.", Listener())
    except StorageError as error:
        assert "another program has it open; close it there" in str(error) and path in str(error)
    for name, data in before.items():
        assert (tale / name).read_bytes().startswith(data[:1]), name
    windows.held.discard(place)
    game(tale, Teller()).tell("I wait.", Listener())
    assert_laws(tale, {1, 2, 3, 4, 5}, at=path, left_out=1)


def test_a_file_that_is_let_go_in_a_moment_is_waited_for(windows: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    tale = windows.root / "tale"
    place = _hold(windows, "campaign-state.md")
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        windows.held.discard(place)

    monkeypatch.setattr(displacing.time, "sleep", nap)
    files.replace(tale, "campaign-state.md", b"new", expected=files.sha256((tale / "campaign-state.md").read_bytes()))
    assert (tale / "campaign-state.md").read_bytes() == b"new" and naps == [0.05]


def test_an_undo_meets_an_open_file_and_is_finished_later(windows: Disk) -> None:
    tale = windows.root / "tale"
    before = text(tale)
    session = game(tale, Teller())
    session.tell("I ask for the ashes.", Listener())
    place = _hold(windows, "arcs/ledger.md")
    with pytest.raises(StorageError, match="another program has it open"):
        session.undo(Listener(), count=1)
    windows.held.discard(place)
    after = game(tale, Teller())
    after.recover(Listener())
    told = {n for n in (4,) if f"T{n:04d}" in (tale / "campaign-state.md").read_text("utf-8")}
    if told:
        after.undo(Listener(), count=1)
    assert text(tale) == before


def test_names_that_windows_bends_lead_nowhere(windows: Disk) -> None:
    tale = windows.root / "tale"
    for path in (
        "dm./plan.md",
        "dm /plan.md",
        "nul",
        "lore/con.md",
        "lore/a?.md",
        "c:/x.md",
        "lore\\note.md",
        "lore/note.md:x",
    ):
        with pytest.raises(StorageError):
            files.read(tale, path)
    assert files.read(tale, "LORE/NOTE.md") == files.read(tale, "lore/note.md")


def test_nothing_of_ours_is_open_between_two_commands(windows: Disk, rolecall) -> None:
    """Else the writer could not rename a folder, and the next command could not replace the file."""
    from tests.systems.disk import _open_here

    tale = windows.root / "tale"
    game(tale, Teller()).tell("I ask for the ashes.", Listener())
    assert json.loads(rolecall("-C", tale, "search", "ledger", "--json").out)
    held = {path for path in _open_here() if path.startswith(str(windows.root))}
    assert not [path for path in held if not path.endswith((".seg", "lock"))], held
    os.rename(tale, windows.root / "told")
    game(windows.root / "told", Teller()).tell("I wait.", Listener())


def test_an_append_knows_its_file_though_its_name_tells_another_device(tmp_path: Path, monkeypatch) -> None:
    """`os.stat` and `os.fstat` need not agree on `st_dev` there; a file that an editor replaced is told apart all the same."""
    place = tmp_path / "a.md"
    place.write_bytes(b"one\n")
    ask = os.stat

    def elsewhere(path: object, **how: object) -> os.stat_result:
        info = list(ask(path, **how))
        info[2] += 1 << 32
        return os.stat_result(info)

    monkeypatch.setattr(os, "stat", elsewhere)
    files.append(tmp_path, "a.md", b"two\n")
    assert place.read_bytes() == b"one\ntwo\n"

    class Replacing(files.FileSystem):
        def fsync(self, fd: int) -> None:
            super().fsync(fd)
            (tmp_path / "b.md").write_bytes(b"the editor's\n")
            os.replace(tmp_path / "b.md", place)

    monkeypatch.setattr(files, "fs", Replacing())
    with pytest.raises(Conflict, match="an editor replaced the file"):
        files.append(tmp_path, "a.md", b"three\n")
    assert place.read_bytes() == b"the editor's\n"

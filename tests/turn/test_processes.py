"""Several processes at one campaign, and what the folder itself can do to a turn: links, modes, read-only, missing."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rolecall.campaign import files, journal, records
from rolecall.campaign.folder import open_campaign
from rolecall.errors import RoleCallError, StorageError
from rolecall.turn.lifecycle import Listener
from tests.turn import world
from tests.turn.faults import Faulty, Killed, failing

ROOT = Path(__file__).resolve().parents[2]


def other(code: str, *arguments: object) -> subprocess.Popen:
    """Another Python process, from the repository's root."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen) -> str:
    out, _ = process.communicate(timeout=60)
    return out


WRITER = """
    import sys
    from pathlib import Path
    from rolecall.campaign import lock, records
    from rolecall.campaign.effects import Effect, edit_of
    from rolecall.campaign.journal import lines_of
    from rolecall.campaign.folder import open_campaign

    root, name = Path(sys.argv[1]), sys.argv[2]
    campaign = open_campaign(root, here_only=True)
    for number in range(50):
        with lock.hold(root, name, wait=60):
            turn = lines_of(campaign.document("campaign-state.md"))[-1].turn + 1
            record = records.begin(root, turn, "")
            line = Effect("journal", "campaign-state.md", turn, f"{name} wrote line {number}.")
            record.write(line.path, line.op, edit_of(line))
            record.note("closed")
"""


def test_two_processes_appending_fifty_lines_each_leave_a_hundred_lines_once(tmp_path: Path) -> None:
    campaign = world.make(tmp_path)
    for process in [other(WRITER, tmp_path, "one"), other(WRITER, tmp_path, "two")]:
        end(process)
        assert process.returncode == 0
    lines = journal.lines_of(campaign.document("campaign-state.md"))
    assert [line.turn for line in lines] == list(range(1, 104))
    for name in ("one", "two"):
        mine = [line.text for line in lines if line.text.startswith(name)]
        assert mine == [f"{name} wrote line {number}." for number in range(50)]


TURNS = """
    import sys
    from pathlib import Path
    from rolecall.turn.lifecycle import Listener
    from tests.turn import world

    for number in range(int(sys.argv[2])):
        game = world.game(Path(sys.argv[1]), world.Teller())
        game.wait = 60
        print(game.tell(f"I knock {number}.", Listener()).turn, flush=True)
"""


def test_turns_of_two_processes_stand_one_behind_the_other(tmp_path: Path) -> None:
    world.make(tmp_path, world.FOLD_SOON)
    told = [turn for process in [other(TURNS, tmp_path, 6), other(TURNS, tmp_path, 6)] for turn in end(process).split()]
    assert sorted(told) == [journal.turn_id(number) for number in range(4, 16)]
    world.assert_laws(tmp_path, set(range(4, 16)))


EDITOR = """
    import os, sys, time
    from pathlib import Path

    root, pause, number = Path(sys.argv[1]), float(sys.argv[2]), 0
    while not (root.parent / "enough").exists():
        number += 1
        place = root / ("characters/kit.md" if number % 2 else "lore/note.md")
        aside = place.with_name(f".{place.name}.swp")
        aside.write_bytes(place.read_bytes() + f"\\nBy hand {number}.".encode())
        os.replace(aside, place)
        with (root / "lore" / f"page-{number % 40}.md").open("a", encoding="utf-8") as page:
            page.write(f"Noted {number}.\\n")
        time.sleep(pause)
    print(number)
"""


def turns_beside_an_editor(place: Path, each: int, pause: float) -> None:
    """Two processes tell so many turns each while a third edits entries and adds new ones; all of it stands once.

    `pause`: seconds between two edits.
    """
    root = place / "tale"
    world.make(root, world.FOLD_SOON)
    editor, tellers = other(EDITOR, root, pause), [other(TURNS, root, each), other(TURNS, root, each)]
    told = [turn for process in tellers for turn in process.communicate()[0].split()]
    (place / "enough").touch()
    edits = int(end(editor))
    assert sorted(told) == [journal.turn_id(number) for number in range(4, 4 + 2 * each)]
    assert edits >= 5
    world.assert_laws(root, set(range(4, 4 + 2 * each)))
    for number in range(1, edits + 1):
        edited = root / ("characters/kit.md" if number % 2 else "lore/note.md")
        assert edited.read_bytes().split(b"\n").count(f"By hand {number}.".encode()) == 1
        assert (root / "lore" / f"page-{number % 40}.md").read_text("utf-8").splitlines().count(f"Noted {number}.") == 1


def test_turns_of_two_processes_and_a_third_that_edits_all_stand(tmp_path: Path) -> None:
    turns_beside_an_editor(tmp_path, 15, pause=0.05)


# -- the folder


def test_the_machines_folder_deleted_between_turns_costs_no_line(tmp_path: Path) -> None:
    world.make(tmp_path)
    game = world.game(tmp_path, world.Teller())
    for turn in (4, 5, 6):
        assert game.tell("I go on.", Listener()).turn == journal.turn_id(turn)
        shutil.rmtree(tmp_path / ".rolecall")
    world.assert_laws(tmp_path, {4, 5, 6})


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_modes_and_hard_linked_backups_are_kept(tmp_path: Path) -> None:
    root = tmp_path / "tale"
    world.make(root)
    for path, data in world.FILES.items():
        os.chmod(root / path, 0o640)
        os.link(root / path, tmp_path / path.replace("/", "-"))
        assert (tmp_path / path.replace("/", "-")).read_bytes() == data
    world.game(root, world.Teller()).tell("I go on.", Listener())
    for path, data in world.FILES.items():
        assert (tmp_path / path.replace("/", "-")).read_bytes() == data
        assert (root / path).stat().st_mode & 0o777 == 0o640
    world.assert_laws(root, {4})


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("path", ["campaign-state.md", "story/001-the-quay.md", "characters/sera.md"])
def test_a_link_that_leads_out_of_the_campaign_is_neither_read_nor_written(path: str, tmp_path: Path) -> None:
    root = tmp_path / "tale"
    world.make(root)
    outside = tmp_path / "outside.md"
    os.rename(root / path, outside)
    os.symlink(outside, root / path)
    teller = world.Teller()
    try:
        world.game(root, teller).tell("I go on.", Listener())
    except StorageError as error:
        assert "link leads out of the campaign" in str(error)
    assert outside.read_bytes() == world.FILES[path]
    assert (root / path).is_symlink()
    for call in (files.read, lambda *a: files.append(*a, b"x"), lambda *a: files.replace(*a, b"x", expected="")):
        with pytest.raises(StorageError, match="link leads out"):
            call(root, path)


@pytest.mark.parametrize("path", ["../outside.md", "/etc/outside.md", "characters/../../outside.md", "a\0b.md", ""])
def test_a_path_that_points_out_of_the_campaign_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="outside the campaign"):
        files.create(tmp_path, path, b"x")


class ReadOnly(Faulty):
    """Everything that would change something fails."""

    code = errno.EROFS

    def _step(self, name: str, path: object) -> None:
        if name != "read":
            raise OSError(self.code, os.strerror(self.code), str(path))


@pytest.mark.parametrize(
    ("code", "words"),
    [(errno.EROFS, "read-only"), (errno.EACCES, "permission denied"), (errno.ENOSPC, "the disk is full")],
)
@pytest.mark.parametrize("played_before", [True, False])
def test_a_campaign_that_cannot_be_written_says_so_and_changes_nothing(
    code: int, words: str, played_before: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.make(tmp_path)
    teller = world.Teller()
    if played_before:
        world.game(tmp_path, teller).tell("I go on.", Listener())
    before, asked = world.text(tmp_path), len(teller.asked)
    refusing = ReadOnly(tmp_path)
    refusing.code = code
    with monkeypatch.context() as patch, pytest.raises(RoleCallError, match=words) as said:
        patch.setattr(files, "fs", refusing)
        world.game(tmp_path, teller).tell("I go on.", Listener())
    assert "\n" not in str(said.value)
    assert world.text(tmp_path) == before
    assert len(teller.asked) == asked, "a model was paid for a turn that could not be kept"
    world.game(tmp_path, teller).tell("I go on.", Listener())
    world.assert_laws(tmp_path, {4, 5} if played_before else {4})


def test_a_disk_that_fills_up_while_the_turn_is_written_keeps_the_turn_for_the_next_command(tmp_path: Path) -> None:
    world.make(tmp_path)
    teller = world.Teller()
    with failing(tmp_path) as counted:
        world.game(tmp_path, teller).tell("I go on.", Listener())
    step = counted.steps.index(("write", "campaign-state.md")) + 1
    shutil.rmtree(tmp_path)
    world.make(tmp_path)
    with failing(tmp_path, step, "short"), pytest.raises(StorageError, match="disk is full") as said:
        world.game(tmp_path, teller).tell("I go on.", Listener())
    assert said.value.hint == "What was told is kept; the next command writes it down."
    asked = len(teller.asked)
    world.game(tmp_path, teller).fold()
    assert world.assert_laws(tmp_path, {4}) == {1, 2, 3, 4}
    assert len(teller.asked) == asked + 1  # the fold's own


def test_records_of_another_course_of_the_story_never_hide_an_interrupted_turn(tmp_path: Path) -> None:
    """The writer goes back in git: the records of later turns stay, under other names."""
    campaign = world.make(tmp_path)
    for action in ("I stay.", "I go."):
        world.game(tmp_path, world.Teller()).tell(action, Listener())
    for path, data in world.FILES.items():  # back to before both
        (tmp_path / path).write_bytes(data)
    with failing(tmp_path) as counted:
        world.game(tmp_path, world.Teller()).tell("I stay.", Listener())
    step = counted.steps.index(("write", "campaign-state.md")) + 1
    for path, data in world.FILES.items():
        (tmp_path / path).write_bytes(data)
    with failing(tmp_path, step, "torn"), pytest.raises(Killed):
        world.game(tmp_path, world.Teller()).tell("I turn back.", Listener())
    assert records.newest_open(tmp_path) is not None
    world.game(tmp_path, world.Teller()).fold()
    world.assert_laws(tmp_path, {4})
    assert "I turn back." in campaign.read("story/001-the-quay.md").decode()
    assert open_campaign(tmp_path, here_only=True).exists(f"{records.TURNS}/T0005.other-1")

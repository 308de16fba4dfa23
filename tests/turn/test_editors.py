"""While the model is speaking the writer saves: whichever file, and however the editor does it, the save survives.

The measure is a twin: the same campaign with the same edit made before the turn began. The two must end byte for byte the same.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from rolecall.campaign.folder import open_campaign
from rolecall.models.messages import Request
from rolecall.turn import intake, unfinished
from rolecall.turn.lifecycle import Listener
from rolecall.turn.result import Result
from tests.turn import world
from tests.turn.faults import failing

SPEAKS = 1.0  # seconds the model takes
HALF_SHOWN = 0.15  # seconds for which an editor that writes in place shows half a file

EDITS = {  # file: (what stands there, what the writer makes of it)
    "campaign-state.md": (b"Fog.\t", b"Fog, and a bell.\t"),
    "arcs/ledger.md": (b"status: open", b"status: open   # still"),
    "characters/marta.md": (b"The writer's own.", b"The writer's own, and more."),
    "characters/sera.md": (b"A smuggler.", b"A smuggler with a licence."),
    "characters/kit.md": (b"The player's.", b"The player's, tired."),
    "story/001-the-quay.md": (b"She nods.", b"She nods, slowly."),
    "chronicles/0001-t0001-t0001.md": (b"Retold", b"Retold, and mended by hand"),
    "instructions/always.md": (b"", b"---\nlayer: narrator\nwhen: always\n---\nTell it plainly.\n"),
    "rolecall.yaml": (b"the writer's comment", b"the writer's other comment"),
    "lore/note.md": (b"no front matter here", b"still none here"),
}


def in_place(path: Path, data: bytes) -> None:
    """Open, cut, write: nano, many plug-ins."""
    path.write_bytes(data)


def renamed(path: Path, data: bytes) -> None:
    """Write a new file and rename it over the old one: vim, Obsidian."""
    temporary = path.with_name(path.name + "~")
    temporary.write_bytes(data)
    os.replace(temporary, path)


def moved_away(path: Path, data: bytes) -> None:
    """Move the old file away, write a new one, remove the old: vim with `backupcopy=no`."""
    backup = path.with_name(path.name + "~")
    if path.exists():
        os.rename(path, backup)
    time.sleep(0.05)
    path.write_bytes(data)
    backup.unlink(missing_ok=True)


def slowly(path: Path, data: bytes) -> None:
    """In place, with half the file to be seen for a while."""
    with path.open("wb", buffering=0) as file:
        file.write(data[: len(data) // 2])
        time.sleep(HALF_SHOWN)
        file.write(data[len(data) // 2 :])


def emptied(path: Path, data: bytes) -> None:
    """In place, with nothing to be seen for a while."""
    with path.open("wb", buffering=0) as file:
        time.sleep(HALF_SHOWN)
        file.write(data)


SAVES = (in_place, renamed, moved_away, slowly, emptied)


def edited(root: Path, path: str) -> bytes:
    """The file as the writer's editor has it after the edit."""
    old, new = EDITS[path]
    place = root / path
    data = place.read_bytes() if place.exists() else b""
    assert old in data
    return data.replace(old, new, 1) if data else new


def second_answer(action: Callable[[], None]) -> Callable[[Request], None]:
    """Do something when the model is asked for the turn's second, telling answer."""
    return lambda request: action() if len(request.messages) > 1 else None


def make(root: Path) -> Path:
    """The campaign, with its first turn folded."""
    world.make(root)
    world.game(root, world.Teller()).fold()
    return root


def tell(root: Path, teller: world.Teller) -> Result:
    return world.game(root, teller).tell("I ask who burned it.", Listener())


def twin(tmp_path: Path, path: str) -> dict[str, bytes]:
    """The campaign after the same edit and the same turn, one after the other."""
    root = make(tmp_path / "twin")
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_bytes(edited(root, path))
    tell(root, world.Teller())
    return world.text(root)


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.__name__)
@pytest.mark.parametrize("path", EDITS)
def test_a_save_at_the_end_of_the_models_call_survives(path: str, save: Callable, tmp_path: Path) -> None:
    """The editor is still at it when the turn is written: the worst moment."""
    root = make(tmp_path / "tale")
    (root / path).parent.mkdir(exist_ok=True)
    data = edited(root, path)
    editor = threading.Thread(target=save, args=(root / path, data))
    told = tell(root, world.Teller(before=second_answer(editor.start)))
    editor.join()
    assert not told.degraded
    assert world.text(root) == twin(tmp_path, path)


@pytest.mark.parametrize("path", ["campaign-state.md", "characters/sera.md", "story/001-the-quay.md"])
def test_a_save_in_the_middle_of_a_long_call_survives(path: str, tmp_path: Path) -> None:
    root = make(tmp_path / "tale")
    data = edited(root, path)

    def speak() -> None:
        time.sleep(SPEAKS / 2)
        slowly(root / path, data)
        time.sleep(SPEAKS / 2)

    tell(root, world.Teller(before=second_answer(speak)))
    assert world.text(root) == twin(tmp_path, path)


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.__name__)
def test_a_note_put_under_the_journal_by_hand_survives(save: Callable, tmp_path: Path) -> None:
    root = make(tmp_path / "tale")
    state = root / "campaign-state.md"
    note = b"  (the writer: she lied twice)\n"
    editor = threading.Thread(target=save, args=(state, state.read_bytes() + note))
    tell(root, world.Teller(before=second_answer(editor.start)))
    editor.join()
    wanted = b"- T0003 Marta lied about the ledger.\n" + note + b"- T0004 " + world.line(4).encode() + b"\n"
    assert state.read_bytes().endswith(wanted)


@pytest.mark.parametrize("turn", ["T0004", "T0005", "T0006"])
@pytest.mark.parametrize("line", [b"", b"- %s By hand.\n"], ids=["taken-out", "reworded"])
def test_a_hand_in_the_journal_leaves_nothing_to_put_right_before_every_command(
    turn: str, line: bytes, tmp_path: Path
) -> None:
    root = make(tmp_path / "tale")
    for _ in range(3):
        tell(root, world.Teller())
    state = root / "campaign-state.md"
    rows = state.read_bytes().splitlines(keepends=True)
    state.write_bytes(
        b"".join(
            line.replace(b"%s", turn.encode()) if turn.encode() in row and row.startswith(b"- T") else row
            for row in rows
        )
    )
    assert turn.encode() + b" Marta" not in state.read_bytes()
    assert not unfinished.is_left(open_campaign(root))


@pytest.mark.parametrize(
    ("path", "save", "lacks"),
    [
        ("campaign-state.md", "in_place", ()),
        ("campaign-state.md", "renamed", ()),
        ("arcs/ledger.md", "renamed", ()),
        ("characters/sera.md", "renamed", ()),
        ("campaign-state.md", "in_place", ("exchange",)),
    ],
)
def test_a_save_at_any_step_of_writing_the_turn_down_survives(
    path: str, save: str, lacks: tuple[str, ...], tmp_path: Path
) -> None:
    """The writer's editor takes the file as it stands at that step, adds a line and saves it, between any two calls."""
    with failing(make(tmp_path / "counted"), lacks=lacks) as counted:
        tell(tmp_path / "counted", world.Teller())
    mine = (path, f"{path.rpartition('/')[0] or '.'}/.rolecall-".removeprefix("./"))
    steps = [n for n, (_, at) in enumerate(counted.steps, 1) if at.startswith(mine)]
    root = tmp_path / "tale"
    for step in steps[1:]:
        shutil.rmtree(root, ignore_errors=True)
        make(root)
        place = root / path
        add = partial(add_comment, place, {"in_place": in_place, "renamed": renamed}[save])
        with failing(root, step, "meanwhile", add, lacks) as faulty:
            told = tell(root, world.Teller())
        if not faulty.hit:  # the last steps are not always as many
            assert step > steps[-3]
            continue
        at = f"before step {step} ({counted.steps[step - 1]})"
        assert not told.degraded, at
        assert place.read_bytes().count(COMMENT) == 1, at
        assert place.read_bytes().replace(COMMENT, b"") == (tmp_path / "counted" / path).read_bytes(), at


COMMENT = b"# by hand\n"


def add_comment(place: Path, save: Callable) -> None:
    """A comment at the end of the front matter."""
    data = place.read_bytes()
    at = data.index(b"\n---\n", 5) + 1
    save(place, data[:at] + COMMENT + data[at:])


def at_writing(root: Path, path: str, action: Callable[[], object]) -> Result:
    """Tell a turn while another program does something right before the first write to a file."""
    with failing(make(root.with_name("counted"))) as counted:
        tell(counted.root, world.Teller())
    step = next(n for n, (name, at) in enumerate(counted.steps, 1) if at == path and name in ("open", "exchange"))
    with failing(root, step, "meanwhile", action):
        return tell(root, world.Teller())


def test_an_entry_deleted_before_its_line_is_written_stays_deleted_and_the_turn_is_told(tmp_path: Path) -> None:
    root = make(tmp_path / "tale")
    told = at_writing(root, "characters/sera.md", (root / "characters/sera.md").unlink)
    assert [d.layer for d in told.degraded] == ["writes"]
    assert "characters/sera.md" in told.degraded[0].reason
    assert not (root / "characters/sera.md").exists()
    (root / "characters/sera.md").write_bytes(world.SERA)
    assert tell(root, world.Teller()).turn == "T0005"
    assert world.line(4).encode() in (root / "campaign-state.md").read_bytes()


def test_an_arc_deleted_before_it_is_moved_stays_deleted_and_the_turn_is_told(tmp_path: Path) -> None:
    root = make(tmp_path / "tale")
    told = at_writing(root, "arcs/ledger.md", (root / "arcs/ledger.md").unlink)
    assert [d.layer for d in told.degraded] == ["writes"]
    assert not (root / "arcs/ledger.md").exists()
    assert tell(root, world.Teller()).turn == "T0005"


def test_an_entry_broken_before_its_line_is_written_keeps_its_bytes_and_the_turn_is_told(tmp_path: Path) -> None:
    root = make(tmp_path / "tale")
    broken = b"---\nname: Sera\nname: Sera again\n---\n\n## History\n"
    told = at_writing(root, "characters/sera.md", lambda: (root / "characters/sera.md").write_bytes(broken))
    assert [d.layer for d in told.degraded] == ["writes"]
    assert (root / "characters/sera.md").read_bytes() == broken


def test_a_chapter_deleted_while_the_model_speaks_is_begun_anew(tmp_path: Path) -> None:
    root = make(tmp_path / "tale")
    chapter = root / "story/001-the-quay.md"
    tell(root, world.Teller(before=second_answer(chapter.unlink)))
    assert world.prose(4) in chapter.read_text("utf-8")
    assert "T0001" not in chapter.read_text("utf-8")


# -- what is taken back again: a file that it made goes, and never with a save in it


def a_turn(root: Path) -> str:
    """A first chapter, made by its only turn."""
    shutil.rmtree(root / "story")
    tell(root, world.Teller())
    return next((root / "story").iterdir()).relative_to(root).as_posix()


def an_import(root: Path) -> str:
    """An entry, made by an import."""
    source = root.with_name("note.md")
    source.write_text("---\nname: Hedda\nkind: character\n---\nA pilot.\n", "utf-8")
    return intake.take(world.game(root, world.Teller()), source, Listener()).plan.made[0].path


BACK = {
    a_turn: lambda game: game.undo(Listener()),
    an_import: lambda game: intake.take_back(game, "", Listener()),
}


@pytest.mark.parametrize("lacks", [(), ("link",)], ids=["", "without-links"])
@pytest.mark.parametrize("save", [in_place, renamed], ids=lambda save: save.__name__)
@pytest.mark.parametrize("made", BACK, ids=lambda made: made.__name__)
def test_a_save_at_any_step_of_taking_a_new_file_back_survives(
    made: Callable, save: Callable, lacks: tuple[str, ...], tmp_path: Path
) -> None:
    path = made(make(tmp_path / "told"))

    def taken_back(root: Path, at: int = 0, meanwhile: Callable = lambda: None) -> list[tuple[str, str]]:
        shutil.copytree(tmp_path / "told", root)
        with failing(root, at, "meanwhile", meanwhile, lacks) as faulty:
            BACK[made](world.game(root, world.Teller()))
        return faulty.steps

    counted = taken_back(tmp_path / "counted")
    assert not (tmp_path / "counted" / path).exists()
    steps = [n for n, (_, at) in enumerate(counted, 1) if at.startswith(f"{path.rpartition('/')[0]}/")]
    assert steps
    for step in steps:
        place, done = tmp_path / f"at-{step}" / path, []

        def saved(place: Path = place, done: list = done) -> None:
            if place.exists():  # once it is gone, a save makes it anew anyhow
                save(place, place.read_bytes() + b"\nBy hand.\n")
                done.append(place)

        taken_back(tmp_path / f"at-{step}", step, saved)
        at = f"before step {step} ({counted[step - 1]})"
        assert all(one.exists() and b"By hand." in one.read_bytes() for one in done), at
        assert not list(place.parent.glob(".rolecall-*")), at

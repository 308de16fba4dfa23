"""Whole games on the disks of other systems: every command that writes, and what must hold after each."""

from __future__ import annotations

import json
import os
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.campaign.folder import open_campaign
from tests.game.repositories import NEEDS_GIT, settle_settings
from tests.systems.disk import Disk, spelled

TURNS = 10
DEEDS = (
    *("counted grey coins", "mended nets at dusk", "hid a ledger", "sang to the drowned", "sold two mules"),
    *("barred both doors", "wept over bread", "burned old letters", "fed the captain's hounds", "broke a lantern"),
    *("rang the tide bell", "swore before witnesses"),
)
SCRIBE = "You keep the campaign's records."
PROSE = "The lantern gutters at mark {n}. Éowyn — Marta's guest — says: “Not yet…”"
LINE = "Marta showed Éowyn the ashes at mark {n}, and Kit swore to find who burned the ledger on Skerrow Quay."


def on(*disks: str) -> pytest.MarkDecorator:
    """These disks alone: each kind of command on one of macOS and one of Windows, as all four take CI's time."""
    return pytest.mark.parametrize("disk", disks, indirect=True)


def _tool(name: str, /, **arguments: str) -> dict:
    return {"name": name, "arguments": arguments}


@pytest.fixture
def narrator(script: Callable[[str], str], disk: Disk) -> str:
    """A model that writes in old entries and makes new ones whose names are not ASCII."""
    answers = []
    for n, did in enumerate(DEEDS, 1):
        kept = [_tool("append_history", entry="Marta", text=f"Seen by Kit as she {did}.")]
        if n == 2:
            source = PROSE.format(n=n)
            kept.append(_tool("record_character", name="Éowyn", role="guest", reason="She is new.", source=source))
        if n > 2:
            kept.append(_tool("append_history", entry="Éowyn", text=f"Knows that Marta {did}."))
        told = [_tool("append_journal", text=LINE.format(n=n))]
        answers.append({"turn": f"T{n:04d}", "role": "narrator", "text": PROSE.format(n=n), "tools": told})
        answers.append({"role": "sidecar", "when": SCRIBE, "tools": kept})
    return script(json.dumps(answers, ensure_ascii=False))


@pytest.fixture
def tale(disk: Disk, rolecall, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new campaign with the writer's own entries, named as people name files."""
    settle_settings(disk.root, monkeypatch)
    assert rolecall("new", disk.root / "tale").code == 0
    root = disk.root / "tale"
    _write(root / "characters/Marta.md", "---\nname: Marta\nkind: character\n---\nKeeps the inn.\n")
    _write(root / "lore/Müllers Höhle.md", "---\nname: Müllers Höhle\n---\nA cave. See [[Marta]].\n")
    return root


def _decomposed(name: str) -> str:
    return unicodedata.normalize("NFD", name)


def _write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode())


def _fold_soon(root: Path) -> None:
    settings = root / "rolecall.yaml"
    text = settings.read_text("utf-8")
    assert "fold_at: 3500" in text and "keep_lines: 6" in text
    settings.write_text(
        text.replace("fold_at: 3500", "fold_at: 400").replace("keep_lines: 6", "keep_lines: 2"), "utf-8"
    )


def _text(root: Path) -> dict[str, bytes]:
    found = {}
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".rolecall", ".git")]
        found |= {os.path.relpath(os.path.join(place, n), root): Path(place, n).read_bytes() for n in names}
    return {unicodedata.normalize("NFC", path): data for path, data in found.items()}


def _sound(rolecall, root: Path, disk: Disk) -> None:
    """What holds after every command: no doubled name, no litter, no problem, the index says what the files say."""
    names = spelled(disk)
    assert not [name for name in names if name.endswith(".tmp")]
    assert json.loads(rolecall("-C", root, "check", "--json").out) == []
    found = {hit["path"] for hit in json.loads(rolecall("-C", root, "search", "Müllers Höhle", "--json").out)}
    listed = {one["path"] for one in json.loads(rolecall("-C", root, "list", "--json").out)}
    assert found <= set(open_campaign(root).names()) and listed <= set(open_campaign(root).names())
    assert len(listed) == len({disk.system.fold(path) for path in listed})


def _kinds(rolecall, root: Path) -> dict[str, str]:
    found = rolecall("-C", root, "search", "lantern ashes", "--limit", 20, "--json").out
    return {hit["path"]: hit["kind"] for hit in json.loads(found)}


def _journal(root: Path) -> list[str]:
    return [row for row in (root / "campaign-state.md").read_text("utf-8").splitlines() if row.startswith("- T0")]


def test_a_whole_game(disk: Disk, tale: Path, narrator: str, rolecall) -> None:
    for n in range(1, TURNS + 1):
        ran = rolecall("-C", tale, "turn", f"I wait, {n}.", "--model", narrator)
        assert ran.code == 0 and PROSE.format(n=n) in ran.out, ran.err
    assert len(_journal(tale)) == TURNS
    _sound(rolecall, tale, disk)
    eowyn = [name for name in spelled(disk) if "owyn" in name and "/characters/" in name]
    assert eowyn == [disk.system.shown("tale/characters/éowyn.md")]
    assert (tale / "characters/éowyn.md").read_text("utf-8").count("Knows that Marta") == TURNS - 2
    assert (tale / "characters/Marta.md").read_text("utf-8").count("Seen by Kit") == TURNS

    before = _text(tale)
    ran = rolecall("-C", tale, "swipe", "--model", narrator)
    assert ran.code == 0, ran.err
    assert rolecall("-C", tale, "swipe", "--to", 1).code == 0
    assert _text(tale) == before
    for _ in range(TURNS):
        assert rolecall("-C", tale, "undo").code == 0
    assert _journal(tale) == [] and not (tale / "characters/éowyn.md").exists()
    assert "Seen by" not in (tale / "characters/Marta.md").read_text("utf-8")
    _sound(rolecall, tale, disk)


@on("HFS+", "NTFS")
def test_an_entry_that_a_turn_made_goes_with_that_turn_and_later_lines_are_kept(
    disk: Disk, tale: Path, narrator: str, rolecall
) -> None:
    for n in range(1, 5):
        assert rolecall("-C", tale, "turn", f"I wait, {n}.", "--model", narrator).code == 0
    ran = rolecall("-C", tale, "undo", "--turn", "T0003")
    assert ran.code == 0, ran.err
    kept = (tale / "characters/éowyn.md").read_text("utf-8")
    assert DEEDS[2] not in kept and DEEDS[3] in kept
    why = rolecall("-C", tale, "why", "characters/éowyn.md", "--json")
    assert {one["turn"] for one in json.loads(why.out)} >= {"T0002", "T0004"}, why.err
    for typed in (_decomposed("characters/ÉOWYN.md"), "CHARACTERS/marta.MD"):
        told = rolecall("-C", tale, "why", disk.system.typed(typed), "--json")
        assert "T0004" in {one["turn"] for one in json.loads(told.out)}, told.err
    _sound(rolecall, tale, disk)


@on("APFS", "FAT")
def test_play_in_a_pipe_and_the_fold(disk: Disk, tale: Path, narrator: str, rolecall) -> None:
    _fold_soon(tale)
    ran = rolecall("-C", tale, "play", "--model", narrator, input="".join(f"I wait, {n}.\n" for n in range(TURNS)))
    assert ran.code == 0, ran.err
    assert rolecall("-C", tale, "fold").code == 0
    folded = [path for path in open_campaign(tale).names() if path.startswith("chronicles/")]
    assert folded
    told = "".join((tale / path).read_text("utf-8").partition("## Journal\n")[2] for path in folded) + "\n".join(
        _journal(tale)
    )
    assert [told.count(f"- T{n:04d} {LINE.format(n=n)}") for n in range(1, TURNS + 1)] == [1] * TURNS
    _sound(rolecall, tale, disk)


@on("APFS", "HFS+", "NTFS")
def test_renamings_and_their_undoing(disk: Disk, tale: Path, narrator: str, rolecall) -> None:
    os.rename(tale / "lore/Müllers Höhle.md", tale / _decomposed("lore/Müllers Höhle.md"))
    before = _text(tale)
    pairs = [("Marta", "marta"), ("Marta", "Éowyn"), ("Marta", "Con"), ("Müllers Höhle", "müllers höhle")]
    for old, new in pairs:
        ran = rolecall("-C", tale, "rename", old, new)
        assert ran.code == 0, ran.err
        assert json.loads(rolecall("-C", tale, "show", new, "--json").out)["name"] == new
        assert len(_text(tale)) == len(before) and not [path for path in _text(tale) if "-2" in path]
        _sound(rolecall, tale, disk)
        assert rolecall("-C", tale, "rename", "--undo").code == 0
        assert _text(tale) == before


@on("APFS", "HFS+", "FAT")
def test_what_the_writer_renames_in_case_or_form_stays_one_entry(
    disk: Disk, tale: Path, narrator: str, rolecall
) -> None:
    assert rolecall("-C", tale, "turn", "I wait.", "--model", narrator).code == 0
    os.rename(tale / "characters/Marta.md", tale / "characters/marta.md")
    os.rename(tale / "characters", tale / "Characters")
    os.rename(tale / "lore/Müllers Höhle.md", tale / _decomposed("lore/Müllers Höhle.md"))
    for n in (2, 3):
        ran = rolecall("-C", tale, "turn", f"I wait, {n}.", "--model", narrator)
        assert ran.code == 0, ran.err
    assert (tale / "Characters/marta.md").read_text("utf-8").count("Seen by Kit") == 3
    _sound(rolecall, tale, disk)
    for _ in range(3):
        ran = rolecall("-C", tale, "undo")
        assert ran.code == 0, ran.err
    assert "Seen by" not in (tale / "characters/marta.md").read_text("utf-8")
    assert not (tale / "characters/éowyn.md").exists()
    _sound(rolecall, tale, disk)


@on("APFS", "NTFS")
def test_the_games_own_files_in_another_case_are_its_own(disk: Disk, tale: Path, narrator: str, rolecall) -> None:
    _fold_soon(tale)
    for n in range(1, 6):
        assert rolecall("-C", tale, "turn", f"I wait, {n}.", "--model", narrator).code == 0
    kinds = _kinds(rolecall, tale)
    for name in ("campaign-state.md", "Story", "Chronicles", "Dm"):
        os.rename(tale / name.lower(), tale / name.title())
    assert _kinds(rolecall, tale) == kinds and {"story", "chronicle", "state"} <= set(kinds.values())
    ran = rolecall("-C", tale, "turn", "I wait on.", "--model", narrator)
    assert ran.code == 0, ran.err
    assert len([path for path in _text(tale) if path.casefold().startswith("story/")]) == 1
    _sound(rolecall, tale, disk)
    assert rolecall("-C", tale, "undo").code == 0
    assert not [path for path, data in _text(tale).items() if LINE.format(n=6).encode() in data]


@on("HFS+", "NTFS")
def test_an_import_of_names_that_clash_there(disk: Disk, tale: Path, narrator: str, rolecall) -> None:
    names = ["Rook", "rook", "ROOK", "Éire", _decomposed("Éire"), "éire", "Con", "aux.", "COM¹", "Tür?", "a" * 200]  # fmt: skip
    entries = {
        str(n): {"uid": n, "key": [name], "comment": name, "content": f"Entry {n} of them."}
        for n, name in enumerate(names)
    }
    book = disk.root / "Book.json"
    book.write_bytes(json.dumps({"entries": entries}, ensure_ascii=False).encode())
    before = _text(tale)
    ran = rolecall("-C", tale, "import", book)
    assert ran.code == 0, ran.err
    made = _text(tale).keys() - before.keys()
    said = "".join(data.decode() for path, data in _text(tale).items() if not path.startswith("imports/"))
    assert [said.count(f"Entry {n} of them.") for n in range(len(names))] == [1] * len(names)
    assert made and len({disk.system.fold(path) for path in made}) == len(made)
    spelled(disk)
    assert rolecall("-C", tale, "import", "--undo").code == 0
    assert _text(tale) == before


@on("APFS", "NTFS")
def test_a_vault_that_is_imported_and_one_that_is_adopted(disk: Disk, tale: Path, rolecall) -> None:
    vault = disk.root / "vault"
    for name in ("Marta's Inn.md", "Über uns.md", _decomposed("Höhle.md")):
        _write(vault / "People" / name, f"---\ntags: [x]\n---\nOf {name}.\n")
    before = _text(vault)
    ran = rolecall("-C", tale, "import", vault)
    assert ran.code == 0, ran.err
    spelled(disk)
    ran = rolecall("new", "--adopt", vault)
    assert ran.code == 0, ran.err
    assert {path: data for path, data in _text(vault).items() if path in before} == before
    found = json.loads(rolecall("-C", vault, "search", "Höhle", "--json").out)[0]["path"]
    assert unicodedata.normalize("NFC", found) == "People/Höhle.md"
    spelled(disk)


@NEEDS_GIT
@on("HFS+", "FAT")
def test_timelines_and_what_git_is_told(disk: Disk, tale: Path, narrator: str, rolecall) -> None:
    for n in range(1, 4):
        assert rolecall("-C", tale, "turn", f"I wait, {n}.", "--model", narrator).code == 0
    assert rolecall("-C", tale, "branch", "what-if").code == 0
    assert rolecall("-C", tale, "undo").code == 0
    ran = rolecall("-C", tale, "timeline", "main")
    assert ran.code == 0, ran.err
    assert len(_journal(tale)) == 3
    _sound(rolecall, tale, disk)
    log = subprocess.run(["git", "log", "--format=%s"], cwd=tale, capture_output=True, check=True, encoding="utf-8")
    assert [line[:5] for line in log.stdout.splitlines()[:3]] == ["T0003", "T0002", "T0001"]
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tale, capture_output=True, check=True)
    assert status.stdout == b""


@NEEDS_GIT
@on("renamed")
def test_a_file_that_git_knows_by_another_case_is_part_of_its_turns_commit(
    disk: Disk, tale: Path, narrator: str, rolecall
) -> None:
    os.rename(tale / "characters/Marta.md", tale / "characters/marta.md")
    for n in (1, 2):
        ran = rolecall("-C", tale, "turn", f"I wait, {n}.", "--model", narrator)
        assert ran.code == 0, ran.err
        shown = subprocess.run(
            ["git", "show", "--format=%s", "--name-only"], cwd=tale, capture_output=True, check=True, encoding="utf-8"
        ).stdout.splitlines()
        assert shown[0].startswith(f"T{n:04d}") and "characters/marta.md" in shown
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tale, capture_output=True, check=True)
    assert status.stdout == b""
    assert "characters/Marta.md" in open_campaign(tale).names()


@on("APFS", "NTFS")
def test_an_export_in_another_case_spares_the_campaign(disk: Disk, tale: Path, rolecall) -> None:
    before = _text(tale)
    machine = {path.name: path.read_bytes() for path in (tale / ".rolecall").iterdir() if path.is_file()}
    for place in (
        "TALE/LORE/Book.MD",
        "tale/.ROLECALL/lock",
        "Tale/RoleCall.yaml",
        "tale/.GIT/config",
        "TALE/rolecall.YAML",
    ):
        ran = rolecall("-C", tale, "export", "markdown", "-o", disk.root / place, "--force")
        assert ran.code == 1 and "inside the campaign" in ran.err, (place, ran.err)
    assert _text(tale) == before
    assert {path.name: path.read_bytes() for path in (tale / ".rolecall").iterdir() if path.is_file()} == machine

"""An import as one thing: planned, made, explained, taken back; killed, and made twice."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rolecall.campaign import checks, files, lock, records
from rolecall.campaign.folder import open_campaign
from rolecall.exchange import importing
from tests.conftest import REPOSITORY
from tests.exchange import foreign
from tests.exchange.conftest import tree

BOOK = foreign.world(
    {"comment": "Skerrow Light", "content": "A lighthouse.\n\nIt burns blue.", "key": ["lamp"], "constant": True},
    {"comment": "Captain Varr", "content": "He rules the port. He has a limp.", "key": ["Varr"]},
)


def test_a_dry_run_says_what_would_be_made_and_makes_nothing(rolecall, campaign, tmp_path):
    place, before = foreign.write(tmp_path / "book.json", BOOK), tree(campaign)
    ran = rolecall("-C", campaign, "import", place, "--dry-run")
    assert ran.code == 0 and "would make 2 files" in ran.out and "Captain Varr → characters/captain-varr.md" in ran.err
    told = json.loads(rolecall("-C", campaign, "import", place, "--dry-run", "--json").out)["imports"][0]
    assert tree(campaign) == before and told["dry_run"] and told["receipt"] == ""
    really = json.loads(rolecall("-C", campaign, "import", place, "--json").out)["imports"][0]
    assert {**really, "dry_run": True, "receipt": ""} == told


def test_an_import_is_taken_back_to_the_last_byte(rolecall, campaign, tmp_path, take):
    before = tree(campaign)
    take(BOOK, "book.json")
    ran = rolecall("-C", campaign, "import", "--undo")
    assert ran.code == 0 and "imports/book is taken back: 5 files" in ran.out
    assert tree(campaign) == before and not (campaign / "imports").exists()
    assert rolecall("-C", campaign, "import", "--undo").code == 1
    take(BOOK, "book.json")


def test_what_you_changed_since_stays_when_an_import_is_taken_back(rolecall, campaign, take):
    receipt = take(BOOK, "book.json")
    mine = campaign / receipt["made"][1]["path"]
    mine.write_bytes(mine.read_bytes() + b"\nHe is my uncle.\n")
    ran = rolecall("-C", campaign, "import", "--undo", "book")
    assert f"{receipt['made'][1]['path']} stays" in ran.err and mine.read_bytes().endswith(b"uncle.\n")
    assert not (campaign / receipt["made"][0]["path"]).exists()


def test_why_says_where_an_imported_line_comes_from(rolecall, campaign, take):
    path = take(BOOK, "book.json")["made"][1]["path"]
    rows = json.loads(rolecall("-C", campaign, "why", path, "--json").out)
    line = next(row for row in rows if row["text"].startswith("He rules"))
    assert line["reason"] == "imported from SillyTavern world info"
    assert line["source"] == "imports/book/book.json, entries/1"


def test_the_same_file_comes_in_once_unless_you_say_again(rolecall, campaign, tmp_path, take):
    take(BOOK, "book.json")
    other = foreign.write(tmp_path / "renamed.json", BOOK)
    ran = rolecall("-C", campaign, "import", other)
    assert ran.code == 1 and "imported before (imports/book)" in ran.err
    again = take(other, "", "--again")
    assert again["folder"] == "imports/renamed"
    assert [row["path"] for row in again["made"]] == ["lore/skerrow-light-2.md", "characters/captain-varr-2.md"]
    assert sum("both stand" in note for note in again["notes"]) == 2


def test_two_of_one_name_never_overwrite_each_other_nor_what_is_there(campaign, take):
    (campaign / "lore").mkdir()
    (campaign / "lore" / "Well.md").write_bytes(b"Mine.\n")
    rows = [
        {"comment": name, "content": f"Text {n}."} for n, name in enumerate(["Well", "WELL", "well!", "Well", "Wéll"])
    ]
    receipt = take(foreign.world(*rows))
    paths = [row["path"] for row in receipt["made"]]
    assert paths == ["lore/well-2.md", "lore/well-3.md", "lore/well-4.md", "lore/well-5.md", "lore/wéll.md"]
    assert [(campaign / p).read_text("utf-8").split("---\n")[-1] for p in paths] == [f"Text {n}.\n" for n in range(5)]
    assert (campaign / "lore" / "Well.md").read_bytes() == b"Mine.\n"


def test_a_twin_is_told_and_both_stand(campaign, take):
    receipt = take(foreign.card("Hesper Dunmow"))
    assert any("may be characters/hesper-dunmow.md (the same name)" in note for note in receipt["notes"])


def test_too_many_constants_are_not_all_pinned(campaign, take):
    rows = [{"comment": f"Law {n}", "content": "x" * 3000, "constant": True} for n in range(4)]
    receipt = take(foreign.world(*rows))
    pinned = [row for row in receipt["made"] if b"pinned: true" in (campaign / row["path"]).read_bytes()]
    assert len(pinned) == 2 and any("Not pinned" in note and "Law 3" in note for note in receipt["notes"])


def test_several_files_come_in_and_one_that_cannot_is_said(rolecall, campaign, tmp_path):
    good, bad = foreign.write(tmp_path / "a.json", BOOK), foreign.write(tmp_path / "b.json", b"{")
    ran = rolecall("-C", campaign, "import", good, bad, foreign.write(tmp_path / "c.json", foreign.card()))
    assert ran.code == 1 and ran.out.count("\n") == 2 and ran.err.count("Error: ") == 1 and "b.json:1" in ran.err


def test_an_import_waits_for_the_lock(rolecall, campaign, tmp_path):
    place = foreign.write(tmp_path / "a.json", BOOK)
    with lock.hold(campaign, "someone else"):
        ran = rolecall("-C", campaign, "import", place, "--wait", "0")
    assert ran.code == 1 and "another command is writing here" in ran.err and not (campaign / "imports").exists()


class Stop(BaseException):
    """A kill, for this process."""


class Killed(files.FileSystem):
    """Stops everything at the nth call that changes something."""

    def __init__(self, at: int) -> None:
        self.left = at

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stop

    def write(self, fd, data):
        self._step()
        return super().write(fd, data)

    def link(self, source, target):
        self._step()
        super().link(source, target)

    def mkdir(self, path):
        self._step()
        super().mkdir(path)

    def unlink(self, path):
        if self.left < 0:
            raise Stop
        super().unlink(path)


def test_an_import_killed_at_any_step_is_finished_or_taken_back_by_the_next_command(campaign, tmp_path, monkeypatch):
    from rolecall.turn import intake, recovery
    from rolecall.turn.game import Game
    from rolecall.turn.lifecycle import Listener

    place = foreign.write(tmp_path / "book.json", BOOK)
    game = Game(campaign, command="import")
    before = tree(campaign)
    intake.take(game, place, Listener())
    whole = tree(campaign)
    importing.undo(campaign, "")
    ends, step = set(), 0
    while True:
        monkeypatch.setattr(files, "fs", killed := Killed(step))
        with contextlib.suppress(Stop):
            intake.take(game, place, Listener())
        monkeypatch.setattr(files, "fs", files.FileSystem())
        with lock.hold(campaign, "next"):
            recovery.recover(open_campaign(campaign), game.search(open_campaign(campaign)))
        now = tree(campaign)
        assert now in (before, whole), (step, set(now) ^ set(whole))
        assert checks.check(open_campaign(campaign)) == []
        ends.add(now == whole)
        if now == whole:
            importing.undo(campaign, "")
        assert tree(campaign) == before
        if killed.left >= 0:
            break
        step += 1
    assert ends == {True, False} and step > 15


def test_a_killed_command_is_finished_by_the_next_that_reads(campaign, tmp_path, rolecall):
    place = foreign.write(tmp_path / "book.json", BOOK)
    code = (
        "import os, sys\n"
        "from rolecall.campaign import files\n"
        "real = files.fs.link\n"
        "def link(source, target):\n"
        "    real(source, target)\n"
        "    if target.name == 'skerrow-light.md': os._exit(9)\n"
        "files.fs.link = link\n"
        "from rolecall.cli.main import main\n"
        f"sys.argv = ['rolecall', '-C', {str(campaign)!r}, 'import', {str(place)!r}]\n"
        "main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True)
    assert ran.returncode == 9
    assert not (campaign / "characters" / "captain-varr.md").exists()
    told = rolecall("-C", campaign, "list")
    assert told.code == 0 and "An import that was interrupted is finished: imports/book" in told.err
    assert "Captain Varr" in told.out and (campaign / "imports/book/receipt.md").exists()


def test_an_import_that_was_killed_and_is_given_again_is_finished_and_not_refused(
    campaign, tmp_path, monkeypatch, rolecall
):
    place = foreign.write(tmp_path / "book.json", BOOK)
    rolecall("-C", campaign, "import", place)
    whole = tree(campaign)
    importing.undo(campaign, "")
    monkeypatch.setattr(files, "fs", Killed(12))
    with pytest.raises(Stop):
        rolecall("-C", campaign, "import", place)
    monkeypatch.setattr(files, "fs", files.FileSystem())
    again = rolecall("-C", campaign, "import", place)
    assert (again.code, again.out) == (0, "imports/book is whole: what was interrupted is finished\n")
    assert "Receipt: imports/book/receipt.md" in again.err and tree(campaign) == whole
    assert "imported before" in rolecall("-C", campaign, "import", place).err


@pytest.mark.parametrize(
    "line", ["not json", '{"do": "begin", "import": "../x", "files": []}', '{"do": "begin", "import": 3}']
)
def test_a_damaged_record_of_an_import_stops_nobody(line, rolecall, campaign, take):
    place = campaign / ".rolecall/edits/import-0001"
    place.mkdir(parents=True)
    (place / "record.jsonl").write_text(line + "\n")
    assert rolecall("-C", campaign, "import", "--undo").code == 1
    assert take(BOOK)["made"] and len(records.others(campaign)) == 2


def test_a_file_that_is_none_and_a_name_that_is_none_are_said(rolecall, campaign):
    assert "no such file" in rolecall("-C", campaign, "import", "nowhere.json").err
    assert rolecall("-C", campaign, "import").code == 2
    assert "no import 'x' is on record" in rolecall("-C", campaign, "import", "--undo", "x").err


@pytest.mark.parametrize("name", ["entries.json", "Receipt.md.json", "receipt.MD"])
def test_an_original_never_takes_the_place_of_the_map_or_the_receipt(name, take, campaign):
    data = json.dumps(foreign.world({"comment": "Well", "content": "Deep."})).encode()
    receipt = take(data, name) if not name.endswith("MD") else take(b"A note.\n", name)
    held = [p for p in (campaign / receipt["folder"]).rglob("*") if p.is_file()]
    assert len(held) == 3 and (campaign / receipt["folder"] / "receipt.md").read_bytes().startswith(b"# ")
    assert json.loads((campaign / receipt["folder"] / "entries.json").read_bytes())["made"]


def test_a_disk_that_is_full_leaves_nothing_behind(campaign, tmp_path, monkeypatch, rolecall):
    place, before = foreign.write(tmp_path / "book.json", BOOK), tree(campaign)
    rolecall("-C", campaign, "list")
    whole = False
    for step in range(100):
        monkeypatch.setattr(files, "fs", Full(step))
        ran = rolecall("-C", campaign, "import", place)
        monkeypatch.setattr(files, "fs", files.FileSystem())
        whole = ran.code == 0
        assert whole or (ran.err.count("Error: ") == 1 and "the disk is full" in ran.err), ran.err
        if whole:
            break
        assert tree(campaign) == before, step
        assert checks.check(open_campaign(campaign)) == []
    assert whole and step > 6


class Full(files.FileSystem):
    """A disk on which, after so many calls, there is no room for one more new file."""

    def __init__(self, at: int) -> None:
        self.left = at

    def write(self, fd, data):
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(fd, data)


def test_more_than_a_record_can_hold_is_refused_and_nothing_is_made(rolecall, campaign, tmp_path):
    rows = [{"comment": f"Quotes {n}", "content": '"' * 1_400_000} for n in range(9)]  # doubled in the record
    place, before = foreign.write(tmp_path / "big.json", foreign.world(*rows)), tree(campaign)
    ran = rolecall("-C", campaign, "import", place)
    assert ran.code == 1 and "more than 24 MiB" in ran.err and tree(campaign) == before
    assert records.others(campaign) == []


def test_a_closed_import_is_not_read_again_before_a_turn(campaign, take, monkeypatch):
    take(BOOK)
    monkeypatch.setattr(records, "lines", lambda *_: pytest.fail("the record was read"))
    assert importing.finish(campaign) == []


def test_notes_that_cannot_be_read_are_counted_where_they_are_brought_in(rolecall, campaign, tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Sound.md").write_text("A sound note.\n")
    (vault / "Broken.md").write_text("---\nname: a: b\n---\nA note.\n")
    ran = rolecall("-C", campaign, "import", vault)
    assert ran.code == 0 and "made 2 files" in ran.out
    assert "1 of them has broken front matter and stays out of the game" in ran.err
    checked = rolecall("-C", campaign, "check")
    assert checked.code == 1 and "Broken.md:2" in checked.out


def pipe(place: Path) -> None:
    place.unlink(missing_ok=True)
    os.mkfifo(place) if hasattr(os, "mkfifo") else place.mkdir()


def test_check_tells_of_an_original_that_is_gone_or_changed(campaign, take):
    folder = campaign / take(BOOK, "book.json")["folder"]
    original, whole = folder / "book.json", (folder / "book.json").read_bytes()
    assert checks.check(open_campaign(campaign)) == []
    for spoil, rule, path in (
        (lambda: original.write_bytes(whole + b" "), "original-changed", "imports/book/book.json"),
        (original.unlink, "original-gone", "imports/book/book.json"),
        (lambda: pipe(original), "original-changed", "imports/book/book.json"),  # nothing waits for what never comes
        (lambda: (folder / "entries.json").write_text("{}"), "original-map", "imports/book/entries.json"),
        (lambda: pipe(folder / "entries.json"), "original-map", "imports/book/entries.json"),
    ):
        spoil()
        (found,) = checks.check(open_campaign(campaign))
        assert (found.rule, found.path) == (rule, path) and "git or a backup" in found.remedy


def test_check_tells_of_a_note_that_is_gone_from_a_folder_that_was_imported(rolecall, campaign, tmp_path):
    vault = tmp_path / "vault"
    for name in ("a", "b"):
        vault.mkdir(exist_ok=True)
        foreign.write(vault / f"{name}.md", f"# {name}\n\nText.\n".encode())
    assert rolecall("-C", campaign, "import", vault).code == 0
    assert [p for p in checks.check(open_campaign(campaign)) if p.rule.startswith("original")] == []
    (campaign / "imports" / "vault" / "files" / "b.md").unlink()
    found = [p for p in checks.check(open_campaign(campaign)) if p.rule.startswith("original")]
    assert [(p.rule, p.path) for p in found] == [("original-gone", "imports/vault/files/b.md")]

"""Catalogue and index follow the files."""

from __future__ import annotations

import os
import random
import unicodedata
from pathlib import Path

import pytest

from rolecall.campaign.folder import Stamp
from rolecall.errors import StorageError
from rolecall.search.reconcile import Plan, plan
from tests.search import world
from tests.search.contents import contents, folder_of, same_as_new
from tests.search.folders import Folder, age, unreadable


def test_a_plan_names_what_is_new_changed_uncertain_or_gone() -> None:
    one, two = Stamp(1, 2, 3), Stamp(1, 9, 3)
    known = {"same": one, "changed": one, "uncertain": None, "gone": one}
    now = {"same": one, "changed": two, "uncertain": one, "new": one}
    assert plan(known, now) == Plan(("changed", "new", "uncertain"), ("gone",))
    assert not plan({"a": one}, {"a": one})


def test_a_change_is_found_at_the_next_refresh_and_the_old_text_is_not(folder: Folder) -> None:
    folder.write("lore/mill.md", "The mill burned in the thaw.")
    search = folder.refreshed()
    assert search.find("mill thaw")
    folder.write("lore/mill.md", "The mill was rebuilt of gannetstone.")
    assert search.refresh() is True
    assert search.find("gannetstone")[0].path == "lore/mill.md"
    assert search.find("burned thaw") == []
    assert search.refresh() is False


def test_a_file_restored_with_an_older_date_is_seen(folder: Folder) -> None:
    path = folder.write("lore/mill.md", "new words")
    search = folder.refreshed()
    path.write_text("old words of gannet")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    search.refresh()
    assert search.find("gannet")


def test_a_second_write_in_the_same_tick_with_the_same_size_is_seen(folder: Folder) -> None:
    path = folder.write("lore/mill.md", "aaaa gannet")
    now = int(os.stat(path).st_ctime_ns)
    os.utime(path, ns=(now, now))
    search = folder.refreshed()
    path.write_text("bbbb ledger")
    os.utime(path, ns=(now, now))
    search.refresh()
    assert search.find("ledger") and not search.find("gannet")


def test_deleted_files_are_forgotten(folder: Folder) -> None:
    path = folder.write("lore/mill.md", "gannet")
    folder.write("lore/other.md", "ledger")
    search = folder.refreshed()
    path.unlink()
    search.refresh()
    assert search.find("gannet") == []
    assert list(search.catalogue) == ["lore/other.md"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lore/rook.md", "lore/Rook.md"),
        (unicodedata.normalize("NFD", "lore/Éire.md"), "lore/Éire.md"),
        ("lore/rook.md", "characters/rook.md"),
    ],
)
def test_a_rename_leaves_one_entry(folder: Folder, old: str, new: str) -> None:
    folder.write(old, "gannet")
    search = folder.refreshed()
    (folder.root / new).parent.mkdir(exist_ok=True)
    (folder.root / old).rename(folder.root / new)
    search.refresh()
    assert [hit.path for hit in search.find("gannet")] == [new]
    assert list(search.catalogue) == [new]
    assert [key[0] for key in contents(search)] == [new]


def test_a_folder_renamed_moves_all_its_files(folder: Folder) -> None:
    for number in range(5):
        folder.write(f"lore/old/{number}.md", f"gannet {number}")
    search = folder.refreshed()
    (folder.root / "lore/old").rename(folder.root / "lore/new")
    search.refresh()
    assert {hit.path for hit in search.find("gannet")} == {f"lore/new/{n}.md" for n in range(5)}
    assert search.find("gannet", under="lore/old") == []


def test_one_bad_file_is_quarantined_and_the_rest_goes_on(folder: Folder) -> None:
    folder.write("lore/bad.md", "---\nname: [open\n---\nmarrow\n")
    folder.write("lore/good.md", "gannet")
    search = folder.refreshed()
    assert search.find("gannet")
    assert "lore/bad.md" in search.catalogue["lore/bad.md"].broken
    assert search.refresh() is False, "it is not tried again before it changes"
    folder.write("lore/bad.md", "---\nname: Mended\n---\nmarrow\n")
    search.refresh()
    assert search.catalogue["lore/bad.md"].broken == ""
    assert search.find("marrow")[0].name == "Mended"


def test_an_unreadable_file_keeps_its_place_and_is_tried_again(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet")
    search = folder.refreshed()
    path = folder.write("lore/mill.md", "ledger")
    with unreadable(path):
        search.refresh()
        assert "permission denied" in search.catalogue["lore/mill.md"].broken
        assert search.find("gannet") == []
    search.refresh()
    assert search.catalogue["lore/mill.md"].broken == ""
    assert search.find("ledger")


@pytest.mark.parametrize("where", ["", "lore"])
def test_an_unreadable_folder_is_an_error_and_never_looks_empty(folder: Folder, where: str) -> None:
    folder.write("lore/mill.md", "gannet")
    search = folder.refreshed()
    before = contents(search)
    with unreadable(folder.root / where):
        with pytest.raises(StorageError):
            search.refresh()
        with pytest.raises(StorageError):
            folder.search().find("gannet")
    assert contents(search) == before
    assert search.refresh() is False
    assert search.find("gannet")


def test_a_file_written_between_the_listing_and_the_reading_is_not_lost(folder: Folder, monkeypatch) -> None:
    """The listing is taken first; what appears or changes afterwards belongs to the next one."""
    folder.write("lore/a.md", "gannet")
    search = folder.search()
    read = type(search.campaign).read

    def read_and_write(campaign, path):
        data = read(campaign, path)
        if not (folder.root / "lore/b.md").exists():
            folder.write("lore/b.md", "ledger")
            folder.write("lore/a.md", "gannet marrow")
        return data

    monkeypatch.setattr(type(search.campaign), "read", read_and_write)
    search.refresh()
    assert list(search.catalogue) == ["lore/a.md"]
    monkeypatch.undo()
    search.refresh()
    assert search.find("ledger") and search.find("marrow")


def test_a_file_that_goes_between_the_listing_and_the_reading_is_gone(folder: Folder, monkeypatch) -> None:
    folder.write("lore/a.md", "gannet")
    path = folder.write("lore/b.md", "ledger")
    search = folder.search()
    read = type(search.campaign).read

    def read_and_remove(campaign, name):
        path.unlink(missing_ok=True)
        return read(campaign, name)

    monkeypatch.setattr(type(search.campaign), "read", read_and_remove)
    search.refresh()
    assert list(search.catalogue) == ["lore/a.md"]
    assert search.find("ledger") == []


@pytest.mark.parametrize("name", [".rolecall-1.tmp", "mill.md~", ".mill.md.swp", "#mill.md#", "4913", ".hidden.md"])
def test_temporary_and_hidden_names_are_not_seen(folder: Folder, name: str) -> None:
    folder.write("lore/mill.md", "ledger")
    search = folder.refreshed()
    folder.write(f"lore/{name}", "gannet")
    folder.write(".git/x.md", "gannet")
    assert search.refresh() is False
    assert search.find("gannet") == []


def test_a_link_in_a_circle_harms_nothing(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet")
    (folder.root / "lore/loop").symlink_to(".", target_is_directory=True)
    (folder.root / "lore/self.md").symlink_to("self.md")
    search = folder.refreshed()
    assert [hit.path for hit in search.find("gannet")] == ["lore/mill.md"]


def test_the_index_stays_true_through_any_edits_of_the_story(folder: Folder) -> None:
    """After random edits, also of chapters, the index holds exactly what one built from nothing holds."""
    rng = random.Random(4)
    made = world.World.of(2, 300)
    texts = dict(world.chapters(made, 40, each=8))
    texts |= dict(world.entries(made, 6))
    texts["lore/secret.md"] = "---\nname: Hidden\nvisibility: secret\n---\nnothing open\n"
    for path, text in texts.items():
        folder.write(path, text)
    search = folder.refreshed()
    tied = 0
    for step in range(30):
        for _ in range(rng.randint(1, 3)):
            _edit(rng, made, folder, texts, step)
        search.refresh()
        fresh = Folder(folder.root.parent / f"again{step}")
        for path, text in texts.items():
            fresh.write(path, text)
        anew = fresh.refreshed()
        assert same_as_new(search, anew), step
        assert search.catalogue.chapters == anew.catalogue.chapters
        said = " and ".join(
            n for e in anew.catalogue.values() for n in (e.name, *e.aliases, *(r.target for r in e.refs))
        )
        assert search.mentions(said, secrets=True) == anew.mentions(said, secrets=True)
        assert search.keyed(said) == anew.keyed(said)
        assert search.ties.all(secrets=True) == anew.ties.all(secrets=True)
        tied += len(anew.ties.all())
        assert [search.neighbours(p) for p in sorted(texts)] == [anew.neighbours(p) for p in sorted(texts)]
    assert tied, "the edits made ties to compare"


def _edit(rng: random.Random, made: world.World, folder: Folder, texts: dict[str, str], step: int) -> None:
    path = rng.choice(sorted(texts))
    kind = rng.choice(("append", "cut", "word", "remove", "new", "secret", "forget", "rename", "key", "refer"))
    text = texts[path]
    if kind == "append":
        text += f"\n## T{100 + step:04}\n\n{made.prose(12)}\n"
    elif kind == "cut":
        parts = text.split("\n## ")
        dropped = rng.randrange(len(parts))
        text = "\n## ".join(part for at, part in enumerate(parts) if not at or at != dropped)
    elif kind == "word":
        words = text.split(" ")
        words[rng.randrange(len(words) // 2, len(words))] = made.prose(1).strip(".")
        text = " ".join(words)
    elif kind == "secret":
        text += f"\n## Secret\n\n{made.prose(8)}\n"
    elif kind == "forget":
        text = text.replace("---\n", f"---\nforgotten: T{step:04} so\n", 1) if "forgotten:" not in text else text
    elif kind == "rename" and "name: " in text:
        old = text.split("name: ")[1].split("\n")[0]
        text = text.replace(f"name: {old}", f"name: {rng.choice([made.name(), 'Twice Borne'])}", 1)
    elif kind == "key" and text.startswith("---\n") and "keys:" not in text:
        text = text.replace("---\n", f"---\nkeys: [{rng.choice(('chapter', 'the', made.name()))}]\n", 1)
    elif kind == "refer":
        others = [t.split("name: ")[1].split("\n")[0] for t in texts.values() if "name: " in t]
        text += f"\nSee [[{rng.choice(others)}]].\n"
    elif kind == "remove" and len(texts) > 5:
        (folder.root / path).unlink()
        del texts[path]
        return
    elif kind == "new":
        path = f"story/{rng.randint(0, 9):03}-new{step}.md"
        text = f"---\nname: New {step}\n---\n\n## T{rng.randint(1, 60):04}\n\n{made.prose(15)}\n"
    texts[path] = text
    folder.write(path, text)


def test_an_edit_in_a_chapter_touches_the_turn_and_its_neighbours_only(folder: Folder) -> None:
    made = world.World.of(2, 300)
    (path, text), *_ = world.chapters(made, 30, each=30)
    folder.write(path, text)
    search = folder.refreshed()
    before = {file: file.stat().st_size for file in folder_of(search).glob("*.seg")}
    folder.write(path, text + "\n## T0031\n\nThe gannet came.\n")
    search.refresh()
    new = [file for file in folder_of(search).glob("*.seg") if file not in before]
    from rolecall.search import index as engine

    index = engine.open_index(folder_of(search))
    index.size()
    added = [leaf.doc_count_all() for leaf, _ in index._leaves]
    assert len(new) == 1 and sorted(added)[0] == 3


def test_a_look_at_some_paths_sees_those_and_leaves_the_others_for_the_next_look(folder: Folder) -> None:
    for name in ("a", "b", "c"):
        folder.write(f"lore/{name}.md", f"ledger {name}")
    search = folder.refreshed()
    for name in ("a", "b", "new"):
        folder.write(f"lore/{name}.md", f"gannet {name}")
    (folder.root / "lore/c.md").unlink()
    folder.write("imports/x.md", "gannet")
    assert search.refresh(only=["lore/a.md", "lore/new.md", "lore/c.md", "imports/x.md", "notes.txt"]) is True
    assert {h.path for h in search.find("gannet")} == {"lore/a.md", "lore/new.md"}
    assert [h.path for h in search.find("ledger")] == [], "b was found by its old words, and is not what it was"
    assert search.refresh() is True
    assert {h.path for h in search.find("gannet")} == {"lore/a.md", "lore/b.md", "lore/new.md"}
    assert search.refresh(only=["lore/a.md"]) is False


def test_progress_counts_every_file(folder: Folder) -> None:
    for number in range(7):
        folder.write(f"lore/{number}.md", "x")
    seen: list[tuple[int, int]] = []
    folder.search().refresh(lambda done, total: seen.append((done, total)))
    assert seen == [(n, 7) for n in range(1, 8)]


def test_a_touched_file_is_not_indexed_again(folder: Folder) -> None:
    path = folder.write("lore/mill.md", "gannet")
    search = folder.refreshed()
    before = sorted(folder_of(search).glob("*.seg"))
    age(path)
    assert search.refresh() is True
    assert sorted(folder_of(search).glob("*.seg")) == before
    assert search.refresh() is False


def test_what_a_search_wrote_lies_in_the_cache_and_nothing_in_the_campaign(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet")
    before = {p: p.read_bytes() for p in folder.root.rglob("*") if p.is_file()}
    folder.refreshed().find("gannet")
    assert {p: p.read_bytes() for p in folder.root.rglob("*") if p.is_file()} == before
    assert list(Path(folder.cache).iterdir())

"""An index is opened only if this program made it, there, and it is still the same."""

from __future__ import annotations

import os
import pickle
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.campaign.folder import open_campaign
from rolecall.errors import SearchError
from rolecall.search.searcher import Search
from tests.search.contents import folder_of
from tests.search.folders import Folder, unreadable


class Bomb:
    """Unpickled, it makes a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.fixture
def built(folder: Folder) -> Folder:
    """A campaign with an index."""
    folder.write("lore/mill.md", "gannet")
    folder.write("characters/valen.md", "---\nname: Valen\n---\nledger\n")
    folder.refreshed()
    return folder


def place(folder: Folder) -> Path:
    return next(folder.cache.glob("*/catalogue")).parent


def still_right(folder: Folder) -> bool:
    """Whether a new process finds what it should, from an index and not by scanning."""
    search = folder.refreshed()
    return [h.path for h in search.find("gannet")] == ["lore/mill.md"] and not search.partial


def rebuilt(folder: Folder, before: Path) -> bool:
    return folder_of(folder.search()) != before


def test_a_new_process_uses_the_index_that_is_there(built: Folder) -> None:
    before = folder_of(built.search())
    assert still_right(built)
    assert folder_of(built.search()) == before


def remove_all(place: Path) -> None:
    shutil.rmtree(place)


def remove_index(place: Path) -> None:
    shutil.rmtree(next(place.glob("index-*")))


def remove_catalogue(place: Path) -> None:
    (place / "catalogue").unlink()


def remove_contents_table(place: Path) -> None:
    next(place.glob("index-*/*.toc")).unlink()


def remove_segment(place: Path) -> None:
    next(place.glob("index-*/*.seg")).unlink()


def cut_segment(place: Path) -> None:
    segment = next(place.glob("index-*/*.seg"))
    segment.write_bytes(segment.read_bytes()[:100])


def empty_segment(place: Path) -> None:
    next(place.glob("index-*/*.seg")).write_bytes(b"")


def noise_in_segment(place: Path) -> None:
    segment = next(place.glob("index-*/*.seg"))
    segment.write_bytes(os.urandom(segment.stat().st_size))


def cut_catalogue(place: Path) -> None:
    path = place / "catalogue"
    path.write_bytes(path.read_bytes()[:-20])


def change_catalogue(place: Path) -> None:
    path = place / "catalogue"
    path.write_bytes(path.read_bytes().replace(b"Valen", b"Varen"))


def empty_catalogue(place: Path) -> None:
    (place / "catalogue").write_bytes(b"")


def older_catalogue(place: Path) -> None:
    """A catalogue of an earlier state of the index, as a crash between the two writes leaves it."""
    segment = next(place.glob("index-*/*.toc"))
    segment.rename(segment.with_name("_MAIN_7.toc"))


def copy_of_itself(place: Path) -> None:
    """The same bytes, restored from a copy: other inodes, so not what this program wrote."""
    shutil.copytree(place, place.with_name("copy"))
    shutil.rmtree(place)
    shutil.move(place.with_name("copy"), place)


def new_key(place: Path) -> None:
    (place.parent / "key").unlink()


def open_key(place: Path) -> None:
    (place.parent / "key").chmod(0o666)


DAMAGES = [
    remove_all,
    remove_index,
    remove_catalogue,
    remove_contents_table,
    remove_segment,
    cut_segment,
    empty_segment,
    noise_in_segment,
    cut_catalogue,
    change_catalogue,
    empty_catalogue,
    older_catalogue,
    copy_of_itself,
    new_key,
    open_key,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_deleted_or_damaged_index_costs_a_rebuild(built: Folder, damage) -> None:
    before = folder_of(built.search())
    damage(place(built))
    assert still_right(built)
    assert rebuilt(built, before)
    assert len(list(place(built).glob("index-*"))) == 1, "nothing old is left lying about"


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_search_that_is_open_survives_it_too(built: Folder, damage) -> None:
    search = built.refreshed()
    assert search.find("gannet")
    damage(place(built))
    assert [h.path for h in search.find("gannet")] == ["lore/mill.md"]
    built.write("lore/new.md", "marrow")
    search.refresh()
    assert search.find("marrow") and search.find("gannet") and not search.partial


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_search_that_was_opened_but_not_asked_yet_survives_it_too(built: Folder, damage) -> None:
    search = built.refreshed()
    damage(place(built))
    assert [h.path for h in search.find("gannet")] == ["lore/mill.md"]
    assert not search.partial


def test_a_foreign_index_is_never_opened(built: Folder, tmp_path: Path) -> None:
    """A contents table that would run code when it is read is thrown away unread."""
    mark = tmp_path / "bomb"
    for table in place(built).glob("index-*/*.toc"):
        table.write_bytes(pickle.dumps(Bomb(mark)))
    for segment in place(built).glob("index-*/*.seg"):
        segment.write_bytes(pickle.dumps(Bomb(mark)))
    assert still_right(built)
    assert not mark.exists()


def test_an_index_signed_with_another_key_is_never_opened(folder: Folder, tmp_path: Path) -> None:
    folder.write("lore/mill.md", "gannet")
    elsewhere = tmp_path / "elsewhere"
    Search(open_campaign(folder.root), cache=elsewhere).refresh()
    (made,) = elsewhere.glob("*/catalogue")
    shutil.copytree(made.parent, folder.cache / made.parent.name)
    assert still_right(folder)
    assert (folder.cache / "key").read_bytes() != (elsewhere / "key").read_bytes()


def test_the_key_and_the_indexes_are_the_users_own(built: Folder) -> None:
    assert stat.S_IMODE((built.cache / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(place(built).stat().st_mode) & 0o022 == 0
    assert stat.S_IMODE(folder_of(built.search()).stat().st_mode) & 0o077 == 0


def test_two_campaigns_have_an_index_each_and_a_moved_one_gets_a_new_one(tmp_path: Path) -> None:
    one, two = Folder(tmp_path / "one"), Folder(tmp_path / "two")
    two.cache = one.cache
    one.write("lore/a.md", "gannet")
    two.write("lore/b.md", "ledger")
    assert one.refreshed().find("gannet") and not one.refreshed().find("ledger")
    assert two.refreshed().find("ledger") and not two.refreshed().find("gannet")
    shutil.move(one.root, tmp_path / "moved")
    one.root = tmp_path / "moved"
    assert one.refreshed().find("gannet")
    assert len(list(one.cache.glob("*/catalogue"))) == 3


def test_another_language_is_another_index(built: Folder) -> None:
    before = folder_of(built.search())
    (built.root / "rolecall.yaml").write_text("format: 1\nname: Test\nlanguage: de\n")
    assert still_right(built)
    assert rebuilt(built, before)


def test_another_version_of_the_engine_is_another_index(built: Folder, monkeypatch) -> None:
    from rolecall.search import index

    before = folder_of(built.search())
    monkeypatch.setattr(index, "VERSION", "99.0")
    built.write("lore/new.md", "marrow")
    assert still_right(built)
    assert rebuilt(built, before)


@pytest.mark.parametrize("kind", ["file", "no way"])
def test_without_a_cache_folder_the_files_themselves_are_searched(folder: Folder, kind: str) -> None:
    folder.write("lore/mill.md", "gannet of the mill")
    folder.write("characters/valen.md", "---\nname: Valen\nsecret: canary\n---\nledger\n")
    folder.cache.parent.mkdir(exist_ok=True)
    if kind == "file":
        folder.cache.write_bytes(b"in the way")
    else:
        folder.cache = Path("/proc/no-such-place/cache")
    search = folder.refreshed()
    assert search.partial and search.trouble
    assert [h.path for h in search.find("gannet")] == ["lore/mill.md"]
    assert search.find("valen")[0].path == "characters/valen.md"
    assert search.find("canary") == []
    assert search.find("canary", secrets=True)
    assert [m.name for m in search.mentions("then Valen came")] == ["Valen"]
    assert search.tidy() is False


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_folder(path: Path) -> None:
    path.mkdir()
    (path / "something").write_bytes(b"in the way")


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")


@needs_pipes
@pytest.mark.parametrize("make", [fifo, endless])
@pytest.mark.parametrize("name", ["key", "catalogue"])
def test_a_pipe_or_device_in_the_cache_is_not_read(built: Folder, name: str, make: Callable[[Path], None]) -> None:
    path = built.cache / "key" if name == "key" else place(built) / "catalogue"
    path.unlink()
    make(path)
    assert still_right(built)
    assert path.is_file() and not path.is_symlink()


@needs_pipes
@pytest.mark.parametrize("make", [fifo, endless, a_folder])
@pytest.mark.parametrize("name", ["key", "catalogue", "lock"])
def test_a_rebuild_removes_what_stands_in_its_way(built: Folder, name: str, make: Callable[[Path], None]) -> None:
    path = built.cache / "key" if name == "key" else place(built) / name
    path.unlink(missing_ok=True)
    make(path)
    built.search().rebuild()
    assert still_right(built)
    assert not path.is_symlink() and not path.is_dir()


@pytest.mark.parametrize("link", [False, True])
def test_a_rebuild_follows_no_link_out_of_the_cache(built: Folder, tmp_path: Path, link: bool) -> None:
    there = place(built)
    shutil.rmtree(there)
    outside = tmp_path / "outside"
    a_folder(outside)
    (outside / "catalogue").mkdir()
    there.symlink_to(outside) if link else there.write_bytes(b"in the way")
    built.search().rebuild()
    assert still_right(built) and there.is_dir() and not there.is_symlink()
    assert sorted(found.name for found in outside.iterdir()) == ["catalogue", "something"]


def test_a_rebuild_that_cannot_be_is_told_in_one_plain_line(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet")
    folder.cache.write_bytes(b"in the way")
    search = folder.search()
    with pytest.raises(SearchError, match="the index cannot be rebuilt: ") as caught:
        search.rebuild()
    said = str(caught.value)
    assert str(folder.cache) in said and "Error(" not in said and "Errno" not in said and "\n" not in said
    assert folder.cache.read_bytes() == b"in the way"
    assert [h.path for h in search.find("gannet")] == ["lore/mill.md"]


def test_an_unreadable_file_without_an_index_is_known_as_broken_and_stops_nothing(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet of the mill")
    shut = folder.write("lore/shut.md", "---\nname: Shut\n---\ngannet\n")
    folder.cache.write_bytes(b"in the way")
    with unreadable(shut):
        search = folder.refreshed()
        assert search.partial and "ermission denied" in search.catalogue["lore/shut.md"].broken
        assert [h.path for h in search.find("gannet")] == ["lore/mill.md"]
        assert [h.path for h in search.find("mill", secrets=True, withheld=True)] == ["lore/mill.md"]


def test_an_unreadable_file_is_broken_in_a_new_index_too(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet of the mill")
    shut = folder.write("lore/shut.md", "---\nname: Shut\n---\ngannet\n")
    with unreadable(shut):
        search = folder.refreshed()
        assert not search.partial and "ermission denied" in search.catalogue["lore/shut.md"].broken
        assert [h.path for h in search.find("gannet")] == ["lore/mill.md"]
    assert {h.path for h in folder.refreshed().find("gannet")} == {"lore/mill.md", "lore/shut.md"}

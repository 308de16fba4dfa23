"""Edits are found while a program runs, without asking for a refresh."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from watchdog import events

from rolecall.search.searcher import Search
from rolecall.search.watcher import Watcher
from tests.search.folders import Folder, unreadable

PATIENCE = 20.0  # seconds before a test gives up; how fast it is is measured by the benchmarks


def eventually(holds: Callable[[], object]) -> bool:
    """Whether something comes true before patience runs out."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False


@contextmanager
def watched(folder: Folder, **options: object) -> Iterator[tuple[Search, Watcher, list[float]]]:
    """A search that a watcher keeps current; the list gets an item for each update."""
    search = folder.refreshed()
    updates: list[float] = []
    watcher = Watcher(search, lambda: updates.append(time.monotonic()), **options)
    watcher.start()
    try:
        yield search, watcher, updates
    finally:
        watcher.stop()


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def by_renaming(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text)
    os.replace(temporary, path)


def as_vim_does(path: Path, text: str) -> None:
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    path.write_text(text)
    backup.unlink()


def from_elsewhere(path: Path, text: str) -> None:
    outside = path.parents[2] / "outside"
    outside.write_text(text)
    os.replace(outside, path)


SAVES = [in_place, by_renaming, as_vim_does, from_elsewhere]


@pytest.mark.parametrize("poll", [False, True], ids=["events", "polling"])
@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.__name__)
def test_an_edit_is_found_however_it_is_saved(folder: Folder, save, poll: bool) -> None:
    path = folder.write("lore/mill.md", "ledger")
    with watched(folder, poll=poll) as (search, watcher, _):
        assert watcher.polling is poll
        save(path, "gannet")
        assert eventually(lambda: search.find("gannet"))
        assert eventually(lambda: not search.find("ledger"))


def test_files_in_new_folders_are_found_at_any_depth(folder: Folder) -> None:
    folder.write("lore/mill.md", "ledger")
    with watched(folder, poll=False) as (search, _, _):
        (folder.root / "new/deep/er").mkdir(parents=True)
        (folder.root / "new/deep/er/a.md").write_text("gannet")
        assert eventually(lambda: search.find("gannet"))
        (folder.root / "new/deep/er/b.md").write_text("marrow")
        assert eventually(lambda: search.find("marrow"))
        (folder.root / "new/deep").rename(folder.root / "new/other")
        assert eventually(lambda: [h.path for h in search.find("marrow")] == ["new/other/er/b.md"])
        (folder.root / "new/other/er/b.md").write_text("quernstone")
        assert eventually(lambda: search.find("quernstone"))


def test_deleted_and_renamed_files_are_noticed(folder: Folder) -> None:
    path = folder.write("lore/mill.md", "gannet")
    with watched(folder, poll=False) as (search, _, _):
        path.rename(path.with_name("barn.md"))
        assert eventually(lambda: [h.path for h in search.find("gannet")] == ["lore/barn.md"])
        path.with_name("barn.md").unlink()
        assert eventually(lambda: not search.find("gannet"))


def test_what_changed_before_the_watch_began_is_found_too(folder: Folder) -> None:
    folder.write("lore/mill.md", "ledger")
    search = folder.refreshed()
    folder.write("lore/mill.md", "gannet")
    with Watcher(search, poll=False):
        assert eventually(lambda: search.find("gannet"))


def test_hidden_folders_and_temporary_names_bring_no_update(folder: Folder) -> None:
    path = folder.write("lore/mill.md", "ledger")
    folder.write(".git/objects/x.md", "x")
    with watched(folder, poll=False) as (search, watcher, updates):
        watched_paths = set(watcher._watches)
        assert not any(".git" in p or ".rolecall" in p for p in watched_paths)
        for number in range(5):
            folder.write(f".git/objects/{number}.md", "gannet")
            folder.write(f"lore/.mill{number}.md.swp", "gannet")
            folder.write(f"lore/mill{number}.md~", "gannet")
        path.write_text("marrow")
        assert eventually(lambda: search.find("marrow"))
        assert eventually(lambda: updates)
        assert search.find("gannet") == [] and len(search.catalogue) == 1


def test_a_storm_of_changes_ends_with_a_right_index(folder: Folder) -> None:
    for number in range(300):
        folder.write(f"lore/{number}.md", "ledger")
    with watched(folder, poll=False) as (search, _, updates):
        for number in range(300):
            (folder.root / f"lore/{number}.md").write_text(f"gannet {number}")
        assert eventually(lambda: len(search.find("gannet", limit=400)) == 300)
        assert len(updates) < 20, "a storm is met by few looks"


def test_edits_that_never_pause_are_found_all_the_same(folder: Folder) -> None:
    """Quiet never comes; the ceiling does."""
    path = folder.write("lore/mill.md", "ledger")
    stop = threading.Event()

    def scribble() -> None:
        while not stop.is_set():
            path.write_text("gannet")
            time.sleep(0.02)

    with watched(folder, poll=False) as (search, _, _):
        writer = threading.Thread(target=scribble)
        writer.start()
        try:
            assert eventually(lambda: search.find("gannet"))
        finally:
            stop.set()
            writer.join()


def test_a_lost_event_costs_nothing_as_the_next_command_looks(folder: Folder) -> None:
    path = folder.write("lore/mill.md", "ledger")
    with watched(folder, poll=False) as (search, watcher, _):
        watcher._observer.unschedule_all()
        path.write_text("gannet")
        search.refresh()
        assert search.find("gannet")


@pytest.mark.parametrize("event", [events.FileModifiedEvent(""), events.DirCreatedEvent("")], ids=["file", "folder"])
def test_an_event_without_a_path_brings_a_look_at_everything(folder: Folder, event) -> None:
    path = folder.write("lore/mill.md", "ledger")
    with watched(folder, poll=False) as (search, watcher, _):
        assert eventually(lambda: not watcher._doubt)
        watcher._observer.unschedule_all()
        path.write_text("gannet")
        watcher.dispatch(event)
        assert eventually(lambda: search.find("gannet"))


@pytest.mark.parametrize("name", ["Éire.md", "王小明.md"])
def test_a_name_in_another_script_is_followed(folder: Folder, name: str) -> None:
    path = folder.write(f"lore/{name}", "ledger")
    with watched(folder, poll=False) as (search, _, _):
        path.write_text("gannet")
        assert eventually(lambda: [h.path for h in search.find("gannet")] == [f"lore/{name}"])


def test_an_observer_that_dies_is_replaced_by_polling(folder: Folder) -> None:
    path = folder.write("lore/mill.md", "ledger")
    with watched(folder, poll=False) as (search, watcher, _):
        watcher._observer.stop()
        watcher._observer.join()
        watcher._poke.set()
        path.write_text("gannet")
        assert eventually(lambda: search.find("gannet"))
        assert eventually(lambda: watcher.polling and "looking every second" in watcher.hint)
        path.write_text("marrow")
        assert eventually(lambda: search.find("marrow"))


@pytest.mark.parametrize(("number", "says"), [(errno.ENOSPC, "max_user_watches"), (errno.EMFILE, "max_user_instances")])
def test_without_watches_it_polls_and_says_what_helps(folder: Folder, monkeypatch, number: int, says: str) -> None:
    import watchdog.observers

    def refuse(self, *arguments, **options):
        raise OSError(number, os.strerror(number))

    path = folder.write("lore/mill.md", "ledger")
    monkeypatch.setattr(watchdog.observers.Observer, "schedule", refuse)
    with watched(folder, poll=False) as (search, watcher, _):
        assert watcher.polling and says in watcher.hint and "\n" not in watcher.hint
        path.write_text("gannet")
        assert eventually(lambda: search.find("gannet"))


def test_the_environment_asks_for_polling(folder: Folder, monkeypatch) -> None:
    monkeypatch.setenv("ROLECALL_POLL", "1")
    assert Watcher(folder.search()).polling
    monkeypatch.setenv("ROLECALL_POLL", "0")
    assert not Watcher(folder.search()).polling


def test_an_unreadable_folder_is_told_and_waited_for(folder: Folder) -> None:
    path = folder.write("lore/mill.md", "ledger")
    with watched(folder, poll=True) as (search, watcher, _):
        with unreadable(folder.root / "lore"):
            assert eventually(lambda: "permission denied" in watcher.trouble)
        path.write_text("gannet")
        assert eventually(lambda: search.find("gannet"))
        assert eventually(lambda: watcher.trouble == "")


def test_it_stops_and_leaves_no_thread_working(folder: Folder) -> None:
    folder.write("lore/mill.md", "ledger")
    for poll in (False, True):
        with watched(folder, poll=poll) as (_, watcher, _):
            worker = watcher._worker
        assert not worker.is_alive()
        assert eventually(lambda: not any(t.name == "rolecall-watch" for t in threading.enumerate()))
        watcher.stop()


def test_a_checkout_is_followed(folder: Folder) -> None:
    def git(*arguments: str) -> None:
        base = ["git", "-c", "user.name=w", "-c", "user.email=w@x", "-C", str(folder.root)]
        subprocess.run([*base, *arguments], check=True, capture_output=True)

    for number in range(250):
        folder.write(f"lore/{number}.md", f"mainword {number}")
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "other")
    for number in range(250):
        folder.write(f"lore/{number}.md", f"otherword {number}")
    git("commit", "-qam", "two")
    with watched(folder, poll=False) as (search, _, _):
        git("checkout", "-q", "main")
        assert eventually(lambda: len(search.find("mainword", limit=300)) == 250 and not search.find("otherword"))

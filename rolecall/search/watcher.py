"""Keeping search current while RoleCall runs: edits in an editor are found without asking for them.

The file system's events only say which paths are worth a look; what has changed is found by looking (`Search.refresh`). A
look follows 300 ms of quiet, at the latest 2 s after the first event. It takes in the whole folder at the start, for more
than 200 paths, for anything about a folder or in any other doubt, and now and then without any event, so that an event that is
lost, doubled or without a path costs nothing. Where events cannot be had (no watches left, a network drive,
`ROLECALL_POLL=1`) it looks every second.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rolecall.campaign.folder import is_junk
from rolecall.errors import StorageError
from rolecall.search.searcher import Search

QUIET = 0.3  # seconds without an event before a look
CEILING = 2.0  # seconds from the first event to a look, quiet or not
SLOW = 15.0  # seconds between looks without any event
PATHS = 200  # paths, past which the whole folder is looked at
POLL = 1.0  # seconds between looks where there are no events
POLL_SHARE = 0.05  # of the time at most is spent looking when polling
STOP = 1.8  # seconds that stopping may take

_EVENTS = (
    "FileCreated",
    "FileModified",
    "FileMoved",
    "FileDeleted",
    "FileClosed",
    "DirCreated",
    "DirMoved",
    "DirDeleted",
)


class Watcher:
    """Watches one campaign in the background. `trouble` says what went wrong lately, `hint` why it is polling."""

    def __init__(
        self, search: Search, on_update: Callable[[], None] | None = None, *, poll: bool | None = None
    ) -> None:
        """`on_update` is called in the watcher's thread after each look that found changes.

        `poll` looks at regular intervals instead of waiting for events; by default only if `ROLECALL_POLL` is set.
        """
        self.hint = ""
        self.trouble = ""
        self.polling = os.environ.get("ROLECALL_POLL", "") not in ("", "0") if poll is None else poll
        self._search, self._on_update = search, on_update
        self._root = Path(search.campaign.root)
        self._poke = threading.Event()
        self._paths: set[str] = set()
        self._doubt = True
        self._noting = threading.Lock()
        self._stopping = threading.Event()
        self._worker: threading.Thread | None = None
        self._observer = None
        self._watches: dict[str, object] = {}

    def start(self) -> None:
        """Start watching, then look: what changes in between is seen by one or the other."""
        if self._worker is not None:
            return
        self._stopping.clear()
        if not self.polling:
            self._observe()
        self._poke.set()
        self._worker = threading.Thread(target=self._work, name="rolecall-watch", daemon=True)
        self._worker.start()

    def stop(self) -> None:
        """Stop within two seconds, whatever the file system does."""
        self._stopping.set()
        self._poke.set()
        end = time.monotonic() + STOP
        observer, self._observer = self._observer, None
        if observer is not None:
            stopper = threading.Thread(target=_stop, args=(observer,), daemon=True)  # an unmounted drive may hang it
            stopper.start()
            stopper.join(max(0.0, end - time.monotonic()))
        worker, self._worker = self._worker, None
        if worker is not None and worker is not threading.current_thread():
            worker.join(max(0.0, end - time.monotonic()))

    def __enter__(self) -> Watcher:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- events

    def _observe(self) -> None:
        """Start an observer; polling and a hint when the system refuses."""
        try:
            from watchdog.observers import Observer

            _pair_no_moves()
            self._observer = Observer()
            self._observer.daemon = True
            self._observer.start()
            self._watch_folders()
        except (OSError, ImportError, RuntimeError) as error:
            self._give_up_events(error)

    def _watch_folders(self) -> None:
        """Watch the root by itself and its folders with all that is in them, except hidden ones and their like."""
        from watchdog import events

        wanted = {str(self._root): False}
        with os.scandir(self._root) as listing:
            for entry in listing:
                if not is_junk(entry.name) and entry.is_dir(follow_symlinks=False):
                    wanted[entry.path] = True
        kinds = [getattr(events, f"{name}Event") for name in _EVENTS]
        alive = {emitter.watch for emitter in self._observer.emitters if emitter.is_alive()}
        for path, watch in list(self._watches.items()):
            if path not in wanted or watch not in alive:
                with suppress(KeyError):
                    self._observer.unschedule(watch)
                del self._watches[path]
        for path in wanted.keys() - self._watches.keys():
            with suppress(FileNotFoundError, NotADirectoryError):  # gone since it was listed
                watch = self._observer.schedule(self, path, recursive=wanted[path], event_filter=kinds)
                self._watches[path] = watch
                self._doubt = True

    def dispatch(self, event: object) -> None:
        """Called by the observer with each event: note what it is about, and nothing else."""
        paths = [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]
        inside = [os.path.relpath(path, self._root).replace(os.sep, "/") for path in paths]
        told = [path for path in inside if path == "." or not any(map(is_junk, path.split("/")))]
        if paths and not told:
            return  # temporary and hidden names
        with self._noting:
            # Systems disagree on the normal form of a name that is not ASCII; only a listing tells how it is written.
            plain = told and not event.is_directory and all(path.isascii() for path in told)
            self._doubt |= not plain or len(self._paths) >= PATHS
            self._paths.update(told)
        self._poke.set()

    def _noted(self) -> set[str] | None:
        """The paths to look at, or None for the whole folder."""
        with self._noting:
            paths, doubt = self._paths, self._doubt
            self._paths, self._doubt = set(), False
        return None if doubt or self.polling or not paths else paths

    def _check_observer(self) -> None:
        """Follow new and vanished folders; go over to polling when the observer has died."""
        if self._observer is None:
            return
        try:
            if not self._observer.is_alive():
                raise OSError(errno.ESRCH, "the observer has stopped")
            self._watch_folders()
        except (OSError, RuntimeError) as error:
            self._give_up_events(error)

    def _give_up_events(self, error: Exception) -> None:
        if self._stopping.is_set():
            return
        number = getattr(error, "errno", None)
        why = "; more watches: `sysctl fs.inotify.max_user_watches=524288`" if number == errno.ENOSPC else ""
        why = "; more watches: `sysctl fs.inotify.max_user_instances=512`" if number == errno.EMFILE else why
        self.hint = f"watching by looking every second, as the system gives no file events ({error}){why}"
        self.polling = self._doubt = True
        observer, self._observer, self._watches = self._observer, None, {}
        if observer is not None:
            threading.Thread(target=_stop, args=(observer,), daemon=True).start()

    # -- looking

    def _work(self) -> None:
        pause = POLL
        while not self._stopping.is_set():
            poked = self._poke.wait(pause if self.polling else SLOW)
            if self._stopping.is_set():
                return
            if poked and not self.polling:
                self._settle()
            self._poke.clear()
            start = time.monotonic()
            self._check_observer()
            self._look()
            pause = max(POLL, (time.monotonic() - start) / POLL_SHARE)

    def _settle(self) -> None:
        """Wait until nothing has happened for a while, but not for ever."""
        end = time.monotonic() + CEILING
        while not self._stopping.is_set():
            self._poke.clear()
            if not self._poke.wait(min(QUIET, max(0.0, end - time.monotonic()))) or time.monotonic() >= end:
                return

    def _look(self) -> None:
        paths = self._noted()
        try:
            changed = self._search.refresh(only=paths)
            self.trouble = ""
        except StorageError as error:
            self.trouble, self._doubt = str(error), True
            return
        if changed and self._on_update is not None and not self._stopping.is_set():
            self._on_update()


def _stop(observer: object) -> None:
    with suppress(Exception):
        observer.stop()
        observer.join(STOP)


def _pair_no_moves() -> None:
    """Have renames told at once: watchdog holds them, and all that follows, for half a second to pair their two ends."""
    with suppress(ImportError):
        from watchdog.observers.inotify_move_event_grouper import InotifyMoveEventGrouper

        InotifyMoveEventGrouper.delay = 0.0

"""Commits around what the game writes: first the writer's pending edits as theirs, then each turn as one commit.

Only named paths are committed, through an index of our own, so that what the writer has staged stays staged. A file with staged
changes gets the turn's change alone in the commit, and again in the index, by three-way merge; where that clashes it waits.
Nothing here ends a turn: every method returns why it could not commit, in words, and what is owed stays in the ledger.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.campaign import commitlines, files, git, records
from rolecall.campaign.filenames import same_key
from rolecall.campaign.folder import CONFLICT_COPY, MACHINE_FOLDER, Campaign, is_junk
from rolecall.campaign.git import Change, Repository, Status
from rolecall.campaign.journal import turn_id
from rolecall.campaign.ledger import Ledger
from rolecall.campaign.settings import SETTINGS_FILE
from rolecall.errors import GitTrouble, StorageError

INDEX = f"{MACHINE_FOLDER}/git-index"  # our own: the last commit's files
TIDY_EVERY = 50  # turns after which git may tidy up (`git gc --auto`, which the writer's settings may forbid)
MANY = 200  # paths that are named one by one to `git status`
_OURS = (".gitignore", ".gitattributes", "README.md", SETTINGS_FILE)


@dataclass(slots=True)
class Known:
    """What a session has learned of its repository, so that a turn asks less: each question is a program to start.

    `index` is our index as we left it: (commit, tree, the file's stamp); anybody else's change of it shows in the stamp.
    """

    repository: Repository | None = None
    index: tuple[str, str, tuple[int, int, int]] | None = None


@dataclass(slots=True)
class Keeper:
    """Keeps one command's changes of a campaign in git; does nothing where `git: off`."""

    campaign: Campaign
    ledger: Ledger
    known: Known = field(default_factory=Known)
    _before: dict[str, bytes] = field(default_factory=dict)  # staged files as they were before the command
    _aside: threading.Thread | None = None  # settling

    @property
    def on(self) -> bool:
        """Whether the settings want commits."""
        return self.campaign.settings.git == "auto"

    @property
    def repository(self) -> Repository:
        """The repository the campaign lies in; GitTrouble when there is none, or git refuses it."""
        known = self.known
        if known.repository is None or not known.repository.is_there():
            known.repository, known.index = git.find(self.campaign.root), None
        return known.repository

    def begin(self, before: Callable[[], str]) -> None:
        """Settle beside what follows (mostly a model is asked): the first change of a file waits for it, and so does the end."""
        if self.on:
            self._aside = threading.Thread(target=self.settle, args=(before,), name="git", daemon=True)
            self._aside.start()

    def wait(self) -> None:
        """Wait for `begin` to be done."""
        if self._aside is not None and self._aside is not threading.current_thread():
            self._aside.join()
            self._aside = None

    def settle(self, before: Callable[[], str] = str) -> str:
        """Commit what an earlier command still owes, then the writer's pending edits; why not, in words, or nothing.

        `before` says what the edits came before (`T0043`); it is asked only when there are any.
        """
        self.wait()
        if not self.on:
            return ""
        try:
            status = self._status()
            mine = self._mine(status)
            parent, left = status.commit, []
            if mine:
                parent, left = self._commit(parent, mine, self._owed(), own=True)
            owed = {*self.ledger.paths, *(change.path for change in mine)}
            if hand := _by_hand(status, owed, self.campaign):
                message = commitlines.of_hand([change.path for change in hand], before())
                parent, _ = self._commit(parent, hand, message, own=not self._has_identity())
            self.ledger.close(left)
            for change in status.changes:
                if change.staged:
                    with suppress(StorageError):
                        self._before[change.path] = self.campaign.read(change.path)
        except (GitTrouble, StorageError) as trouble:
            return trouble.what
        return ""

    def commit(self, message: Callable[[], str]) -> str:
        """Commit what was written since as the game's; why not, in words, or nothing."""
        self.wait()
        if not self.on or not self.ledger.paths:
            return ""
        try:
            self.ledger.note(message=message())
            paths = tuple(self.ledger.paths)
            status = self._status(paths if len(paths) <= MANY else (".",))
            mine = self._mine(status)
            if len(mine) < len(paths) and files.exists(self.campaign.root, SETTINGS_FILE.upper()):
                # The disk does not tell cases apart, but git tells the names it is asked for: one renamed there is missing.
                status = self._status()
                mine = self._mine(status)
            left = self._commit(status.commit, mine, commitlines.joined(self.ledger.messages), own=True)[1]
            self.ledger.close(left)
        except (GitTrouble, StorageError) as trouble:
            return trouble.what
        return f"{left[0]} has changes that you have staged and that touch the same lines" if left else ""

    def tidy(self, turn: int) -> None:
        """Let git pack what has gathered, now and then; it goes on by itself, in the background."""
        if self.on and self.known.repository is not None and turn % TIDY_EVERY == 0:
            with suppress(GitTrouble):
                self.known.repository.run("gc", "--auto", "--quiet")

    def _mine(self, status: Status) -> list[Change]:
        """The changes of what the game wrote. Git spells a name as it first knew it, which may be another case of the file's."""
        spelled = {same_key(path): path for path in self.ledger.paths}
        return [
            change
            for change in status.changes
            if change.path in self.ledger.paths or self._is_same(change.path, spelled.get(same_key(change.path)))
        ]

    def _is_same(self, path: str, other: str | None) -> bool:
        """Whether two spellings lead to one file."""
        if other is None:
            return False
        try:
            return os.path.samefile(self.campaign.root / path, self.campaign.root / other)
        except OSError:
            return False

    def _status(self, paths: Sequence[str] = (".",)) -> Status:
        """What differs; GitTrouble where nothing may be committed now."""
        if what := self.repository.under_way():
            raise GitTrouble(what)
        status = self.repository.status(paths)
        if not status.branch:
            raise GitTrouble("HEAD is on no branch")
        if status.unmerged:
            raise GitTrouble(f"{status.unmerged[0]} is not merged")
        behind = [c for c in status.changes if c.staged and _is_behind(c, self.ledger.index)]
        if behind:  # an earlier commit was made and the index did not follow it
            self._follow(behind)
            return self.repository.status(paths)
        return status

    def _owed(self) -> str:
        """The message for what an earlier command wrote: its own, or that of the turn it finished."""
        if self.ledger.messages:
            return commitlines.joined(self.ledger.messages)
        root = self.campaign.root
        for folder in records.folders(root)[-1:]:
            written = {write["path"] for write in records.writes(root, folder)}
            if written & self.ledger.paths.keys() and not self._knows(records.turn_of(folder)):
                return commitlines.of_turn(root, folder)
        return commitlines.joined(())

    def _knows(self, turn: int) -> bool:
        """Whether a commit of that turn is there already."""
        wanted = f"^{commitlines.TURN}: {turn_id(turn)}$"
        return bool(self.repository.run("log", "-1", "--format=%H", "--grep", wanted, ok=(0, 128)).strip())

    def _has_identity(self) -> bool:
        environ = self.repository.environ
        named = environ.get("GIT_AUTHOR_EMAIL") and environ.get("GIT_COMMITTER_EMAIL")
        return bool(named) or self.repository.has_writer

    def _commit(self, parent: str, changes: Sequence[Change], message: str, *, own: bool) -> tuple[str, list[str]]:
        """(the new last commit, paths that could not be part of it); the old one when nothing differs."""
        repository, index = self.repository, self.campaign.root / INDEX
        repository.wait_for_lock()
        staged = {change.path for change in changes if change.staged}
        plain = [change for change in changes if not change.submodule and change.path not in staged]
        lifted, left = self._lifted([change for change in changes if change.staged])
        if not plain and not lifted:
            return parent, left
        before = self._read_index(parent)
        self._update(plain, index)
        for change, (blob, _) in lifted.items():
            repository.run("update-index", "--cacheinfo", self._entry(change, blob), index=index)
        tree = repository.line("write-tree", index=index)
        if parent and tree == (before or repository.line("rev-parse", f"{parent}^{{tree}}")):
            return parent, left
        commit = repository.line(
            *("commit-tree", tree, *(("-p", parent) if parent else ()), "-F", "-"), given=message.encode(), own=own
        )
        self.ledger.note(index={change.path: change.index for change in plain})
        subject = message.split("\n", 1)[0]
        repository.run("update-ref", "-m", f"commit: {subject}", "HEAD", commit, parent, own=own)
        self.known.index = commit, tree, files.stamp(self.campaign.root, INDEX)
        self._follow(plain)
        for change, (_, blob) in lifted.items():
            repository.run("update-index", "--cacheinfo", self._entry(change, blob))
        return commit, left

    def _read_index(self, parent: str) -> str:
        """Make our index hold the last commit; that commit's tree, where it is known."""
        root = self.campaign.root
        commit, tree, stamp = self.known.index or ("", "", None)
        if (
            parent
            and commit == parent
            and stamp == files.stamp(root, INDEX)
            and not files.exists(root, f"{INDEX}.lock")
        ):
            return tree
        self.known.index = None
        for name in (INDEX, f"{INDEX}.lock"):  # what a kill left: it is ours alone
            files.forget(root, name)
        self.repository.run("read-tree", parent or "--empty", index=root / INDEX)
        return ""

    def _update(self, changes: Sequence[Change], index: Path | None = None) -> None:
        """Bring these entries of an index to what is on disk, as `git add` would."""
        if changes:
            given = b"".join(os.fsencode(change.path) + b"\0" for change in changes)
            self.repository.run("update-index", "--add", "--remove", "-z", "--stdin", given=given, index=index)

    def _follow(self, changes: Sequence[Change]) -> None:
        """Let the writer's index follow a commit; once more where another git came in between."""
        try:
            self._update(changes)
        except GitTrouble:
            self.repository.wait_for_lock()
            self._update(changes)

    def _entry(self, change: Change, blob: str) -> str:
        return f"{change.mode},{blob},{self.repository.prefix}{change.path}"

    def _lifted(self, changes: Sequence[Change]) -> tuple[dict[Change, tuple[str, str]], list[str]]:
        """({change: (blob to commit, blob to stage)}, paths that have to wait) of files of which something is staged."""
        found: dict[Change, tuple[str, str]] = {}
        left: list[str] = []
        for change in changes:
            blobs = None
            if change.path in self._before and not _is_nothing(change.head) and not _is_nothing(change.index):
                base, now = self._before[change.path], self.campaign.read(change.path)
                versions = [self.repository.run("cat-file", "blob", blob) for blob in (change.head, change.index)]
                blobs = [_moved(base, version, now) for version in versions]
            if blobs is None or None in blobs:
                left.append(change.path)
            else:
                ids = [self.repository.line("hash-object", "-w", "--stdin", given=blob) for blob in blobs]
                found[change] = (ids[0], ids[1])
        return found, left


@contextmanager
def keeping(campaign: Campaign, known: Known | None = None) -> Iterator[Keeper]:
    """A keeper that sees every change of the campaign's files while this lasts. Only under the campaign's lock."""
    keeper = Keeper(campaign, Ledger.read(campaign.root), known or Known())
    if not keeper.on:
        yield keeper
        return
    with keeper.ledger.watching(keeper.wait):
        try:
            yield keeper
        finally:
            keeper.wait()


def begin(campaign: Campaign) -> str:
    """The first commit of a campaign that was just made; why not, in words, or nothing."""
    keeper = Keeper(campaign, Ledger(campaign.root))
    try:
        status = keeper._status()
        if status.commit:
            return keeper.settle()
        name = campaign.settings.name or campaign.root.name
        keeper._commit("", _by_hand(status, set(), campaign), commitlines.composed(f"{name}: a new campaign"), own=True)
        keeper.ledger.close()
    except (GitTrouble, StorageError) as trouble:
        return trouble.what
    return ""


def _by_hand(status: Status, owed: set[str], campaign: Campaign) -> list[Change]:
    """What the writer has changed and not staged: every tracked file, and new ones that are the campaign's."""
    busy = {change.path for change in status.changes if change.staged} | owed
    return [
        change
        for change in status.changes
        if change.path not in busy
        and not change.submodule
        and not change.path.startswith(f"{MACHINE_FOLDER}/")
        and (not change.untracked or _is_material(campaign, change.path))
    ]


def _is_material(campaign: Campaign, path: str) -> bool:
    """Whether a file that git does not know is the campaign's: its Markdown, settings, schemas and imported originals."""
    parts = path.split("/")
    if path not in _OURS:
        if any(map(is_junk, parts)) or CONFLICT_COPY.search(parts[-1]) or not parts[-1]:
            return False
        if not (path.casefold().endswith(".md") or (len(parts) > 1 and parts[0] in ("imports", "schemas"))):
            return False
    try:
        return os.lstat(campaign.root / path).st_size <= files.MAX_FILE
    except OSError:
        return False


def _is_behind(change: Change, index: dict[str, str]) -> bool:
    """Whether an entry of the index is still what it was before our commit."""
    return change.path in index and change.index.strip("0") == index[change.path].strip("0")


def _is_nothing(blob: str) -> bool:
    return not blob.strip("0")


def _moved(base: bytes, version: bytes, now: bytes) -> bytes | None:
    """`version` with the change from `base` to `now`; None where that touches the same lines."""
    if version == base:
        return now
    from merge3 import Merge3

    merged = Merge3(*(text.splitlines(keepends=True) for text in (base, version, now)))
    groups = list(merged.merge_groups())
    if any(group[0] == "conflict" for group in groups):
        return None
    return b"".join(line for group in groups for line in group[1])

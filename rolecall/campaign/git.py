"""The `git` program, asked about a campaign: one process at a time, by the folder alone, never waited for without end.

Whatever git says no to is a `GitTrouble` with one line for a person; nothing here fails a turn. The environment is
cleaned so that neither a shell's `GIT_DIR` nor a language, a prompt, a pager, a hook or a signature changes what happens; the
writer's filters and attributes are honoured, for what they keep out of a repository (or encrypt) must stay out of it.

A folder may come from a stranger, its `.git` with it. No program that such a repository names is started: what can be set
aside is, and a filter, which cannot, is only honoured from the writer's own settings or in a repository they trust.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.campaign.text import clean_line
from rolecall.errors import GitTrouble

PATIENCE = 2.0  # seconds to wait for another git to give its lock back
LIMIT = 20.0  # seconds one git may take

NAME, EMAIL = "RoleCall", "rolecall@localhost"  # whose the game's commits are
OWN = {
    f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in (("NAME", NAME), ("EMAIL", EMAIL))
}

# Not looked for in the writer's settings, for this one command: hooks (slow, or failing, or asking), signatures (they ask for
# a passphrase), a file system monitor (another program to wait for), paths in quotes, and whatever else is the name of a program
# or leads into another repository (below the campaign, or one that only looks like a folder of it).
_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "commit.gpgSign=false",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.safecrlf=false",  # what another program ends its lines with is no reason to keep nothing
    "core.fsync=committed",  # what git calls committed is on the disk, as everything else of a campaign
    "i18n.commitEncoding=UTF-8",
    "log.showSignature=false",
    "gc.recentObjectsHook=",
    "submodule.recurse=false",
    "safe.bareRepository=explicit",
)
# What a shell, a hook or another git may have left in the environment: which repository, which index, what is traced.
_DROPPED = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_DEFAULT_HASH", "GIT_CONFIG",
)  # fmt: skip
_SET = {
    "LC_ALL": "C",
    "LANGUAGE": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_OPTIONAL_LOCKS": "0",  # asking must not stand in the way of the writer's own git
    "GIT_LITERAL_PATHSPECS": "1",  # a file may be called `*.md` or `:(top)`
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # nothing is fetched, by whatever program
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
}
# On Windows the same as a session of its own; and no window of its own.
_ALONE = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
# What is under way in a repository, by the file that says so in its git folder.
_UNDER_WAY = {
    "rebase-merge": "a rebase is under way",
    "rebase-apply": "a rebase is under way",
    "MERGE_HEAD": "a merge is not finished",
    "CHERRY_PICK_HEAD": "a cherry-pick is not finished",
    "REVERT_HEAD": "a revert is not finished",
    "BISECT_LOG": "a bisect is under way",
}


# What is asked of the settings: the writer's name, and which programs would be started, by whose word.
TRUSTED = "rolecall.trusted"  # in the writer's own settings: a repository whose settings may name programs, or `*`
_ASKED = r"^(user\.(name|email)|rolecall\.trusted|filter\..*\.(clean|smudge|process))$"


@dataclass(frozen=True, slots=True)
class Change:
    """A path of the campaign that differs: from the last commit in the index (`staged`), or on disk (`edited`).

    `untracked` is one that git does not know. `head` and `index` are the blobs' ids, empty or zeros where there is none.
    """

    path: str
    staged: bool = False
    edited: bool = False
    untracked: bool = False
    submodule: bool = False
    head: str = ""
    index: str = ""
    mode: str = "100644"


@dataclass(frozen=True, slots=True)
class Status:
    """What `git status` says of a campaign: the last commit (empty before the first), the branch, what differs."""

    commit: str
    branch: str
    changes: tuple[Change, ...]
    unmerged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository a campaign lies in. `prefix` is the campaign's place below `top`, empty or with a slash at its end.

    `has_writer`: whether git has been told the writer's name and address.
    """

    root: Path
    top: Path
    prefix: str
    folder: Path
    has_writer: bool = False
    environ: dict[str, str] = field(repr=False, compare=False, default_factory=dict)

    def run(
        self,
        *arguments: str,
        given: bytes = b"",
        own: bool = False,
        index: Path | None = None,
        ok: tuple[int, ...] = (0,),
        limit: float | None = None,
    ) -> bytes:
        """What git answers to a command; GitTrouble for any other exit code than those that are `ok`.

        `own`: in RoleCall's name instead of the writer's. `index`: on another index than the writer's. `limit` in seconds.
        """
        environ = self.environ | (OWN if own else {}) | ({"GIT_INDEX_FILE": str(index)} if index else {})
        code, out, err = _git(self.root, arguments, given=given, environ=environ, limit=limit)
        if code not in ok:
            raise GitTrouble(_told(err, arguments))
        return out

    def line(self, *arguments: str, **how: object) -> str:
        """The same as text, without the newline at its end."""
        return self.run(*arguments, **how).decode("utf-8", "surrogateescape").rstrip("\n")

    def is_there(self) -> bool:
        """Whether it still stands where it was found."""
        return (self.folder / "HEAD").exists()

    def under_way(self) -> str:
        """What the writer has begun in the repository and not finished, in words; empty when nothing."""
        return next((what for name, what in _UNDER_WAY.items() if (self.folder / name).exists()), "")

    def wait_for_lock(self) -> None:
        """Wait while another git writes the index; GitTrouble when it does not end. Its lock is never taken away."""
        place = self.folder / "index.lock"
        limit = time.monotonic() + PATIENCE
        while place.exists():
            if time.monotonic() > limit:
                raise GitTrouble(f"another git is at work, or one that was killed left {place}")
            time.sleep(0.05)

    def status(self, paths: Sequence[str] = (".",)) -> Status:
        """What differs below these paths of the campaign, untracked files that git does not ignore included."""
        out = self.run(
            *("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--no-renames"),
            *("--ignore-submodules=dirty", "--", *paths),  # else git asks in each, by its own settings
        )
        return _read_status(out, self.prefix)


def find(root: Path) -> Repository:
    """The repository of a campaign; GitTrouble when there is none, git is missing, or it refuses."""
    if not is_below_one(root):
        raise GitTrouble("there is no repository here (`git init` makes one)")
    environ = _environ()
    asked = ("rev-parse", "--show-toplevel", "--show-prefix", "--absolute-git-dir")
    code, out, err = _git(root, asked, environ=environ)
    if code:
        raise GitTrouble(_told(err, asked))
    if out.count(b"\n") != 3:
        raise GitTrouble("the name of a folder on the way to the campaign holds a line break")
    top, prefix, folder = map(os.fsdecode, out.split(b"\n")[:3])
    asked = ("config", "-z", "--show-scope", "--get-regexp", _ASKED)
    code, out, err = _git(root, asked, environ=environ)
    if code not in (0, 1):
        raise GitTrouble(_told(err, asked))
    told = out.decode("utf-8", "surrogateescape").split("\0")
    settings = [(scope, *named.partition("\n")[::2]) for scope, named in zip(told[::2], told[1::2], strict=False)]
    if (why := _strange(Path(top), Path(folder), settings)) and not _is_trusted(top, settings):
        command = shlex.join(("git", "config", "--global", "--add", TRUSTED, top))
        raise GitTrouble(clean_line(f"{why} (if that is your own doing: {command})"))
    has_writer = {"user.name", "user.email"} <= {key for _, key, _ in settings}
    return Repository(root, Path(top), prefix, Path(folder), has_writer, environ)


def _strange(top: Path, folder: Path, settings: Sequence[tuple[str, str, str]]) -> str:
    """What a stranger could have put in a repository to have a program started, or another one written; empty when nothing."""
    if folder.name == ".git" and os.path.realpath(folder.parent) != os.path.realpath(top):
        return f"its .git is that of another folder, {folder.parent}"
    own = next((key for scope, key, _ in settings if key.startswith("filter.") and scope in ("local", "worktree")), "")
    return f"the repository's own settings name a program that git would start, `{own}`" if own else ""


def _is_trusted(top: str, settings: Sequence[tuple[str, str, str]]) -> bool:
    """Whether the writer's own settings, not the repository's, say that its programs may be started."""
    said = [value for scope, key, value in settings if key == TRUSTED and scope not in ("local", "worktree")]
    return any(one == "*" or os.path.realpath(os.path.expanduser(one)) == os.path.realpath(top) for one in said)


def _environ() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in _DROPPED and not key.startswith("GIT_TRACE")}
    return kept | _SET


def is_below_one(root: Path) -> bool:
    """Whether a `.git` stands in the campaign or above it: asked without starting a program."""
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def init(root: Path) -> str:
    """Make a repository of a new campaign, with a driver for merges; empty, or why it was not made, in words."""
    if (root / ".git").exists():
        return ""
    try:
        if is_below_one(root) and not _is_ignored(root):
            return "the folder lies in a repository already; `git: auto` in rolecall.yaml lets the game commit there"
        for command in (("init", "-q"), *(("config", f"merge.rolecall.{key}", text) for key, text in _driver())):
            code, _, err = _git(root, command, environ=_environ())
            if code:
                return _told(err, command)
    except GitTrouble as trouble:
        return trouble.what
    return ""


def _is_ignored(root: Path) -> bool:
    """Whether the repository around a folder keeps nothing of it, for its `.gitignore` says so: it may have its own then."""
    environ = {key: value for key, value in _environ().items() if key != "GIT_LITERAL_PATHSPECS"}  # it takes no such
    code, _, _ = _git(root.parent, ("check-ignore", "-q", "--", f"./{root.name}/"), environ=environ)
    return code == 0


def _driver() -> tuple[tuple[str, str], ...]:
    """What `merge=rolecall` in `.gitattributes` means, by the Python that runs here: PATH may not lead to it."""
    command = f"{shlex.quote(sys.executable)} -m rolecall join %O %A %B %P"
    return ("name", "joins journal lines and story sections of two timelines"), ("driver", command)


def _git(
    root: Path, arguments: Sequence[str], *, environ: dict[str, str], given: bytes = b"", limit: float | None = None
) -> tuple[int, bytes, bytes]:
    """(exit code, stdout, stderr) of one git, in a session of its own: no terminal to ask at, and Ctrl-C is not for it."""
    command = [program(), *(part for one in _SETTINGS for part in ("-c", one)), *arguments]
    try:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            creationflags=_ALONE,
        )
    except FileNotFoundError:
        raise GitTrouble("git is not installed") from None
    except OSError as error:
        raise GitTrouble(f"git cannot be started ({error.strerror})") from None
    try:
        out, err = process.communicate(given, timeout=limit or LIMIT)
    except BaseException as error:
        _end(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise GitTrouble(f"git {arguments[0]} took longer than {limit or LIMIT:g} s") from None
        raise
    return process.returncode, out, err


def program() -> str:
    """What to start for git. Windows would look for it in the folder one stands in first, which may be a stranger's campaign:
    there it is looked for in the PATH alone."""
    if sys.platform != "win32":
        return "git"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        place = os.path.join(folder, "git.exe")
        if os.path.isabs(folder) and os.path.isfile(place):
            return place
    raise GitTrouble("git is not installed")


def _end(process: subprocess.Popen) -> None:
    """Ask git to end, so that it takes its own locks away; then make it."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=2)
        return
    process.kill()
    process.communicate()


def _told(err: bytes, arguments: Sequence[str]) -> str:
    """The line of git's complaint that says most."""
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    if any("dubious ownership" in line for line in lines):
        return (
            "the repository belongs to somebody else, so git does not open it (see `git help config`, safe.directory)"
        )
    if any(line.startswith(("usage:", "error: unknown option", "error: unknown switch")) for line in lines):
        return "this git is too old; 2.26 or newer is needed"
    said = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[:1]
    what = clean_line(said[0].partition(": ")[2] or said[0]) if said else f"git {arguments[0]} failed"
    return what[:200]


def _read_status(out: bytes, prefix: str) -> Status:
    """The records of `git status --porcelain=v2 -z --branch` (git-status(1)), paths as the campaign knows them."""
    commit = branch = ""
    changes: list[Change] = []
    unmerged: list[str] = []
    for record in out.split(b"\0"):
        text = os.fsdecode(record)
        if text.startswith("# branch.oid "):
            commit = text[13:].replace("(initial)", "")
        elif text.startswith("# branch.head "):
            branch = text[14:].replace("(detached)", "")
        elif text.startswith("1 "):  # 1 XY sub mH mI mW hH hI path
            _, xy, sub, _, index_mode, _, head, index, path = text.split(" ", 8)
            mine = _mine(path, prefix)
            changes.append(Change(mine, xy[0] != ".", xy[1] != ".", False, sub != "N...", head, index, index_mode))
        elif text.startswith("u "):  # u XY sub m1 m2 m3 mW h1 h2 h3 path
            unmerged.append(_mine(text.split(" ", 10)[10], prefix))
        elif text.startswith("? "):
            changes.append(Change(_mine(text[2:], prefix), untracked=True))
    return Status(commit, branch, tuple(changes), tuple(unmerged))


def _mine(path: str, prefix: str) -> str:
    return path.removeprefix(prefix)

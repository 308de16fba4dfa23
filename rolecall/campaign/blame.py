"""What the game's commits tell where the records of turns are gone: which a line comes from, for `why`; what was taken back, for `check`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign import commitlines, git, journal
from rolecall.campaign.text import clean_line
from rolecall.errors import GitTrouble

_HEAD = re.compile(rb"([0-9a-f]{40,64}) \d+ (\d+)")
_TRAILERS = (commitlines.TURN, commitlines.FOLD, commitlines.MODELS)
_FORMAT = "%H%x00%ae%x00%s%x00" + "%x00".join(f"%(trailers:key={key},valueonly,separator=%x2C)" for key in _TRAILERS)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the game's: its short id, subject, the turns it tells (`T0042`), the turns it folds, its models."""

    id: str
    subject: str
    turn: str
    fold: str
    models: str


def commits_of(root: Path, path: str, line: int | None = None) -> dict[int, Commit]:
    """{line: the commit it comes from} for the lines, counted from 1, that a turn or a fold committed.

    Nothing where git cannot tell: there is no repository, or the file was never committed.
    """
    try:
        repository = git.find(root)
        span = ("-L", f"{line},{line}") if line is not None else ()
        out = repository.run("blame", "--porcelain", "--no-textconv", *span, "--", path)
        lines = {int(found[2]): found[1].decode() for row in out.split(b"\n") if (found := _HEAD.match(row))}
        wanted = sorted({commit for commit in lines.values() if commit.strip("0")})
        known = _read(repository, wanted) if wanted else {}
    except GitTrouble:
        return {}
    return {number: known[commit] for number, commit in lines.items() if commit in known}


def taken_back(root: Path) -> set[int]:
    """The turns that the game's commits say were taken back; none where git cannot tell."""
    what = f"--format=%ae%x00%(trailers:key={commitlines.UNDO},valueonly,separator=%x2C)"
    try:
        out = git.find(root).run("log", what, f"--grep=^{commitlines.UNDO}: ", "HEAD", "--", ".")
    except GitTrouble:
        return set()
    rows = (row.partition("\0") for row in out.decode("utf-8", "replace").split("\n"))
    named = [part for email, _, turns in rows if email == git.EMAIL for part in turns.split(",")]
    return {turn for turn in map(journal.turn_number, named) if turn is not None}


def _read(repository: git.Repository, commits: list[str]) -> dict[str, Commit]:
    """The commits that are the game's and tell or fold a turn."""
    given = "".join(f"{commit}\n" for commit in commits).encode()
    out = repository.run("log", "--no-walk", "--stdin", f"--format={_FORMAT}", given=given)
    found = {}
    for row in out.decode("utf-8", "replace").split("\n"):
        commit, email, subject, *trailers = row.split("\0") if row else [""] * 6
        turn, fold, models = map(clean_line, trailers)
        if email == git.EMAIL and (turn or fold):
            found[commit] = Commit(commit[:10], clean_line(subject), turn.partition(",")[0], fold, models)
    return found

"""Timelines: other courses of the story, each a plain branch of git's.

Going to one is git's own checkout, after the writer's pending edits were committed; what is staged, or in the way, is
refused and not forced. The records of turns follow the story (`turn/courses.py`).
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from difflib import get_close_matches

from rolecall.campaign import commitlines, documents, git, journal
from rolecall.campaign.commits import Keeper
from rolecall.campaign.folder import Campaign
from rolecall.campaign.git import Repository
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.text import clean_line, slug
from rolecall.errors import CampaignError, Conflict, DocumentError, GitTrouble, UnknownName

CHECKOUT = 600.0  # seconds: all of a large campaign may be written
_FIELDS = "%(refname)%00%(objectname)%00%(committerdate:iso-strict)%00%(HEAD)%00%(authoremail)%00%(contents:subject)"
_TELLING = re.compile(r"(?:(?:Swipe|Undo) )?T\d{4,9}\b")  # the subjects of the game's that are a journal line


@dataclass(frozen=True, slots=True)
class Timeline:
    """A branch that holds the campaign: its last turn with its journal line, its last commit's date and subject.

    In the player's view `subject` is empty where the last commit tells no turn.
    """

    name: str
    current: bool
    turn: str
    journal: str
    date: str
    subject: str
    commit: str

    def to_json(self) -> dict:
        """The object `timeline --json` prints."""
        return asdict(self)


def listed(campaign: Campaign, *, with_secrets: bool = True) -> list[Timeline]:
    """Every timeline, the current one first, then by their last commit, the newest first; GitTrouble without a repository.

    Without secrets no subject is given that may name one: of a hand edit's commit, of an import, of any that is not the game's.
    """
    repository = git.find(campaign.root)
    out = repository.run("for-each-ref", "--sort=-committerdate", f"--format={_FIELDS}", "refs/heads")
    rows = [row.split("\0", 5) for row in out.decode("utf-8", "surrogateescape").split("\n") if row]
    states = _states(repository, [row[1] for row in rows])
    found = [
        Timeline(
            ref.removeprefix("refs/heads/"),
            head == "*",
            *_last(state),
            date,
            clean_line(subject) if with_secrets or (email == f"<{git.EMAIL}>" and _TELLING.match(subject)) else "",
            commit[:10],
        )
        for (ref, commit, date, head, email, subject), state in zip(rows, states, strict=True)
        if state is not None
    ]
    return sorted(found, key=lambda timeline: not timeline.current)


def go(keeper: Keeper, name: str) -> bool:
    """Go to a timeline; False when it is the current one. The writer's edits must have been committed before."""
    keeper.wait()
    every = {timeline.name: timeline for timeline in listed(keeper.campaign)}
    if name not in every:
        near = get_close_matches(name, every, 1, 0.5)
        remedy = f"did you mean `{near[0]}`?" if near else "`rolecall timeline` lists them; `rolecall branch` makes one"
        raise UnknownName(f"there is no timeline `{name}`", remedy=remedy)
    if every[name].current:
        return False
    _refuse_pending(keeper)
    keeper.repository.run("checkout", "-q", name, "--", limit=CHECKOUT)
    return True


def make(keeper: Keeper, name: str, at: int | None = None) -> None:
    """Make a timeline from here, or from right after turn `at`, and go there; CampaignError when the name will not do."""
    keeper.wait()
    repository = keeper.repository
    if repository.run("check-ref-format", "--branch", name, ok=(0, 1, 128)).decode().rstrip("\n") != name:
        raise CampaignError(f"`{name}` is no name for a branch", remedy=f"try `{slug(name, 'what-if')}`")
    if repository.run("show-ref", "--verify", f"refs/heads/{name}", ok=(0, 1, 128)):
        raise Conflict(f"there is a timeline `{name}` already", remedy=f"go there with `rolecall timeline {name}`")
    if what := repository.under_way():
        raise GitTrouble(what, remedy="finish that first")
    if at is None:
        repository.run("checkout", "-q", "-b", name, limit=CHECKOUT)
        keeper.settle()  # what could not be committed where HEAD was on no branch
        return
    commit = _told_in(repository, at)
    _refuse_pending(keeper)
    repository.run("checkout", "-q", "-b", name, commit, "--", limit=CHECKOUT)


def _told_in(repository: Repository, turn: int) -> str:
    """The last commit that told a turn."""
    wanted = f"^{commitlines.TURN}: {turn_id(turn)}$"
    found = repository.line("log", "-1", "--format=%H", "--grep", wanted, "HEAD")
    if not found:
        raise UnknownName(
            f"no commit of this timeline tells {turn_id(turn)}", remedy="`git log --oneline` shows which do"
        )
    return found


def _refuse_pending(keeper: Keeper) -> None:
    """GitTrouble when something the writer has staged, or git would not take, would be carried along or be in the way."""
    if why := keeper.settle():
        raise GitTrouble(why, remedy="put that right first")
    status = keeper.repository.status()
    if staged := [change.path for change in status.changes if change.staged]:
        raise GitTrouble(
            f"you have staged {staged[0]}", remedy="commit it or unstage it (`git restore --staged`) first"
        )


def _states(repository: Repository, commits: list[str]) -> list[bytes | None]:
    """The Campaign State of each commit, None where it has none."""
    asked = "".join(f"{commit}:{repository.prefix}{STATE_FILE}\n" for commit in commits)
    out = repository.run("cat-file", "--batch", given=asked.encode("utf-8", "surrogateescape"))
    found: list[bytes | None] = []
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        head = out[at:end].rsplit(b" ", 2)
        if head[-2:][0] != b"blob":  # `NAME missing`
            found.append(None)
            at = end + 1
            continue
        size = int(head[2])
        found.append(out[end + 1 : end + 1 + size])
        at = end + 2 + size
    return found


def _last(state: bytes) -> tuple[str, str]:
    """(turn, text) of the last journal line; empty where it has none or cannot be read."""
    try:
        lines = journal.lines_of(documents.parse(state, STATE_FILE))
    except DocumentError:
        return "", ""
    last = max(lines, key=lambda line: line.turn, default=None)
    return (turn_id(last.turn), clean_line(last.text)) if last else ("", "")

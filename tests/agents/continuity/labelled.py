"""The labelled proses: read, cut into two halves by a hash, checked against their campaigns, and counted."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from rolecall.agents.continuity import RULES, Finding, findings
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.search.leaks import hidden_near
from rolecall.search.searcher import Search

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[2] / "examples" / "the-broken-anchor"


@dataclass(frozen=True, slots=True)
class Prose:
    """A prose, the world it is told in, the action before it, and the rules that should speak."""

    world: str
    action: str
    text: str
    rules: frozenset[str]

    @property
    def half(self) -> str:
        """`tuned` or `held out`: by a hash of the words, so that no later prose moves an earlier one."""
        return "held out" if hashlib.sha256(self.text.encode()).digest()[0] & 1 else "tuned"


@dataclass(frozen=True, slots=True)
class Score:
    """Of one rule: how many alarms were right, how many wrong, how many slips passed."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of alarms that were right; 1 without an alarm."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """The share of slips that were found; 1 without a slip."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


@dataclass(frozen=True, slots=True)
class World:
    """A campaign to check against, its search up to date."""

    campaign: Campaign
    search: Search

    def check(self, prose: Prose) -> list[Finding]:
        """What the check finds in a prose told here."""
        state = self.campaign.document("campaign-state.md")
        return findings(prose.text, state, self.search, self.campaign, prose.action, self.hidden(prose.text))

    def hidden(self, text: str) -> list[str]:
        """What only the DM knows of what a text speaks of."""
        return hidden_near(f"{text}\n{self.campaign.read('campaign-state.md').decode()}", self.search)


def proses(half: str | None = None) -> list[Prose]:
    """All proses, or those of a half."""
    rows = yaml.safe_load((HERE / "proses.yaml").read_text("utf-8"))
    made = [
        Prose(r.get("world", "anchor"), r.get("action", "I wait."), r["prose"], frozenset(r.get("is", ())))
        for r in rows
    ]
    return [one for one in made if half in (None, one.half)]


def worlds(place: Path) -> dict[str, World]:
    """The campaigns, written into a folder and indexed beside it."""
    made = {}
    for name, files in yaml.safe_load((HERE / "worlds.yaml").read_text("utf-8")).items():
        root = place / name
        if "rolecall.yaml" not in files:
            shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns(".rolecall"))
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
        campaign = open_campaign(root)
        search = Search(campaign, cache=place / "cache")
        search.refresh()
        made[name] = World(campaign, search)
    return made


def judge(
    of: Iterable[Prose], in_worlds: dict[str, World]
) -> tuple[dict[str, Score], list[tuple[Prose, list[Finding]]]]:
    """The score of each rule and of all together (`all`), and the proses that were judged wrongly."""
    counts = {rule: [0, 0, 0] for rule in RULES}
    wrong = []
    for prose in of:
        found = in_worlds[prose.world].check(prose)
        said = {finding.rule for finding in found}
        for rule in RULES:
            counts[rule][0] += rule in said & prose.rules
            counts[rule][1] += rule in said - prose.rules
            counts[rule][2] += rule in prose.rules - said
        if said != prose.rules:
            wrong.append((prose, found))
    counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    return {rule: Score(*numbers) for rule, numbers in counts.items()}, wrong

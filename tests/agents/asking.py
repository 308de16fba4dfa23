"""A campaign with a secret in every place a secret can be, a desk with a record, and chains of a scripted sidecar."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from rolecall.agents.calls import Desk
from rolecall.campaign import records
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.models.chain import Chain, Models
from rolecall.models.provider import Limits
from rolecall.search.searcher import Search

CANARY = "xyzzycanary"
STATE = """\
---
name: Campaign State
date: 1492-13-01
scene: The quay at dusk
location: Skerrow Quay
---

## Party

- [[Kit]]

## Secret

The reeve is xyzzycanary.

## Journal

"""
FILES: Mapping[str, str] = {
    "rolecall.yaml": "format: 1\nname: The Quay\nlanguage: en\n",
    "characters/kit.md": "---\nname: Kit\npinned: true\n---\nThe player's.\n",
    "characters/marta.md": "---\nname: Marta\nrole: innkeeper\nlocation: The Broken Anchor\nsecret: xyzzycanary\n---\nKeeps the inn.\n",
    "characters/sera.md": "---\nname: Sera\naliases: [the smuggler]\nrole: smuggler\nrelationships:\n  - {with: Marta, nature: debt}\n---\nShe sails.\n\n## Secret\n\nxyzzycanary\n",
    "characters/pasco.md": "---\nname: Old Pasco\nrole: net-mender\nlocation: The Xyzzycanary\n---\nMends nets.\n",
    "characters/gone.md": "---\nname: Gone Gil\nforgotten: T0001 left for good\n---\nLeft.\n",
    "locations/skerrow-quay.md": "---\nname: Skerrow Quay\ntype: quay\n---\nStones.\n",
    "locations/the-broken-anchor.md": "---\nname: The Broken Anchor\ntype: tavern\n---\nWarm.\n",
    "locations/the-salt-cave.md": "---\nname: The Salt Cave\ntype: cave\n---\nDripping.\n",
    "locations/hidden.md": "---\nname: The Xyzzycanary\nvisibility: secret\n---\nxyzzycanary\n",
    "items/ledger.md": "---\nname: The Tally Ledger\ntype: account book\n---\nA page is missing.\n",
    "cultures/saltfolk.md": "---\nname: Saltfolk\n---\nThey owe the sea.\n",
    "lore/broken.md": "---\nname: Broken\nsecret: xyzzycanary: x\n---\nxyzzycanary\n",
    "dm/plan.md": "xyzzycanary\n",
    "arcs/the-well.md": "---\nname: Who poisoned the well\nquestion: Who poisoned the well?\nstatus: open\nlatest: T0004 The water tastes of iron.\ntruth: xyzzycanary did.\n---\n\n## Trail\n- T0002 Two goats are dead.\n",
    "arcs/the-boy.md": "---\nname: Where is the boy\nquestion: Where is the boy?\nstatus: resolved\nlatest: T0003 He is found.\ntruth: xyzzycanary has him.\n---\n\n## Trail\n\n## Summaries\n",
    "arcs/the-plot.md": "---\nname: The Xyzzycanary Plot\nstatus: open\nvisibility: secret\n---\nxyzzycanary\n",
}


def campaign_in(root: Path, turns: int = 4, **more: str) -> Campaign:
    """The campaign after so many turns; `more` are other files, or other texts for these, by path."""
    lines = "".join(f"- T{n:04d} {line(n)}\n" for n in range(1, turns + 1))
    told = "".join(
        f"## T{n:04d}\n\n> I wait {n}.\n\nThe tide turns for the {n}th time.\n\n" for n in range(1, turns + 1)
    )
    files = {
        **FILES,
        "campaign-state.md": STATE + lines,
        "story/001-quay.md": f"---\nname: The quay\nkind: story\n---\n\n{told}",
    }
    for path, text in {**files, **more}.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    return open_campaign(root, here_only=True)


def line(turn: int) -> str:
    """The journal line of a turn."""
    return f"Kit asked Marta for the {turn}th barrel."


def search_of(campaign: Campaign) -> Search:
    """A search that is up to date."""
    search = Search(campaign)
    search.refresh()
    return search


def desk(campaign: Campaign, turn: int) -> Desk:
    """The desk of a turn with its record."""
    return Desk(records.begin(campaign.root, turn, "I wait."))


def answers(given: object) -> str:
    """A script with one answer: this object as JSON, or this text."""
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return json.dumps([{"role": "sidecar", "text": text}])


def chain_of(*specs: str, environ: Mapping[str, str] | None = None, seconds: float = 10) -> Chain:
    """The sidecar's chain; a script of its own is made the sidecar's, answer by answer."""
    for spec in specs:
        if spec.startswith("scripted:") and Path(spec.removeprefix("scripted:")).exists():
            _for_the_sidecar(Path(spec.removeprefix("scripted:")))
    return Chain(specs, Limits(seconds, seconds, seconds), Models(environ or {}), "sidecar")


def _for_the_sidecar(path: Path) -> None:
    import yaml

    answers = yaml.safe_load(path.read_text("utf-8"))
    if isinstance(answers, list) and all(isinstance(answer, dict) for answer in answers):
        spoken = [{"role": "sidecar", **answer} for answer in answers]
        path.write_text(yaml.safe_dump(spoken, allow_unicode=True, sort_keys=False), "utf-8")


def asked(campaign: Campaign, layer: str) -> str:
    """Every request of a layer that a record holds, as text."""
    found = sorted((campaign.root / ".rolecall/turns").rglob(f"*-{layer}.json"))
    return "\n".join(path.read_text("utf-8") for path in found)


Script = Callable[[str], str]

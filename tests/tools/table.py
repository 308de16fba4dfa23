"""A small campaign with something for every tool, and a table whose effects are written as a turn would write them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.campaign import template
from rolecall.campaign.effects import Effect, decode, edit_of, encode
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.kinds import STATE_FILE
from rolecall.models.messages import ToolCall
from rolecall.search.searcher import Search
from rolecall.tools import directing, families
from rolecall.tools.toolbox import NARRATOR, Table, Toolbox

TURN = 42
LINE = "Kit waited."
CANARY = "xyzzycanary"  # stands in everything that is secret

STATE = """\
---
name: Campaign State
date: 12 Frostmoon 1492   # the writer's comment
time: 14:30
weather: fog
scene: The quay
location: Skerrow
---
Fog.

## Party

- [[Kit]]
- [[Sera]]

## Resources

- silver: 9
- rations: 4/10

## Effects

- Kit: poisoned (until T0045)

## Promises

- [ ] To Sera: bring the ledger (T0012)

## Journal

- T0040 Kit promised Sera the ledger.
- T0041 Marta lied about the ledger.
"""
FIGHT = """\
## Combat

- round: 2
- turn: Kit
- Kit: initiative 17
- Bandit: initiative 12, hit points 5/7

## Promises
"""
FILES = {
    STATE_FILE: STATE,
    "characters/kit.md": "---\nname: Kit\nkind: character\nhit_points: 8/12\nlocation: Skerrow\ninventory:\n  - {item: torch, count: 3}\n  - {item: sword, worn: hand}\n---\nThe player's.\n",
    "characters/sera.md": f"---\nname: Sera\nkind: character\nhit_points: 10/10\naffinity: 3\nrelationships:\n  - {{with: Varr, nature: hunted_by, status: wary}}\nsecret: {CANARY}1\n---\nA smuggler.\n\n## Secret\n\n{CANARY}2\n",
    "characters/varr.md": "---\r\nname: Varr\r\nkind: character\r\naliases: [the captain]\r\n---\r\nThe harbour watch.\r\n",
    "characters/orm.md": "---\nname: Orm\nkind: character\nlocked: true\nstatus: absent\n---\nNobody touches her.\n",
    "characters/monk.md": f"---\nname: The Grey Monk\nkind: character\nvisibility: secret\n---\n{CANARY}3\n",
    "locations/skerrow.md": "---\nname: Skerrow\nkind: location\ndiscovered: T0001\nconnections:\n  - {to: Ford, way: the ridge path, days: 2}\n---\nA quay.\n",
    "locations/ford.md": "---\nname: Ford\nkind: location\n---\nA ford.\n",
    "locations/cave.md": f"---\nname: The Hidden Cave\nkind: location\nvisibility: secret\n---\n{CANARY}4\n",
    "arcs/ledger.md": f"---\nname: Who burned the ledger\nkind: arc\nquestion: Who burned it?\nstakes: the harvest\nstatus: open\nlatest: T0041 Marta lied about it.\ntruth: {CANARY}5\n---\n\n## Trail\n\n## Summaries\n",
    "arcs/flood.md": "---\nname: The flood\nkind: arc\nstatus: resolved\nlatest: T0020 The water fell.\n---\n",
    "arcs/bell.md": "---\nname: Mend the bell\nkind: quest\nstatus: open\nstage: looking for bronze\n---\n\n## Objectives\n\n- [ ] find bronze\n- [x] find a founder (T0030)\n",
    "events/fair.md": "---\nname: The fair\nkind: event\ndate: 20 Frostmoon 1492\nstatus: scheduled\n---\n",
    "rules/calendar.md": "---\nname: The calendar\nkind: rule\nmonths: [Frostmoon 30, Thawmoon 31]\nweekdays: [Moonday, Towerday, Starday]\nseasons: [Winter from Frostmoon, Spring from 10 Thawmoon]\n---\n",
    "story/001-the-quay.md": "---\nname: The quay\nkind: story\nchapter: 1\n---\n\n## T0041\n\n> I ask for the ledger.\n\nShe looks away.\n",
    "dm/plan.md": f"---\nname: Plan\n---\n{CANARY}6 must fall.\n",
    "dm/seeds.md": f"- [ ] the bell is cracked {CANARY}7 (T0003)\n- [ ] the boy's coin (T0010)\n",
    "dm/intentions.md": "- [ ] Encounter: Varr's men search the inn, when the party sleeps (T0012)\n",
    "dm/agendas.md": "- T0012 Varr: wants the ledger; next: bribe the clerk\n",
    "dm/knowledge.md": "- T0012 Sera: Varr holds the ledger\n",
    "dm/shadow-world.md": "- T0013 Varr: bought the clerk\n",
}  # fmt: skip


@dataclass
class Play:
    """A layer at its table; `said` and `refused` call a tool, `written` gives the files that what they did changes."""

    root: Path
    table: Table
    box: Toolbox
    files: dict[str, str] = field(default_factory=dict)

    def call(self, tool: str, /, **given: object):
        """The result of one call."""
        (result,) = self.box.run([ToolCall("call_1", tool, given)])
        return result

    def said(self, tool: str, /, **given: object) -> str:
        """What a tool answers that must not refuse."""
        result = self.call(tool, **given)
        assert not result.is_error, result.text
        return result.text

    def refused(self, tool: str, /, **given: object) -> str:
        """Why a tool refuses; nothing may have come on the table by it."""
        before = (list(self.table.effects), list(self.table.fragments), self.table.journal, list(self.table.rolls))
        result = self.call(tool, **given)
        assert result.is_error, result.text
        assert before == (self.table.effects, self.table.fragments, self.table.journal, self.table.rolls)
        return result.text

    def effects(self) -> list[Effect]:
        """All that the turn will write beside its story section, as a record would keep it."""
        line = Effect("journal", STATE_FILE, TURN, LINE)
        effects = [line, *self.table.effects, *directing.resolution(self.table).effects]
        return [decode(encode(effect)) for effect in effects]

    def written(self) -> dict[str, str]:
        """The files that are changed, as they will be; each effect is made twice, as after a crash."""
        found: dict[str, bytes | None] = {}
        for effect in self.effects():
            place = self.root / effect.path
            before = found.get(effect.path, place.read_bytes() if place.exists() else None)
            found[effect.path] = once = edit_of(effect)(before)
            assert edit_of(effect)(once) == once, f"{effect.op} made twice changes more"
        for effect in self.effects():  # all of them once more, as a crash before the end would have it
            assert edit_of(effect)(found[effect.path]) == found[effect.path], f"{effect.op} made again later"
        return {path: data.decode() for path, data in found.items() if data is not None}

    def changes(self) -> list[str]:
        """Every line that goes (`path -line`) or comes (`path +line`), blank ones and the turn's journal line aside."""
        said = []
        for path, new in sorted(self.written().items()):
            place = self.root / path
            old = place.read_bytes().decode().split("\n") if place.exists() else []
            for row in difflib.ndiff(old, new.split("\n")):
                if row[0] in "+-" and row[2:].strip() and LINE not in row:
                    said.append(f"{path} {row[0]}{row[2:]}")
        return said


def play(root: Path, layer: str = NARRATOR, *, fight: bool = False, **files: str) -> Play:
    """A table in a new campaign of `FILES`, with others by their paths (`/` for `__`), and a fight under way if wanted."""
    template.new(root, "Tale")
    for path in [p for p in root.rglob("*.md") if p.parent != root or p.name == STATE_FILE]:
        if not {"instructions", "prose", "schemas"} & set(path.parts):
            path.unlink()
    for path, text in {**FILES, **files}.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    if fight:
        (root / STATE_FILE).write_bytes(STATE.replace("## Promises\n", FIGHT).encode())
    campaign = open_campaign(root, here_only=True)
    search = Search(campaign)
    search.refresh()
    table = Table(campaign, search, TURN, campaign.document(STATE_FILE), layer=layer, seed="seed")
    return Play(root, table, families.toolbox(layer, table))

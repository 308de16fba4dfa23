"""A small campaign as bytes, and a table on which directives are resolved and carried out: what stands there is what a folder would hold."""

from __future__ import annotations

from rolecall.campaign import documents, kinds
from rolecall.campaign.effects import edit_of
from rolecall.campaign.game import directives, resolving
from rolecall.campaign.game.resolving import Resolution
from rolecall.campaign.game.world import Ground, Known, is_secret
from rolecall.campaign.merging import key_of
from rolecall.errors import DocumentError

STATE = "campaign-state.md"
FILES = {
    STATE: """---
name: Campaign State
date: 3 Frostmoon 1492  # by the harbour's reckoning
time: "22:30"
scene: The toll house burns
location: "[[Saltmarsh]]"
---
Snow on the quay.

## Party

- [[Valen]], limping
- Sera: at the oars

## Resources

- silver: 9
* 30 arrows
- rations: 4/10
- hope: some

## Promises

- [ ] To Sera: bring the ledger (T0012)

## Journal

- T0041 They came to the toll house.
""",
    "characters/valen.md": """---
name: Valen
kind: character
aliases: [Valen the Shadow]
location: '[[Saltmarsh]]'   # since T0040
hit_points: 8/12
affinity: 3
status: injured
inventory:
  - {item: torch, count: 3}
  - {item: sword, worn: hand}
  - rope
relationships:
  - {with: Sera, nature: romance, status: complicated}
---
A thief.

## History
- T0003 Met the party.
""",
    "characters/sera.md": """---
name: Sera
kind: character
location: Saltmarsh
hit_points: 5
inventory: [oar, 2 pennies]
---
A sailor.
""",
    "characters/hob.md": "---\nname: Hob\nkind: character\nstatus: dead, drowned\nhit_points: 0/6\n---\n",
    "characters/orla.md": "---\nname: Orla\nkind: character\nlocked: true\nhit_points: 6/6\naffinity: 1\n---\n",
    "characters/varr.md": "---\nname: Varr\nkind: character\nvisibility: secret\nhit_points: 20/20\n---\n",
    "locations/saltmarsh.md": "---\nname: Saltmarsh\nkind: location\ndiscovered: T0001\n---\n",
    "locations/gull-rock.md": "---\nname: Gull Rock\nkind: location\nconnections:\n  - {to: Saltmarsh, way: by boat}\n---\n",
    "locations/cellar.md": "---\nname: The Cellar\nkind: location\nvisibility: secret\n---\n",
    "items/ledger.md": "---\nname: Ledger\nkind: item\nholder: Valen\n---\n",
    "arcs/the-well.md": """---
name: The Well
kind: quest
question: Who poisoned it?
status: open
stage: asking round
latest: T0030 The boy has coin.
---

## Objectives

- [ ] Find the boy
- [x] Draw water (T0020)

## Trail
- T0012 Iron.
""",
    "arcs/the-old-war.md": "---\nname: The Old War\nkind: quest\nstatus: completed\n---\n",
    "events/fair.md": "---\nname: Harvest Fair\nkind: event\ndate: 5 Frostmoon 1492\nstatus: scheduled\n---\n",
    "events/wake.md": "---\nname: Wake\nkind: event\ndate: 9 Frostmoon 1492\nstatus: cancelled\n---\n",
    "rules/reckoning.md": """---
name: The reckoning
kind: rule
months: [Frostmoon 30, Thawmoon 31, Seedmoon 30]
weekdays: [Moonday, Towerday, Starday]
seasons: [Winter from Frostmoon, Spring from 10 Thawmoon]
weekday_on: 1 Frostmoon 1492 = Moonday
---
""",
}


class Table:
    """The campaign's bytes, by path."""

    def __init__(self, **changed: str | bytes | None) -> None:
        self.files = {path: text.encode() for path, text in FILES.items()}
        for path, text in changed.items():
            self.put(path, text)

    def put(self, path: str, text: str | bytes) -> None:
        self.files[path] = text.encode() if isinstance(text, str) else text

    def text(self, path: str) -> str:
        return self.files[path].decode()

    def line(self, path: str, start: str) -> str:
        """The one line of a file that begins so, bullets and indents included."""
        found = [line for line in self.text(path).split("\n") if line.startswith(start)]
        assert len(found) == 1, (start, found)
        return found[0]

    def section(self, heading: str, path: str = STATE) -> list[str]:
        return [line for line in documents.parse(self.files[path], path).lines(heading) if line.strip()]

    def world(self, turn: int, seed: str = "seed") -> Ground:
        known: dict[str, list[Known]] = {}
        for path, data in self.files.items():
            try:
                document = documents.parse(data, path)
            except DocumentError:
                continue
            kind = kinds.kind_of(path, document.fields)
            for name in (kinds.name_of(path, document.fields), *kinds.names_in(document.fields, "aliases")):
                known.setdefault(key_of(name), []).append(Known(path, kind, is_secret(document)))

        def having(wanted: tuple[str, ...], words: tuple[bytes, ...]) -> list[str]:
            return [path for path, data in self.files.items() if any(word in data for word in words)]

        return Ground(turn, self.files.get, lambda name: known.get(key_of(name), ()), having, seed=seed)

    def resolve(self, *fragments: object, layer: str = "narrator", turn: int = 42, ticks: bool = True) -> Resolution:
        """What becomes of fragments of one layer, or of (layer, fragment) pairs; what reading refuses is refused here too."""
        pairs = [one if isinstance(one, tuple) else (layer, one) for one in fragments]
        told = [directives.read(fragment, by, turn) for by, fragment in pairs]
        merged = directives.merge([directive for directive, _ in told], turn)
        result = resolving.resolve(merged, self.world(turn), ticks=ticks)
        refused = (*(one for _, more in told for one in more), *result.refused)
        return Resolution(result.effects, refused, result.said, result.hidden, result.locked)

    def apply(self, result: Resolution) -> None:
        """Carry the effects out, as a turn does."""
        for effect in result.effects:
            self.files[effect.path] = edit_of(effect)(self.files.get(effect.path))

    def play(self, *fragments: object, layer: str = "narrator", turn: int = 42) -> Resolution:
        """Resolve, carry out, and carry out once more, which must change nothing."""
        result = self.resolve(*fragments, layer=layer, turn=turn)
        self.apply(result)
        once = dict(self.files)
        self.apply(result)
        assert self.files == once
        return result


def why(result: Resolution) -> list[str]:
    """The reasons of what was refused."""
    return [one.why for one in result.refused]


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """(lines that went, lines that came) between two texts."""
    import difflib

    rows = list(difflib.ndiff(before.split("\n"), after.split("\n")))
    return [row[2:] for row in rows if row.startswith("- ")], [row[2:] for row in rows if row.startswith("+ ")]

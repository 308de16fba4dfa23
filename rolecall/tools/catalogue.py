"""The page of every tool, made from the families: `python -m rolecall.tools.catalogue > docs/tools.md`."""

from __future__ import annotations

import textwrap

from rolecall.campaign import plans
from rolecall.tools import compendium, families, upkeep
from rolecall.tools.families import FAMILIES, LAYERS, Family
from rolecall.tools.toolbox import ToolType

_SPOKEN = {"narrator": "narrator", "dm": "DM"}
_HEAD = """\
# The tools

What the models may do. This page is made from the code: `python -m rolecall.tools.catalogue > docs/tools.md`.

The *narrator* tells the story, the *DM* plans it unseen, the *TurnDM* picks what a scene needs, the *scribe* writes down afterwards
what has become true. You need none of these names to play: the models call the tools.

A *read* looks something up; the reads of one answer run side by side. A *mutation* puts something on the table, one after the
other; it is written when the turn is told, and `undo` takes it back. At most {most} tools go into one request, chosen by the
situation in which the turn begins, the more important first where there is no room for all. With `open_tools` a model gets
the other tools of a family, from its next answer on. Game tools reckon and bound the numbers by code; what cannot be is refused in
words, and changes nothing.
"""


def page() -> str:
    """The page in Markdown."""
    parts = [_HEAD.format(most=families.MOST)]
    count = len({tool.name for family in FAMILIES for tool in family.tools}) + 1
    parts.append(f"{count} tools in {len(FAMILIES)} families, and the scribe's {len(_scribes())}.\n")
    parts += [_family(family) for family in FAMILIES]
    opener = families.OPENERS[LAYERS[0]]
    parts.append(f"## Opening a family\n\n{_table([(opener, ', '.join(_SPOKEN[n] for n in LAYERS), 'always')])}")
    scribe = [(tool, "scribe", "after a turn") for tool in _scribes()]
    parts.append(f"## The compendium\n\nWhat a turn established, kept as entries.\n\n{_table(scribe)}")
    rows = textwrap.dedent("\n".join(row for row in (plans.__doc__ or "").split("\n") if row.startswith("    ")))
    parts.append(
        f"## The DM's own files\n\nUnder `dm/`, made when first needed; hand-written lines count too.\n\n```\n{rows}\n```\n"
    )
    return "\n".join(parts)


def _scribes() -> tuple[ToolType, ...]:
    return (*compendium.TOOLS, *upkeep.TOOLS)


def _family(family: Family) -> str:
    layers = [layer for layer in LAYERS if layer in family.layers]
    rows = [(tool, ", ".join(_SPOKEN[layer] for layer in layers), _condition(layers, tool)) for tool in family.tools]
    return f"## {family.name.capitalize()}\n\n{family.about[:1].upper()}{family.about[1:]}.\n\n{_table(rows)}"


def _condition(layers: list[str], tool: ToolType) -> str:
    said = {layer: families.condition_of(layer, tool) for layer in layers}
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return "; ".join(f"{_SPOKEN[layer]}: {when}" for layer, when in said.items())


def _table(rows: list[tuple[ToolType, str, str]]) -> str:
    lines = ["| tool | who | offered | safety | what it does |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| `{t.name}` | {who} | {when} | {t.safety} | {t.description} |" for t, who, when in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())

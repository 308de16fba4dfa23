"""Telling a turn: its effects planned, saved in the record, and written in one pass, the story first.

The turn is told when its story section and journal line are durable. Everything here may be run twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rolecall.agents import narrator
from rolecall.agents.narrator import Narration
from rolecall.campaign import files, proposals, story, trails
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect, edit_of, encode
from rolecall.campaign.folder import Campaign
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Record
from rolecall.errors import DocumentError, StorageError
from rolecall.search.searcher import Search
from rolecall.tools import directing
from rolecall.tools.toolbox import Table
from rolecall.turn.immersion import Immersion

_FIRST = ("section", "journal")
REASONS = {  # why the narrator wrote what it wrote
    "section": "told",
    "journal": "the turn's journal line",
    "arc": "the arc moved on",
    "history": "it became true in the scene",
    "promise": "promised in the scene",
    "kept": "a promise was kept",
    "proposal": "for the writer to decide",
    **dict.fromkeys(("value", "item", "row", "gone", "remark", "made"), "the game's state after the scene"),
}
_PASSES = 3  # times the effects of a file are written while an editor keeps saving over them
AFTERWARDS = "afterwards"  # the plan of what the helpers keep once the turn is told
CUT_MARK = "<!-- cut short: {why} -->"


def plan(
    campaign: Campaign,
    search: Search,
    table: Table,
    action: str,
    narration: Narration,
    immersed: Immersion,
) -> list[Effect]:
    """The effects of a narrated turn: story section, journal line, what the tools put on the table, the game's state.

    Pure reading.
    """
    state = table.state
    path, new_title = story.place(campaign, table.turn, story.title_from(campaign, state))
    prose = narration.prose
    if narration.cut:
        prose += "\n\n" + CUT_MARK.format(why=" ".join(narration.cut.replace("--", "-").split())[:200])
    line = narration.journal or narrator.line_from(narration.scene, known_names(search))
    told = Effect("section", path, table.turn, prose, key=action, title=new_title)
    effects = [told, Effect("journal", STATE_FILE, table.turn, line), *table.effects, *immersed.effects]
    return [_explained(effect, narration.spec) for effect in effects]


def _explained(effect: Effect, model: str) -> Effect:
    """The effect with where it comes from: what the narrator told and did while it told, unless it says so itself."""
    if effect.phase:
        return effect
    why = {"phase": "during-gen", "model": model, "reason": effect.reason or REASONS.get(effect.op, effect.op)}
    if effect.op == "proposal":
        effect = proposals.rewritten(effect, lambda inner: _explained(inner, model))
    return replace(effect, **why)


def state_after(table: Table) -> Document:
    """The Campaign State as it will be when the tools' changes of the scene are written."""
    return directing.after(table, STATE_FILE) or table.state


def known_names(search: Search) -> list[str]:
    """Every open name and alias of the campaign's entries."""
    names: list[str] = []
    for entry in search.catalogue.values():
        if not entry.secret and not entry.withheld and entry.kind not in ("story", "chronicle", "state"):
            names += [entry.name, *entry.aliases]
    return names


def save_plan(
    record: Record, effects: list[Effect], narration: Narration, passages: Sequence[Mapping[str, object]] = ()
) -> None:
    """Note what the turn will tell and change: from here on it can be finished without a model. The first write's note,
    which follows, puts it on the disk.

    `passages` are the rows of what the narrator was shown, for `context --last`.
    """
    shown = {"passages": list(passages)} if passages else {}
    record.jot("plan", effects=[encode(e) for e in effects], model=narration.spec, cut=narration.cut, **shown)


def save_more(record: Record, effects: list[Effect]) -> None:
    """Note what the helpers want to keep after the turn was told: it belongs to the same answer, and goes with its swipe."""
    record.jot("plan", effects=[encode(e) for e in effects], phase=AFTERWARDS)


def apply(campaign: Campaign, record: Record, effects: list[Effect]) -> list[str]:
    """Write the effects; what was left out is returned in words.

    The story section and the Campaign State must succeed. Beside them only a fault of the disk is raised: the record
    stays open and the rest is written later. Files that an editor saved over meanwhile are written once more.
    """
    faults: dict[int, str] = {}
    todo = list(range(len(effects)))
    for _ in range(_PASSES):
        for number in todo:
            faults.pop(number, None)
            if fault := _apply(campaign, record, effects[number]):
                faults[number] = fault
        again = record.saved_over()
        todo = [number for number, effect in enumerate(effects) if effect.path in again]
        if not todo:
            break
    return list(faults.values())


def _apply(campaign: Campaign, record: Record, effect: Effect) -> str:
    try:
        record.write(effect.path, effect.op, edit_of(effect), **_why(campaign, effect))
    except (DocumentError, StorageError) as error:
        its_own = f"{effect.path}/".startswith(f"{error.path}/")  # the file, or a folder it is to stand in
        of_an_entry = effect.path != STATE_FILE and its_own
        left_out = isinstance(error, DocumentError) or (of_an_entry and files.is_of_one_file(error))
        if effect.op in _FIRST or not left_out:
            raise
        return str(error)
    return ""


def _why(campaign: Campaign, effect: Effect) -> dict[str, object]:
    """What a write's record says beside its bytes: turn, provenance, and for an arc how long its trail is afterwards."""
    said: dict[str, object] = {"turn": effect.turn}
    said |= effect.why
    if effect.op == "arc":
        said["text"] = effect.text
        said |= trails.left_by(campaign.document(effect.path))
    return said

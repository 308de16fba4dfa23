"""What a crash left, put right at the next command: a turn is finished, or taken back with its action kept; a fold is
finished; temporary files are swept. No model is asked: a paid answer is in the record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rolecall.agents import historian, narrator
from rolecall.agents.calls import saved_events
from rolecall.campaign import files, lock, proposals, records, seeds, summaries
from rolecall.campaign.effects import Effect, decode
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Record
from rolecall.exchange import importing
from rolecall.search.searcher import Search
from rolecall.tools import families
from rolecall.tools.toolbox import NARRATOR, Table
from rolecall.turn import before, courses, folding, immersion, rewinding, soundness, telling, unfinished


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was put right, in one line for a person."""

    what: str


def recover(campaign: Campaign, search: Search) -> list[Recovered]:
    """Put right what an interrupted command left. Holds only under the campaign's lock; may itself be interrupted."""
    done: list[Recovered] = []
    if not files.exists(campaign.root, unfinished.ROLLBACK) and (turns := courses.follow(campaign)):
        done.append(Recovered(f"The story took another course at {turn_id(turns[0])}; swipe and undo follow it"))
    while (folder := records.newest_open(campaign.root)) and records.begun(campaign.root, folder) is None:
        done.append(_put_aside(campaign, folder))
    if folder is not None:
        records.finish_torn(campaign.root, folder)
    if path := folding.finish(campaign):
        done.append(Recovered(f"A fold that was interrupted is finished: {path}"))
    if folder is not None:
        done.append(_recover_turn(campaign, search, folder))
    done += [Recovered(told) for told in _noted(campaign)]
    proposals.finish(campaign.root)
    lock.put_right(campaign.root)
    done += [Recovered(told) for told in importing.finish(campaign.root)]
    return done


def _noted(campaign: Campaign) -> Iterator[str]:
    """Finish what a note says has begun; what does that is imported only then, for there is hardly ever a note."""
    if files.exists(campaign.root, unfinished.ROLLBACK):
        from rolecall.turn import rollback

        yield rollback.recover(campaign)
    if files.exists(campaign.root, unfinished.INGEST):
        from rolecall.turn import ingested

        yield ingested.recover(campaign)
    if files.exists(campaign.root, unfinished.RENAME):
        from rolecall.turn import renamed

        yield renamed.recover(campaign)


def _recover_turn(campaign: Campaign, search: Search, folder: str) -> Recovered:
    lines = records.lines(campaign.root, folder)
    begin = records.begun(campaign.root, folder)
    record = Record(campaign.root, folder)
    turn, action = begin["turn"], begin["action"]
    plans = [line for line in lines if line["do"] == "plan"]
    effects = rewinding.planned(lines)
    if not plans and turn in soundness.standing(campaign):  # it was told, and a plan comes before that
        return _damaged(campaign, folder)
    if not plans:
        effects = _effects_from_answers(campaign, search, record, turn, action)
    if effects is None:
        records.keep_draft(campaign.root, turn, action)
        whole = all(_is_readable(call) for call in records.calls(campaign.root, folder))
        records.set_aside(campaign.root, folder, "draft" if whole else "damaged")  # a draft's answers are used again
        return Recovered(f"{turn_id(turn)} was interrupted before it was told; its action is kept")
    told = "told" in [line["do"] for line in lines[_reopened(lines) :]]
    if told:  # all of it is written but for what the helpers kept afterwards
        effects = [decode(e) for plan in plans if plan.get("phase") == telling.AFTERWARDS for e in plan["effects"]]
    if not any(line["do"] == "closed" or line.get("phase") == telling.AFTERWARDS for line in lines):
        effects += _interrupted(campaign, record, turn)
    faults = telling.apply(campaign, record, effects)
    if not told:
        record.note("told", recovered=True)
    record.note("closed", recovered=True)
    is_new = not told and begin.get("swipe", 1) == 1
    (records.drop_drafts if is_new else records.drop_draft)(campaign.root, action)
    left = f" ({'; '.join(faults)})" if faults else ""
    return Recovered(f"{turn_id(turn)} was interrupted while it was written down; it is finished{left}")


def _put_aside(campaign: Campaign, folder: str) -> Recovered:
    """A record that does not say what it is of: torn by a kill in its first line, or damaged since."""
    data = records.raw(campaign.root, folder)
    is_torn = b"\n" not in data and b'{"do": "begin"'.startswith(data[:14])
    if not is_torn or records.turn_of(folder) in soundness.standing(campaign):
        return _damaged(campaign, folder)
    records.set_aside(campaign.root, folder, "draft")
    return Recovered("A turn that had not begun is put aside")


def _damaged(campaign: Campaign, folder: str) -> Recovered:
    place = records.set_aside(campaign.root, folder, "damaged")
    return Recovered(f"The record of {turn_id(records.turn_of(folder))} cannot be read and is put aside ({place})")


def _interrupted(campaign: Campaign, record: Record, turn: int) -> list[Effect]:
    """What the helpers had begun: the historian's finished work is kept, the rest is done with the next turn."""
    record.note("missed", layer="scribe")
    memory = campaign.settings.memory
    notes = summaries.notes(campaign.root, record.folder)
    if not notes and historian.due(campaign, turn, memory["historian_every"]):
        first, last = historian.stretch(campaign, turn, memory)
        record.note(summaries.NOTE, first=first, last=last, why="interrupted", effects=[])
    effects = [decode(effect) for note in notes[-1:] for effect in note.get("effects", ())]
    if effects:
        telling.save_more(record, effects)
    return effects


def _reopened(lines: list[dict]) -> int:
    """The position behind the last line that says the record's effects are to be written again."""
    return max((n + 1 for n, line in enumerate(lines) if line["do"] == "reopened"), default=0)


def _is_readable(call: records.Call) -> bool:
    try:
        return isinstance(saved_events(call), list)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def _effects_from_answers(
    campaign: Campaign, search: Search, record: Record, turn: int, action: str
) -> list[Effect] | None:
    """The effects of a turn whose answers are all there though its plan is not; None when the scene was not told."""
    saved = [call for call in records.calls(campaign.root, record.folder) if call.layer == "narrator"]
    if not saved or not all(call.complete for call in saved):
        return None
    if not all(_is_readable(call) for call in saved):
        return None
    search.refresh()
    state, seed = campaign.document(STATE_FILE), seeds.of(campaign.root, record.folder)
    table = Table(campaign, search, turn, state, seed=seed)
    before.lay_again(record, table)
    narration = narrator.retell([saved_events(call) for call in saved], families.toolbox(NARRATOR, table))
    if narration is None:
        return None
    immersed = immersion.of(table, record)
    effects = telling.plan(campaign, search, table, action, narration, immersed)
    telling.save_plan(record, effects, narration)
    immersion.note(record, immersed)
    return effects

"""What the game's commits say: the journal line as subject, and trailers that a program can read.

A turn's commit is `T0042 what happened` with `Rolecall-Turn`, `Rolecall-Models` (layer=spec),
`Rolecall-Tokens` and, where the settings name prices, `Rolecall-Cost`.
`git log --oneline` so reads as the story's journal, and `git log --format='%(trailers)'` as its bill.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rolecall.campaign import records
from rolecall.campaign.journal import turn_id
from rolecall.campaign.text import clean_line

LONGEST = 500  # characters of a subject
TURN, SWIPE, UNDO, FOLD = "Rolecall-Turn", "Rolecall-Swipe", "Rolecall-Undo", "Rolecall-Fold"
IMPORT = "Rolecall-Import"
INGEST = "Rolecall-Ingest"
PROPOSAL = "Rolecall-Proposal"
MODELS, TOKENS, COST = "Rolecall-Models", "Rolecall-Tokens", "Rolecall-Cost"
INTERRUPTED = "What an interrupted command wrote"
_TRAILER = re.compile(r"Rolecall-[A-Z][a-z]+: .+")


def composed(subject: str, trailers: Sequence[tuple[str, str]] = (), body: str = "") -> str:
    """A commit's message: subject, body, trailers; each trailer one line."""
    lines = [f"{name}: {clean_line(text)}" for name, text in trailers if text]
    parts = [clean_line(subject, LONGEST), body.strip(), "\n".join(lines)]
    return "\n\n".join(part for part in parts if part) + "\n"


def of_turn(root: Path, folder: str, verb: str = "", cost: str = "") -> str:
    """The message for a turn that was told, from its record; `verb` is `Swipe` or `Undo`, `cost` what it came to in words."""
    turn = turn_id(records.turn_of(folder))
    line = journal_of(root, folder)
    subject = f"{verb} {turn}: {line}" if verb else f"{turn} {line}"
    if verb == "Undo":
        return composed(subject, [(UNDO, turn)])
    models, tokens = _bill(root, folder)
    number = (records.begun(root, folder) or {}).get("swipe", 1)
    swipe = [(SWIPE, str(number))] if verb else []
    return composed(subject, [(TURN, turn), *swipe, (MODELS, models), (TOKENS, tokens), (COST, cost)])


def of_fold(covers: str, path: str) -> str:
    """The message for a fold on demand."""
    return composed(f"Fold {covers} into {path}", [(FOLD, covers)])


def of_import(title: str, folder: str, *, back: bool = False) -> str:
    """The message for an import, or for one that was taken back."""
    return composed(f"{'Take back' if back else 'Import'} {clean_line(title, 200)}", [(IMPORT, folder)])


def of_rename(old: str, new: str, *, back: bool = False) -> str:
    """The message for an entry that was given another name, or for that taken back."""
    what = f"{clean_line(old, 120)} to {clean_line(new, 120)}"
    return composed(f"Undo the renaming of {what}" if back else f"Rename {what}")


def of_ingest(name: str, turns: str = "") -> str:
    """The message for a chat that was brought in as these turns, or, without any, taken back."""
    name = clean_line(name, 120)
    return composed(f"Ingest {name} as {turns}" if turns else f"Undo the ingest of {name}", [(INGEST, turns)])


def of_proposal(number: int, line: str) -> str:
    """The message for a proposal that the writer accepted."""
    return composed(f"Accept proposal {number}: {line}", [(PROPOSAL, str(number))])


def of_hand(paths: Sequence[str], before: str) -> str:
    """The message for what the writer had changed by hand."""
    named = ", ".join(paths[:2]) + (f" and {len(paths) - 2} more" if len(paths) > 2 else "")
    when = f" before {before}" if before else ""
    return composed(f"By hand{when}: {named}", body="Edits of the writer's, committed before the game went on.")


def joined(messages: Sequence[str]) -> str:
    """One message for what several commands wrote before git would take it: the last one's, naming the others."""
    every = list(dict.fromkeys(messages))
    if len(every) < 2:
        return every[0] if every else composed(INTERRUPTED)
    subjects = [message.split("\n", 1)[0] for message in every]
    trailers = [line for message in every for line in message.split("\n") if _TRAILER.fullmatch(line)]
    pairs = [(name, text) for name, _, text in (line.partition(": ") for line in trailers)]
    return composed(subjects[-1], pairs, "With it: " + "\n".join(subjects[:-1]))


def journal_of(root: Path, folder: str) -> str:
    """The journal line that a turn's record planned; empty when it has none."""
    planned = [effect for line in records.lines(root, folder) if line["do"] == "plan" for effect in line["effects"]]
    return next((str(effect.get("text", "")) for effect in planned if effect.get("op") == "journal"), "")


def _bill(root: Path, folder: str) -> tuple[str, str]:
    """(`layer=spec` of each model that answered, tokens read and written), from the calls on record."""
    specs: dict[str, None] = {}
    fresh = cached = out = 0
    for call in records.calls(root, folder):
        for event in call.events:
            if event["type"] == "answered" and event.get("spec"):
                specs[f"{call.layer}={_named(str(event['spec']))}"] = None
            elif event["type"] == "used":
                fresh += _count(event, "fresh") + _count(event, "cache_write")
                cached += _count(event, "cached")
                out += _count(event, "out")
    tokens = f"fresh {fresh}, cached {cached}, out {out}" if fresh + cached + out else ""
    return ", ".join(specs), tokens


def _count(usage: dict, name: str) -> int:
    number = usage.get(name, 0)
    return number if type(number) is int else 0


def _named(spec: str) -> str:
    """A spec as others may read it: of a file on this machine only the name."""
    scheme, colon, path = spec.partition(":")
    name = re.split(r"[/\\]", path)[-1]
    return f"{scheme}:{name}" if colon and scheme in ("scripted", "gguf") else spec

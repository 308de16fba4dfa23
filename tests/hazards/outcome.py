"""What becomes of a bad input, in words that can be compared: what `check` tells, what search sees, what an edit of a field does.

python -m tests.hazards.outcome > tests/hazards/outcomes.py      # then read what changed, line by line
python -m tests.hazards.outcome page > docs/hazards.md
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from rolecall.campaign import documents, template
from rolecall.campaign.checks import look
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.journal import turn_id
from rolecall.errors import DocumentError, RoleCallError
from rolecall.search.searcher import Search
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener, Turn, next_turn
from tests.hazards.inputs import HAZARDS, Hazard

COLUMNS = ("`check` tells", "search sees, or the next command", "a field of it is set")


def laid(root: Path, hazard: Hazard) -> Path:
    """A new campaign with the bad input in it."""
    root = template.new(root, "The Tale").root
    hazard.lay(root)
    if hazard.data.startswith(b"SAME AS "):
        (root / hazard.path).write_bytes((root / hazard.data[8:].decode()).read_bytes())
    return root


def outcome(root: Path, hazard: Hazard) -> tuple[str, str, str]:
    """(what `check` tells of it, what search sees of it, what happens when a field of it is set)."""
    try:
        campaign = open_campaign(root, here_only=True)
        found = look(campaign)
    except RoleCallError as error:
        return f"refused: {error}", "", ""
    told = [f"{p.rule}{f' on line {p.line}' if p.line else ''}{' (a note)' if p.note else ''}" for p in found]
    return ", ".join(dict.fromkeys(told)) or "nothing", _seen(campaign, hazard), _edited(root, hazard)


def _seen(campaign, hazard: Hazard) -> str:
    if hazard.kind == "machine":
        said: list[str] = []
        Game(campaign.root).recover(Listener(note=said.append))
        return f"put right: {'; '.join(said)}" if said else "no notice of it"
    if hazard.kind in ("settings", "state"):
        try:
            state = Turn(campaign, Search(campaign), {}, Listener())._state()  # as a turn begins
            return f"the next turn is {turn_id(next_turn(campaign, state))}"
        except RoleCallError as error:
            return f"no turn: {error.what}"
    search = Search(campaign)
    search.refresh()
    entry = search.catalogue.get(hazard.path)
    if entry is None:
        return "nothing"
    return "for the writer only" if entry.broken else "the writer's secret" if entry.secret else "an entry"


def _edited(root: Path, hazard: Hazard) -> str:
    if hazard.kind not in ("bytes", "fences", "YAML", "words"):
        return ""
    data = (root / hazard.path).read_bytes()
    try:
        new = documents.set_field(data, hazard.path, "status", "tired")
    except DocumentError as error:
        return f"refused{f' on line {error.line}' if error.line else ''}: {error.what}"
    old, now = (documents.parse(each, hazard.path) for each in (data, new))
    kept = {k: v for k, v in old.fields.items() if k != "status"} == {
        k: v for k, v in now.fields.items() if k != "status"
    }
    return "yes, and nothing else" if kept and old.body == now.body else "MORE THAN IT"


def every() -> dict[str, tuple[str, str, str]]:
    """The outcome of every bad input, by kind and name."""
    found = {}
    with tempfile.TemporaryDirectory() as place:
        for number, hazard in enumerate(HAZARDS):
            found[f"{hazard.kind}: {hazard.name}"] = outcome(laid(Path(place, str(number)), hazard), hazard)
    return found


def page(outcomes: dict[str, tuple[str, str, str]]) -> str:
    """The table for people."""
    rows = ["# Bad inputs, and what becomes of them", "",
            f"{len(outcomes)} inputs of the kinds that public reports tell of, each with the outcome that a test holds it to",
            "(`tests/hazards/`). Whatever it is, its bytes stay: a turn told beside it changes none of them, and what cannot be read",
            "is withheld from the models and told, never repaired by guess. *A note* is counted by `check` and listed by `--strict`.", "",
            "More than ninety orders to a model, hidden in lore, cards and actions, are in `tests/game/injections.py`; none reaches a file",
            "outside, a secret, the Journal or a Chronicle, though the test's model obeys every one.", "",
            f"| kind | input | {' | '.join(COLUMNS)} |", "| --- | --- | --- | --- | --- |"]  # fmt: skip
    for name, parts in outcomes.items():
        kind, _, words = name.partition(": ")
        rows.append(
            f"| {kind} | {words} | {' | '.join(part.replace('|', '/').replace('{', '`{').replace('}', '}`') if '{' in part else part for part in parts)} |"
        )
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["page"]:
        from tests.hazards.outcomes import OUTCOMES

        print(page(OUTCOMES), end="")
    else:
        print(
            '"""What becomes of each bad input. Made by `python -m tests.hazards.outcome`, and read before it is kept."""\n'
        )
        print("OUTCOMES = {")
        for name, parts in every().items():
            print(f"    {name!r}: {parts!r},")
        print("}")

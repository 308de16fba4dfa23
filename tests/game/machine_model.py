"""What the machine of `machine.py` believes, in plain values: told turns with their answers, the writer's own lines and numbers.

The rule of numbers is the one `docs/game-state.md` tells: a turn taken back leaves a number as if it had never been told, and a
number that the writer has set since stays. It knows nothing of files or records. An `Answer` is also what the models say: `script` writes it down for all layers.
"""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ARC = "arcs/who-rang-the-drowned-bell.md"
ARC_NAME = "Who rang the drowned bell"
SEEDS = "dm/seeds.md"
NAMES = {"characters/old-pasco.md": "Old Pasco", "characters/hesper-dunmow.md": "Hesper Dunmow"}
KIT = "characters/kit-sallow.md"
SILVER = 1000  # to begin with; no turn spends it all
MOST = 20  # hit points


@dataclass
class Share:
    """What a turn did to a number: it found `was` and left `put`, and adds `by` wherever it is counted anew."""

    was: int
    put: int
    by: int


@dataclass
class Answer:
    """One answer of the models. `entry` and `noted_in` are entries that get a dated line, by narrator and by scribe."""

    number: int
    moves: bool = False
    entry: str = ""
    promise: bool = False
    silver: int = 0
    hurt: int = 0  # Kit's hit points; less than nothing heals
    layers: bool = False
    seed: bool = False
    noted_in: str = ""
    adds: dict[str, int] = field(default_factory=dict, compare=False)  # to each number, as it was told first

    @property
    def prose(self) -> str:
        return f"Scene number {self.number} is told."

    @property
    def line(self) -> str:
        return f"Kit did thing number {self.number} at the bell with Old Pasco."

    @property
    def saw(self) -> str:
        return f"Saw {self.line}"

    @property
    def noted(self) -> str:
        """Words unlike those of other answers: the scribe keeps nothing that is nearly said already."""
        words = (
            hashlib.sha256(str(self.number).encode()).hexdigest().translate(str.maketrans("0123456789", "ghijklmnop"))
        )
        return f"{words[:7].capitalize()} {words[7:13]} {words[13:20]} {words[20:28]}."

    @property
    def planted(self) -> str:
        return f"Thing number {self.number} will matter"


@dataclass
class Turn:
    """A told turn: its answers, which stands, and what that did to the numbers."""

    number: int
    answers: list[Answer]
    current: int = 0
    shares: dict[str, Share] = field(default_factory=dict)

    @property
    def now(self) -> Answer:
        return self.answers[self.current]


@dataclass
class Model:
    """What should be there."""

    turns: list[Turn] = field(default_factory=list)
    marks: dict[str, list[str]] = field(default_factory=dict)  # the writer's own lines, by file
    entries: dict[str, str] = field(default_factory=lambda: dict(NAMES))  # path: name
    moved: dict[str, str] = field(default_factory=dict)  # a path an entry had: the one it has by now
    numbers: dict[str, int] = field(default_factory=lambda: {"silver": SILVER, "hit_points": MOST})

    def tell(self, number: int, answer: Answer) -> None:
        """A turn more."""
        self.turns.append(turn := Turn(number, [answer]))
        self._count(turn, {"silver": answer.silver, "hit_points": -answer.hurt})
        answer.adds = {name: share.by for name, share in turn.shares.items()}

    def retell(self, answer: Answer) -> None:
        """A new answer to the last turn, in the place of the current one."""
        turn = self.turns[-1]
        self._uncount(turn)
        turn.answers.append(answer)
        turn.current = len(turn.answers) - 1
        self._count(turn, {"silver": answer.silver, "hit_points": -answer.hurt})
        answer.adds = {name: share.by for name, share in turn.shares.items()}

    def switch(self, answer: Answer) -> None:
        """An answer that was had stands again: it adds to the numbers what it had added when it was told."""
        turn = self.turns[-1]
        self._uncount(turn)
        if answer not in turn.answers:
            turn.answers.append(answer)
        turn.current = turn.answers.index(answer)
        for name, by in answer.adds.items():
            was = self.numbers[name]
            self.numbers[name] = put = _bounded(name, was + by)
            turn.shares[name] = Share(was, put, by)

    def undo(self, turn: Turn) -> None:
        """A turn is gone; later ones stay."""
        self._uncount(turn)
        self.turns.remove(turn)

    @property
    def refuses(self) -> bool:
        """Whether another answer is refused: the writer has set a number that the last turn changed."""
        last = self.turns[-1].shares.items()
        return any(share.was != share.put and self.numbers[name] != share.put for name, share in last)

    def _count(self, turn: Turn, asked: dict[str, int]) -> None:
        for name, by in asked.items():
            was = self.numbers[name]
            put = _bounded(name, was + by)
            if put != was:
                self.numbers[name] = put
                turn.shares[name] = Share(was, put, put - was)

    def _uncount(self, turn: Turn) -> None:
        for name, share in turn.shares.items():
            later = [other.shares[name] for other in self.turns[self.turns.index(turn) + 1 :] if name in other.shares]
            found = [one.was for one in later] + [self.numbers[name]]
            left = [share.put] + [one.put for one in later]
            if found != left:
                continue  # the writer has set it since
            value = share.was
            for one in later:
                one.was, one.put = value, _bounded(name, value + one.by)
                value = one.put
            self.numbers[name] = value
        turn.shares = {}


def _bounded(name: str, value: int) -> int:
    return min(max(value, 0), MOST) if name == "hit_points" else value


def think(number: int, dice: random.Random, entries: dict[str, str], layers: bool) -> Answer:
    """A new answer: what a model might say."""
    paths = sorted(entries)
    answer = Answer(
        number,
        moves=dice.random() < 0.5,
        entry=dice.choice(("", *paths)),
        promise=dice.random() < 0.3,
        layers=layers and dice.random() < 0.6,
    )
    if answer.layers:
        answer.silver = dice.choice((0, 0, 5, 3, -3, -5))
        answer.hurt = dice.choice((0, 0, 4, -4, 9, 30))
        answer.seed = dice.random() < 0.5
        answer.noted_in = dice.choice(("", *paths))
    return answer


def script(answer: Answer, place: Path, entries: dict[str, str]) -> str:
    """Write down what the models say for an answer; the spec that says it."""
    told = [("append_journal", {"text": answer.line})]
    if answer.moves:
        told.append(("move_arc", {"arc": ARC_NAME, "text": f"Moved by {answer.line}"}))
    if answer.entry:
        told.append(("append_history", {"entry": entries[answer.entry], "text": answer.saw}))
    if answer.promise:
        told.append(("add_promise", {"to": "Hesper", "text": answer.line}))
    said: list[dict[str, Any]] = _layers(answer, entries) if answer.layers else []
    said.append({"role": "narrator", "text": answer.prose, "chunk": 8, "tools": _calls(told)})
    path = place / f"script-{answer.number}.yaml"
    path.write_text(json.dumps(said))
    return f"scripted:{path}"


def _layers(answer: Answer, entries: dict[str, str]) -> list[dict[str, Any]]:
    choice = {
        "entries": [{"name": "Old Pasco", "place": "before"}],
        "prose": [],
        "guidance": {"goals": ["let the bell be heard"], "introduce": [], "threads": []},
        "hints": {"tone": "dry", "beats": [], "stress": [], "avoid": []},
        "intentions": {"add": [], "withdraw": [], "fulfil": []},
    }
    picks = {"active": ["Kit Sallow"], "anticipatory": [], "enrichment": [], "wild": []}
    directed = {"narrator": "Let the cold be felt.", "immersion": {"calendar": {"weather": f"fog {answer.number}"}}}
    looks: list[tuple[str, dict]] = [("roll", {"dice": "2d6+1", "what": "the tide"})]
    if answer.silver:
        verb = "gain" if answer.silver > 0 else "spend"
        looks.append((verb, {"name": "silver", "amount": abs(answer.silver)}))
    if answer.hurt:
        looks.append(("damage" if answer.hurt > 0 else "heal", {"who": "Kit Sallow", "amount": abs(answer.hurt)}))
    keeps = []
    if answer.noted_in:
        what = {"entry": entries[answer.noted_in], "field": "history", "value": answer.noted}
        keeps.append(("update_entry", {**what, "reason": "told so", "source": answer.prose}))
    left = {"entities": [], "suggestions": ["I wait."], "scene_changed": False}
    said: list[dict[str, Any]] = [{"role": "turn_dm", "text": json.dumps(choice)}]
    if answer.seed:
        said.append({"role": "dm", "tools": _calls([("plant_seed", {"text": answer.planted})])})
    return [
        *said,
        {"role": "dm", "tools": _calls([("direct", directed)])},
        {"role": "sidecar", "when": "# The action", "text": json.dumps(picks)},
        {"role": "narrator", "tools": _calls(looks)},
        {"role": "sidecar", "when": "Its journal line:", "text": "Noted.", "tools": _calls(keeps)},
        {"role": "sidecar", "when": "Its journal line:", "text": "Nothing."},
        {"role": "afterwork", "text": json.dumps(left)},
    ]


def _calls(calls: list[tuple[str, dict]]) -> list[dict[str, Any]]:
    return [{"name": name, "arguments": given} for name, given in calls]

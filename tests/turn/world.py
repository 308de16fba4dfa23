"""A small campaign with awkward bytes, a model that answers by the turn's number, and the laws that always hold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.campaign import arcs, checks, chronicles, files, journal, records, story
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.journal import turn_id
from rolecall.models import messages
from rolecall.models.chain import Models
from rolecall.models.events import Event, Stopped, TextDelta, ToolCalled, Used
from rolecall.models.messages import Request, ToolCall
from rolecall.models.provider import Limits, Profile
from rolecall.models.usage import Usage
from rolecall.turn.game import Game
from tests.loopback.storyteller import smallest

SETTINGS = """\
format: 1
name: The Awkward Bytes   # the writer's comment
language: en
models: {default: "scripted:never-read.yaml", turn_dm: off, dm: off}
memory: {fold_at: %d, keep_lines: 2}
"""
STATE = """\
---
# what the writer noted here stays
name: Campaign State
date: 1492-13-01
scene: "The quay"   # quoted on purpose
location: Skerrow
---
Fog.\t

## Party

- [[Kit]]

## Promises

- [ ] To Sera: bring the ledger (T0001)

## Journal

- T0001 Kit promised Sera the ledger.
- T0002 Kit paid Marta 3 marks for a room.
- T0003 Marta lied about the ledger.
"""
MARTA = b"---\r\nname: Marta\r\nkind: character   # keeps the inn\r\n---\r\nShe lies.\r\n\r\n## History\r\n- T0002 Took 3 marks.\r\n\r\n## Notes\r\n\r\nThe writer's own.\r\n"
SERA = (
    b"\xef\xbb\xbf---\nname: Sera\nkind: character\n---\nA smuggler.\n\n## History\n\n- T0001 Was promised the ledger."
)
LEDGER = """\
---
name: Who burned the ledger
kind: arc
question: Who burned the ledger, and why?
status: open
latest: T0003 Marta lied about it.   # so it seems
truth: Nobody did.
---

## Trail
- T0001 It was promised to Sera.
"""
NOTE = b"no front matter here\r\n\r\n---- four dashes, \xff a byte that is no UTF-8, no newline at the end"
STORY = """\
---
name: The quay
kind: story
chapter: 1
---

## T0001

> I promise.

She nods.

## T0002

> I pay.

Marta counts twice.

## T0003

> I ask for the ledger.

She looks away.
"""
FILES: Mapping[str, bytes] = {
    "campaign-state.md": STATE.encode(),
    "characters/marta.md": MARTA,
    "characters/sera.md": SERA,
    "characters/kit.md": b"---\nname: Kit\nkind: character\n---\nThe player's.\n",
    "arcs/ledger.md": LEDGER.encode(),
    "lore/note.md": NOTE,
    "story/001-the-quay.md": STORY.encode(),
}
NEVER_FOLD, FOLD_SOON = 3500, 200


def make(root: Path, fold_at: int = NEVER_FOLD) -> Campaign:
    """Write the campaign, plainly."""
    for path, data in {**FILES, "rolecall.yaml": (SETTINGS % fold_at).encode()}.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return open_campaign(root, here_only=True)


# -- the model


@dataclass
class Teller:
    """A narrator and sidecar whose answer depends on the request alone. `asked` holds the digest of every request."""

    asked: list[str] = field(default_factory=list)
    before: Callable[[Request], None] = lambda _: None
    look_ups: int = 1  # answers that only look something up, so that a turn has several
    profile: Profile = field(default_factory=lambda: Profile("scripted:never-read.yaml", free=True))

    def prepare(self) -> None:
        """Nothing to do."""

    def check(self) -> str:
        """Nothing is missing."""
        return ""

    def close(self) -> None:
        """Nothing to close."""

    def stream(self, request: Request, limits: Limits) -> Iterator[Event]:
        """The answer to a request."""
        self.asked.append(messages.digest(request))
        if request.answer_schema is not None:  # retriever and historian: nothing to add
            yield from _said(json.dumps(smallest(request.answer_schema)))
            return
        if any(tool.name.startswith("record_") for tool in request.tools):  # the scribe: nothing to keep
            yield from _said("Nothing.")
            return
        self.before(request)
        if not request.tools:
            yield from _said("Retold: the promise of the ledger, the 3 marks and the lie; and what came of it all.")
            return
        turn = int(re.findall(r"^Turn: T(\d+)$", request.messages[0].text, re.M)[-1])
        if len(request.messages) <= 2 * self.look_ups - 1:
            look_up = ToolCall(f"call_{turn}_s{len(request.messages)}", "search", {"query": "ledger"})
            yield from _said("", look_up)
            return
        yield from _said(prose(turn), *tools(turn))


def _said(text: str, *calls: ToolCall) -> Iterator[Event]:
    for start in range(0, len(text), 40):
        yield TextDelta(text[start : start + 40])
    for call in calls:
        yield ToolCalled(call)
    yield Used(Usage(fresh=100, out=20))
    yield Stopped("tool_use" if calls else "end")


def prose(turn: int) -> str:
    """What the narrator tells of a turn."""
    return (
        f"The fog of mark {turn} lifts, and Marta puts the ledger's ashes on the table before Sera.\n\nNobody speaks."
    )


def line(turn: int) -> str:
    """The journal line the narrator writes of a turn: long enough that three of them are past a low fold line."""
    return f"Marta showed Sera the ashes at mark {turn}, and Kit swore to find who had burned the ledger."


def tools(turn: int) -> list[ToolCall]:
    """Every kind of write a turn can make."""
    return [
        ToolCall(f"call_{turn}_0", "append_journal", {"text": line(turn)}),
        ToolCall(f"call_{turn}_1", "move_arc", {"arc": "Who burned the ledger", "text": f"Ashes, {turn} of them."}),
        ToolCall(f"call_{turn}_2", "append_history", {"entry": "Marta", "text": f"Showed ashes at mark {turn}."}),
        ToolCall(f"call_{turn}_3", "append_history", {"entry": "Sera", "text": f"Saw ashes at mark {turn}."}),
        ToolCall(f"call_{turn}_4", "add_promise", {"to": "Sera", "text": f"find the burner of mark {turn}"}),
        ToolCall(f"call_{turn}_5", "set_scene", {"scene": f"The inn's table, mark {turn}", "location": "The inn"}),
    ]


def lines_of_turn(turn: int) -> dict[str, str]:
    """The lines a turn adds beside story and Journal, by file."""
    return {
        "characters/marta.md": f"- {turn_id(turn)} Showed ashes at mark {turn}.",
        "characters/sera.md": f"- {turn_id(turn)} Saw ashes at mark {turn}.",
        "campaign-state.md": f"- [ ] To Sera: find the burner of mark {turn} ({turn_id(turn)})",
    }


def game(root: Path, teller: Teller) -> Game:
    """A session in which the teller is every model."""
    shared = Models({})
    for role in ("narrator", "turn_dm", "dm", "sidecar"):
        shared._open[teller.profile.spec, role] = teller
    return Game(root, command="test", models=(teller.profile.spec,), wait=1.0, _shared=shared)


# -- the laws


def text(root: Path) -> dict[str, bytes]:
    """Every file of the campaign outside `.rolecall`."""
    found = {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
    return {path: data for path, data in found.items() if not path.startswith(".rolecall/")}


def told(campaign: Campaign) -> dict[int, tuple[str, int]]:
    """{turn: (journal line, how often it is told in the story)}, read from Chronicles, Journal and story."""
    lines: list[tuple[int, str]] = []
    for _, path in chronicles.paths(campaign):
        lines += [(one.turn, one.text) for one in journal.lines_of(campaign.document(path))]
    lines += [(one.turn, one.text) for one in journal.lines_of(campaign.document("campaign-state.md"))]
    numbers = [turn for turn, _ in lines]
    assert numbers == sorted(set(numbers)), f"turns doubled or out of order: {numbers}"
    sections = [t for _, path in story.chapters(campaign) for t in story.turns_of(campaign.document(path))]
    return {turn: (said, sum(t.turn == turn for t in sections)) for turn, said in lines}


def assert_laws(root: Path, acknowledged: set[int], *, at: str = "", left_out: int = 0) -> set[int]:
    """What holds after every recovery; the turns that stand. `left_out` arc moves may have been refused, and said so."""
    campaign = open_campaign(root, here_only=True)
    standing = told(campaign)
    assert acknowledged <= set(standing), f"{at}: lost {acknowledged - set(standing)}"
    for turn, (said, times) in standing.items():
        assert times == 1, f"{at}: {turn_id(turn)} is told {times} times in the story"
        if turn > 3:
            assert said == line(turn), f"{at}: {turn_id(turn)} reads {said!r}"
    sections = {
        t.turn: t.prose for _, path in story.chapters(campaign) for t in story.turns_of(campaign.document(path))
    }
    assert set(sections) == set(standing), f"{at}: story {set(sections)} and journal {set(standing)} differ"
    for turn, prose_told in sections.items():
        assert turn <= 3 or prose_told == prose(turn), f"{at}: {turn_id(turn)} is told as {prose_told!r}"
    for _, path in chronicles.paths(campaign):
        found = chronicles.read(campaign, path)
        assert found.seal == found.true_seal, f"{at}: the seal of {path} is broken"
    arc = campaign.document("arcs/ledger.md")
    whole = 1 + len(standing) - 3
    assert whole - left_out <= len(arcs.trail_of(arc)) <= whole, f"{at}: the trail is {arcs.trail_of(arc)}"
    for turn in sorted(standing)[3:]:
        for path, said in lines_of_turn(turn).items():
            times = campaign.read(path).splitlines().count(said.encode())
            assert 1 - left_out <= times <= 1, f"{at}: {path} says {times} times {said!r}"
    for path, data in FILES.items():
        assert_kept(data, campaign.read(path), f"{at}: {path}")
    problems = [p for p in checks.check(campaign) if p.rule not in ("not-utf-8",)]
    assert not problems, f"{at}: {[str(p) for p in problems]}"
    left = [p for p in root.rglob("*") if files.is_temp(p.name)]
    assert not left, f"{at}: temporary files are left: {left}"
    assert records.newest_open(root) is None, f"{at}: a record is open"
    return set(standing)


_CHANGED = (b"latest:", b"scene:", b"location:", b"- T0001", b"- T0002", b"- T0003", b"- [ ]")


def assert_kept(before: bytes, after: bytes, what: str) -> None:
    """Every line of the writer's stands in the same order, to the byte; only what a turn may change has changed."""
    rest = iter(after.splitlines(keepends=True))
    for number, wanted in enumerate(before.splitlines(keepends=True)):
        bare = wanted.rstrip(b"\r\n") if not wanted.endswith(b"\n") else wanted
        if wanted.startswith(_CHANGED) and b"State" in before:
            continue  # set by a turn, or folded
        if wanted.startswith(b"latest:"):
            continue
        assert any(have == wanted or have.rstrip(b"\r\n") == bare for have in rest), (
            f"{what}:{number + 1} lost {wanted!r}"
        )

"""The narrator's loop: whatever an answer stops at, the turn ends in prose, or in one clear line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rolecall.agents import narrator, teller
from rolecall.agents.calls import Desk, saved_events
from rolecall.agents.narrator import Narration
from rolecall.campaign import records
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import NoModel
from rolecall.models.chain import Chain, Models
from rolecall.models.messages import Message, Request, Text
from rolecall.models.provider import Limits, Profile
from rolecall.tools import families
from rolecall.tools.families import NARRATOR
from rolecall.tools.toolbox import Table, Toolbox
from tests.agents.asking import campaign_in, search_of
from tests.loopback import storyteller
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback

PROTOCOLS = ("openai", "anthropic")
PROSE = "The lantern gutters. Marta does not look up."
SEARCH = {"name": "search", "arguments": {"query": "ledger"}}
LINE = {"name": "append_journal", "arguments": {"text": "Marta hid the ledger."}}


@dataclass
class Stage:
    """A campaign after four turns, the tools of its fifth, and what a player has read."""

    root: Path
    shown: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        campaign = campaign_in(self.root)
        self.record = records.begin(campaign.root, 5, "I wait.")
        self.desk = Desk(self.record)
        self.table = Table(campaign, search_of(campaign), 5, campaign.document(STATE_FILE))
        self.toolbox = families.toolbox(NARRATOR, self.table)

    def request(self, profile: Profile) -> Request:
        said = Message("user", (Text("Turn: T0005\n\nI wait."),))
        return Request((Text("You tell."),), (said,), self.toolbox.offers(), 500)

    def narrate(self, specs: Sequence[str], environ: dict[str, str] | None = None) -> Narration:
        models = Models(environ or {})
        try:
            chain = Chain(specs, Limits(10, 10, 30), models, "narrator")
            return narrator.narrate(
                chain, self.desk, self.toolbox, self.request, on_text=self.shown.append, cut_text="Go on."
            )
        finally:
            models.close()

    def again(self) -> Narration | None:
        """What a crash's recovery makes of the answers that were saved."""
        saved = [call for call in records.calls(self.root, self.record.folder) if call.layer == "narrator"]
        fresh = Stage(self.root / "again")
        return narrator.retell([saved_events(call) for call in saved], fresh.toolbox)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "tale")


def told(*answers: dict) -> str:
    return json.dumps([{"role": "narrator", **answer} for answer in answers])


@pytest.mark.parametrize(
    ("answers", "prose", "cut"),
    [
        ([{"text": PROSE, "stop": "end"}], PROSE, ""),
        ([{"text": PROSE, "stop": "stop_sequence"}], PROSE, ""),
        ([{"text": PROSE, "tools": [LINE]}], PROSE, ""),
        ([{"text": "The lantern gut", "stop": "max_tokens"}, {"text": "ters."}], "The lantern gutters.", ""),
        ([{"text": "The lantern gut", "stop": "pause"}, {"text": "ters."}], "The lantern gutters.", ""),
        ([{"text": "The lantern gut", "cut-after": 15}, {"text": "ters."}], "The lantern gutters.", ""),
        ([{"text": "One. ", "stop": "max_tokens"}, {"text": "Two. ", "stop": "max_tokens"}], "One. Two.",
         "the answer reached its limit twice"),
        ([{"text": PROSE, "stop": "refusal"}], PROSE, "the model declined to go on"),
        ([{"text": PROSE, "stop": "context_full"}], PROSE, "the model has no room left"),
        ([{"text": "One. ", "cut-after": 5}, {"text": "Two. ", "cut-after": 4}], "One. Two.", "broke off"),
        ([{"text": "One. ", "cut-after": 4}, {"error": "500"}], "One.", "every model failed|failed \\(500\\)"),
        ([{"tools": [LINE]}, {"text": PROSE}], PROSE, ""),
        ([{"tools": [SEARCH]}, {"error": "blank"}, {"text": PROSE, "tools": [LINE]}], PROSE, ""),
        ([{"text": "She waits.", "tools": [SEARCH]}, {"text": "Nobody comes."}], "She waits.\n\nNobody comes.", ""),
        ([{"text": "She wai", "cut-after": 7}, {"text": "ts.", "tools": [SEARCH]}, {"text": "Nobody comes."}],
         "She waits.\n\nNobody comes.", ""),
        ([{"tools": [SEARCH], "stop": "pause"}, {"text": PROSE}], PROSE, ""),
    ],
    ids=["end", "stop sequence", "tools at the end", "limit", "pause", "cut", "limit twice", "refusal after words",
         "no room", "cut twice", "cut, then a failure", "only a line", "a look-up, then silence", "prose around a look-up",
         "cut before a look-up", "pause with a look-up"],
)  # fmt: skip
def test_every_stop_ends_in_prose(
    stage: Stage, script: Callable[[str], str], answers: list[dict], prose: str, cut: str
) -> None:
    narration = stage.narrate([script(told(*answers))])
    assert narration.prose == prose
    assert re.search(cut, narration.cut) if cut else narration.cut == ""
    assert "".join(stage.shown).strip() == prose, "the player has read the same"
    if not cut:
        again = stage.again()
        assert again is not None and (again.prose, again.journal) == (narration.prose, narration.journal)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_turn_of_look_ups_alone_is_told_to_end_and_then_may_call_nothing(
    stage: Stage, loopback: Loopback, protocol: str
) -> None:
    def reply(body: dict) -> Reply:
        chosen = body.get("tool_choice")
        if chosen in ("none", {"type": "none"}):
            return Reply(text=PROSE)
        return Reply(tools=(("search", {"query": "ledger"}),))

    loopback.answer(reply)
    narration = stage.narrate([f"{protocol}/some-model"], loopback.environ(protocol))
    assert narration.prose == PROSE and narration.rounds == teller.MAX_ROUNDS + 2
    first, *_, warned, last = loopback.bodies
    assert storyteller.tools_of(last) == storyteller.tools_of(first), (
        "what is on offer stays: the prompt cache counts on it"
    )
    assert ["tool_choice" in body for body in loopback.bodies] == [False] * (teller.MAX_ROUNDS + 1) + [True]
    assert "That was the last look-up" in json.dumps(warned["messages"][-2:])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_endpoint_that_knows_no_tool_choice_is_asked_without_it(
    stage: Stage, loopback: Loopback, protocol: str
) -> None:
    def reply(body: dict) -> Reply:
        if "tool_choice" in body:
            return Reply(status=400, message="tool_choice: unknown field")
        spoken = len([m for m in body["messages"] if m["role"] == "assistant"])
        return Reply(text=PROSE) if spoken > teller.MAX_ROUNDS else Reply(tools=(("search", {"query": "x"}),))

    loopback.answer(reply)
    assert stage.narrate([f"{protocol}/some-model"], loopback.environ(protocol)).prose == PROSE


def test_a_model_that_only_calls_tools_is_left_and_the_next_tells_from_what_was_found(
    stage: Stage, loopback: Loopback
) -> None:
    def reply(body: dict) -> Reply:
        if body["model"] == "sound":
            return Reply(text=PROSE, tools=(("append_journal", {"text": "Marta hid it."}),))
        return Reply(tools=(("search", {"query": "ledger"}),))

    loopback.answer(reply)
    narration = stage.narrate(["openai/endless", "openai/sound"], loopback.environ("openai"))
    assert (narration.prose, narration.journal, narration.spec) == (PROSE, "Marta hid it.", "openai/sound")
    ((layer, skipped),) = stage.desk.skipped
    assert (layer, skipped.spec) == ("narrator", "openai/endless")
    assert skipped.reason == "openai/endless gave nothing but tool calls"
    seen = loopback.bodies[-1]
    assert "The Tally Ledger" in json.dumps(seen["messages"], ensure_ascii=False), "the look-ups are not made again"
    again = stage.again()
    assert again is not None and again.prose == PROSE


def test_when_every_model_only_calls_tools_one_line_says_so(stage: Stage, loopback: Loopback) -> None:
    loopback.answer(Reply(tools=(("search", {"query": "ledger"}),)))
    with pytest.raises(NoModel, match=r"openai/b gave nothing but tool calls; try again, or name another model"):
        stage.narrate(["openai/a", "openai/b"], loopback.environ("openai"))
    assert len(loopback.bodies) <= 12 and stage.shown == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_refusal_is_told_from_an_empty_answer_and_the_next_model_tells(
    stage: Stage, loopback: Loopback, protocol: str
) -> None:
    said = {"no": Reply(refusal=True), "empty": Reply(), "sound": Reply(text=PROSE)}
    loopback.answer(lambda body: said[body["model"]])
    narration = stage.narrate([f"{protocol}/{name}" for name in said], loopback.environ(protocol))
    assert narration.prose == PROSE
    first, second = [skipped.reason for _, skipped in stage.desk.skipped]
    assert first.startswith(
        f"{protocol}/no declined to answer"
    ) and second == f"{protocol}/empty gave a blank answer" + (" (end_turn)" if protocol == "anthropic" else " (stop)")


def test_tools_that_a_round_opened_are_offered_in_the_next(stage: Stage, loopback: Loopback) -> None:
    """The offered set is asked for before every answer."""
    opened: list[str] = []
    all_tools = tuple(stage.toolbox.tools.values())
    stage.toolbox = Toolbox(all_tools, stage.table, lambda: all_tools if opened else all_tools[:1])

    def reply(body: dict) -> Reply:
        if len(loopback.bodies) > 1:
            return Reply(text=PROSE)
        opened.append("now")
        return Reply(tools=((all_tools[0].name, {"query": "ledger"}),))

    loopback.answer(reply)
    assert stage.narrate(["openai/some-model"], loopback.environ("openai")).prose == PROSE
    first, second = (len(body["tools"]) for body in loopback.bodies)
    assert (first, second) == (1, len(all_tools))


def test_a_narrator_that_tells_and_tells_between_look_ups_comes_to_an_end(stage: Stage, loopback: Loopback) -> None:
    page = "Rain on the door. " * 300
    loopback.answer(Reply(text=page, tools=(("search", {"query": "ledger"}),), chunk=2000))
    narration = stage.narrate(["openai/some-model"], loopback.environ("openai"))
    assert teller.LONGEST < len(narration.prose) < teller.LONGEST + len(page) + 10
    assert narration.rounds == 3


def test_a_journal_line_that_is_refused_again_and_again_is_asked_for_once(stage: Stage, loopback: Loopback) -> None:
    def reply(body: dict) -> Reply:
        first = not [m for m in body["messages"] if m["role"] == "assistant"]
        return Reply(text=PROSE if first else "", tools=(("append_journal", '{"text": '),))

    loopback.answer(reply)
    narration = stage.narrate(["openai/some-model"], loopback.environ("openai"))
    assert (narration.prose, narration.journal, len(loopback.bodies)) == (PROSE, "", 2)


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (Reply(text="The lantern burns. Marta does not look up."), "The lantern burns. Marta does not look up."),
        (Reply(text="Burns."), PROSE),
        (Reply(text="The lantern burns. Marta does not look up.", stop="length"), PROSE),
    ],
    ids=["whole", "too short", "at its limit"],
)
def test_a_scene_is_mended_only_by_a_whole_one(stage: Stage, loopback: Loopback, answer: Reply, kept: str) -> None:
    narration = Narration(PROSE, "", 1, "openai/some-model")
    loopback.answer(answer)
    assert mended(stage, loopback, narration).prose == kept


def test_a_mending_that_breaks_off_is_said(stage: Stage, loopback: Loopback) -> None:
    loopback.answer(Reply(text="The lantern burns. " * 40, cut_after=1500))
    with pytest.raises(NoModel, match=r"broke off|peer closed"):
        mended(stage, loopback, Narration(PROSE, "", 1, "openai/some-model"))


def mended(stage: Stage, loopback: Loopback, narration: Narration) -> Narration:
    models = Models(loopback.environ("openai"))
    try:
        chain = Chain(["openai/some-model"], Limits(10, 10, 30), models, "narrator")
        return narrator.mend(chain, stage.desk, stage.request, narration, "Let it burn.")
    finally:
        models.close()


@pytest.mark.parametrize(
    "prose, line",
    [
        ("The rain goes on.\n\n**Matt:** Sera is at the door. Nobody moves.", "Matt: Sera is at the door."),
        ("*Sera, d20: 4* She falls.", "Sera, d20: 4 She falls."),
        ('"I know her. Sera is dead." He turns.', "Sera is dead."),
        ("> Sera_of_the_quay said *so*.", "Sera_of_the_quay said so."),
        ("***", "The story went on."),
    ],
)
def test_a_journal_line_by_code_is_a_whole_sentence_without_halves_of_markdown_or_quotes(prose: str, line: str):
    assert narrator.line_from(prose, ["Sera"]) == line

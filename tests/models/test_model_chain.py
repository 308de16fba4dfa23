"""A chain falls back on every failure, before the first visible token or tool call, and never after."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rolecall.errors import ModelSettings, NoModel
from rolecall.models.chain import Chain, Models
from rolecall.models.events import Answered, Skipped, Stopped, TextDelta, Used
from rolecall.models.health import COOL_DOWN, Health
from rolecall.models.messages import Request
from rolecall.models.provider import Limits, Profile
from rolecall.models.roles import ROLES
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.models.asking import JOURNAL, SCHEMA, calls_of, chain, request, say, stop_of, text_of, usage_of

QUICK = {"x-should-retry": "false"}
BAD = {
    "429": Reply(status=429, headers=QUICK),
    "500": Reply(status=500, headers=QUICK),
    "529": Reply(status=529, headers=QUICK),
    "401": Reply(status=401),
    "404": Reply(status=404),
    "400": Reply(status=400),
    "blank": Reply(),
    "white space": Reply(text="  \n\t"),
    "thoughts": Reply(thinking="hm"),
    "refusal": Reply(refusal=True),
    "out of tokens": Reply(stop="max_tokens"),
    "malformed": Reply(malformed=True),
    "cut": Reply(text="Rain.", cut_after=20),
    "slow": Reply(text="Rain.", delay=30),
}
GOOD = Reply(text="The door is open.")


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def by_name(replies: dict[str, Reply]):
    """An answer per model name."""
    return lambda body: replies[body["model"]]


@pytest.mark.parametrize("protocol", ["anthropic", "openai"])
@pytest.mark.parametrize("failure", BAD)
def test_the_next_model_speaks_when_the_first_fails(loopback: Loopback, protocol: str, failure: str) -> None:
    loopback.answer(by_name({"first": BAD[failure], "second": GOOD}))
    limits = Limits(first=1.5 if failure == "slow" else 10, between=10, total=30)
    with chain(f"{protocol}/first", f"{protocol}/second", environ=loopback.environ(), limits=limits) as narrator:
        events = say(narrator)
    assert isinstance(events[0], Skipped) and events[0].spec == f"{protocol}/first" and events[0].reason
    assert events[1] == Answered(f"{protocol}/second")
    assert text_of(events) == "The door is open."


def test_models_of_different_makers_stand_in_for_each_other(loopback: Loopback) -> None:
    loopback.answer(by_name({"a": BAD["500"], "b": BAD["cut"], "c": GOOD}))
    with chain("anthropic/a", "openai/b", "openai/c", environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert [type(event) for event in events[:3]] == [Skipped, Skipped, Answered]
    assert text_of(events) == "The door is open."


@pytest.mark.parametrize("protocol", ["anthropic", "openai"])
def test_after_the_first_visible_token_a_broken_stream_is_cut_and_nobody_else_is_asked(
    loopback: Loopback, protocol: str
) -> None:
    loopback.answer(by_name({"a": Reply(text="Rain on the door. " * 30, cut_after=2000), "b": GOOD}))
    with chain(f"{protocol}/a", f"{protocol}/b", environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert stop_of(events).reason == "cut" and stop_of(events).raw
    assert text_of(events).startswith("Rain on the door. Rain")
    assert usage_of(events).estimated and usage_of(events).out > 0
    assert [body["model"] for body in loopback.bodies] == ["a"]


def test_after_a_cut_the_same_model_can_be_asked_once_more_though_it_failed(loopback: Loopback) -> None:
    loopback.answer([Reply(text="Rain on the door. " * 30, cut_after=2000), Reply(text="And wind.")])
    with chain("openai/a", "openai/b", environ=loopback.environ()) as narrator:
        say(narrator)
        events = say(narrator, prefer="openai/a")
    assert [event for event in events if isinstance(event, Skipped)] == []
    assert events[0] == Answered("openai/a") and text_of(events) == "And wind."


def test_a_tool_call_counts_as_spoken(loopback: Loopback) -> None:
    loopback.answer(Reply(tools=(("append_journal", {"line": "x"}),)))
    with chain("anthropic", environ=loopback.environ()) as narrator:
        events = say(narrator, request(tools=(JOURNAL,)))
    assert isinstance(events[0], Answered) and len(calls_of(events)) == 1


def test_text_before_the_first_letter_is_kept_when_it_becomes_visible(loopback: Loopback) -> None:
    loopback.answer(Reply(text="\n\n  Rain.", chunk=1))
    with chain("openai", environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert text_of(events) == "\n\n  Rain." and isinstance(events[0], Answered)


def test_saying_nothing_is_an_answer_only_where_it_may_be(loopback: Loopback) -> None:
    loopback.answer(Reply())
    for spec in ("anthropic", "openai"):
        with chain(spec, environ=loopback.environ()) as narrator:
            events = say(narrator, may_be_blank=True)
            assert [type(event) for event in events] == [Answered, Used, Stopped]
            with pytest.raises(NoModel, match="blank answer"):
                say(narrator)


def test_when_all_fail_one_line_tells_each_reason(loopback: Loopback) -> None:
    loopback.answer(by_name({"a": BAD["500"], "b": BAD["401"], "c": BAD["blank"]}))
    with chain("openai/a", "anthropic/b", "openai/c", environ=loopback.environ()) as narrator:
        told: list[Skipped] = []
        with pytest.raises(NoModel) as caught:
            for event in narrator.stream(lambda profile: request()):
                told.append(event)  # type: ignore[arg-type]
    message = str(caught.value)
    for part in ("openai/a failed (500)", "anthropic/b refused the key (401)", "openai/c gave a blank answer"):
        assert part in message
    assert "\n" not in message
    assert [event.spec for event in told] == ["openai/a", "anthropic/b", "openai/c"]


def test_when_only_the_settings_are_at_fault_that_is_said(loopback: Loopback) -> None:
    loopback.answer(BAD["401"])
    with (
        chain("openai/a", environ=loopback.environ()) as narrator,
        pytest.raises(ModelSettings, match="OPENAI_API_KEY"),
    ):
        say(narrator)
    both = chain("openai/a", "gemini/b", environ=loopback.environ())
    with both as narrator, pytest.raises(ModelSettings) as caught:
        say(narrator)
    assert "GEMINI_API_KEY" in str(caught.value) and "OPENAI_API_KEY" in str(caught.value)


def test_a_chain_of_nothing_says_so() -> None:
    with chain(environ={}) as narrator, pytest.raises(NoModel, match="no model for narrator"):
        say(narrator)


def test_a_wrong_key_is_told_once_and_not_tried_again(loopback: Loopback) -> None:
    loopback.answer(by_name({"a": BAD["401"], "b": GOOD}))
    with chain("openai/a", "openai/b", environ=loopback.environ()) as narrator:
        first, second = say(narrator), say(narrator)
    assert [type(event) for event in first[:2]] == [Skipped, Answered]
    assert second[0] == Answered("openai/b")
    assert [body["model"] for body in loopback.bodies] == ["a", "b", "b"]


def test_a_fault_of_one_request_does_not_bar_the_next(loopback: Loopback) -> None:
    replies = {"a": [Reply(status=400, message="too long"), GOOD], "b": [GOOD]}
    loopback.answer(lambda body: replies[body["model"]].pop(0))
    with chain("openai/a", "openai/b", environ=loopback.environ()) as narrator:
        say(narrator)
        assert say(narrator)[0] == Answered("openai/a")


def test_a_model_that_failed_lately_is_left_alone_for_a_while(loopback: Loopback) -> None:
    clock = Clock()
    replies = {"a": BAD["500"], "b": GOOD}
    loopback.answer(lambda body: replies[body["model"]])
    environ = loopback.environ()
    with chain("openai/a", "openai/b", environ=environ, models=Models(environ, Health(clock))) as narrator:
        say(narrator)
        clock.now += COOL_DOWN[0] - 1
        cooling = say(narrator)
        assert cooling[0] == Skipped("openai/a", cooling[0].reason, cooling=True)  # type: ignore[union-attr]
        assert [body["model"] for body in loopback.bodies] == ["a", "b", "b"]
        clock.now += 2
        say(narrator)
        assert [body["model"] for body in loopback.bodies][3:] == ["a", "b"]
        clock.now += COOL_DOWN[0] + 1
        say(narrator)
        assert [body["model"] for body in loopback.bodies][5:] == ["b"], "the second pause is longer"
        clock.now += COOL_DOWN[1]
        replies["a"] = GOOD
        assert say(narrator)[0] == Answered("openai/a")
        replies["a"] = BAD["500"]
        say(narrator)
        clock.now += COOL_DOWN[0] + 1
        replies["a"] = GOOD
        assert say(narrator)[0] == Answered("openai/a"), "an answer makes the next pause the first again"


def test_an_endpoints_wish_to_be_left_alone_is_kept_within_reason(loopback: Loopback) -> None:
    clock = Clock()
    loopback.answer(by_name({"a": Reply(status=429, headers={"retry-after": "120"}), "b": GOOD}))
    environ = loopback.environ()
    with chain("openai/a", "openai/b", environ=environ, models=Models(environ, Health(clock))) as narrator:
        say(narrator)
        for seconds, asked in ((110, ["b"]), (11, ["a", "b"])):
            before = len(loopback.bodies)
            clock.now += seconds
            say(narrator)
            assert [body["model"] for body in loopback.bodies[before:]] == asked


def test_models_that_cool_down_are_still_the_last_resort(loopback: Loopback) -> None:
    replies = {"a": BAD["500"], "b": GOOD}
    loopback.answer(lambda body: replies[body["model"]])
    with chain("openai/a", "openai/b", environ=loopback.environ()) as narrator:
        say(narrator)
        replies.update(a=GOOD, b=BAD["500"])
        events = say(narrator)
    assert events[-3:-1] == [TextDelta("The door is open."), usage_of_last(events)]
    assert Answered("openai/a") in events


def usage_of_last(events: list) -> Used:
    """The usage event."""
    return next(event for event in events if isinstance(event, Used))


def test_one_model_alone_is_asked_again_at_once(loopback: Loopback) -> None:
    loopback.answer([BAD["500"], GOOD])
    with chain("openai/a", environ=loopback.environ()) as narrator:
        with pytest.raises(NoModel):
            say(narrator)
        assert text_of(say(narrator)) == "The door is open."


def test_a_helpers_failure_does_not_send_the_narrator_to_a_lesser_model(loopback: Loopback) -> None:
    replies = {"a": BAD["500"], "b": GOOD}
    loopback.answer(lambda body: replies[body["model"]])
    models = Models(loopback.environ())
    with (
        chain("openai/a", "openai/b", environ={}, models=models, role="turn_dm") as helper,
        chain("openai/a", "openai/b", environ={}, models=models) as narrator,
    ):
        say(helper)
        replies["a"] = GOOD
        assert say(narrator)[0] == Answered("openai/a")
        assert [type(event) for event in say(helper)[:2]] == [Skipped, Answered]


def test_a_request_is_made_to_the_measure_of_each_model(loopback: Loopback, tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text("- text: From the script.\n", "utf-8")
    loopback.answer(BAD["500"])
    seen: list[Profile] = []

    def make(profile: Profile) -> Request:
        seen.append(profile)
        return request()

    with chain("openai/a", f"scripted:{tmp_path / 'script.yaml'}", environ=loopback.environ()) as narrator:
        assert text_of(list(narrator.stream(make))) == "From the script."
        assert narrator.profile() is not None
    assert [(profile.spec, profile.tools, profile.budget, profile.free) for profile in seen] == [
        ("openai/a", True, None, False),
        (f"scripted:{tmp_path / 'script.yaml'}", True, None, True),
    ]


def test_a_whole_answer_is_collected(loopback: Loopback) -> None:
    loopback.answer(
        by_name({"a": BAD["500"], "b": Reply(text="She lies.", tools=(("append_journal", {"line": "x"}),))})
    )
    with chain("openai/a", "anthropic/b", environ=loopback.environ(), role="dm") as dm:
        answer = dm.answer(lambda profile: request(tools=(JOURNAL,)))
    assert (answer.text, answer.spec, answer.stop.reason, len(answer.calls)) == (
        "She lies.",
        "anthropic/b",
        "tool_use",
        1,
    )
    assert [skipped.spec for skipped in answer.skipped] == ["openai/a"]
    assert answer.usage.prompt > 0 and answer.value is None


def test_a_whole_answer_that_breaks_in_the_middle_is_asked_of_the_next(loopback: Loopback) -> None:
    loopback.answer(by_name({"a": Reply(text="Rain on the door. " * 30, cut_after=2000), "b": GOOD}))
    with chain("openai/a", "openai/b", environ=loopback.environ(), role="dm") as dm:
        answer = dm.answer(lambda profile: request())
    assert (answer.text, answer.spec) == ("The door is open.", "openai/b")


@pytest.mark.parametrize(
    "text",
    ["no JSON at all", '{"mood": 3}', '{"place": "here"}', '["mood"]', '{"mood": "grim"', '{"mood": "a", "extra": 1}'],
)
def test_an_answer_of_the_wrong_shape_is_a_failure_like_any_other(loopback: Loopback, text: str) -> None:
    loopback.answer(by_name({"a": Reply(text=text), "b": Reply(text='{"mood": "grim", "place": "the stairs"}')}))
    with chain("openai/a", "openai/b", environ=loopback.environ(), role="sidecar") as sidecar:
        answer = sidecar.typed(lambda profile: request(answer_schema=SCHEMA))
        assert answer.value == {"mood": "grim", "place": "the stairs"}
        assert answer.spec == "openai/b" and len(answer.skipped) == 1
        sidecar.typed(lambda profile: request(answer_schema=SCHEMA))
    assert [body["model"] for body in loopback.bodies] == ["a", "b", "a", "b"], "it is no reason to cool down"


def test_reported_prompts_correct_the_estimate(loopback: Loopback) -> None:
    asked = request("word " * 400)
    loopback.answer(Reply(text="Rain.", usage={"prompt_tokens": 800}))
    with chain("openai/a", environ=loopback.environ()) as narrator:
        say(narrator, asked)
        assert 1.4 < narrator.models.correction.ratio("openai/a") < 1.6


def test_many_may_ask_at_once(loopback: Loopback) -> None:
    answers: list[str] = []
    with chain("anthropic", environ=loopback.environ()) as narrator:

        def ask(number: int) -> None:
            answers.append(text_of(say(narrator, request(f"Turn: T{number:04d}"))))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(set(answers)) == 8 and all(len(answer) > 800 for answer in answers)
    assert all(seen.finished.wait(5) for seen in loopback.requests)
    assert {seen.state for seen in loopback.requests} == {"sent"}


def test_a_model_that_had_only_the_rest_of_anothers_time_is_not_blamed(loopback: Loopback) -> None:
    loopback.answer(Reply(text="late", headers_delay=30))
    hasty = chain("openai/first", "openai/second", environ=loopback.environ(), limits=Limits(0.5, 0.5, 0.5), role="dm")
    with hasty as dm:
        with pytest.raises(NoModel):
            dm.answer(lambda profile: request(), within=0.8)
        health = dm.models.health
        assert "took more than 0.5 s" in health.cooling("openai/first", "dm")
        assert health.cooling("openai/second", "dm") == "", "it had 0.3 s"
        loopback.answer(lambda body: Reply(text=f"I am {body['model']}."))
        assert dm.answer(lambda profile: request()).text == "I am second."


def test_one_role_that_cools_down_leaves_the_others_their_model(loopback: Loopback) -> None:
    models = Models(loopback.environ())
    limits = Limits(5, 5, 5)
    chains = {role: Chain(["openai/one", "openai/two"], limits, models, role) for role in ROLES}
    loopback.answer(Reply(status=429, headers={"retry-after": "3600"}))
    with pytest.raises(NoModel):
        chains["sidecar"].answer(lambda profile: request())
    loopback.answer(lambda body: Reply(text=body["model"]))
    said = {role: one.answer(lambda profile: request()).text for role, one in chains.items()}
    assert said == dict.fromkeys(ROLES, "one"), "those that cool down are asked in their order, when all do"
    models.close()


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_refusal_nobody_has_seen_is_asked_of_the_next(loopback: Loopback, protocol: str) -> None:
    loopback.answer([Reply(text="I would rather not.", refusal=True), Reply(text="Rain.")])
    with chain(f"{protocol}/a", f"{protocol}/b", environ=loopback.environ(), role="sidecar") as sidecar:
        events = say(sidecar, whole=True)
        assert text_of(events) == "Rain." and "declined to answer" in events[0].reason
        assert sidecar.models.health.cooling(f"{protocol}/a", "sidecar") == "", "a refusal cools nothing down"

"""Token estimates are of the right size in every script, and learn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rolecall.models.messages import Message, Request, Text, Tool, ToolCall, ToolResult
from rolecall.models.tokens import Correction, estimate, estimate_request

anything = some.text(max_size=200)


@given(anything, anything)
def test_more_text_is_never_fewer_tokens(one: str, more: str) -> None:
    assert estimate(one) <= estimate(one + more) <= estimate(one) + estimate(more)


def test_no_text_is_no_tokens_and_any_text_is_one() -> None:
    assert estimate("") == 0
    assert estimate("a") == estimate("é") == estimate("\ud800") == 1


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("The lantern sways over the harbour, and the tide is late.", 11, 18),
        ("Фонарь качается над гаванью, и прилив опаздывает.", 14, 28),
        ("Το φανάρι λικνίζεται πάνω από το λιμάνι.", 12, 28),
        ("灯笼在港口上空摇曳，潮水来得晚。", 12, 22),
        ("โคมไฟแกว่งไกวเหนือท่าเรือ", 15, 30),
        ("🏮🌊", 4, 6),
    ],
    ids=["Latin", "Cyrillic", "Greek", "Chinese", "Thai", "emoji"],
)
def test_each_script_is_weighed_by_its_own_measure(text: str, least: int, most: int) -> None:
    assert least <= estimate(text) <= most


def test_a_request_weighs_all_it_holds() -> None:
    bare = Request((Text("a" * 400),), (Message("user", (Text("b" * 400),)),))
    with_tool = Request(bare.system, bare.messages, (Tool("search", "d" * 400, {"type": "object"}),))
    with_result = Request(
        bare.system,
        (
            *bare.messages,
            Message("assistant", (ToolCall("1", "search", {"query": "c" * 400}),)),
            Message("user", (ToolResult("1", "e" * 400),)),
        ),
    )
    with_schema = Request(bare.system, bare.messages, answer_schema={"description": "f" * 400})
    assert 200 <= estimate_request(bare) <= 215
    assert 100 <= estimate_request(with_tool) - estimate_request(bare) <= 130
    assert 200 <= estimate_request(with_result) - estimate_request(bare) <= 240
    assert 100 <= estimate_request(with_schema) - estimate_request(bare) <= 115


def test_what_a_provider_reports_corrects_the_estimate_for_its_model_alone() -> None:
    correction = Correction()
    assert correction.ratio("anthropic/x") == 1.0
    correction.learn("anthropic/x", estimated=1000, reported=1300)
    assert correction.ratio("anthropic/x") == pytest.approx(1.3)
    assert correction.budget("anthropic/x", 8000) == 6153
    for _ in range(20):
        correction.learn("anthropic/x", estimated=1000, reported=1100)
    assert correction.ratio("anthropic/x") == pytest.approx(1.1, abs=0.01)
    assert correction.ratio("openai/y") == 1.0


def test_an_absurd_report_moves_the_correction_only_so_far() -> None:
    correction = Correction()
    correction.learn("a", 1000, 1_000_000)
    correction.learn("b", 1_000_000, 1)
    correction.learn("c", 1000, 0)
    correction.learn("d", 10, 30)
    assert [correction.ratio(spec) for spec in "abcd"] == [2.0, 0.5, 1.0, 1.0]

"""Both vendors' counts in one form."""

from __future__ import annotations

from rolecall.models.usage import Usage, decode, encode, from_anthropic, from_openai


def test_anthropics_input_leaves_the_cache_out_and_openais_includes_it() -> None:
    theirs = from_anthropic(
        {"input_tokens": 100, "cache_creation_input_tokens": 50, "cache_read_input_tokens": 850, "output_tokens": 30},
        model="m",
        request_id="r",
    )
    others = from_openai(
        {
            "prompt_tokens": 1000,
            "completion_tokens": 30,
            "prompt_tokens_details": {"cached_tokens": 850, "cache_write_tokens": 50},
        },
        model="m",
        request_id="r",
    )
    assert theirs == others == Usage(fresh=100, cache_write=50, cached=850, out=30, model="m", request_id="r")
    assert theirs.prompt == 1000


def test_thought_tokens_are_told_apart() -> None:
    assert from_openai({"completion_tokens_details": {"reasoning_tokens": 7}}, model="", request_id="").reasoning == 7
    assert from_anthropic({"output_tokens_details": {"thinking_tokens": 7}}, model="", request_id="").reasoning == 7


def test_nonsense_counts_are_nothing() -> None:
    counts = {"prompt_tokens": None, "completion_tokens": "many", "prompt_tokens_details": [1], "x": True}
    assert from_openai(counts, model="m", request_id="") == Usage(model="m")
    odd = {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 99}}
    assert from_openai(odd, model="", request_id="").prompt == 10


def test_usage_adds_up_and_one_estimate_makes_the_sum_one() -> None:
    total = Usage(1, 2, 3, 4, 5, "a", "r1") + Usage(10, 20, 30, 40, 50, "b", "r2", True)
    assert total == Usage(11, 22, 33, 44, 55, "b", "r2", True)
    assert Usage() + total == total


def test_usage_written_is_the_same_when_read() -> None:
    usage = Usage(1, 2, 3, 4, 5, "a", "r", True)
    assert decode(encode(usage)) == usage

"""A small part of the recall benchmark, where its data is at hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.locomo import measure

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo" / "locomo5.json"


@pytest.mark.skipif(not DATA.exists(), reason="the LoCoMo data is not at hand")
def test_the_turn_with_the_answer_is_among_the_first_ten(tmp_path: Path) -> None:
    talk = json.loads(DATA.read_text(encoding="utf-8"))[0]
    talk["qa"] = talk["qa"][::4]
    asked, _, at10, _ = measure([talk], tmp_path)
    assert asked.total() >= 40
    assert at10.total() / asked.total() >= 0.76

"""Each bad input has exactly the outcome it is listed with, and a turn told beside them changes none of their bytes."""

from __future__ import annotations

import pytest

from rolecall.campaign import template
from tests.conftest import REPOSITORY
from tests.hazards.inputs import HAZARDS, Hazard
from tests.hazards.outcome import laid, outcome, page
from tests.hazards.outcomes import OUTCOMES


@pytest.mark.parametrize("hazard", HAZARDS, ids=[f"{one.kind}: {one.name}" for one in HAZARDS])
def test_a_bad_input_has_the_outcome_it_is_listed_with(tmp_path, hazard: Hazard):
    if hazard.name == "another case of a file" and (tmp_path.parent / tmp_path.name.swapcase()).exists():
        pytest.skip("this disk cannot hold two such files")
    assert outcome(laid(tmp_path / "tale", hazard), hazard) == OUTCOMES[f"{hazard.kind}: {hazard.name}"]


def test_there_are_more_than_a_hundred_and_twenty_each_under_its_own_name():
    names = [f"{one.kind}: {one.name}" for one in HAZARDS]
    assert len(names) == len(set(names)) >= 120 and set(names) == set(OUTCOMES)


def test_the_page_lists_them_all():
    assert (REPOSITORY / "docs/hazards.md").read_text(encoding="utf-8") == page(OUTCOMES)


def test_a_turn_told_beside_all_of_them_changes_no_byte_of_theirs(tmp_path, rolecall, script, story):
    root = template.new(tmp_path / "tale", "The Tale").root
    mine = [
        one
        for one in HAZARDS
        if one.kind in ("bytes", "fences", "YAML", "words", "names") and not one.data.startswith(b"SAME")
    ]
    for one in mine:
        one.lay(root)
    before = {one.path: (root / one.path).read_bytes() for one in mine if not one.path.endswith(".tmp")}
    ran = rolecall("-C", root, "turn", "I look at everything.", "--model", script(story))
    assert ran.code == 0, ran.err
    assert {path: (root / path).read_bytes() for path in before} == before

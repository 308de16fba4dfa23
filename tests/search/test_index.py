"""The index alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.search import index as engine
from rolecall.search.weights import Doc, mark_passage, mark_path


@pytest.fixture
def index(tmp_path: Path) -> engine.Index:
    return engine.create(tmp_path)


def doc(
    path: str, *terms: str, order: int = 0, secret: bool = False, turn: int | None = None, marks: tuple = ()
) -> Doc:
    return Doc(path, order, "", turn, secret, marks, dict.fromkeys(terms, 1.0))


def paths(index: engine.Index, *terms: str, **limits: object) -> list[str]:
    return [found.path for found in index.search(terms, **limits)]


def test_any_word_finds_and_more_words_rank_higher(index: engine.Index) -> None:
    index.apply([], [doc("a", "well", "iron"), doc("b", "well"), doc("c", "ledger")])
    assert paths(index, "well", "iron") == ["a", "b"]


def test_an_unknown_word_finds_nothing_and_an_empty_index_too(index: engine.Index) -> None:
    assert paths(index, "well") == []
    index.apply([], [doc("a", "well")])
    assert paths(index, "nowhere") == []
    assert paths(index) == []


def test_secret_passages_are_found_only_with_secrets(index: engine.Index) -> None:
    index.apply([], [doc("a", "well"), doc("b", "well", "varr", secret=True)])
    assert paths(index, "well", "varr") == ["a"]
    assert set(paths(index, "well", "varr", secrets=True)) == {"a", "b"}


def test_marks_narrow_a_search(index: engine.Index) -> None:
    index.apply([], [doc("a", "well", marks=("kind:lore",)), doc("b", "well", marks=("kind:item", "withheld"))])
    assert paths(index, "well", need=[["kind:item", "kind:nothing"]]) == ["b"]
    assert paths(index, "well", need=[[]]) == []
    assert paths(index, "well", without=["withheld"]) == ["a"]
    assert paths(index, "well", need=[["kind:item"]], without=["withheld"]) == []


def test_what_is_taken_out_is_gone_and_what_is_added_with_it_stays(index: engine.Index) -> None:
    index.apply([], [doc("a", "well"), doc("a", "iron", order=1), doc("b", "well")])
    index.apply([mark_passage("a", 0)], [doc("a", "ledger")])
    assert paths(index, "well") == ["b"]
    assert paths(index, "ledger") == ["a"]
    assert paths(index, "iron") == ["a"]
    index.apply([mark_path("a")], [])
    assert paths(index, "ledger", "iron") == []


def test_only_the_rarest_words_of_a_long_question_count(index: engine.Index) -> None:
    common = [f"word{n}" for n in range(40)]
    index.apply([], [doc(f"{n}", *common) for n in range(20)] + [doc("rare", "gannet")])
    assert paths(index, *common, "gannet")[0] == "rare"


def test_ties_go_to_the_later_turn_then_to_the_path_in_whatever_order_files_came(tmp_path: Path) -> None:
    docs = [doc("b", "well"), doc("a", "well"), doc("s", "well", turn=3), doc("s", "well", order=1, turn=9)]
    answers = []
    for number, order in enumerate((docs, docs[::-1])):
        (tmp_path / str(number)).mkdir()
        index = engine.create(tmp_path / str(number))
        for one in order:
            index.apply([], [one])
        answers.append([(f.path, f.turn) for f in index.search(["well"], limit=3)])
    assert answers[0] == answers[1] == [("s", 9), ("s", 3), ("a", None)]


def test_a_posting_list_over_many_blocks_is_read_whole(index: engine.Index) -> None:
    index.apply([], [doc(f"{n:04}", "well") for n in range(1000)])
    index.apply([mark_path("0500")], [])
    found = paths(index, "well", limit=2000)
    assert sorted(found) == [f"{n:04}" for n in range(1000) if n != 500]


def test_tidying_merges_small_segments_and_changes_no_answer(index: engine.Index) -> None:
    for number in range(12):
        index.apply([mark_path("3")] if number == 8 else [], [doc(f"{number}", "well", f"w{number}")])
    before = set(paths(index, "well"))
    assert index.size() == (11, 11)
    assert index.tidy() is True
    assert index.size() == (11, 1)
    assert set(paths(index, "well")) == before == {str(n) for n in range(12)} - {"3"}
    assert paths(index, "w5") == ["5"]
    assert index.tidy() is False


def test_segments_never_pile_up_even_when_nobody_tidies(index: engine.Index) -> None:
    for number in range(engine.MANY * 2 + 10):
        index.apply([], [doc(f"{number}", "well")])
    passages, segments = index.size()
    assert passages == engine.MANY * 2 + 10
    assert segments <= engine.MANY + 1


def test_a_failed_update_leaves_the_index_as_it_was_and_usable(index: engine.Index) -> None:
    index.apply([], [doc("a", "well")])

    def failing():
        yield doc("b", "well")
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        index.apply([mark_path("a")], failing())
    assert paths(index, "well") == ["a"]
    index.apply([], [doc("c", "well")])
    assert set(paths(index, "well")) == {"a", "c"}


def test_what_was_searched_once_is_held_whole_though_the_files_go(index: engine.Index, tmp_path: Path) -> None:
    index.apply([], [doc(f"{n}", "well", "iron") for n in range(300)])
    assert len(paths(index, "well", limit=500)) == 300
    for file in tmp_path.iterdir():
        if file.is_file():
            file.write_bytes(b"")
    assert len(paths(index, "iron", limit=500)) == 300


def test_damage_is_an_error_and_not_a_wrong_answer(index: engine.Index, tmp_path: Path) -> None:
    index.apply([], [doc(f"{n}", "well", "iron") for n in range(300)])
    segment = next(tmp_path.glob("*.seg"))
    segment.write_bytes(segment.read_bytes()[:200])
    with pytest.raises(Exception):  # noqa: B017 - which one depends on where the file was cut
        paths(engine.open_index(tmp_path), "well")


def test_nothing_to_do_writes_nothing(index: engine.Index, tmp_path: Path) -> None:
    index.apply([], [doc("a", "well")])
    before = sorted((f.name, f.stat().st_mtime_ns) for f in tmp_path.glob("*.[ts]*"))
    assert index.apply([], []) is False
    assert sorted((f.name, f.stat().st_mtime_ns) for f in tmp_path.glob("*.[ts]*")) == before

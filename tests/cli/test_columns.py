"""What a terminal shows: lines broken between words, never a line too wide, no blank line that nobody wrote."""

from __future__ import annotations

import io

import pytest

from rolecall.play.columns import cells, folded
from rolecall.play.stream import Stream


def told(text: str, width: int, step: int) -> str:
    out = io.StringIO()
    stream = Stream(out, width)
    for start in range(0, len(text), step):
        stream.write(text[start : start + step])
    stream.end()
    return out.getvalue()


@pytest.mark.parametrize("width", range(6, 40))
@pytest.mark.parametrize("step", [1, 7, 1000])
def test_prose_of_any_pieces_fills_its_lines_and_no_space_hangs_over_the_edge(width: int, step: int):
    prose = "He said nothing. The bell rang once more,  under the harbour.\n\nThen it was over."
    shown = told(prose, width, step)
    paragraphs = shown.removesuffix("\n").split("\n\n")
    assert [" ".join(p.split()) for p in paragraphs] == [" ".join(p.split()) for p in prose.split("\n\n")]
    for line in shown.split("\n"):
        assert line == line.rstrip() and (len(line) <= width or " " not in line)


def test_prose_without_spaces_is_broken_between_wide_characters_and_shown_as_it_comes():
    out = io.StringIO()
    stream = Stream(out, 10)
    stream.write("鐘が鳴る。海が引いていく。「誰だ」")
    assert len(out.getvalue()) > 12  # all but what the next character may still belong to
    stream.end()
    lines = out.getvalue().rstrip("\n").split("\n")
    assert "".join(lines) == "鐘が鳴る。海が引いていく。「誰だ」"
    assert all(cells(line) <= 10 for line in lines)
    assert not any(line[0] in "。」" or line[-1] == "「" for line in lines)


def test_a_numbered_line_goes_on_below_its_words_and_nothing_is_broken_without_a_width():
    line = "  1  I look into it: who rings the bell?"
    assert folded(line, 24) == "  1  I look into it: who\n     rings the bell?"
    assert folded(line, 0) == line
    assert folded("one two\n\n- three four five", 12) == "one two\n\n- three four\n  five"
    assert folded("key: one two three", 10, hang=2) == "key: one\n  two\n  three"
    assert folded("a" * 30 + " b", 10) == "a" * 30 + "\nb"

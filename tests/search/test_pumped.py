"""Text of a model, a chat or a file that goes on and on in one sign costs as much as it is long, and no more than that."""

from __future__ import annotations

import time

import pytest

from rolecall.agents import castwords, standing
from rolecall.campaign import facts, text
from rolecall.exchange import storybook
from rolecall.play import views
from rolecall.search import disguise
from rolecall.search.analysis import Analyzer
from rolecall.search.excerpt import excerpt
from rolecall.search.passages import passages_of

SIGNS = (
    " ", "\t", "\n", "\n ", "a", "A ", "a, ", "1", "1 ", "-", "- ", "—", ".", ". ", "…", ".\"", "\"", "“", "'", "a'", "[", "[[", "(", "{{", "<",
    "<!--", "*", "_", "`", "\\", "%41", "&#65", "|", ":", "a: ", "\n- ", "\n> ", "\n# ", "\n- T0001 ", "T0001 ", "。", "e\u0301", "\x1b[",
)  # fmt: skip
READERS = {
    "an excerpt": lambda said: excerpt(said, ["pasco"], Analyzer()),
    "a disguise": disguise.unmasked,
    "deaths": lambda said: list(standing._DEATH_LINE.finditer(f"- T0001 {said}")),
    "prose": text.clean_prose,
    "a line": text.clean_line,
    "sentences": facts.sentences,
    "a book": storybook.plain,
    "an opening": views._plain,
    "passages": lambda said: passages_of("lore/a.md", said.encode()),
    "an aside": castwords._ASIDE.fullmatch,
}
SHORT, FEW = 3_000, 0.02  # characters; seconds of work that are not worth a second look


def _work(reader, sign: str, length: int) -> float:
    """Seconds of this process's work, the least of three."""
    said = f"Pasco {sign * (length // len(sign))} x"
    took = []
    for _ in range(3):
        begun = time.process_time()
        reader(said)
        took.append(time.process_time() - begun)
        if took[-1] < FEW:
            break
    return min(took)


@pytest.mark.parametrize("name", READERS)
def test_eight_times_as_much_of_one_sign_is_not_sixty_times_the_work(name):
    reader = READERS[name]
    reader("Pasco waits.")  # what is made ready once
    slow = {
        sign: (short, long)
        for sign in SIGNS
        if (long := _work(reader, sign, 8 * SHORT)) > FEW and long > 30 * (short := _work(reader, sign, SHORT))
    }
    assert slow == {}

"""Prose cut into sentences, with what is told kept apart from what somebody says.

A character may lie, remember or be wrong, so whoever checks what the narrator claims reads `told`: the same sentence with
everything between quotation marks blanked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BLANK = "·"  # stands for each character of what is said; no part of any word

_IN = r"(?:[^{0}\n]|\n(?!\s*\n))*"
_PAIRS = (('"', '"'), ("“", "”"), ("„", "“”"), ("«", "»"), ("「", "」"), ("『", "』"))
_SAID = re.compile(
    "|".join(f"{a}({_IN.format(b)})(?:[{b}]|(?=\\n\\s*\\n)|\\Z)" for a, b in _PAIRS)
    + r"|»((?:[^«»\n])*)«|(?<!\w)‘((?:[^\n‘’]|’(?=\w))*)’(?!\w)"
)
_DASHED = re.compile(r"^[ \t]*[—–][ \t]*\S.*$", re.M)
_DASH = re.compile(r"\s[—–]\s?|[—–](?=[\s.,;!?])|^[ \t]*[—–]")
_END = re.compile(r"[.!?…]+[\"”“’»)\]*_]*(?=\s|$)|[。！？]+[」』”]*|\n+")
_SHORT = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Capt|Lt|Sgt|Prof|Hr|Fr|Mme|vs|etc|No)|\b[A-Z])\.$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the prose: where it stands (character positions), its words, and the same with speech blanked."""

    start: int
    end: int
    text: str
    told: str


def without_speech(prose: str) -> str:
    """The prose, equally long, with `BLANK` for each character said in quotation marks or behind a dialogue dash."""
    blanked = _SAID.sub(_blanked, prose)
    return _DASHED.sub(_undashed, blanked)


def _blanked(found: re.Match[str]) -> str:
    whole = found[0]
    inner = max((group for group in found.groups() if group is not None), key=len, default="")
    at = whole.find(inner, 1)
    return whole[:at] + _dots(inner) + whole[at + len(inner) :]


def _dots(said: str) -> str:
    return "".join("\n" if c == "\n" else BLANK for c in said)


def _undashed(found: re.Match[str]) -> str:
    """A line that begins with a dash is speech up to the next dash, then what is told of it, and so on by turns."""
    line, parts, at, speech = found[0], [], 0, False
    for dash in _DASH.finditer(line):
        piece = line[at : dash.start()]
        parts += [_dots(piece) if speech else piece, dash[0]]
        at, speech = dash.end(), not speech
    parts.append(_dots(line[at:]) if speech else line[at:])
    return "".join(parts)


def sentences(prose: str) -> tuple[Sentence, ...]:
    """The sentences in order. What somebody says stays in the sentence that tells who says it."""
    told, found, start = without_speech(prose), [], 0
    for end in _END.finditer(told):
        if end[0].startswith(".") and _SHORT.search(told[start : end.start() + 1]):
            continue
        _add(found, prose, told, start, end.end())
        start = end.end()
    _add(found, prose, told, start, len(prose))
    return tuple(found)


def _add(found: list[Sentence], prose: str, told: str, start: int, end: int) -> None:
    text = prose[start:end]
    begin = start + len(text) - len(text.lstrip())
    stop = end - (len(text) - len(text.rstrip()))
    if stop > begin:
        found.append(Sentence(begin, stop, prose[begin:stop], told[begin:stop]))

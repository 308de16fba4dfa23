"""Prose as it is written: piece by piece to the terminal, never a control character of it, words kept whole."""

from __future__ import annotations

import re
from typing import TextIO

from rolecall.play.columns import cells, columns_of, keeps

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Stream:
    """Writes pieces of prose to a stream; a stream that fails is written to no more, and never fails the turn behind it.

    On a terminal lines are broken between words; in a pipe nothing is changed."""

    def __init__(self, out: TextIO, width: int | None = None) -> None:
        self._out = out
        self._width = width if width is not None else columns_of(out)
        self._column = 0
        self._word = ""
        self._gap = False  # white space that is written only before another word of the same line
        self.wrote = False
        self.failed: OSError | None = None  # the reader has gone, or the disk behind a redirection is full

    def write(self, piece: str) -> None:
        """Print a piece of text."""
        piece = _UNPRINTABLE.sub("", piece)
        self.wrote = self.wrote or bool(piece)
        if not self._width:
            self._put(piece)
        else:
            for character in piece:
                self._wrapped(character)
        self._flush()

    def _put(self, text: str) -> None:
        if self.failed is None:
            try:
                self._out.write(text)
            except OSError as error:
                self.failed = error

    def _flush(self) -> None:
        if self.failed is None:
            try:
                self._out.flush()
            except OSError as error:
                self.failed = error

    def end(self) -> None:
        """The text is over: print what is held back, and a line end when something was written."""
        self._put_word()
        if self.wrote:
            self._put("\n")
            self._flush()
        self._column, self._gap, self.wrote = 0, False, False

    def _wrapped(self, character: str) -> None:
        if character == "\n":
            self._put_word()
            self._put("\n")
            self._column, self._gap = 0, False
        elif character.isspace():
            self._put_word()
            self._gap = self._column > 0
        else:
            if self._word and not keeps(self._word[-1], character):
                self._put_word()
            self._word += character

    def _put_word(self) -> None:
        if not self._word:
            return
        wide = cells(self._word)
        if self._column and self._column + self._gap + wide > self._width:
            self._put("\n")
            self._column = 0
        elif self._gap:
            self._put(" ")
            self._column += 1
        self._put(self._word)
        self._column += wide
        self._word, self._gap = "", False

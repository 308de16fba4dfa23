"""Prose as it is written: piece by piece to the terminal, never a control character of it, words kept whole."""

from __future__ import annotations

import re
import shutil
from typing import TextIO

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
WIDEST = 100  # columns of prose on a wide terminal


class Stream:
    """Writes pieces of prose to a stream; a stream that fails is written to no more, and never fails the turn behind it.

    On a terminal lines are broken between words; in a pipe nothing is changed."""

    def __init__(self, out: TextIO, width: int | None = None) -> None:
        self._out = out
        terminal = out.isatty() if hasattr(out, "isatty") else False
        columns = min(shutil.get_terminal_size().columns, WIDEST) if terminal else 0
        self._width = width if width is not None else columns
        self._column = 0
        self._word = ""
        self.wrote = False
        self.failed: OSError | None = None  # the reader has gone, or the disk behind a redirection is full

    def write(self, piece: str) -> None:
        """Print a piece of text."""
        piece = _UNPRINTABLE.sub("", piece)
        self.wrote = self.wrote or bool(piece)
        if not self._width:
            self._put(piece)
        else:
            for part in re.split(r"(\s)", piece):
                self._wrapped(part)
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
        self._column, self.wrote = 0, False

    def _wrapped(self, part: str) -> None:
        if not part:
            return
        if not part.isspace():
            self._word += part
            return
        self._put_word()
        if part == "\n":
            self._put("\n")
            self._column = 0
        elif self._column:
            self._put(" ")
            self._column += 1

    def _put_word(self) -> None:
        if not self._word:
            return
        if self._column and self._column + len(self._word) > self._width:
            self._put("\n")
            self._column = 0
        self._put(self._word)
        self._column += len(self._word)
        self._word = ""

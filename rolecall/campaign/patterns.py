"""Regular expressions that are compiled when they are first used: long lists of words would hold up every command's start."""

from __future__ import annotations

import re

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub")


class Pattern:
    """A regular expression as `re.compile` gives it, compiled when one of its methods is first asked for."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> object:
        if name not in _METHODS:
            raise AttributeError(name)
        self.compile()
        return self.__dict__[name]

    def compile(self) -> None:
        """Compile it now, for moments when nobody waits."""
        compiled = re.compile(self.pattern, self.flags)
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)

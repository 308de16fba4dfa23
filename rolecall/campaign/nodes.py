"""The nodes of a block of front matter: what is written, and where it stands."""

from __future__ import annotations

from typing import NamedTuple

Value = "str | list[Value] | dict[str, Value]"


class Node(NamedTuple):
    """One YAML node: `kind` scalar, seq or map; `start` and `end` are character positions in the block's text.

    A tuple, as a large campaign makes a hundred thousand.
    """

    kind: str
    value: object  # str; tuple of Node; tuple of (Node, Node)
    style: str  # scalars: plain ' " | > ; collections: flow or block
    start: int
    end: int
    line: int  # in the block, from 0

    def plain(self) -> Value:
        """The value as strings, lists and dicts; an unquoted `[[Sera]]` is the string `[[Sera]]`."""
        if self.kind == "scalar":
            return self.value
        if self.kind == "map":
            return {key.value: node.plain() for key, node in self.value}
        reference = self.reference()
        return reference if reference is not None else [node.plain() for node in self.value]

    def reference(self) -> str | None:
        """`[[Name]]` when this node is an unquoted wikilink (to YAML, a list in a list)."""
        if self.kind != "seq" or self.style != "flow" or len(self.value) != 1:
            return None
        inner = self.value[0]
        if inner.kind != "seq" or inner.style != "flow" or not inner.value or inner.start != self.start + 1:
            return None
        if any(part.kind != "scalar" for part in inner.value):
            return None
        return f"[[{', '.join(part.value for part in inner.value)}]]"

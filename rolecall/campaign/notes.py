"""One Markdown note as read: its bytes, its front matter, its sections. Nothing here changes a note."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rolecall.campaign import frontmatter, sections
from rolecall.campaign.frontmatter import BOM, Block, Value
from rolecall.campaign.sections import Section
from rolecall.errors import Unclear


@dataclass(frozen=True)
class Document:
    """One Markdown file as read. `path` is only used in errors."""

    path: str
    data: bytes
    block: Block | None

    @cached_property
    def fields(self) -> dict[str, Value]:
        """The front matter in file order: strings, lists and dicts of strings."""
        return self.block.fields() if self.block else {}

    @cached_property
    def body_start(self) -> int:
        """The byte position behind the closing fence."""
        if not self.block:
            return len(BOM) if self.data.startswith(BOM) else 0
        return self.data.find(b"\n", self.block.end) + 1 or len(self.data)

    @property
    def body(self) -> bytes:
        """Every byte after the front matter."""
        return self.data[self.body_start :]

    @cached_property
    def body_line(self) -> int:
        """The line on which the body begins, from 1."""
        return self.data.count(b"\n", 0, self.body_start) + 1

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The body's sections; the first is the text before any heading."""
        return sections.sections_of(self.data, self.body_start, self.body_line)

    @property
    def newline(self) -> str:
        """The line end most lines of the file have."""
        return "\r\n" if self.data.count(b"\r\n") * 2 > self.data.count(b"\n") else "\n"

    def text(self, key: str) -> str:
        """A field as one string; empty when it is missing or not a plain value."""
        value = self.fields.get(key, "")
        return value if isinstance(value, str) else ""

    def section(self, heading: str) -> Section | None:
        """The section of that heading (case and spacing aside); Unclear when there are two."""
        found = [s for s in self.sections if s.level and same(s.heading, heading)]
        if len(found) > 1:
            raise Unclear(
                f"the heading `{heading}` stands here a second time (first on line {found[0].line})",
                path=self.path,
                line=found[1].line,
                remedy="join the two sections",
            )
        return found[0] if found else None

    def lines(self, heading: str) -> list[str]:
        """The lines of a section, nested sections included, without line ends (only `\\n` ends a line); none without it."""
        section = self.section(heading)
        text = self.data[section.body : section.end].decode("utf-8", "replace") if section else ""
        return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def parse(data: bytes, path: str) -> Document:
    """Read a file's bytes; Malformed when its front matter is broken."""
    return Document(path, data, frontmatter.find(data, path))


def same(one: str, other: str) -> bool:
    """Whether two headings are one: case and spacing aside."""
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def encoded(text: str, path: str | None) -> bytes:
    """The bytes of a text to be written; Unclear when it cannot be UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Unclear("the new text holds half a character (a lone surrogate)", path=path, remedy="clean it") from None

"""What two timelines told of the same turns, as it stands after their files were merged: for `rolecall check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rolecall.campaign import chronicles
from rolecall.campaign.documents import Document
from rolecall.errors import DocumentError


def covered_twice(documents: Mapping[str, Document]) -> Iterator[tuple[str, int, str]]:
    """(path, line, message) of each Chronicle that covers turns an earlier one covers already."""
    seen: list[tuple[str, int, int]] = []
    for path, document in sorted(documents.items()):
        if not path.startswith(f"{chronicles.FOLDER}/"):
            continue
        try:
            first, last = chronicles.covers_of(document)
        except DocumentError:
            continue  # told as such
        for other, begin, end in seen:
            if first <= end and begin <= last:
                both = f"{chronicles.turn_id(max(first, begin))}-{chronicles.turn_id(min(last, end))}"
                yield path, document.block.line_of("covers"), f"covers {both}, as {other} does"
                break
        seen.append((path, first, last))

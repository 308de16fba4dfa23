"""The document layer: a file of any bytes is read, edited by every edit and every effect there is, joined with another, renamed in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from hypothesis import strategies as st

from rolecall.campaign import (
    arcs,
    checklists,
    chronicles,
    documents,
    joining,
    journal,
    kinds,
    notes,
    plans,
    recordlines,
    redaction,
    renaming,
    secrets,
    splices,
    story,
    summaries,
)  # fmt: skip
from rolecall.campaign.documents import parse
from rolecall.campaign.effects import OPS, Effect, decode, edit_of, encode, promises_of
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import DocumentError
from rolecall.search.passages import passages_of
from tests.campaign import writing
from tests.campaign.writing import words
from tests.fuzz.matter import cleaned, pieces, texts, torn
from tests.tools import table
from tests.turn import world

SEEDS = [*(text.encode() for text in table.FILES.values()), *world.FILES.values()]
PATHS = (
    "a.md",
    STATE_FILE,
    "arcs/a.md",
    "characters/a.md",
    "dm/seeds.md",
    "story/001-a.md",
    "chronicles/0001-t0001-t0003.md",
)
HEADINGS = ("Journal", "History", "Trail", "Promises", "Summaries", "Objectives", "Secret", "Combat", "Party")
keys = writing.keys | st.sampled_from(
    ["status", "latest", "inventory", "relationships", "aliases", "hit_points", "forgotten"]
)
files = torn(writing.notes().map(lambda note: note.data) | st.sampled_from(SEEDS))
paths = st.sampled_from(PATHS)
items = cleaned | st.dictionaries(keys, words, max_size=2)


def reading(data: bytes, path: str) -> None:
    """All that is read out of a file; `passages_of` takes any file, the rest refuses the broken one."""
    passages_of(path, data)
    with suppress(DocumentError):
        document = parse(data, path)
        kind, name = kinds.kind_of(path, document.fields), kinds.name_of(path, document.fields)
        assert kind in kinds.KINDS and name
        secrets.open_sections(document), secrets.open_fields(document.fields), redaction.open_bytes(document)
        readers: Iterable[Callable[[notes.Document], object]] = (
            journal.lines_of, arcs.read, story.turns_of, checklists.items_of, summaries.of, plans.dated_of, promises_of,
            chronicles.covers_of, chronicles.seal_of,
        )  # fmt: skip
        for read in readers:
            with suppress(DocumentError):
                read(document)


def edits(data: bytes, path: str, key: str, value: str, heading: str, item: str | dict[str, str], at: int) -> None:
    """Every edit of a field and of a body."""
    lines = data.split(b"\n")
    old = lines[at % len(lines)].rstrip(b"\r").decode("utf-8", "replace")
    made: tuple[Callable[[], bytes], ...] = (
        lambda: documents.set_field(data, path, key, value),
        lambda: documents.set_field(data, path, key, value, typed=True),
        lambda: documents.remove_field(data, path, key),
        lambda: documents.add_item(data, path, key, item),
        lambda: documents.set_item(data, path, key, at, item),
        lambda: documents.remove_item(data, path, key, at),
        lambda: documents.append_to_section(data, path, heading, value, create=2),
        lambda: documents.append_to_section(data, path, value, value, create=2),
        lambda: documents.append_like(data, path, value, re.compile(rb"- ")),
        lambda: documents.insert_on_top(data, path, heading, f"- {value}", create=2),
        lambda: documents.replace_line(data, path, "", old, value),
        lambda: documents.replace_line(data, path, heading, old, value),
        lambda: documents.cut(data, path, [(min(at, len(data)), min(at + 5, len(data)))]),
    )
    for edit in made:
        with suppress(DocumentError):
            new = edit()
            parse(new, path)
            spliced = {**splices.splice(data, new), "path": path}
            assert splices.unsplice(new, json.loads(json.dumps(spliced))) == data


def join(base: bytes, ours: bytes, theirs: bytes, path: str) -> None:
    """Two timelines' versions of a file are joined."""
    joining.joined(base, ours, theirs, path)


def rename(data: bytes, path: str, old: str, new: str) -> None:
    """A name is changed all over a file."""
    if not (old.strip() and new.strip()):
        return
    plan = renaming.Renaming(path, path, old, new)
    with suppress(DocumentError):
        parse(renaming.edited(data, path, plan), path)


# -- effects: as the layers make them, and as a damaged record may hold them

said = cleaned | st.sampled_from(
    ["ledger", "the bell is cracked", "To Sera: bring the ledger", "silver: 9", "- silver: 9", '{"item": "torch"}']
)
facts = st.dictionaries(keys | st.just("name"), cleaned | st.lists(items, max_size=2), max_size=3)
effects = st.builds(
    Effect,
    st.sampled_from(sorted(OPS)),
    paths,
    st.integers(1, 9999),
    text=said,
    key=keys | st.sampled_from([*HEADINGS, *kinds.ENTRY_KINDS, *plans.WHAT]) | said,
    title=cleaned,
    was=said,
    facts=facts | st.builds(lambda name, more: {**more, "name": name}, cleaned, facts),
    lines=st.lists(cleaned, max_size=2).map(tuple),
)
damaged = st.fixed_dictionaries(
    {"op": st.sampled_from(sorted(OPS)) | pieces, "path": paths | pieces, "turn": st.integers(0, 9999) | pieces},
    optional={
        "facts": st.dictionaries(keys | st.just("name"), pieces, max_size=3) | pieces, "lines": st.lists(texts, max_size=2) | pieces,
        **dict.fromkeys(("text", "key", "title", "was", "reason", "phase"), texts | pieces),
    },
)  # fmt: skip


def effect(data: bytes | None, made: Effect) -> None:
    """An effect happens or is refused, and happens once: made again, as after a crash, it changes nothing."""
    assert decode(json.loads(json.dumps(encode(made)))) == made
    if not recordlines.is_effect(encode(made)):
        return
    with suppress(DocumentError):
        once = edit_of(made)(data)
        parse(once, made.path)
        assert edit_of(made)(once) == once, f"{made.op} made twice changes more"


def told_again(data: bytes | None, line: dict) -> None:
    """An effect out of a record that anybody may have damaged: it is none, or it happens or is refused."""
    if recordlines.is_effect(line):
        with suppress(DocumentError):
            edit_of(decode(line))(data)


perhaps = st.none() | files
TARGETS = {
    "reading": (reading, {"data": files, "path": paths}),
    "edits": (edits, {"data": files, "path": paths, "key": keys | cleaned, "value": cleaned | texts, "heading": st.sampled_from(HEADINGS) | cleaned,
                      "item": items, "at": st.integers(0, 40)}),
    "join": (join, {"base": files, "ours": files, "theirs": files, "path": paths}),
    "rename": (rename, {"data": files, "path": paths, "old": st.sampled_from(["Kit", "Sera", "Marta", "Skerrow", "x"]) | cleaned, "new": cleaned}),
    "effect": (effect, {"data": perhaps, "made": effects}),
    "told again": (told_again, {"data": perhaps, "line": damaged}),
}  # fmt: skip

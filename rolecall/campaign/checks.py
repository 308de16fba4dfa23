"""What is wrong in a campaign, with file, line, rule, message and remedy. Reading only; nothing is mended by guess."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from rolecall.campaign import (
    arcs,
    blame,
    chronicles,
    clashes,
    connections,
    consistency,
    effects,
    instructions,
    journal,
    kinds,
    lock,
    misspellings,
    originals,
    records,
    story,
    strays,
    summaries,
    trails,
)
from rolecall.campaign.documents import Document, parse
from rolecall.campaign.folder import CONFLICT_COPY, Campaign
from rolecall.campaign.formers import FORMER
from rolecall.campaign.frontmatter import Node, find
from rolecall.campaign.game.faults import faults
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.problems import Problem
from rolecall.campaign.settings import KNOWN, SETTINGS_FILE
from rolecall.errors import DocumentError, Malformed, StorageError, Unclear

__all__ = ["Problem", "check", "look"]

_MARKER = re.compile(rb"^(?:<{7} |>{7} )", re.M)  # not the row of `=` between them: that may underline a heading
_UNREAD = re.compile(rb"(?:\xef\xbb\xbf)*[ \t]*-{3,}[ \t]*\r?\n[A-Za-z_][\w-]{0,30}:[ \t]")
_JOURNAL_LINE = re.compile(rb"^- T\d{4,9}(?:[ \t]|\r?$)", re.M)
_LONG_TURN = re.compile(rb"^(?:[ ]{0,3}[-*+][ ]+|#{1,6}[ ]+|latest:[ ]*)(T\d{10,})\b", re.M)
_WRITTEN = (journal.HEADING, effects.PROMISES, effects.HISTORY, arcs.TRAIL, summaries.HEADING)


def check(campaign: Campaign, *, strict: bool = False) -> list[Problem]:
    """Every problem of a campaign, by path and line; with `strict` its notes too. Each file is read once."""
    return [problem for problem in look(campaign) if strict or not problem.note]


def look(campaign: Campaign) -> list[Problem]:
    """Every problem and every note of a campaign, by path and line."""
    found: list[Problem] = []
    documents: dict[str, Document] = {}
    paths = campaign.names()
    for path in paths:
        if path.startswith("imports/"):
            continue  # originals stay as they came
        found += _file(campaign, path, documents)
    found += _settings(campaign)
    found += _turns(documents, campaign.root)
    for path, line, message in clashes.covered_twice(documents):
        found.append(Problem(path, line, "covered-twice", message, "keep the Chronicle of the timeline you go on with"))
    found += _outside(documents.get(STATE_FILE))
    for document in documents.values():
        kind = kinds.kind_of(document.path, document.fields)
        if kind == "chronicle":
            found += _chronicle(document)
        elif kind in ("arc", "quest"):
            found += _arc(document)
    found += [Problem(*fault) for fault in faults(documents.values())]
    for path, line, message in trails.shrunk(campaign, documents):
        found.append(Problem(path, line, "trail-shrank", message, "restore the lines from git or a backup"))
    found += _instructions(documents)
    names = connections.names_of(documents, paths)
    found += connections.problems(documents, names)
    found += consistency.every(documents, names)
    for document in documents.values():
        found += misspellings.problems(document)
    found += _interrupted_one(campaign)
    found += strays.problems(campaign.root, paths)
    found += originals.problems(campaign.root)
    return sorted(set(found), key=lambda p: (p.path, p.line or 0, p.rule))


def _file(campaign: Campaign, path: str, documents: dict[str, Document]) -> Iterator[Problem]:
    if CONFLICT_COPY.search(path.rsplit("/", 1)[-1]):
        yield Problem(
            path, None, "conflict-copy", "a copy a synchroniser made in a conflict", "merge what it has and remove it"
        )
        return
    marked = None
    try:
        data = campaign.read(path)
        if marker := _MARKER.search(data):
            marked = data.count(b"\n", 0, marker.start()) + 1
            message, remedy = "a merge conflict", "keep the lines you want and remove the markers"
            yield Problem(path, marked, "conflict-marker", message, remedy)
        documents[path] = document = parse(data, path)
    except (DocumentError, StorageError) as error:
        rule = "front-matter" if isinstance(error, DocumentError) else "unreadable"
        if marked is None or error.line != marked:
            yield Problem(path, error.line, rule, error.what, error.remedy or "mend the file")
        return
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        yield Problem(
            path, line, "nul-bytes", "NUL bytes, as a crash or a failing disk leaves", "restore this file from a backup"
        )
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield Problem(path, line, "not-utf-8", "not UTF-8", "save the file as UTF-8")
    if _UNREAD.match(data) and document.block is None:
        message = "what looks like front matter is not read: a space, a fourth dash or a second mark stands before it"
        yield Problem(path, 1, "unread-block", message, "begin the file with `---` and nothing before it")
    if b"\r" in data and b"\n" not in data:
        yield Problem(path, 1, "line-ends", "one single line, in an old Mac's line ends", "save it with Unix line ends")
    yield from _long_turns(document)
    yield from _twice(document)
    if document.block and document.block.root:
        for node in _empty_keys(document.block.root):
            line = node.line + 2
            message = f"`{node.value}` is a key without a value in a flow item"
            yield Problem(path, line, "flow-item", message, 'put a value that holds a comma in quotes: "1,200 marks"')


def _long_turns(document: Document) -> Iterator[Problem]:
    for found in _LONG_TURN.finditer(document.data):
        line = document.data.count(b"\n", 0, found.start()) + 1
        message = f"{found[1][:16].decode()}… has more than nine digits: no line is read under it"
        yield Problem(document.path, line, "turn-number", message, "write it as `T` and four to nine digits")


def _twice(document: Document) -> Iterator[Problem]:
    """A second block of front matter, and a second section of one of the headings that RoleCall writes under."""
    try:
        second = find(document.body, document.path) if document.block else None
    except Malformed:
        second = None
    if second and second.root and "" not in map(str.strip, second.text.splitlines()):  # prose between rules has gaps
        message = "a second block of front matter, which nobody reads"
        yield Problem(document.path, document.body_line, "second-block", message, "move its fields into the first")
    for heading in _WRITTEN:
        try:
            document.section(heading)
        except Unclear as error:
            yield Problem(document.path, error.line, "section-twice", error.what, error.remedy)


def _empty_keys(node: Node) -> Iterator[Node]:
    if node.kind == "map":
        for key, value in node.value:
            if node.style == "flow" and value.kind == "scalar" and value.value == "" and value.style == "plain":
                yield key
            yield from _empty_keys(value)
    elif node.kind == "seq":
        for item in node.value:
            yield from _empty_keys(item)


def _settings(campaign: Campaign) -> Iterator[Problem]:
    from difflib import get_close_matches

    for key, line in campaign.settings.unknown:
        near = get_close_matches(key, KNOWN, 1)
        remedy = f"did you mean `{near[0]}`?" if near else "remove it, or keep it for another program"
        yield Problem(SETTINGS_FILE, line, "unknown-setting", f"`{key}` is not a setting RoleCall knows", remedy)
    if not campaign.exists(STATE_FILE):
        yield Problem(STATE_FILE, None, "no-state", "there is no Campaign State", "restore it, or copy the template's")


def _turns(documents: dict[str, Document], root: Path) -> Iterator[Problem]:
    """Turns: each exactly once over Chronicles and Journal, in order, without gaps; each told in the story at most once."""
    places: dict[int, tuple[str, int]] = {}
    covering = [d for p, d in sorted(documents.items()) if p.startswith(f"{chronicles.FOLDER}/")]
    for document in (*covering, *(d for p, d in documents.items() if p == STATE_FILE)):
        previous = 0
        for line in _lines(document):
            if line.turn in places:
                path, at = places[line.turn]
                message = f"{journal.turn_id(line.turn)} stands here a second time (first in {path}:{at})"
                yield Problem(document.path, line.line, "turn-twice", message, "keep one of the two lines")
            elif line.turn < previous:
                message = f"{journal.turn_id(line.turn)} comes after {journal.turn_id(previous)}"
                yield Problem(
                    document.path, line.line, "turn-order", message, "put the lines in the order of their turns"
                )
            places.setdefault(line.turn, (document.path, line.line))
            previous = max(previous, line.turn)
    told: dict[int, tuple[str, int]] = {}
    for path, document in sorted(documents.items()):
        for turn in story.turns_of(document) if kinds.kind_of(path, document.fields) == "story" else ():
            if turn.turn in told:
                message = f"{journal.turn_id(turn.turn)} is told here a second time (first in {':'.join(map(str, told[turn.turn]))})"
                yield Problem(path, turn.line, "told-twice", message, "keep one of the two sections")
            told.setdefault(turn.turn, (path, turn.line))
    yield from _gaps(places, told, root)


def _lines(document: Document) -> tuple[journal.Line, ...]:
    try:
        return journal.lines_of(document, sealed=document.path != STATE_FILE)
    except DocumentError:
        return ()


def _outside(state: Document | None) -> Iterator[Problem]:
    """Journal lines of the Campaign State that stand outside its Journal, where nobody reads or folds them."""
    if state is None:
        return
    read = {line.start for line in _lines(state)}
    for match in _JOURNAL_LINE.finditer(state.data, state.body_start):
        if match.start() not in read:
            line = state.data.count(b"\n", 0, match.start()) + 1
            message = "a journal line outside the Journal"
            yield Problem(state.path, line, "line-outside", message, "move it under `## Journal`")


def _gaps(places: dict[int, tuple[str, int]], told: dict[int, tuple[str, int]], root: Path) -> Iterator[Problem]:
    if not places:
        return
    missing = set(range(min(places), max(max(places), max(told, default=0)))) - places.keys()
    missing -= records.undone(root) | records.once_undone(root) if missing else set()
    missing -= blame.taken_back(root) if missing else set()  # on another machine, or before the records were deleted
    for turn in sorted(missing):
        after = next((places[t] for t in range(turn - 1, 0, -1) if t in places), (STATE_FILE, 1))
        where, line = told.get(turn, after)
        said = journal.turn_id(turn)
        remedy = f"write the line `- {said} ...` where it belongs; if it was taken back, `- {said} taken back`"
        yield Problem(where, line, "turn-gap", f"{said} has no journal line", remedy)


def _chronicle(document: Document) -> Iterator[Problem]:
    line_of = document.block.line_of if document.block else lambda _: 1
    try:
        first, last = chronicles.covers_of(document)
    except Malformed as error:
        yield Problem(document.path, error.line, "covers", error.what, error.remedy or "")
        return
    if document.text("seal") != chronicles.seal_of(document):
        message = "the seal is broken: a closed Chronicle was changed"
        yield Problem(document.path, line_of("seal"), "seal", message, "restore it from git or a backup")
    turns = [line.turn for line in _lines(document)]
    if turns and (min(turns), max(turns)) != (first, last):
        said = f"{journal.turn_id(min(turns))}-{journal.turn_id(max(turns))}"
        message = f"`covers` says {document.text('covers')}, its Journal holds {said}"
        yield Problem(document.path, line_of("covers"), "covers", message, "restore it from git or a backup")


def _arc(document: Document) -> Iterator[Problem]:
    try:
        section = document.section(arcs.TRAIL)
    except Unclear:
        return  # two trails: told as such
    turns = [t for t in map(journal.turn_number, arcs.trail_of(document)) if t is not None]
    if any(below > above for above, below in pairwise(turns)):
        yield Problem(
            document.path, section.line, "trail-order", "the trail is not newest first", "put the newest line on top"
        )
    latest = journal.turn_number(document.text("latest"))
    if latest is not None and turns and latest < turns[0]:
        line = document.block.line_of("latest")
        yield Problem(
            document.path, line, "trail-order", "`latest` is older than the trail's top", "swap the two lines"
        )


def _interrupted(campaign: Campaign) -> str | None:
    """The record that an interrupted command left open; none while another command is at it."""
    folder = records.newest_open(campaign.root)
    if folder is None or lock.is_held(campaign.root):
        return None
    return folder if records.newest_open(campaign.root) == folder else None  # it may have ended in between


def _interrupted_one(campaign: Campaign) -> Iterator[Problem]:
    if (folder := _interrupted(campaign)) is not None:
        yield Problem(folder, None, "interrupted", "a turn that was interrupted", "any command that writes finishes it")


def _instructions(documents: dict[str, Document]) -> Iterator[Problem]:
    """Unchanged copies of instructions and prose modules as an earlier RoleCall shipped them."""
    for path, document in documents.items():
        if path in FORMER and instructions.is_former(path, document.data):
            remedy = "`rolecall check --fix` puts the new text in its place; change a word and it stays"
            yield Problem(
                path, None, "old-instruction", "an unchanged copy of an older text than RoleCall ships", remedy
            )

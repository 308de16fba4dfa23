"""An entry under another name, across a campaign: what changes in each file. Pure; every edit may be applied twice.

Changed are the entry's name (the old one stays as an alias) and its file's name, references in fields, wikilinks in bodies, and
the party. Never changed is what the story told: the prose, the Chronicles under their seals, the Journal's lines. A link in another
dated line leads to the new name and reads as it read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rolecall.campaign import documents, journal, kinds
from rolecall.campaign.connections import LINK, Names, names_of
from rolecall.campaign.documents import Document, parse
from rolecall.campaign.filenames import fitted, same_key
from rolecall.campaign.folder import Campaign, counts
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.problems import near
from rolecall.campaign.sections import fenced_spans
from rolecall.campaign.text import clean_line, fold, slug
from rolecall.errors import CampaignError, DocumentError, StorageError, UnknownName

LONGEST = 120  # characters of a name
_NO_NAME = re.compile(r"[\[\]|#^\n]")  # what a wikilink cannot hold
_FIELD_LINK = re.compile(r"\[\[([^\[\]|#^\n]+)((?:[#^][^\[\]|\n]*)?)((?:\|[^\[\]\n]*)?)\]\]")
_TOLD = ("story", "chronicle", "instruction", "prose")
_DATED = re.compile(r"[ \t]*(?:[-*+] (?:\[.\] )?)?\(?T\d{4}")
_BOUND = r"(?=[,:;(]| [-–—] |\.?\s*$)"


@dataclass(frozen=True, slots=True)
class Renaming:
    """Entry `path` called `old` is to be called `new` and to lie at `target` (the same path where its file keeps its name)."""

    path: str
    target: str
    old: str
    new: str

    @property
    def stems(self) -> tuple[str, str]:
        """The file's stem before and after."""
        return tuple(one.rsplit("/", 1)[-1][:-3] for one in (self.path, self.target))


@dataclass(frozen=True, slots=True)
class Change:
    """One file that changes: each changed line as (its number, before, after)."""

    path: str
    lines: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A renaming with all it changes; `left` are places that stay as they are, in words."""

    renaming: Renaming
    changes: tuple[Change, ...]
    left: tuple[str, ...]

    def to_json(self) -> dict:
        """The object `rename --json` prints."""
        rows = [
            {"path": c.path, "lines": [{"line": n, "before": b, "after": a} for n, b, a in c.lines]}
            for c in self.changes
        ]
        one = self.renaming
        return {
            "old": one.old,
            "new": one.new,
            "path": one.path,
            "target": one.target,
            "files": rows,
            "left": list(self.left),
        }


def plan(campaign: Campaign, old: str, new: str) -> Plan:
    """What `old` called `new` changes. UnknownName for a name nobody or more than one has; CampaignError for an unfit new one."""
    read, left = _read(campaign)
    names = names_of(read, campaign.names())
    path = _entry_of(read, names, old)
    name = kinds.name_of(path, read[path].fields)
    new = _fit(new)
    if new == name:
        raise CampaignError(f"it is called {new} already", path=path, remedy="give another name")
    takers = {*names.by_name.get(fold(new), ()), *names.by_alias.get(fold(new), ())} - {path}
    if takers:
        raise CampaignError(
            f"{new} is what this is called", path=min(takers), remedy="choose another name, or merge the two"
        )
    renaming = Renaming(path, _target(campaign, path, name, new), name, new)
    changes = []
    for one, document in read.items():
        try:
            after = edited(document.data, one, renaming)
        except DocumentError as error:
            if one == path:
                raise
            left.append(str(error))
            continue
        if after != document.data:
            changes.append(Change(one, tuple(_differing(document.data, after))))
    return Plan(renaming, tuple(changes), tuple(left))


def touched(campaign: Campaign) -> list[str]:
    """The files a renaming may change."""
    return [path for path in campaign.names() if counts(path) and kinds.kind_of(path, {}) not in _TOLD]


def _read(campaign: Campaign) -> tuple[dict[str, Document], list[str]]:
    read, left = {}, []
    for path in touched(campaign):
        try:
            read[path] = parse(campaign.read(path), path)
        except (DocumentError, StorageError) as error:
            left.append(str(error))
    return read, left


def _entry_of(read: Mapping[str, Document], names: Names, old: str) -> str:
    if old in read and kinds.kind_of(old, read[old].fields) in (*kinds.ENTRY_KINDS, "arc", "quest"):
        return old
    found = names.by_name.get(fold(old), [])
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownName(f"{len(found)} entries are called {old}", remedy=f"name its file: {', '.join(sorted(found))}")
    if aliased := names.by_alias.get(fold(old)):
        path = aliased[0]
        name = kinds.name_of(path, read[path].fields)
        raise UnknownName(f"{old} is an alias of {name}", path=path, remedy=f"rename {name}, or edit its aliases")
    meant = near(old, names.spelled)
    raise UnknownName(
        f"no entry is called {old}", remedy=f"did you mean {meant}?" if meant else "`rolecall list` names them"
    )


def _fit(new: str) -> str:
    said = clean_line(new)
    if not said or len(said) > LONGEST or _NO_NAME.search(said):
        raise CampaignError(f"this is no name: {said!r}", remedy=f"up to {LONGEST} characters, without [ ] | # ^")
    return said


def _target(campaign: Campaign, path: str, old: str, new: str) -> str:
    """Where the file goes: its name follows the entry's where it did before, in the same manner."""
    folder, slash, name = path.rpartition("/")
    stem = name[:-3]
    if stem in (slug(old), old.casefold()):
        wanted = slug(new)
    elif fold(stem) == fold(fitted(old)):
        wanted = fitted(new)
    else:
        return path  # it never bore the entry's name
    target, number = f"{folder}{slash}{wanted}.md", 1
    if same_key(target) == same_key(path):
        return path  # another case or form alone is the same file on many disks
    while campaign.exists(target):
        number += 1
        target = f"{folder}{slash}{wanted}-{number}.md"
    return target


def edited(data: bytes, path: str, renaming: Renaming) -> bytes:
    """The file's bytes after the renaming; the same bytes where it is not concerned. Malformed, Unclear as editing raises."""
    document = parse(data, path)
    if kinds.kind_of(path, document.fields) in _TOLD:
        return data
    for key, value in document.fields.items():
        if not (path in (renaming.path, renaming.target) and key.casefold() in ("name", "title", "aliases")):
            data = _field(data, path, key, value, renaming)
    if path in (renaming.path, renaming.target):
        data = _entry(data, path, renaming)
    data = _links(data, path, renaming)
    return _party(data, renaming) if path == STATE_FILE else data


# -- the entry itself


def _entry(data: bytes, path: str, renaming: Renaming) -> bytes:
    fields = parse(data, path).fields
    key = next((k for k in ("name", "title") if str(fields.get(k, "")).strip()), "")
    if key:
        data = documents.set_field(data, path, key, renaming.new)
    elif renaming.target == renaming.path or fitted(renaming.new) != renaming.stems[1]:
        data = documents.set_field(data, path, "name", renaming.new)
    held = parse(data, path).fields.get("aliases", "")
    if isinstance(held, str) and held.strip():
        kept = [one.strip() for one in held.split(",") if fold(one) not in (fold(renaming.new), fold(renaming.old))]
        return documents.set_field(data, path, "aliases", ", ".join([*kept, renaming.old]))
    listed = held if isinstance(held, list) else []
    for index in range(len(listed) - 1, -1, -1):
        if isinstance(listed[index], str) and fold(listed[index]) == fold(renaming.new):
            data = documents.remove_item(data, path, "aliases", index)
    if any(isinstance(one, str) and fold(one) == fold(renaming.old) for one in listed):
        return data
    return documents.add_item(data, path, "aliases", renaming.old)


# -- what refers to it


def _field(data: bytes, path: str, key: str, value: Value, renaming: Renaming) -> bytes:
    typed = _is_reference(path, data, key)
    if isinstance(value, str):
        new = _text(value, typed, renaming)
        return documents.set_field(data, path, key, new) if new != value else data
    for index, item in enumerate(value) if isinstance(value, list) else ():
        if isinstance(item, dict):
            first = next(iter(item), None)
            new = {k: _text(v, typed and k == first, renaming) if isinstance(v, str) else v for k, v in item.items()}
        else:
            new = _text(item, typed, renaming) if isinstance(item, str) else item
        if new != item:
            data = documents.set_item(data, path, key, index, new)
    return data


def _is_reference(path: str, data: bytes, key: str) -> bool:
    kind = kinds.kind_of(path, parse(data, path).fields)
    type_ = "name" if kind == "state" and key == "location" else kinds.type_of(kind, key.casefold())
    return type_ in ("name", "names", "items") and key.casefold() not in ("aliases", "keys", "tags", "inventory")


def _text(value: str, typed: bool, renaming: Renaming) -> str:
    """A field's text with the old name in brackets, and where it is a reference the plain one too, made the new one."""
    if typed and "[[" not in value:
        parts = re.split(r"(\s*,\s*)", value)
        return "".join(renaming.new if fold(part) == fold(renaming.old) else part for part in parts)
    dated = bool(_DATED.match(value))
    return _FIELD_LINK.sub(lambda found: _link(found[0], found[1], found[2], found[3], dated, renaming), value)


def _link(whole: str, target: str, anchor: str, label: str, dated: bool, renaming: Renaming) -> str:
    head, slash, last = target.strip().rpartition("/")
    suffix = ".md" if last.endswith(".md") else ""
    bare = last.removesuffix(".md")
    before, after = renaming.stems
    if bare.endswith("\\"):
        return whole  # in a table; the old name stays as an alias
    if slash and fold(bare) in (fold(before), fold(renaming.old)):
        if f"{target.strip().removesuffix('.md')}.md" != renaming.path:
            return whole
        new = after
    elif fold(bare) == fold(renaming.old) and (bare != before or before == renaming.old or suffix == ""):
        new = after if bare == before and before != renaming.old else renaming.new
    elif bare == before:
        new = after
    else:
        return whole
    label = label or (f"|{bare}" if dated and new != bare else "")
    return f"[[{head}{slash}{new}{suffix}{anchor}{label}]]"


def _links(data: bytes, path: str, renaming: Renaming) -> bytes:
    document = parse(data, path)
    if b"[[" not in document.body:
        return data
    kept = list(fenced_spans(data, document.body_start))
    if path == STATE_FILE and (book := document.section(journal.HEADING)):
        kept.append((book.body, book.end))  # word for word into a Chronicle one day
    pieces, at = [], document.body_start
    for found in LINK.finditer(data, document.body_start):
        if any(begin <= found.start() < end for begin, end in kept):
            continue
        line = data[data.rfind(b"\n", 0, found.start()) + 1 : found.start()].decode("utf-8", "replace")
        whole = found[0].decode("utf-8", "replace")
        parts = _FIELD_LINK.fullmatch(whole.removeprefix("!"))
        if parts is None:
            continue
        new = _link(parts[0], parts[1], parts[2], parts[3], bool(_DATED.match(line)), renaming)
        if new != parts[0]:
            pieces += [data[at : found.start()], whole[: len(whole) - len(parts[0])].encode() + new.encode()]
            at = found.end()
    return b"".join([data[: document.body_start], *pieces, data[at:]]) if pieces else data


def _party(data: bytes, renaming: Renaming) -> bytes:
    """The row of the party that begins with the old name, plain."""
    row = re.compile(rf"(\s*[-*+] ){re.escape(renaming.old)}{_BOUND}")
    for line in parse(data, STATE_FILE).lines("Party"):
        if found := row.match(line):
            new = found[1] + renaming.new + line[found.end() :]
            return documents.replace_line(data, STATE_FILE, "Party", line, new)
    return data


def _differing(before: bytes, after: bytes) -> Iterator[tuple[int, str, str]]:
    """The lines that differ, by their number in the new text."""
    import difflib

    old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, after))
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            for n in range(max(b - a, d - c)):
                yield c + n + 1, old[a + n] if a + n < b else "", new[c + n] if c + n < d else ""

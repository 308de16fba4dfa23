"""Names and what refers to them: two entries of one name, references and wikilinks that lead nowhere. For `rolecall check`.

A field of an entry, the Campaign State and the arcs are meant to lead somewhere: a `[[link]]` in them that does not is a
problem. In freeform lore, in the story and in dated lines a link is often a page that nobody has written yet, and a plain name
may be one that needs no page: these are notes, unless they are one slip away from a name there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rolecall.campaign import kinds, secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import counts
from rolecall.campaign.frontmatter import Node
from rolecall.campaign.problems import Problem, near
from rolecall.campaign.sections import fenced_spans
from rolecall.campaign.text import fold, slug

LINK = re.compile(rb"(!?)\[\[([^\[\]|#^\n]+)([#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_CODE = re.compile(rb"`[^`\n]+`")
_ATTACHED = re.compile(r"\.[A-Za-z0-9]{2,5}$")  # an image, a map, a canvas
_TEMPLATE = re.compile(r"<%|%>|\{\{|\$\{|[<>=*`]")  # words that a template or a query of another program puts in
_DATED = re.compile(rb"[ \t]*(?:[-*+] (?:\[.\] )?|latest:[ \t]*['\"]?)T\d{4}")
_UNNAMED = frozenset({"story", "chronicle", "state", "dm", "instruction", "prose"})
_LINKED = frozenset({"state", "arc", "quest"})


@dataclass(frozen=True, slots=True)
class Names:
    """Who is called what: paths by folded name, by folded alias, and by the stem of the file."""

    by_name: dict[str, list[str]] = field(default_factory=dict)
    by_alias: dict[str, list[str]] = field(default_factory=dict)
    stems: set[str] = field(default_factory=set)
    spelled: dict[str, None] = field(default_factory=dict)  # every name as it is written
    withheld: set[str] = field(
        default_factory=set
    )  # stems of files that cannot be read: what they are called is not known
    secret: dict[str, str] = field(default_factory=dict)  # folded name of an entry that is secret as a whole: its path

    def knows(self, name: str) -> bool:
        """Whether somebody or something is called so, or a file that cannot be read is named as if it were."""
        key = fold(name)
        known = key in self.by_name or key in self.by_alias or key in self.stems
        return known or (bool(self.withheld) and slug(name, "") in self.withheld)


def is_loose(path: str, fields: Mapping[str, object]) -> bool:
    """Whether a file is freeform lore only because nothing says otherwise: a page of the writer's own vault."""
    said = str(fields.get("kind", "")).strip().casefold()
    return kinds.kind_of(path, dict(fields)) == "lore" and said != "lore" and not path.casefold().startswith("lore/")


def names_of(documents: Mapping[str, Document], paths: list[str]) -> Names:
    """The names of a campaign; `paths` are all of its Markdown files, those that cannot be read among them."""
    names = Names()
    for path in paths:
        stem = path.rsplit("/", 1)[-1][:-3]
        names.stems.add(fold(stem))
        if path not in documents:
            names.withheld.add(stem)
    for path, document in documents.items():
        fields = document.fields
        if not counts(path):
            continue
        name = kinds.name_of(path, fields)
        names.spelled[name] = None
        aliases = kinds.names_in(fields, "aliases")
        names.spelled.update(dict.fromkeys(aliases))
        if secrets.is_secret_path(path, fields):
            names.secret.update(dict.fromkeys((fold(one) for one in (name, *aliases)), path))
        if kinds.kind_of(path, fields) in _UNNAMED:
            names.stems.update(fold(one) for one in (name, *aliases))
            continue
        names.by_name.setdefault(fold(name), []).append(path)
        for alias in dict.fromkeys(map(fold, aliases)):
            names.by_alias.setdefault(alias, []).append(path)
    known = {fold(name) for name in names.spelled}
    stems = (path.rsplit("/", 1)[-1][:-3] for path in paths)  # a file without a name is called by it
    names.spelled.update((stem, None) for stem in stems if fold(stem) not in known)
    return names


def problems(documents: Mapping[str, Document], names: Names) -> Iterator[Problem]:
    """Names borne twice and references that lead nowhere."""
    yield from _twice(documents, names)
    for path, document in documents.items():
        if counts(path):
            yield from _links(document, names)
            yield from _fields(document, names)


# -- two of one name


def _twice(documents: Mapping[str, Document], names: Names) -> Iterator[Problem]:
    in_play = {path for path, document in documents.items() if not document.text("forgotten").strip()}
    for paths in names.by_name.values():
        here = [path for path in paths if path in in_play]
        for path in here[1:]:
            message = f"{kinds.name_of(path, documents[path].fields)} is the name of {here[0]} as well"
            note = _may_share(documents[here[0]], documents[path])
            remedy = "merge the two, or name one of them more fully"
            yield Problem(path, _line(documents[path], "name"), "name-twice", message, remedy, note)
    for key, paths in names.by_alias.items():
        here = [path for path in paths if path in in_play]
        named = [path for path in names.by_name.get(key, ()) if path in in_play]
        for path in here:
            others = [one for one in (*named, *here[: here.index(path)]) if one != path]
            if not others:
                continue
            alias = next(a for a in kinds.names_in(documents[path].fields, "aliases") if fold(a) == key)
            message = f"the alias {alias} is what {others[0]} is called too"
            remedy = "keep it in one of them; a name that means two things finds the wrong one"
            note = _may_share(documents[others[0]], documents[path])
            yield Problem(path, _line(documents[path], "aliases"), "alias-twice", message, remedy, note)


def _may_share(one: Document, other: Document) -> bool:
    """Whether two files may well have one name: pages of a vault, or an arc and the thing it is about."""
    both = (one, other)
    arcs = [kinds.kind_of(document.path, document.fields) in ("arc", "quest") for document in both]
    return (any(arcs) and not all(arcs)) or all(is_loose(document.path, document.fields) for document in both)


def _line(document: Document, key: str) -> int | None:
    return (document.block.line_of(key) if document.block else None) or None


# -- what leads nowhere


def _links(document: Document, names: Names) -> Iterator[Problem]:
    data = document.data
    if b"[[" not in data:
        return
    kind = kinds.kind_of(document.path, document.fields)
    strict = kind in _LINKED or (kind in kinds.ENTRY_KINDS and kind != "lore")
    hidden = secrets.is_secret_path(document.path, document.fields)
    masked = [*fenced_spans(data, document.body_start), *((m.start(), m.end()) for m in _CODE.finditer(data))]
    for found in LINK.finditer(data):
        if any(begin <= found.start() < end for begin, end in masked):
            continue
        target = found[2].decode("utf-8", "replace").strip().rstrip("\\")
        name = " ".join(target.rsplit("/", 1)[-1].removesuffix(".md").split())
        if not name or _TEMPLATE.search(target) or (found[1] and not target.endswith(".md")):
            continue
        line = data.count(b"\n", 0, found.start()) + 1
        if names.knows(name):
            if (
                not hidden
                and kind != "dm"
                and (secret := names.secret.get(fold(name)))
                and _is_open(document, found.start())
            ):
                yield _named_secret(document, line, secret)
            continue
        if _ATTACHED.search(name):
            continue
        start = data.rfind(b"\n", 0, found.start()) + 1
        yield _dangling(
            document.path,
            line,
            "dangling-link",
            f"[[{target}]]",
            name,
            names,
            not strict or bool(_DATED.match(data, start)),
        )


def _is_open(document: Document, at: int) -> bool:
    """Whether a place in the file is shown to the player."""
    if document.block and at < document.body_start:
        pairs = document.block.pairs()
        text = document.data[document.block.start : at].decode("utf-8", "replace")
        key = next((k.value for k, _ in reversed(pairs) if k.start <= len(text)), "")
        return not secrets.is_secret_field(key)
    return any(section.start <= at < section.own_end for section in secrets.open_sections(document))


def _named_secret(document: Document, line: int | None, secret: str) -> Problem:
    message = f"what the player sees names {secret}, which is secret"
    return Problem(document.path, line, "secret-named", message, "move this under `## Secret`, or open that entry")


def _fields(document: Document, names: Names) -> Iterator[Problem]:
    kind = kinds.kind_of(document.path, document.fields)
    if kind == "state":
        typed: Mapping[str, str] = {"location": "name"}
    elif kind in kinds.ENTRY_KINDS and kind != "lore":
        typed = kinds.ENTRY_KINDS[kind].fields
    else:
        return
    hidden = secrets.is_secret_path(document.path, document.fields)
    for key, node in document.block.pairs() if document.block else ():
        if typed.get(key.value.casefold()) not in ("name", "names", "items") or key.value == "inventory":
            continue
        for name, line in _named(node, key.value):
            if not names.knows(name):
                yield _dangling(document.path, line + 2, "dangling-reference", name, name, names, True, key.value)
            elif not hidden and (secret := names.secret.get(fold(name))):
                yield _named_secret(document, line + 2, secret)


def _named(node: Node, key: str) -> Iterator[tuple[str, int]]:
    """(name, line in the block) of each plain name in a field; names in brackets are links and looked at as such."""
    if node.kind == "scalar" and node.value.strip() and "[[" not in node.value and len(node.value) <= 120:
        yield " ".join(node.value.split()), node.line
    elif node.kind == "seq" and node.reference() is None:
        for part in node.value:
            yield from _named(part, key)
    elif node.kind == "map" and node.value:
        yield from _named(node.value[0][1], key)


def _dangling(
    path: str, line: int, rule: str, said: str, name: str, names: Names, note: bool, key: str = ""
) -> Problem:
    meant = near(name, names.spelled)
    where = f"`{key}` names {said}, which" if key else said
    remedy = f"did you mean {meant}?" if meant else "write that entry, or mend the name"
    return Problem(path, line, rule, f"{where} leads to no entry", remedy, note and not meant)

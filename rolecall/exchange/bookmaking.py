"""A lorebook written: an imported one laid over its original, anything else built anew. Pure but for reading the original.

What nobody changed goes back as it came, fields that RoleCall does not know included; of a changed entry only the parts
that were changed are written. An entry from the same program goes into a new book with its own row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType

from rolecall.campaign import files
from rolecall.campaign.folder import Campaign
from rolecall.exchange import characterbook, charactercard, formats, held, jsonfile, loose, risu, worldinfo
from rolecall.exchange.book import Entry
from rolecall.exchange.held import Held
from rolecall.exchange.selection import Item

# What has a field in each format beside title, text and keys.
_RULES = {
    worldinfo: {*worldinfo.RULES, "position", "role"},
    characterbook: {*characterbook.RULES, *characterbook.EXTENSIONS, "position", "role"},
    risu: {*risu.RULES, "case_sensitive"},
}
PROGRAMS = {worldinfo: "SillyTavern", characterbook: "A V3 lorebook", risu: "RisuAI"}


def shape_of(format_: str) -> ModuleType | None:
    """The module whose rows a source of that format has; None for those that nothing is written to."""
    plain = format_.split(" in a ")[0].split(" behind ")[0]
    if plain == worldinfo.FORMAT:
        return worldinfo
    if plain in (risu.FORMAT, risu.MODULE):
        return risu
    book = (characterbook.FORMAT, characterbook.FORMAT_V3)
    return characterbook if plain in (*book, *charactercard.FORMATS) else None


def original(campaign: Campaign, one: Held) -> dict:
    """The JSON object of an import's original, read anew; it may be changed."""
    return formats.value(source(campaign, one), files.locate(campaign.root, one.original))


def source(campaign: Campaign, one: Held) -> bytes:
    """The bytes of an import's original."""
    return formats.contents(files.locate(campaign.root, one.original))


def is_book_of(one: Held, module: ModuleType) -> bool:
    """Whether an import is a lorebook in the module's own shape, and no card with a book."""
    return shape_of(one.parcel.format) is module and not one.parcel.cards


def over(value: dict, one: Held, items: Sequence[Item], module: ModuleType) -> bool:
    """Lay an import's entries over its original: changed parts are written, rows whose file is gone or secret are taken out.

    True when anything is another now. Rows that were set aside for want of a text stay; one that holds a key twice goes.
    """
    there = {item.now.at: item for item in items if item.old is not None}
    gone, differs = [], False
    for entry in (entry for book in one.parcel.books for entry in book.entries):
        item = there.get(entry.at)
        if item is None or (module is risu and not item.now.enabled):
            gone.append(entry.at)
        elif names := held.changed(entry, item.now):
            box, key = _place(value, entry.at)
            box[key] = module.changed(entry.raw, item.now, names)
            differs = True
    for refused in one.parcel.set_aside:
        box, key = _place(value, refused.at)
        if box is not None and jsonfile.twice(box[key]):
            gone.append(refused.at)
    spots = [_place(value, at) for at in gone]
    for box, key in sorted(spots, key=lambda spot: spot[1] if isinstance(spot[1], int) else -1, reverse=True):
        del box[key]
    if (differs or gone) and "originalData" in value:
        del value["originalData"]  # SillyTavern would take it for what counts, and bring back what was changed
    return differs or bool(gone)


def rows(items: Iterable[Item], module: ModuleType) -> list[dict]:
    """A row for each entry: its own, where it came from the same program, else one made anew."""
    made = []
    for item in items:
        if module is risu and not item.now.enabled:
            continue
        if item.old is not None and shape_of(item.format) is module:
            made.append(module.changed(item.old.raw, item.now, held.changed(item.old, item.now)))
        else:
            made.append(module.fresh(item.now))
    return made


def add(box: dict | list, made: Iterable[dict], module: ModuleType) -> None:
    """Put rows into a book's `entries`, each under a number of its own."""
    own = "uid" if module is worldinfo else "id"
    there = list(box.values()) if isinstance(box, dict) else box
    used = {loose.number(row.get(own)) for row in there if isinstance(row, dict)} - {None}
    if isinstance(box, dict):
        used |= {number for key in box if (number := loose.number(key)) is not None}
    for row in made:
        number = loose.number(row.get(own))
        if number is None or number in used or module is characterbook:
            number = max(used, default=-1) + 1
        used.add(number)
        if isinstance(box, dict):
            box[str(number)] = module.numbered(row, number)
        else:
            box.append(module.numbered(row, number))


def world(title: str, items: Sequence[Item]) -> dict:
    """A new world info file."""
    value: dict = {"name": title, "entries": {}}
    add(value["entries"], rows(items, worldinfo), worldinfo)
    return value


def v3_book(raw: Mapping[str, object], items: Sequence[Item]) -> dict:
    """A new V3 lorebook; `raw` is what a book says of itself."""
    value: dict = {**raw, "entries": []}
    add(value["entries"], rows(items, characterbook), characterbook)
    return characterbook.as_v3(value)


def risu_book(campaign: Campaign, items: Sequence[Item]) -> dict:
    """A new RisuAI lorebook, with the folders that its rows lie in."""
    made = rows(items, risu)
    wanted = {row["folder"] for row in made if isinstance(row.get("folder"), str)}
    folders: list[dict] = []
    for one in {item.held.folder: item.held for item in items if shape_of(item.format) is risu}.values():
        value = original(campaign, one)
        named = [row for row in risu.folders(value) if isinstance(row.get("key"), str)]
        folders += [row for row in named if row["key"] in wanted and row not in folders]
    return {"type": "risu", "ver": 1, "data": [*folders, *made]}


def losses(items: Iterable[Item], module: ModuleType) -> list[str]:
    """What the format has no place for, in sentences."""
    rules: set[str] = set()
    off, logic, commas, patterns = 0, 0, 0, 0
    for item in items:
        if item.old is not None and shape_of(item.format) is module:
            off += module is risu and not item.now.enabled
            continue
        rules |= {name for name in item.now.odd_rules() if name not in _RULES[module]}
        if module is risu:
            off += not item.now.enabled
            logic += item.now.logic not in ("", "any")
            commas += any("," in key and not loose.is_regex(key) for key in item.now.keys)
            patterns += len(item.now.keys) > 1 and _has_pattern(item.now)
    program = PROGRAMS[module]
    said = [f"{program} has no place for: {', '.join(sorted(rules)).replace('_', ' ')}."] if rules else []
    for count, what in (
        (off, "switched off, which RisuAI cannot say: left out"),
        (logic, "with second keys that all must or must not be there: RisuAI asks for any of them"),
        (commas, "with a comma in a key: RisuAI reads two keys"),
        (patterns, "with a regular expression among other keys: RisuAI takes it for a plain word"),
    ):
        said += [f"{count} {'entry' if count == 1 else 'entries'} {what}."] if count else []
    return said


def _has_pattern(entry: Entry) -> bool:
    return entry.regex or any(map(loose.is_regex, entry.keys))


def _place(value: dict, at: str) -> tuple[dict | list, object]:
    """(what holds it, key or index) of the part that stands `at` a place of a JSON value; (None, "") where there is none."""
    parts, box = at.split("/"), value
    for number, part in enumerate(parts):
        rest = "/".join(parts[number:])
        last = number == len(parts) - 1
        if isinstance(box, dict) and rest in box:  # a key of the source may hold a slash
            return box, rest
        if isinstance(box, list) and part.isdecimal() and int(part) < len(box):
            if last:
                return box, int(part)
            box = box[int(part)]
        elif isinstance(box, dict) and part in box and not last:
            box = box[part]
        else:
            break
    return None, ""

"""NovelAI: lorebooks (`lorebookVersion`), scenarios (`scenarioVersion`) and saved stories (`storyContainerVersion`).

`searchRange` counts characters, `budgetPriority` is the order of insertion. The first context of a scenario is its
Memory, the second its Author's Note; both are always in NovelAI's prompt.
"""

from __future__ import annotations

from rolecall.errors import ExchangeError
from rolecall.exchange import loose
from rolecall.exchange.book import Book, Entry, gather, rules
from rolecall.exchange.card import Parcel

FORMAT = "a NovelAI lorebook"
SCENARIO = "a NovelAI scenario"
STORY = "a NovelAI story"
RULES = {"search_range": "searchRange"}
_CONTEXTS = ("Memory", "Author's Note")


def recognises(data: dict) -> bool:
    """Whether this is a lorebook, a scenario or a story of NovelAI's."""
    return any(key in data for key in ("lorebookVersion", "scenarioVersion", "storyContainerVersion"))


def read(data: dict, title: str) -> Parcel:
    """What a file of NovelAI's holds; ExchangeError when its entries are no list."""
    if "lorebookVersion" in data:
        return Parcel(FORMAT, title, (book(data, title, ""),))
    if "scenarioVersion" in data:
        return _scenario(data, loose.text(data.get("title")).strip() or title, "", SCENARIO)
    content = loose.mapping(data.get("content"))
    named = loose.text(loose.mapping(data.get("metadata")).get("title")).strip() or title
    return _scenario(content, named, "content/", STORY)


def book(data: dict, title: str, under: str) -> Book:
    """A lorebook; `under` is where it stands in its file."""
    held = data.get("entries", [])
    if not isinstance(held, list):
        kind = "a text" if isinstance(held, str) else "no list"
        raise ExchangeError(f"`entries` of the lorebook is {kind}", remedy="export the lorebook from NovelAI again")
    names = {
        loose.text(c.get("id")): loose.text(c.get("name"))
        for c in map(loose.mapping, loose.rows(data.get("categories")))
    }
    rows = ((f"{under}entries/{number}", row) for number, row in enumerate(held))
    entries, refused = gather(rows, lambda at, row: entry(at, row, names))
    return Book(title, "", entries, refused, {key: value for key, value in data.items() if key != "entries"})


def entry(at: str, raw: dict, categories: dict[str, str]) -> Entry:
    """One entry of a lorebook."""
    config = loose.mapping(raw.get("contextConfig"))
    return Entry(
        at=at,
        title=loose.text(raw.get("displayName")),
        text=loose.text(raw.get("text")),
        keys=loose.words(raw.get("keys")),
        constant=loose.flag(raw.get("forceActivation")),
        enabled=loose.flag(raw.get("enabled"), True),
        folder=categories.get(loose.text(raw.get("category")), ""),
        rules={**rules(raw, RULES), **rules(config, {"order": "budgetPriority"})},
        raw=raw,
    )


def _scenario(data: dict, title: str, under: str, name: str) -> Parcel:
    made: list[Entry] = []
    for number, row in enumerate(map(loose.mapping, loose.rows(data.get("context")))):
        if loose.text(row.get("text")).strip():
            label = _CONTEXTS[number] if number < len(_CONTEXTS) else f"Context {number + 1}"
            at = f"{under}context/{number}"
            made.append(Entry(at, f"{title}: {label}", loose.text(row["text"]), constant=True, raw=row))
    for key, label in (("prompt", "Opening"), ("description", "About")):
        if loose.text(data.get(key)).strip():
            made.append(Entry(f"{under}{key}", f"{title}: {label}", loose.text(data[key]), raw={key: data[key]}))
    books = [Book(title, entries=tuple(made))]
    if isinstance(held := data.get("lorebook"), dict):
        books.append(book(held, title, f"{under}lorebook/"))
    left = []
    if data.get("placeholders"):
        left.append("Its placeholders (`%{name}`) have no counterpart; they stand in the texts as they are.")
    if data.get("ephemeralContext"):
        left.append("Its ephemeral context, which NovelAI shows for some steps only, stays in the original.")
    if data.get("story"):
        left.append("The story that was written with it stays in the original.")
    return Parcel(name, title, tuple(books), left=tuple(left))

"""Agnai: memory books (`"kind": "memory"`) and characters (`"kind": "character"`), after its `common/types/memory.ts`.

`priority` decides there what leaves a full prompt, `weight` where an entry stands in it.
"""

from __future__ import annotations

from rolecall.errors import ExchangeError
from rolecall.exchange import loose
from rolecall.exchange.book import LOGICS, Book, Entry, gather, nth, rules
from rolecall.exchange.card import Card, Parcel

FORMAT = "an Agnai memory book"
CHARACTER = "an Agnai character"
RULES = {
    "priority": "priority", "weight": "weight", "position": "position", "probability": "probability",
    "exclude_recursion": "excludeRecursion",
}  # fmt: skip
_KEPT = (
    ("systemPrompt", "system prompt"), ("postHistoryInstructions", "post-history instructions"), ("voice", "voice"),
    ("sprite", "sprite"), ("avatar", "picture"), ("insert", "depth prompt"),
)  # fmt: skip


def recognises(data: dict) -> bool:
    """Whether this is a memory book or a character of Agnai's."""
    if data.get("kind") == "memory":
        return isinstance(data.get("entries"), list)
    return data.get("kind") == "character" or (
        isinstance(data.get("persona"), dict) and "attributes" in data["persona"] and "name" in data
    )


def read(data: dict, title: str) -> Parcel:
    """The book or the character of a file."""
    if data.get("kind") == "memory":
        made = book(data, title, "")
        return Parcel(FORMAT, made.title, (made,))
    if not loose.text(data.get("name")).strip():
        raise ExchangeError("the character has no `name`", remedy="write one into it")
    held = data.get("characterBook")
    books = (book(held, loose.text(data["name"]), "characterBook/"),) if isinstance(held, dict) else ()
    return Parcel(CHARACTER, loose.text(data["name"]), books, (_character(data),))


def book(data: dict, title: str, under: str) -> Book:
    """A memory book; `under` is where it stands in its file."""
    rows = ((f"{under}entries/{n}", row) for n, row in enumerate(loose.rows(data.get("entries"))))
    entries, refused = gather(rows, entry)
    raw = {key: value for key, value in data.items() if key != "entries"}
    name = loose.text(data.get("name")).strip() or title
    return Book(name, loose.text(data.get("description")), entries, refused, raw)


def entry(at: str, raw: dict) -> Entry:
    """One entry of a memory book."""
    secondary = loose.words(raw.get("secondaryKeys"))
    held = rules(raw, RULES)
    if not loose.flag(raw.get("useProbability")):
        held.pop("probability", None)
    logic = nth(LOGICS, raw.get("selectiveLogic", 0)) or "any"
    return Entry(
        at=at,
        title=loose.text(raw.get("name")).strip() or loose.text(raw.get("comment")),
        text=loose.text(raw.get("entry")),
        keys=loose.words(raw.get("keywords")),
        secondary=secondary,
        logic=logic if loose.flag(raw.get("selective")) and secondary else "",
        constant=loose.flag(raw.get("constant")),
        enabled=loose.flag(raw.get("enabled"), True),
        rules=held,
        raw=raw,
    )


def _character(data: dict) -> Card:
    persona = loose.mapping(data.get("persona"))
    told = [(str(label), loose.text(value)) for label, value in loose.mapping(persona.get("attributes")).items()]
    free = [value for label, value in told if label == "text"]
    rest = [(label, ", ".join(value.split("\n"))) for label, value in told if label != "text"]
    if appearance := loose.text(data.get("appearance")).strip():
        rest.append(("appearance", appearance))
    return Card(
        at="",
        name=loose.text(data.get("name")),
        description="\n\n".join(filter(None, (*free, loose.text(data.get("description"))))),
        scenario=loose.text(data.get("scenario")),
        first_message=loose.text(data.get("greeting")),
        greetings=tuple(filter(None, map(loose.text, loose.rows(data.get("alternateGreetings"))))),
        examples=loose.text(data.get("sampleChat")),
        attributes=tuple((label, value) for label, value in rest if value.strip()),
        tags=loose.words(data.get("tags")),
        creator=loose.text(data.get("creator")),
        kept=tuple(name for key, name in _KEPT if data.get(key)),
        raw=data,
    )

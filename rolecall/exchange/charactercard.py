"""Character cards: V1 (flat), V2 and V3 (`spec`, `data`), as JSON; also a RoleCall persona, which is a card of the player's.

Fields after the three card specifications and SillyTavern's extras. Where a file carries V1 copies beside `data`, `data`
counts. The book may hide in `data.extensions.character_book`.
"""

from __future__ import annotations

from rolecall.campaign.text import clean_line
from rolecall.errors import ExchangeError
from rolecall.exchange import characterbook, jsonfile, loose
from rolecall.exchange.card import Card, Parcel

SPECS = {"chara_card_v2": "a V2 character card", "chara_card_v3": "a V3 character card"}
V1 = "a V1 character card"
PERSONA = "rolecall_persona"
NO_SPEC, OF_PERSONA = "a character card without a spec", "a RoleCall persona"
FORMATS = (*SPECS.values(), V1, NO_SPEC, OF_PERSONA)
_V1 = ("description", "personality", "scenario", "first_mes", "mes_example")
# What a card holds that stays with the original: (where, its name in the receipt).
_KEPT = (
    ("system_prompt", "system prompt"), ("post_history_instructions", "post-history instructions"),
    ("creator_notes", "creator's notes"), ("creator_notes_multilingual", "creator's notes in other languages"),
    ("assets", "list of pictures and sounds"), ("character_version", "version"), ("source", "list of sources"),
)  # fmt: skip
_KEPT_EXTENSIONS = (
    ("depth_prompt", "depth prompt"), ("regex_scripts", "regex scripts"),
    ("risuai", "RisuAI's own settings and scripts"), ("rolecall", "RoleCall's own details"),
)  # fmt: skip


def recognises(data: dict) -> bool:
    """Whether this is a character card: by its spec, or by the fields of one in `data` or at the top."""
    if data.get("spec") in (*SPECS, PERSONA):
        return True
    if data.get("spec") == characterbook.SPEC:
        return False  # a book with a name and a description
    inner = data.get("data")
    return _has_card(inner, 1) if isinstance(inner, dict) else _has_card(data, 2)


def read(data: dict, title: str) -> Parcel:
    """The card of a file, and its book. ExchangeError when it has no name or a key of it stands twice."""
    inner = data.get("data")
    flat = not isinstance(inner, dict)
    fields = data if flat else inner
    for one in (data, fields, loose.mapping(fields.get("extensions"))):
        if isinstance(one, jsonfile.Doubled):
            raise ExchangeError(f"the key `{one.twice}` stands twice in the card", remedy="remove one of the two")
    if not loose.text(fields.get("name")).strip():
        raise ExchangeError("the character card has no `name`", remedy="write one into it")
    made = _card("" if flat else "data", data, fields)
    book = _book(fields, made.name, "" if flat else "data/")
    version = SPECS.get(loose.text(data.get("spec")), V1 if flat else NO_SPEC)
    world = loose.text(loose.mapping(fields.get("extensions")).get("world")).strip()
    linked = f"The card links to the lorebook {clean_line(world, 100)!r}, which is a file of its own: import that too."
    name = OF_PERSONA if made.is_player else version
    return Parcel(name, made.name, (book,) if book else (), (made,), left=(linked,) if world and not book else ())


def _has_card(fields: dict, least: int) -> bool:
    return isinstance(fields.get("name"), str) and sum(isinstance(fields.get(key), str) for key in _V1) >= least


def _card(at: str, whole: dict, fields: dict) -> Card:
    more = loose.mapping(fields.get("extensions"))
    is_player = whole.get("spec") == PERSONA or loose.mapping(more.get("rolecall")).get("type") == "persona"
    kept = [name for key, name in _KEPT if fields.get(key)] + [name for key, name in _KEPT_EXTENSIONS if more.get(key)]
    details = loose.mapping(loose.mapping(more.get("rolecall")).get("details"))
    told = [(label, loose.text(details.get(label))) for label in ("full_name", "title", "age", "pronouns")]
    sections = [(key, loose.text(value)) for key, value in loose.mapping(fields.get("sections")).items()]
    return Card(
        at=at,
        name=loose.text(fields.get("name")),
        nickname=loose.text(fields.get("nickname")),
        description="\n\n".join(
            filter(None, (loose.text(fields.get("description")), loose.text(fields.get("content"))))
        ),
        personality=loose.text(fields.get("personality")),
        scenario=loose.text(fields.get("scenario")),
        first_message=loose.text(fields.get("first_mes")),
        greetings=_texts(fields.get("alternate_greetings")),
        group_greetings=_texts(fields.get("group_only_greetings")),
        examples=loose.text(fields.get("mes_example")),
        attributes=tuple((label.replace("_", " "), value) for label, value in [*told, *sections] if value.strip()),
        tags=loose.words(fields.get("tags")),
        creator=loose.text(fields.get("creator")),
        is_player=is_player,
        kept=tuple(kept),
        raw=whole,
    )


def _book(fields: dict, name: str, under: str):  # -> Book | None
    for place, where in (
        (fields, f"{under}character_book/"),
        (loose.mapping(fields.get("extensions")), f"{under}extensions/character_book/"),
    ):
        held = place.get("character_book")
        if isinstance(held, dict) and held.get("entries"):
            if isinstance(held, jsonfile.Doubled) and held.twice == "entries":
                raise ExchangeError("`entries` stands twice in the card's book", remedy="remove one of the two")
            return characterbook.book(held, name, where)
    return None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for row in loose.rows(value) if (one := loose.text(row)).strip())

"""What sort of thing an entry is about, and which of its keys are names. By plain signs only; in doubt it is lore.

An entry whose source names its category goes by that. Else by a label in the text (`[Character: ...]`, `Type: city`), else by
what its first sentence says its title is (`Eldoria is a forest ...`), else by who is spoken of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from rolecall.campaign.text import fold
from rolecall.exchange.loose import is_regex

_WORDS = {
    "character": (
        "character characters npc npcs person people persona companion cast protagonist antagonist man woman boy girl king "
        "queen prince princess knight wizard witch mage priest priestess merchant captain soldier thief innkeeper bartender "
        "detective scientist inventor engineer physicist writer author poet painter composer actor actress singer politician "
        "businessman industrialist entrepreneur nurse doctor teacher student smith hunter bard ranger paladin cleric rogue "
        "warrior guardian mercenary noble lord lady duke duchess baron emperor empress android"
    ),
    "location": (
        "location locations place places area region city cities town village forest kingdom country continent island river "
        "lake mountain mountains tavern inn shop castle fortress temple building house street district ward planet desert "
        "sea ocean valley cave dungeon tower academy school hotel museum manor realm hamlet settlement port lighthouse harbor harbour "
        "harbor province capital suburb neighborhood neighbourhood geography bakery"
    ),
    "organization": (
        "organization organizations association organisation organisations faction factions group groups guild guilds order cult company "
        "corporation clan tribe gang army house family council society institute university agency party union band crew"
    ),
    "item": (
        "item items object objects weapon weapons artifact artifacts artefact sword ring amulet potion book vehicle ship "
        "armor armour equipment tool machine device gear treasure relic"
    ),
    "power": "power powers magic spell spells ability abilities technique skill technology",
    "creature": (
        "creature creatures monster monsters beast beasts animal animals dragon bestiary species demon undead fiend mammal "
        "aberration ooze construct"
    ),
    "culture": "culture cultures race races religion religions language languages people faith ethnicity nation deity",
    "rule": "rule rules law laws mechanic mechanics system",
    "event": "event events war battle history timeline festival treaty competition",
    "threat": "threat threats plague",
}  # fmt: skip
KIND_OF = {word: kind for kind, words in reversed(_WORDS.items()) for word in words.split()}
# A word of a category counts whatever it is; of a first sentence only these kinds are believed.
_DEFINED = ("character", "location", "organization", "item", "creature", "event")
_LABEL = re.compile(
    r"^\s*[\[({<]*\s*(?:(?:type|kind|category|entry[ _]type)\s*[:=(]+\s*[\"']?(\w+)|(\w+)\s*[:(]\s*[\"']?\S)", re.I
)
_IS_A = re.compile(
    r"^[^.!?\n]{0,120}?\b(?:is|was|are|were)\s+(?:an?|the|one of the)\s+((?:[\w'’-]+[ ,]+){0,7}[\w'’-]+)", re.I
)
_RELATED = re.compile(
    r"\b(?:of|in|by|from|for|with|about|on|at|to|near|that|which|who|where|whose|written|made|located)\b"
)
# Labels of the lists of attributes in which many write: `Age("30")`, `hair = red`, `Ungvid traits:< stubborn>`.
_ATTRIBUTES = (
    ("character", 3, "age gender sex race species appearance body hair eyes height weight personality mental mind traits "
                     "occupation job likes dislikes hobbies voice speech clothes clothing outfit moniker sexuality skills"),
    ("location", 2, "climate geography population ruler inhabitants landmarks features terrain region districts economy"),
)  # fmt: skip
_LABELLED = re.compile(r"\b([a-z]+)\b[\"' ]{0,2}[:=≡(<]", re.I)
_PRONOUN = re.compile(r"\b(?:he|him|his|she|her|hers)\b", re.I)
_PERSONAL = re.compile(r"\b(?:he|she)\b", re.I)
_BY_PRONOUN = re.compile(r"\W*(?:he|she|his|her)\b", re.I)
_LOOKED_AT = 1500  # characters of a text
_NAME_WORDS = 5
MAX_ALIASES = 16
_SMALL = {
    "the",
    "of",
    "a",
    "an",
    "and",
    "de",
    "la",
    "le",
    "von",
    "van",
    "der",
    "du",
    "da",
    "di",
    "al",
    "el",
    "to",
    "in",
}


def kind_of(title: str, text: str, folder: str = "", tags: Iterable[str] = ()) -> str:
    """The kind of an entry; `lore` where nothing speaks for another. `folder` is the source's own category."""
    for said in (folder, *tags):
        for word in re.findall(r"[^\W\d_]+", said.casefold()):
            if word in KIND_OF:
                return KIND_OF[word]
    head = text[:_LOOKED_AT]
    if (label := _LABEL.match(head)) and (kind := KIND_OF.get((label[1] or label[2]).casefold())):
        return kind
    if kind := _defined(title, head):
        return kind
    return "character" if _is_spoken_of(title, head) else _listed(head)


def is_name(key: str, title: str, text: str, kind: str) -> bool:
    """Whether a key is a name of the entry rather than a word that calls it to mind.

    Of a person any name in the title will do, title and rank aside (`Varr`, of Captain Varr). Of anything else the key must have
    all of the title but small words, what stands in parentheses, and the sort of thing it is (`Skerrow`, of Skerrow Town).
    Words that the title has not must be names by their looks.
    """
    words, titled = _parts(key), _parts(re.sub(r"\([^()]*\)", "", title)) or _parts(title)
    if is_regex(key) or not words or not titled or len(words) > _NAME_WORDS or "," in key:
        return False
    own = {word for word in words if word not in _SMALL}
    shared = own & set(titled)
    if all(word in KIND_OF for word in own) or not any(len(word) > 2 or not word.isascii() for word in shared):
        return False
    looks = all(word[:1].isupper() or fold(word) in _SMALL for word in re.findall(r"[^\W\d_]+", key))
    if not looks and title[:1].isupper():
        return False
    if kind in ("character", "creature") and shared == own:
        return True
    rest = {word for word in titled if word not in _SMALL and word not in KIND_OF}
    return bool(rest) and rest <= own and all(_is_proper(word, text) for word in own - shared)


def unique(keys_of: Iterable[Iterable[str]]) -> set[str]:
    """The keys, folded, that only one entry of a book has: what several share is nobody's name."""
    counted = Counter(key for keys in keys_of for key in {fold(one) for one in keys})
    return {key for key, count in counted.items() if count == 1}


def _defined(title: str, head: str) -> str:
    """What the first sentence says the thing is: the first noun behind `is a` that is known, of the kinds believed.

    The title's words must stand before that `is`: some books have their titles and texts mixed up.
    """
    first = re.split(r"(?<=[.!?])\s|\n", head.strip(), maxsplit=1)[0][:400]
    found = _IS_A.match(first)
    if found and not {word for word in _parts(title) if len(word) > 2} & set(_parts(first[: found.start(1)])):
        return ""
    for word in re.findall(r"[^\W\d_]+", _RELATED.split(found[1].casefold())[0]) if found else ():
        kind = KIND_OF.get(word) or KIND_OF.get(word.removesuffix("s"))
        if kind in _DEFINED:
            return kind
    return ""


def _listed(head: str) -> str:
    """The kind whose attributes are listed in a text; `lore` where too few of them are."""
    labels = {label.casefold() for label in _LABELLED.findall(head)}
    counted = {kind: len(labels & set(words.split())) / least for kind, least, words in _ATTRIBUTES}
    kind = max(counted, key=counted.get)
    return kind if counted[kind] >= 1 else "lore"


def _is_spoken_of(title: str, head: str) -> bool:
    """Whether a text goes on about one he or she, and the title could be a person's name."""
    words = title.split()
    if not 1 <= len(words) <= 4 or not all(word[:1].isupper() for word in words if fold(word) not in _SMALL):
        return False
    if words[0].casefold() in ("the", "a", "an") or re.search(r"[\d:;/]", title):
        return False
    if not {word for word in _parts(title) if len(word) > 2} & set(_parts(head)) and not _BY_PRONOUN.match(head):
        return False
    if re.search(rf"\b{re.escape(title.casefold())}\b", head):  # money, written small where it is spoken of
        return False
    count = len(re.findall(r"\w+", head)) or 1
    return bool(_PERSONAL.search(head)) and len(_PRONOUN.findall(head)) >= max(2, count // 60)


def _is_proper(word: str, text: str) -> bool:
    return bool(re.search(rf"(?<![.!?]\s)\b{re.escape(word.capitalize())}\b", text[:_LOOKED_AT]))


def _parts(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", fold(name))

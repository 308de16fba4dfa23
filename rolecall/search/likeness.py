"""Whether two names are one name.

The rules would rather let a twin through than join two things: numbers, directions, opposites and short names must be
equal, and a slip of the pen is one only where it cannot well be another word.
"""

from __future__ import annotations

import re

from rolecall.search import titles
from rolecall.search.readings import UNSPACED, Reading, title_of

# How sure it is that two names are one, by what they have in common.
SAME, ALIAS, BESIDE, TURNED, GIVEN = 1.0, 0.98, 0.95, 0.92, 0.85

_OCR = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("0", "o"), ("1", "l"), ("5", "s"), ("i", "l"), ("j", "l"))
_VOWELS = frozenset("aeiouyаеиоуыэюяіαεηιουω")
_KATAKANA = re.compile(r"[\u30a1-\u30ff]{4,}")


def one_name(a: Reading, b: Reading, living: bool, places: bool) -> tuple[float, str]:
    """How sure it is that two names are one, and why; 0 when they are not."""
    if told_apart(a, b):
        return 0.0, ""
    if a.key == b.key:
        if beside_differs(a, b, living):
            return 0.0, ""
        plain = (a.titles, a.called, a.aside) == (b.titles, b.called, b.aside)
        return (SAME, "the same name") if plain else (BESIDE, "the same name but for what stands beside it")
    if living:
        return 0.0, ""
    if a.aside and b.aside and a.aside != b.aside:
        return 0.0, ""
    if places and place(a) == place(b):
        return BESIDE, "the same place"
    if len(parts(a.core)) > 1 and parts(a.core) == parts(b.core) and _linked(a) != _linked(b):
        return TURNED, "the same name, turned round"
    return 0.0, ""


def _linked(reading: Reading) -> bool:
    return any(word in titles.LINKS for word in reading.core)


def beside_differs(a: Reading, b: Reading, living: bool) -> bool:
    """Whether one name with two different titles, epithets or remarks in parentheses is two things."""
    if living and len(a.core) > 1:
        return False
    if a.titles and b.titles and not {t for t, _ in a.titles} & {t for t, _ in b.titles}:
        return True
    return any(x and y and x != y for x, y in ((a.called, b.called), (a.aside, b.aside)))


def is_first_name(short: Reading, long: Reading) -> bool:
    """`Marta` for `Marta Kell`, `Ilse` for `Ilse of Greywater`."""
    size = len(short.core)
    if told_apart(short, long):
        return False
    if not 0 < size < len(long.core) or long.core[:size] != short.core or len(short.key) < 3:
        return False
    return title_of(short.core[0]) is None and not (short.called and long.called)


def place(reading: Reading) -> str:
    """A place's name without what it is: `Town of Greywater`, `The Broken Anchor Inn`."""
    core = reading.core
    if len(core) > 2 and core[0] in titles.SETTLEMENTS and core[1] in titles.LINKS:
        core = core[2:]
    elif core[-1:] and core[-1] in titles.SETTLEMENTS:
        core = core[:-1] or core
    elif len(core) > 2 and core[-1] in titles.HOUSES and core[-2] not in titles.LAND:
        core = core[:-1]
    return "".join(core)


def contrast(a: frozenset[tuple[int, int]], b: frozenset[tuple[int, int]], first: int | None = None) -> bool:
    """Whether one takes a side and the other takes another side of the same contrast (of the `first` ones only)."""
    mine, theirs = a - b, b - a
    groups = {group for group, _ in mine} & {group for group, _ in theirs}
    return any(first is None or group < first for group in groups)


def told_apart(a: Reading, b: Reading) -> bool:
    """Whether something in the names says that they are two: a number, a direction, an opposite, another bearer."""
    if a.marks != b.marks or a.alone != b.alone or contrast(a.sides, b.sides):
        return True
    if {"m", "f"} <= {bearer for _, bearer in a.titles + b.titles}:
        return True
    return _compounds_contrast(a, b)


def _compounds_contrast(a: Reading, b: Reading) -> bool:
    """`Northgate` and `Southgate`; in scripts without spaces any two names that differ in words of a contrast."""
    for mine, theirs in [(a.key, b.key), *zip(a.core, b.core, strict=False)]:
        if mine != theirs:
            for cut in range(1, min(len(mine), 10)):
                rest = len(theirs) - len(mine) + cut  # the length of what stands there instead
                if theirs.endswith(mine[cut:]) and _opposed(mine[:cut], theirs[:rest]):
                    return True
                if theirs.startswith(mine[:-cut]) and _opposed(mine[-cut:], theirs[len(mine) - cut :]):
                    return True
    return False


def _opposed(word: str, other: str) -> bool:
    known = titles.contrasts()
    return word in known and other in known and contrast(frozenset(known[word]), frozenset(known[other]))


def belongs_elsewhere(a: Reading, b: Reading) -> bool:
    """Whether both belong to something, and not to the same: `Temple of Ash` and `Temple of Rain`."""
    if a.owner and b.owner and a.owner != b.owner and a.core[1:] == b.core[1:]:
        return True
    mine, theirs = _halves(a.core), _halves(b.core)
    if not mine or not theirs or mine == theirs:
        return False
    (head, whose), (other, others) = mine, theirs
    if head == other:
        return whose != others and not slips(whose, others, person=False)
    return parts(a.core).isdisjoint(parts(b.core))


def parallel(a: Reading, b: Reading) -> bool:
    """Whether one word stands for another in names built alike: `Ruby Ring` and `Emerald Ring`, `Ghoul` and `Wight`.

    Words a letter apart may be a slip too small to go by alone (`Mirror Laek`): then the texts decide.
    """
    from rapidfuzz.distance import OSA

    if len(a.core) != len(b.core) or bool(a.owner) != bool(b.owner) or UNSPACED.search(a.key + b.key):
        return False
    changed = [(x, y) for x, y in zip(a.core, b.core, strict=True) if x != y]
    return len(changed) == 1 and (changed[0][0][0] != changed[0][1][0] or OSA.distance(*changed[0]) > 1)


def _halves(core: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    for at, word in enumerate(core):
        if 0 < at < len(core) - 1 and word in titles.LINKS:
            return core[:at], tuple(word for word in core[at + 1 :] if word not in titles.ARTICLES | titles.LINKS)
    return None


def parts(core: tuple[str, ...]) -> frozenset[str]:
    """The words of a thing's name without links and endings: `Tower of Night` and `Night Tower` have the same."""
    kept = (word for word in core if word not in titles.LINKS and word not in titles.ARTICLES)
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in kept)


def slips(a: tuple[str, ...], b: tuple[str, ...], person: bool) -> int:
    """How many words of one name are miswritten in the other; 0 when they are equal or two different names."""
    if len(a) != len(b):
        return 0
    wrong = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    company = sum(len(x) for x, y in zip(a, b, strict=True) if x == y) >= 4
    return len(wrong) if len(wrong) <= 2 and all(_slip(x, y, person, company) for x, y in wrong) else 0


def miswritten(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Whether names are close enough to ask the writer about: not only the slips that two entries may be joined for."""
    wrong = [(x, y) for x, y in zip(a, b, strict=False) if x != y]
    return len(a) == len(b) and bool(wrong) and all(_slip(x, y, True, True) for x, y in wrong)


def _slip(x: str, y: str, person: bool, company: bool) -> bool:
    """Whether one word is the other miswritten. `company`: other words of the name agree."""
    from rapidfuzz.distance import OSA

    if _KATAKANA.fullmatch(x) and _KATAKANA.fullmatch(y):
        return x.replace("ー", "") == y.replace("ー", "")
    shorter, longer = sorted((x, y), key=len)
    size = len(shorter)
    if size < 5 or UNSPACED.search(x + y):
        return False
    if _as_scanned(x) == _as_scanned(y):
        return True
    if x[0] != y[0] or OSA.distance(x, y, score_cutoff=1) > 1:
        return False
    if len(x) == len(y):
        return _exchanged(x, y, size if company else size - (3 if person else 1))
    at = next((i for i in range(size) if shorter[i] != longer[i]), size)
    extra = longer[at]
    if extra == longer[at - 1]:
        return True
    if at == size:  # the last letter: often another form of the name, `Daniel` and `Daniela`
        return (extra == "s" and company and not person) if extra in _VOWELS or extra == "s" else size >= 7
    return size >= 7 or (company and (size >= 6 or extra in _VOWELS))


def _exchanged(x: str, y: str, trust: int) -> bool:
    """Two letters the wrong way round, or one for another inside a long word. `trust` grows with the word's length."""
    at = next(i for i in range(len(x)) if x[i] != y[i])
    if x[at + 1 :] != y[at + 1 :]:
        return len(x) >= 7
    return at < len(x) - 1 and trust >= 8


def _as_scanned(word: str) -> str:
    for seen, meant in _OCR:
        word = word.replace(seen, meant)
    return word

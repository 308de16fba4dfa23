"""Who is dead: by an entry's status, or by what a journal line says happened.

Narrow on purpose. A person wrongly taken for dead makes every later scene with them an alarm; one that is missed is
only a check that did not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rolecall.campaign.patterns import Pattern

_DEAD = Pattern(
    r"\b(?:dead|deceased|died|killed|slain|murdered|executed|hanged|drowned|perished|buried|"
    r"tot|gestorben|verstorben|gefallen|ermordet|getötet|hingerichtet|ertrunken|"
    r"mort|morte|décédée?|tuée?|assassinée?|noyée?|"
    r"muert[oa]|fallecid[oa]|asesinad[oa]|ahogad[oa]|"
    r"morto|morta|falecid[oa]|"
    r"м[её]ртв(?:а|ый|ая)?|погиб(?:ла|ший|шая)?|умер(?:ла)?|убит(?:а|ый|ая)?|"
    r"νεκρ(?:ός|ή)|martw[ya]|nie żyje|zmarł[ay]?)\b"
    r"|死亡|死去|死んだ|故人|死了|已死|去世|戦死|陣亡|사망|죽었|متوفى|ميت|מת(?:ה)?\b",
    re.I,
)
# A status that only sounds like it, or that somebody got up from.
_NOT_DEAD = Pattern(
    r"\b(?:un-?dead|half[- ]dead|not dead|nearly|almost|presumed|believed|thought|supposed|reported|feared|rumou?red|said to be|officially|"
    r"left for dead|as good as|playing|feigning|faked?|pretend\w*|legally|dead (?:tired|drunk|set|asleep|broke|on (?:his|her|their) feet)|"
    r"ghost|spirit|revenant|risen|resurrected|revived|returned|lich|vampire|alive|living|walks?|haunts?|wanted|sentenced|to be (?:hanged|executed|killed)|"
    r"halbtot|scheintot|totgeglaubt|untot|vermutlich|angeblich|mort[- ]vivante?|présumée?|presunt[oa]|no[- ]muert[oa]|нежить|якобы|считается)\b"
    r"|\?|不死|生きている",
    re.I,
)

_NAME = r"(?:(?!(?:The|A|An|He|She|They|It|And|But|When|Then|There|So|Two|At|In|On|By)\b)[^\W\d_a-z][\w'’-]*)(?:\s+(?:(?:of|the|von|de|du)\s+)?[^\W\d_a-z][\w'’-]*){0,3}"
_DIED = Pattern(
    rf"(?P<names>{_NAME}(?:(?:,\s*(?:and\s+)?|\s+and\s+){_NAME}){{0,4}})\s+"
    r"(?:(?:has|have|had|then|later|also|both|all|finally|soon|is|are|was|were|lies|lay)\s+){0,2}"
    r"(?:died|drowned|perished|dead|killed(?=\s*(?:[.,;:!]|$|by\b|in\b|at\b|on\b|there\b|when\b|with\b|that\b))|slain|murdered(?=\s*(?:[.,;:!]|$|by\b|in\b|at\b|on\b|with\b))|executed|hanged|beheaded|bled to death|burned to death)\b"
)
_KILLED = Pattern(
    rf"\b(?:killed|slew|murdered|executed|hanged|beheaded|buried)\s+(?P<names>{_NAME}(?:\s+and\s+{_NAME})?)(?=\s*(?:[.,;:!]|$|in\b|at\b|on\b|with\b|by\b|under\b|beside\b|for\b|and\b))"
)
_ACTIVE = Pattern(r"\b(?:killed|murdered|executed|hanged|beheaded)$")
_PASSIVE = Pattern(
    r"\b(?:is|are|was|were|been|lies|lay)\s+(?:then |later |also |both |all |finally )?\w+(?: to death)?$"
)
_UNSURE = Pattern(
    r"\b(?:if|would|might|may|could|nearly|almost|dream\w*|vision|pretend\w*|claim\w*|lied|lies that|rumou?r\w*|fear\w*|believ\w*|thought|supposed|"
    r"thinks|wonder\w*|whether|not|never|no one|nobody|alive|story|song|legend|play|threaten\w*|plann?\w*|want\w*|swore to|promised to|tried|trying|until)\b",
    re.I,
)


def is_dead(status: str) -> bool:
    """Whether an entry's status says that who bears it is dead (`killed at the ford`, not `presumed dead`)."""
    return bool(_DEAD.search(status)) and not _NOT_DEAD.search(status)


def died_in(line: str) -> Iterator[str]:
    """The names of those of whom a line of the Journal says that they died, as written there (English only).

    Only a plain statement counts: no dreams, fears, plans, claims or near misses.
    """
    for clause in re.split(r"[;.]\s+", line):
        if _UNSURE.search(clause):
            continue
        for found in _DIED.finditer(clause):
            if _ACTIVE.search(found[0]) and not _PASSIVE.search(found[0]):
                continue
            yield from re.split(r",\s*(?:and\s+)?|\s+and\s+", found["names"])
        for found in _KILLED.finditer(clause):
            yield from re.split(r"\s+and\s+", found["names"])


def came_back(line: str, name: str) -> bool:
    """Whether a line says that somebody taken for dead lives after all."""
    return name in line and bool(
        re.search(r"\b(?:alive|resurrect\w*|revive\w*|back from the dead|not dead|survived|undead|ghost)\b", line, re.I)
    )

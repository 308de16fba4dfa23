"""Names in the prose that nobody bears, and those of them that are slips of the pen in a known one.

A name counts as a slip only when it is close to the names of exactly one entry, has never been told before, and is not
introduced as somebody new. The nearer its bearer is to the scene, the less alike it must be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rolecall.agents import cues
from rolecall.agents.roster import parts_of, phrase_key
from rolecall.agents.scene import Finding, Scene
from rolecall.search import titles
from rolecall.search.analysis import Word
from rolecall.search.likeness import slips, told_apart
from rolecall.search.readings import read_name

_LINKS = {"of", "the", "and", "von", "der", "de", "la", "le", "du", "del", "di", "da", "los", "las", "el"}
_OPENS = frozenset('.!?…:\n—–-"“„«»「『‘*_([>¡¿;')
_KATAKANA = re.compile(r"[ァ-ヺー]{4,}")
_VOWELS = frozenset("aeiouyäöüéèàáíóúаеиоуыэюяαεηιουω")


@dataclass(frozen=True, slots=True)
class Stranger:
    """A run of capitalised words that is no known name: its words, where it stands, and whether a capital had to be."""

    words: tuple[Word, ...]
    start: int
    end: int
    opens: bool

    def text(self, prose: str) -> str:
        """Its spelling in the prose, without a possessive ending."""
        return _without_ending(prose[self.start : self.end])


def misspelt(scene: Scene) -> Iterator[Finding]:
    """Known names written almost as they are."""
    told: set[str] = set()
    for stranger in strangers(scene):
        written = stranger.text(scene.prose)
        if written in told:
            continue
        near = near_phrase(scene, stranger) or _near_words(scene, stranger)
        if near is None:
            continue
        path, name, wrong, at_hand = near
        if cues.INTRODUCED.search(scene.prose[max(0, stranger.start - 60) : stranger.start]) or told_before(
            scene, wrong
        ):
            continue
        told.add(written)
        yield Finding(
            rule="misspelt" if at_hand else "near-name",
            severity="error" if at_hand else "warning",
            text=f"“{wrong}” is close to “{name}”, and nobody is called so",
            sentence=scene.sentence_at(stranger.start).text,
            path=path,
            expected=name,
            found=wrong,
        )


def strangers(scene: Scene) -> list[Stranger]:
    """The unknown names of the prose, in order."""
    return scene.once("strangers", lambda: list(_strangers(scene)))


def _strangers(scene: Scene) -> Iterator[Stranger]:
    taken = sorted((m.start, m.end) for m in scene.mentions)
    run: list[Word] = []
    at, last_end = 0, -1
    for word in scene.words:
        while at < len(taken) and taken[at][1] <= word.start:
            at += 1
        known = at < len(taken) and taken[at][0] <= word.start and scene.is_name(taken[at])
        written = scene.prose[word.start : word.end]
        capital = written[:1].isupper() and not word.unspaced
        broken = last_end >= 0 and scene.prose[last_end : word.start].strip(" ")
        if run and (broken or known or not (capital or written in _LINKS)):
            yield from _cut(scene, run)
            run = []
        if not known and (capital or (run and written in _LINKS)):
            run.append(word)
        last_end = word.end
    yield from _cut(scene, run)
    for found in _KATAKANA.finditer(scene.prose):
        if not any(a < found.end() and found.start() < b for a, b in taken):
            yield Stranger(
                (Word(found.start(), found.end(), found[0], found[0], True),), found.start(), found.end(), False
            )


def _cut(scene: Scene, run: list[Word]) -> Iterator[Stranger]:
    """A run without articles and links at its ends, and without a capitalised article or pronoun before it."""
    while run and (scene.prose[run[-1].start : run[-1].end] in _LINKS):
        run = run[:-1]
    opens = bool(run) and _opens(scene.prose, run[0].start)
    while run and (
        run[0].text in titles.ARTICLES
        or run[0].text in _LINKS
        or (opens and len(run) > 1 and scene.is_light(run[0].text))
    ):
        run = run[1:]
        opens = False
    if run and not scene.is_light(run[0].text) and any(not word.text.isdigit() for word in run):
        yield Stranger(tuple(run), run[0].start, run[-1].end, opens)


def _opens(prose: str, at: int) -> bool:
    before = prose[max(0, at - 20) : at].rstrip(" ")
    return not before or before[-1] in _OPENS


# -- how close


def near_phrase(scene: Scene, stranger: Stranger) -> tuple[str, str, str, bool] | None:
    """(path, name, as written, whether at hand) of the one name of several words that a run is close to."""
    written = stranger.text(scene.prose)
    key = phrase_key(parts_of(written))
    if len(stranger.words) < 2 or scene.standing.names.has_phrase(key):
        return None
    reading, found = read_name(written, False), {}
    for bearer in scene.standing.names.like_phrase(key):
        other = read_name(bearer.name, False)
        slip = slips(reading.core, other.core, False) and not told_apart(reading, other)
        if slip or _one_letter(reading.core, other.core):
            found.setdefault(bearer.path, bearer.name)
    if len(found) != 1:
        return None
    path, name = next(iter(found.items()))
    return (path, name, written, path in scene.at_hand) if scene.standing.open_entry(path) else None


def _one_letter(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Whether all words of two names agree but one, and that but for one letter inside it; `North` is no slip of `South`."""
    wrong = [(x, y) for x, y in zip(a, b, strict=False) if x != y] if len(a) == len(b) else []
    if len(wrong) != 1 or min(map(len, wrong[0])) < 5 or wrong[0][0] in titles.contrasts():
        return False
    return _letter_inside(*wrong[0], ends=1)


def _near_words(scene: Scene, stranger: Stranger) -> tuple[str, str, str, bool] | None:
    """The same for the single words of a run: slips in the name of a person, or in a name of one word."""
    for word in stranger.words:
        written = _without_ending(scene.prose[word.start : word.end])
        if written in _LINKS or len(word.stem) < 4 or scene.knows(word) or not _is_name(scene, stranger, word):
            continue
        near = _near_word(scene, stranger, word)
        if near is not None:
            return (*near[:2], written, near[2])
    return None


def _near_word(scene: Scene, stranger: Stranger, word: Word) -> tuple[str, str, bool] | None:
    beside = scene.beside(stranger)
    close: dict[str, tuple[str, bool]] = {}
    for known, bearer in scene.standing.names.like_word(word.stem):
        at_hand = bearer.path in beside or bearer.path in scene.at_hand
        apart = told_apart(read_name(word.stem, True), read_name(known, True))
        if not apart and _alike(scene, word.stem, known, at_hand):
            name = min(bearer.name, close.get(bearer.path, (bearer.name,))[0], key=len)
            close[bearer.path] = (name, at_hand)
    if len(close) > 1 and len(close.keys() & beside) == 1:  # `Garow` behind `Pim`
        close = {path: named for path, named in close.items() if path in beside}
    if len(close) != 1:
        return None
    path, (name, at_hand) = next(iter(close.items()))
    sentence = scene.sentence_at(word.start)
    both = any(
        m.path == path and sentence.start <= m.start < sentence.end and m.start not in (stranger.start, stranger.end)
        for m in scene.mentions
    )
    if scene.standing.open_entry(path) is None or (both and path not in beside):
        return None  # two people side by side
    return path, name, at_hand


def _alike(scene: Scene, word: str, known: str, at_hand: bool) -> bool:
    """Whether a word is a name miswritten; much less is enough for one who is at hand than for anybody in the world."""
    from rapidfuzz.distance import OSA

    if _KATAKANA.fullmatch(word) or _KATAKANA.fullmatch(known):
        return at_hand and min(len(word), len(known)) >= 5 and word[0] == known[0] and OSA.distance(word, known) == 1
    inflects = scene.inflects(word)
    if inflects and at_hand and len(known) >= 6:
        stems = (word[:-cut] for cut in (1, 2) if len(word) - cut >= len(known) - 1)
        if any(_letter_inside(stem, known, ends=2) for stem in stems):
            return True
    if word.startswith(known) or known.startswith(word):
        # Another form of the name, or a short one; only a last letter written twice is a slip.
        return not inflects and word == known + known[-1] and word[-1] not in _VOWELS
    size = min(len(word), len(known))
    if not _letter_inside(word, known, ends=2 if inflects else 1):
        return at_hand and not inflects and len(word) == len(known) >= 6 and _last_letter(word, known)
    if slips((word,), (known,), True):
        return True
    if not at_hand or size < 4:
        return False
    if size == 4:
        return _doubled(word, known) or _vowel_for_vowel(word, known)
    return True


def _last_letter(word: str, known: str) -> bool:
    """One consonant for another at the end: `Tamsim`. Vowels there are endings."""
    return word[:-1] == known[:-1] and word[-1] not in _VOWELS and known[-1] not in _VOWELS


def _doubled(word: str, known: str) -> bool:
    return len(word) > len(known) and any(
        word[:at] + word[at + 1 :] == known and word[at] == word[at - 1] for at in range(1, len(word))
    )


def _vowel_for_vowel(word: str, known: str) -> bool:
    pairs = zip(word, known, strict=False)
    return len(word) == len(known) and all(a == b or (a in _VOWELS and b in _VOWELS) for a, b in pairs)


def _letter_inside(word: str, known: str, *, ends: int) -> bool:
    """Whether one letter is wrong, missing, too many or exchanged, neither the first nor among the last `ends`."""
    from rapidfuzz.distance import OSA

    if OSA.distance(word, known, score_cutoff=1) != 1:
        return False
    same = next((i for i, (a, b) in enumerate(zip(word, known, strict=False)) if a != b), min(len(word), len(known)))
    if same == 0:
        return word[1:2] == known[:1] and known[1:2] == word[:1]
    return same < max(len(word), len(known)) - ends


def _is_name(scene: Scene, stranger: Stranger, word: Word) -> bool:
    """Whether a capitalised word is a name rather than the first word of a sentence (or any noun, in German)."""
    if word.unspaced:
        return True
    plain = _without_ending(scene.prose[word.start : word.end])
    if plain.lower() in scene.once("small", lambda: {scene.prose[w.start : w.end] for w in scene.words}):
        return False
    after, before = scene.prose[word.end : word.end + 80], scene.prose[max(0, word.start - 40) : word.start]
    if word.stem != word.text and re.match(r"\s+\w", after):
        return True
    if cues.ACTS.match(after) or cues.IS.match(after) or cues.SPEECH_BEFORE.search(before):
        return True
    if scene.language.startswith("de"):
        return bool(re.match(r" [a-zäöüß]+te?(?= )", after)) and (stranger.opens or bool(scene.beside(stranger)))
    if not (stranger.opens and word is stranger.words[0] and len(stranger.words) == 1) or scene.beside(stranger):
        return True
    return word.stem in scene.once("inside", lambda: {s.words[0].stem for s in strangers(scene) if not s.opens})


def _without_ending(written: str) -> str:
    return re.sub(r"['’]s?$", "", written)


def told_before(scene: Scene, name: str) -> bool:
    """Whether the campaign has the name already, in its story or anywhere else: then it is no slip."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)" if not _KATAKANA.fullmatch(name) else re.escape(name))
    if pattern.search(scene.state.data.decode("utf-8", "replace")) or pattern.search(scene.action):
        return True
    return any(pattern.search(f"{hit.text} {hit.name}") for hit in scene.search.find(name, limit=5, secrets=True))

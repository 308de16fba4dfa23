"""What the files say against each other: the dead who act later, promises nobody gave, secrets told where all may read.

For `rolecall check`. Narrow on purpose: only plain statements count, a line in doubt is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from rolecall.campaign import checklists, chronicles, deaths, journal, kinds, secrets
from rolecall.campaign.connections import Names
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import PROMISES
from rolecall.campaign.folder import counts
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.merging import ARROW, HISTORY
from rolecall.campaign.problems import Problem, near
from rolecall.campaign.text import fold
from rolecall.errors import DocumentError

_LIVING = ("character", "creature")
_ACTS = (
    "said|says|told|tells|asked|asks|answered|came|comes|went|goes|walked|walks|ran|runs|rode|rides|drew|draws|gave|gives|took|takes|"
    "opened|opens|shut|closed|fought|fights|stood|sat|paid|pays|sold|sells|bought|promised|promises|swore|swears|agreed|agrees|"
    "refused|refuses|led|leads|followed|follows|brought|brings|carried|carries|showed|shows|handed|hands|joined|joins|arrived|"
    "arrives|returned|returns|spoke|speaks|whispered|whispers|shouted|shouts|smiled|smiles|laughed|laughs|owned|confessed|"
    "admitted|admits|warned|warns|helped|helps|sailed|sails|struck|strikes|killed|kills|kissed|nodded|nods|offered|offers|demanded|demands"
)
_UNSURE = re.compile(
    r"\b(?:dream\w*|vision|memor\w*|remember\w*|recall\w*|once|years ago|letter|diary|ghost|spirit|corpse|body|grave|tomb|ashes|portrait|"
    r"statue|song|story|stories|legend|pretend\w*|disguise\w*|as if|before (?:he|she|they|it) died|had)\b",
    re.I,
)
_NAMED = re.compile(r"[^\W\d_][^:]{0,80}:\s*\S")
LEAST = 6  # words of a secret sentence that stand elsewhere word for word


# -- promises


def promises(state: Document | None, names: Names) -> Iterator[Problem]:
    """Open promises that do not say whom they bind or are owed to, and those to a name one slip away from a known one."""
    if state is None:
        return
    try:
        section = state.section(PROMISES)
        items = [item for item in checklists.items_of(state, PROMISES) if item.open]
    except DocumentError:
        return  # two such sections: told as such
    for item in items:
        at = state.data.find(item.raw.encode(), section.body)
        line = state.data.count(b"\n", 0, at) + 1
        if not _NAMED.match(item.words):
            message = f"the promise “{_short(item.words)}” says nobody's name"
            yield Problem(state.path, line, "promise-owner", message, "write it as `- [ ] To Sera: bring the ledger`")
            continue
        who = re.sub(r"^(?:To|From|By)\s+", "", item.words.partition(":")[0]).strip("[] ")
        meant = "" if names.knows(who) else near(who, names.spelled)
        if meant:
            message = f"nobody is called {who}"
            yield Problem(state.path, line, "promise-owner", message, f"did you mean {meant}?")


def _short(words: str) -> str:
    return words if len(words) <= 60 else words[:60].rsplit(" ", 1)[0] + "…"


# -- the dead


def dead_who_act(documents: Mapping[str, Document], names: Names) -> Iterator[Problem]:
    """Lines of the Journal and the Chronicles in which somebody acts who was dead by then, and did not come back."""
    lines = sorted(_told(documents), key=lambda one: one[2].turn)
    ends = {
        name: line.turn for _, _, line in lines for name in deaths.died_in(line.text)
    }  # the last such turn of each name
    for path, document in documents.items():
        if kinds.kind_of(path, document.fields) not in _LIVING or not counts(path):
            continue
        status = document.text("status").strip()
        if status and not deaths.is_dead(status):
            continue
        called = _called(document, names)
        died = _died(document, status, called, ends)
        if called and died:
            yield from _acting(called, died, lines)


def _told(documents: Mapping[str, Document]) -> Iterator[tuple[str, int, journal.Line]]:
    for path, document in documents.items():
        if path == STATE_FILE or path.startswith(f"{chronicles.FOLDER}/"):
            try:
                lines = journal.lines_of(document, sealed=path != STATE_FILE)
            except DocumentError:
                continue
            yield from ((path, line.line, line) for line in lines)


def _called(document: Document, names: Names) -> list[str]:
    """What this one alone is called."""
    every = [kinds.name_of(document.path, document.fields), *kinds.names_in(document.fields, "aliases")]
    bearers = {name: {*names.by_name.get(fold(name), ()), *names.by_alias.get(fold(name), ())} for name in every}
    return [name for name, paths in bearers.items() if paths == {document.path} and name[:1].isupper()]


def _died(document: Document, status: str, called: list[str], ends: dict[str, int]) -> int:
    """The turn in which somebody died; 0 where nobody says."""
    if told := max((ends.get(name, 0) for name in called), default=0):
        return told
    if status:
        try:
            history = document.lines(HISTORY)
        except DocumentError:
            return 0
        for row in reversed(history):
            found = re.match(r"\s*- (T\d{4,9}) status: ", row)
            if found and ARROW in row and deaths.is_dead(row.rpartition(ARROW)[2]):
                return journal.turn_number(found[1]) or 0
    return 0


def _acting(called: list[str], died: int, lines: list[tuple[str, int, journal.Line]]) -> Iterator[Problem]:
    either = "|".join(re.escape(name) for name in sorted(called, key=len, reverse=True))
    acts = re.compile(
        rf"(?:^|[.;!?] |, (?:and|but|then) )(?:\[\[)?(?:{either})(?:\]\])? (?:then |now |also )?(?:{_ACTS})\b"
    )
    for path, number, line in lines:
        if line.turn <= died:
            continue
        if any(deaths.came_back(line.text, name) for name in called):
            return
        if acts.search(line.text) and not _UNSURE.search(line.text):
            message = f"{called[0]} acts in {turn_id(line.turn)} and died in {turn_id(died)}"
            remedy = "mend the entry's status, or say in the Journal how they came back"
            yield Problem(path, number, "dead-acts", message, remedy)


# -- secrets


def secrets_told(documents: Mapping[str, Document]) -> Iterator[Problem]:
    """Sentences of what is secret that stand word for word in the open part of an entry, before the story told them."""
    hidden = dict(_hidden(documents))
    if not hidden:
        return
    first = {run[:LEAST] for run in hidden}
    begins = {run[0] for run in first}
    told: set[tuple[str, ...]] = set()
    found: list[tuple[tuple[str, ...], Document, int]] = []
    for path, document in documents.items():
        if not counts(path) or secrets.is_secret_path(path, document.fields):
            continue
        kind = kinds.kind_of(path, document.fields)
        for line, text in _open_lines(document):
            spelled = _words(text)
            for at, word in enumerate(spelled):
                if word in begins and tuple(spelled[at : at + LEAST]) in first:
                    for run in hidden:
                        if tuple(spelled[at : at + len(run)]) == run:
                            if kind in ("story", "chronicle") or journal.turn_number(text.strip().lstrip("-*+ ")):
                                told.add(run)
                            elif kind in (*kinds.ENTRY_KINDS, "arc", "quest", "state"):
                                found.append((run, document, line))
    for run, document, line in found:
        if run not in told:
            message = f"the player can read here what {hidden[run]} keeps secret"
            yield Problem(
                document.path, line, "secret-told", message, "take the sentence out, or put it under `## Secret`"
            )


def _hidden(documents: Mapping[str, Document]) -> Iterator[tuple[tuple[str, ...], str]]:
    """(the words of a secret sentence, its file)."""
    for path, document in documents.items():
        if not counts(path) or kinds.kind_of(path, document.fields) == "dm":
            continue
        texts = [text for key, value in document.fields.items() for text in _secret_texts(key, value)]
        opened = {section.start for section in secrets.open_sections(document)}
        whole = secrets.is_secret_path(path, document.fields)
        texts += [one.text for one in document.sections if whole or one.start not in opened]
        for text in texts:
            for sentence in re.split(r"(?<=[.!?…])\s+|\n", text):
                spelled = tuple(_words(sentence))
                if len(spelled) >= LEAST:
                    yield spelled, path


def _secret_texts(key: str, value: Value) -> Iterator[str]:
    if isinstance(value, dict):
        for inner, part in value.items():
            yield from _secret_texts(key if secrets.is_secret_field(key) else inner, part)
    elif isinstance(value, list):
        for part in value:
            yield from _secret_texts(key, part)
    elif secrets.is_secret_field(key):
        yield value


def _open_lines(document: Document) -> Iterator[tuple[int, str]]:
    """(line, text) of what the player may read of a file, a paragraph's line at a time."""
    if document.block:
        for key, node in document.block.pairs():
            if not secrets.is_secret_field(key.value) and node.kind == "scalar":
                yield key.line + 2, node.value
    for section in secrets.open_sections(document):
        for number, text in enumerate(section.text.split("\n"), section.body_line):
            if len(text) > 20:
                yield number, text


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def every(documents: Mapping[str, Document], names: Names) -> Iterable[Problem]:
    """All of it."""
    yield from promises(documents.get(STATE_FILE), names)
    yield from dead_who_act(documents, names)
    yield from secrets_told(documents)

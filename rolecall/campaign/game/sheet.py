"""The working sheet of one resolution: files as they will be, effects as they come together, what was refused and said.

Each thing asked for is one attempt: all of its effects, or, with a reason in words, none of them. An effect is laid over the file at
once, so that the next attempt sees what is true by then; two of one thing become one, so that the list may be applied twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rolecall.campaign import deaths, documents, kinds
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect, edit_of
from rolecall.campaign.game import edits
from rolecall.campaign.game.directives import Refused
from rolecall.campaign.game.rows import name_in
from rolecall.campaign.game.world import World, is_secret
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.merging import ARROW, key_of
from rolecall.errors import DocumentError

DM = "dm"  # the one layer that knows what is secret
PARTY = {"party", "the party"}


class No(Exception):
    """Why something cannot be, in words. `secret`: only the DM may hear it."""

    def __init__(self, why: str, *, secret: bool = False) -> None:
        super().__init__(why)
        self.secret = secret


@dataclass(frozen=True, slots=True)
class Locked:
    """Changes that a locked entry stands in the way of: for the writer to decide on. `about` is that entry's name."""

    about: str
    line: str
    effects: tuple[Effect, ...]


@dataclass(slots=True)
class Sheet:
    """See above. `turn` is the one the directive is applied in."""

    world: World
    turn: int
    effects: list[Effect] = field(default_factory=list)
    locked: list[Locked] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    _said: dict[str, tuple[str, bool]] = field(default_factory=dict)
    _seen: dict[str, Document | None] = field(default_factory=dict)
    _unit: list[Effect] = field(default_factory=list)
    _words: dict[str, tuple[str, bool]] = field(default_factory=dict)

    # -- looking

    def file(self, path: str) -> Document | None:
        """A file as it will be; None where there is none."""
        if path not in self._seen:
            self._seen[path] = self.world.document(path)
        return self._seen[path]

    def doc(self, path: str) -> Document:
        """The same, where it is known to be there; No when it cannot be read."""
        document = self.file(path)
        if document is None:
            raise No(f"{path} cannot be read")
        return document

    @property
    def state(self) -> Document:
        """The Campaign State as it will be."""
        return self.doc(STATE_FILE)

    def look(self, name: str, layer: str, *wanted: str) -> str | None:
        """The path of an entry that a layer may know of (of these kinds); None where there is none."""
        path = self.world.find(name_in(name), wanted, secrets=layer == DM)
        if path is None or self.file(path) is None:
            return None
        return path if layer == DM or not is_secret(self.doc(path)) else None  # the file itself has the last word

    def find(self, name: str, layer: str, *wanted: str) -> str:
        """The same; No where there is none."""
        path = self.look(name, layer, *wanted)
        if path is None:
            what = wanted[0] if len(wanted) == 1 else "entry"
            raise No(f"no {what}, or more than one, is named {name_in(name)!r}")
        return path

    def free(self, path: str) -> str:
        """A path of that name under which there is no file: `arcs/the-ferry-2.md` where one stands that may not even be spoken of."""
        stem, number = path.removesuffix(".md"), 1
        while self.file(path) is not None:
            number += 1
            path = f"{stem}-{number}.md"
        return path

    def name(self, path: str) -> str:
        """An entry's own name."""
        return kinds.name_of(path, self.doc(path).fields)

    def is_dead(self, path: str) -> bool:
        """Whether an entry says that who bears it is dead."""
        return deaths.is_dead(self.doc(path).text("status"))

    def alive(self, path: str) -> None:
        """No when they are dead."""
        if self.is_dead(path):
            raise No(f"{self.name(path)} is dead")

    # -- changing

    def attempt(self, part: str, what: str, layer: str, change: Callable[[], None]) -> bool:
        """Make one change whole; where it cannot be made it is refused, where an entry is locked it is only proposed."""
        self._unit, self._words = [], {}
        seen = dict(self._seen)
        try:
            change()
        except (No, DocumentError) as error:
            self._seen = seen
            why = str(error) if isinstance(error, No) else error.what
            self.refused.append(Refused(part, what, why, layer, getattr(error, "secret", False)))
            return False
        shut = next(
            (
                d
                for e in self._unit
                if (d := seen.get(e.path) or self.world.document(e.path)) and kinds.flag(d.fields, "locked")
            ),
            None,
        )
        if shut is not None:
            self._seen = seen
            self._propose(part, what, layer, kinds.name_of(shut.path, shut.fields), is_secret(shut))
            return False
        for effect in self._unit:
            _fold(self.effects, effect)
        for about, told in self._words.items():
            self._said.pop(about, None)
            self._said[about] = told
        return True

    def guarded(self, part: str, work: Callable[[], None]) -> None:
        """Do what is no attempt of its own; where a file cannot be read for it (two sections of one name), that is said."""
        try:
            work()
        except (No, DocumentError) as error:
            self.refused.append(Refused(part, "", str(error) if isinstance(error, No) else error.what))

    def is_locked(self, path: str) -> bool:
        """Whether the writer locked an entry."""
        return kinds.flag(self.doc(path).fields, "locked")

    def _propose(self, part: str, what: str, layer: str, about: str, secret: bool) -> None:
        effects: list[Effect] = []
        for effect in self._unit:
            _fold(effects, effect)
        line = "; ".join(words for words, _ in self._words.values()) or f"{part}: {what}"
        self.locked.append(Locked(about, line, tuple(effects)))
        why = f"{about} is locked by the writer; the change is proposed"
        self.refused.append(Refused(part, what, why, layer, secret))

    def put(
        self,
        op: str,
        path: str,
        key: str = "",
        was: str = "",
        text: str = "",
        *lines: str,
        title: str = "",
        reason: str = "",
    ) -> None:
        """One effect more; `lines` go to the entry's History, dated. Nothing where nothing changes."""
        dated = tuple(f"{turn_id(self.turn)} {line}" for line in lines)
        effect = Effect(op, path, self.turn, text, key, title, was, lines=dated, reason=reason)
        document = self.file(path)
        before = document.data if document else None
        after = edit_of(effect)(before)
        if after == before:
            return
        self._seen[path] = documents.parse(after, path)
        self._unit.append(effect)

    def value(self, path: str, key: str, text: str, *, noted: bool = False, reason: str = "") -> None:
        """Set a field; with `noted` the text that goes is kept in History."""
        document = self.doc(path)
        old = document.fields.get(edits.held_key(document, key), "")
        if not isinstance(old, str):
            raise No(f"`{key}` of {self.name(path)} is a list")
        if old == text:
            return
        line = [f"{key}: {' '.join(old.split())}{ARROW}{text or 'none'}"] if noted and old.strip() else []
        self.put("value", path, key, old, text, *line, reason=reason)

    def history(self, path: str, line: str, reason: str = "") -> None:
        """A dated line of an entry's History."""
        self.put("history", path, text=line, reason=reason)

    def keep(self, path: str | None, name: str, line: str, reason: str = "") -> None:
        """What somebody's row said, kept before it goes: in their History, or under the turn's line in the Journal where they have no
        entry, or a locked one.
        """
        if path and not self.is_locked(path):
            self.history(path, line, reason)
        else:
            self.remark(f"{name}: {line}", reason)

    def remark(self, line: str, reason: str = "") -> None:
        """A note under the turn's line in the Journal: for what has no entry of its own."""
        self.put("remark", STATE_FILE, text=line, reason=reason)

    def say(self, words: str, *paths: str, about: str = "") -> None:
        """Say how something stands now; where one of these entries is secret only the DM hears it.

        What was said before `about` the same thing no longer holds, and is dropped.
        """
        secret = any(path and is_secret(self.doc(path)) for path in paths)
        self._words[about or words] = (words, secret)

    def told(self, *, secret: bool = False) -> tuple[str, ...]:
        """All that was said and still holds, or what of it only the DM may hear."""
        return tuple(words for words, is_hidden in self._said.values() if is_hidden == secret)

    def withdraw(self, path: str, op: str, key: str) -> None:
        """Take back what was put down so far of one section or field: the file is seen again without it."""
        self.effects = [e for e in self.effects if (e.path, e.op, e.key) != (path, op, key)]
        document = self.world.document(path)
        data = document.data if document else None
        for effect in self.effects:
            if effect.path == path:
                data = edit_of(effect)(data)
        self._seen[path] = None if data is None else documents.parse(data, path)


def _fold(effects: list[Effect], new: Effect) -> None:
    """Add an effect; one that goes on from where an earlier one ends becomes one with it."""
    if new.op not in ("value", "item", "row"):
        if new not in effects:
            effects.append(new)
        return
    for at in range(len(effects) - 1, -1, -1):
        old = effects[at]
        if (old.op, old.path, old.key) != (new.op, new.path, new.key) or not _goes_on(old, new):
            continue
        one = replace(old, text=new.text, lines=(*old.lines, *new.lines))
        if one.was == one.text:
            del effects[at]
        else:
            effects[at] = one
        return
    effects.append(new)


def _goes_on(old: Effect, new: Effect) -> bool:
    if old.text or new.was:
        return old.text == new.was
    if new.op == "item":  # gone, and there again
        return key_of(edits.item_of(old.was)) == key_of(edits.item_of(new.text))
    return new.op == "value" or old.was == new.text

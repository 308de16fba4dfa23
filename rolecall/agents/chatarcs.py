"""The plot threads a model finds in a chat, as arcs: made when they first move, moved on line by line, summed up by chunk."""

from __future__ import annotations

from dataclasses import dataclass, field

from rolecall.agents.chunks import Chunk
from rolecall.campaign import kinds
from rolecall.campaign.effects import Effect
from rolecall.campaign.filenames import same_key
from rolecall.campaign.folder import Campaign
from rolecall.campaign.frontmatter import scalar
from rolecall.campaign.journal import turn_id
from rolecall.campaign.text import clean_line, fold, slug
from rolecall.errors import RoleCallError
from rolecall.search.searcher import Search

NAME, LINE, SUMMARY, STATUS = 80, 240, 400, 40  # characters
SHOWN = 20  # arcs a model is told of, the newest
ALIKE = 90  # of 100, how like two names must be to be one arc's


@dataclass(slots=True)
class ChatArcs:
    """The arcs of the campaign and those this chat has made; `effects` in the order they are to happen.

    What is secret is not known here, and what the writer locked is not moved. `first` is the turn of the chat's first scene.
    """

    campaign: Campaign
    search: Search
    first: int
    effects: list[Effect] = field(default_factory=list)
    _paths: dict[str, str] = field(default_factory=dict)  # folded name: path
    _names: dict[str, str] = field(default_factory=dict)  # path: name
    _status: dict[str, str] = field(default_factory=dict)  # path: the status as it stands after the effects

    def __post_init__(self) -> None:
        for path, entry in sorted(self.search.catalogue.items()):
            if entry.kind in ("arc", "quest") and not (entry.secret or entry.withheld):
                self._paths[fold(entry.name)] = path
                self._names[path] = entry.name

    @property
    def names(self) -> list[str]:
        """The newest names."""
        return list(self._names.values())[-SHOWN:]

    def take(self, chunk: Chunk, rows: list[dict], model: str) -> list[str]:
        """Move the arcs of an answer on, in the order of their scenes; the names of those that moved."""
        dated = [(row["scene"] if chunk.has(row.get("scene")) else chunk.last, row) for row in rows]
        moved = [self._moved(chunk, scene, row, model) for scene, row in sorted(dated, key=lambda one: one[0])]
        return list(dict.fromkeys(name for name in moved if name))

    def _moved(self, chunk: Chunk, scene: int, row: dict, model: str) -> str:
        name, text = _line(row, "arc", NAME).strip(" ."), _line(row, "text", LINE)
        if not text or not any(c.isalnum() for c in name):
            return ""
        turn = self.first + scene - 1
        why = {"phase": "ingest", "model": model, "reason": "a plot thread of the chat"}
        path = self._known(name)
        if not path:
            path = self._free(name)
            made = _file(name, _line(row, "question", LINE), _line(row, "stakes", LINE))
            self.effects.append(Effect("brought", path, turn, made, title=name, **why))
            self._paths[fold(name)], self._names[path], self._status[path] = path, name, "open"
        elif not self._may_move(path):
            return ""
        self.effects.append(Effect("arc", path, turn, text, **why))
        if summary := _line(row, "summary", SUMMARY):
            covers = f"{turn_id(self.first + chunk.first - 1)}-{turn_id(self.first + chunk.last - 1)}"
            self.effects.append(Effect("summary", path, turn, f"{covers} {summary}", **why))
        status = _line(row, "status", STATUS)
        if status and fold(status) != "open":
            was, self._status[path] = self._status_of(path), status
            self.effects.append(Effect("value", path, turn, status, key="status", was=was, **why))
        return self._names[path]

    def _status_of(self, path: str) -> str:
        """An arc's status before the next line: what the writer makes of it while models are asked stays."""
        return self._status[path] if path in self._status else self.campaign.document(path).text("status")

    def _known(self, name: str) -> str:
        """The arc that goes by a name, or by nearly that name."""
        from rapidfuzz import fuzz, process

        wanted = fold(name)
        if wanted in self._paths:
            return self._paths[wanted]
        near = process.extractOne(wanted, list(self._paths), scorer=fuzz.token_sort_ratio, score_cutoff=ALIKE)
        return self._paths[near[0]] if near else ""

    def _may_move(self, path: str) -> bool:
        """Whether an arc is not the writer's alone."""
        if path not in self.search.catalogue:
            return True
        try:
            return not kinds.flag(self.campaign.document(path).fields, "locked")
        except RoleCallError:
            return False

    def _free(self, name: str) -> str:
        taken = {same_key(path) for path in self._names}
        stem, number = f"arcs/{slug(name, 'arc')}", 1
        path = f"{stem}.md"
        while same_key(path) in taken or self.campaign.exists(path):
            number += 1
            path = f"{stem}-{number}.md"
        return path


def _line(row: dict, key: str, limit: int) -> str:
    given = row.get(key)
    return clean_line(given, limit) if isinstance(given, str) else ""


def _file(name: str, question: str, stakes: str) -> str:
    rows = ["---", f"name: {scalar(name)}", "kind: arc", f"question: {scalar(question or name)}"]
    rows += [f"stakes: {scalar(stakes)}"] if stakes else []
    return "\n".join([*rows, "status: open", "latest:", "---", "", "## Trail", ""])

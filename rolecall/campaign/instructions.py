"""What the layers are told: the campaign's own instruction and prose files, the packaged ones where one is missing.

One file holds one instruction under one condition, which its name says and its front matter repeats for the code:
`layer:` (who is told) and `when:` (one of `CONDITIONS`). A file the writer emptied says nothing and keeps the packaged one away.

    narrator     always, tools, small-model, opening, past-fold-line, cut, directed (a directive, guidance or hints stand there)
    turn_dm      always, intended (some intention stands open), full (no more may be added)
    dm           always, unplanned (no plan yet), still (no beat for a while), old-seed, long-chapter, decide (the last call)
    sidecar      fold; scribe: scribe; retriever: retrieve; historian: history; ingest: ingest-search, ingest-facts, ingest-narrative;
                  afterwork: afterwork, music
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rolecall.campaign import documents, files, kinds
from rolecall.campaign.folder import CONFLICT_COPY, Campaign
from rolecall.campaign.formers import FORMER
from rolecall.errors import DocumentError

INSTRUCTIONS = "instructions"
PROSE = "prose"
CONDITIONS = (
    "always",
    "tools",
    "small-model",
    "opening",
    "past-fold-line",
    "fold",
    "cut",
    "scribe",
    "retrieve",
    "history",
    "afterwork",
    "music",
    "ingest-search",
    "ingest-facts",
    "ingest-narrative",
    "directed",
    "intended",
    "full",
    "unplanned",
    "still",
    "old-seed",
    "long-chapter",
    "decide",
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction file: where it lies (`packaged: ...` when the campaign has none), whom it tells, when, and what."""

    path: str
    name: str
    layer: str
    when: str
    text: str


@dataclass(frozen=True, slots=True)
class ProseModule:
    """A style instruction; `place` is opening, middle or closing, `when` the scenes it is for, in words."""

    path: str
    name: str
    place: str
    default: bool
    text: str
    when: str = ""


def template_folder() -> Path:
    """The packaged template: beside the code in an installed wheel, beside the package in a checkout."""
    here = Path(__file__).resolve().parent.parent
    packaged = here / "workspace_template"
    return packaged if packaged.is_dir() else here.parent / "workspace_template"


def instructions(campaign: Campaign, layer: str) -> tuple[Instruction, ...]:
    """Every instruction of a layer, in the order of their file names (`always` before the rest)."""
    found = [_instruction(document) for document in _documents(campaign, INSTRUCTIONS)]
    mine = [i for i in found if i.layer == layer and i.text]
    return tuple(sorted(mine, key=lambda i: (_rank(i.when), i.path.removeprefix("packaged: "))))


def _rank(when: str) -> int:
    """Conditions in their published order: what always holds first, so that the prompt's beginning stays the same."""
    return CONDITIONS.index(when) if when in CONDITIONS else len(CONDITIONS)


def is_former(path: str, data: bytes) -> bool:
    """Whether a campaign's file is an unchanged copy of a text that an earlier RoleCall shipped under that path."""
    digest = files.sha256(data.replace(b"\r\n", b"\n"))[:16]
    return digest in FORMER.get(path, ()) and packaged(path) is not None


def packaged(path: str) -> bytes | None:
    """The bytes that ship now under a path such as `instructions/always-narrate.md`; None where nothing does."""
    folder, _, name = path.partition("/")
    return dict(_packaged(folder)).get(name) if folder in (INSTRUCTIONS, PROSE) else None


def prose_modules(campaign: Campaign) -> tuple[ProseModule, ...]:
    """Every prose module in the order of their file names."""
    found = []
    for document in _documents(campaign, PROSE):
        text = document.body.decode("utf-8", "replace").strip()
        place = document.text("place") or "middle"
        name = kinds.name_of(document.path, document.fields)
        if text:
            default, when = kinds.flag(document.fields, "default"), document.text("when")
            found.append(ProseModule(document.path, name, place, default, text, when))
    return tuple(found)


def _instruction(document: documents.Document) -> Instruction:
    text = document.body.decode("utf-8", "replace").strip()
    when, layer = document.text("when") or "always", document.text("layer") or "narrator"
    return Instruction(document.path, kinds.name_of(document.path, document.fields), layer, when, text)


def _documents(campaign: Campaign, folder: str) -> list[documents.Document]:
    """The folder's files, packaged ones standing in for those the campaign has not, or has broken.

    Eight layers ask for them in a turn: while no file's stamp changes they are not read again, but for such as might have
    been saved a second time within a tick of the file system's clock.
    """
    listed = campaign.walk(folder) if (campaign.root / folder).is_dir() else []
    key, now = (type(campaign), campaign.root, folder), time.time_ns()
    held = _READ.get(key)
    if held is None or held[0] != listed:
        found = _read(campaign, folder, [path for path, _ in listed])
        held = (listed if all(stamp.mtime_ns < now - _TICK for _, stamp in listed) else None, found)
        if len(_READ) >= _FOLDERS:
            _READ.clear()
        _READ[key] = held
    return held[1]


_READ: dict[tuple, tuple[list | None, list[documents.Document]]] = {}
_FOLDERS = 8  # folders that are kept
_TICK = 2_100_000_000  # ns: the coarsest clock of a file system, and a little


def _read(campaign: Campaign, folder: str, paths: list[str]) -> list[documents.Document]:
    own: dict[str, documents.Document] = {}
    for path in paths:
        if CONFLICT_COPY.search(path):
            continue
        try:
            own[path.rsplit("/", 1)[-1]] = campaign.document(path)
        except DocumentError:
            continue  # `check` tells of it; the packaged one serves meanwhile
    for name, data in _packaged(folder):
        if name not in own:
            own[name] = documents.parse(data, f"packaged: {folder}/{name}")
    return [own[name] for name in sorted(own)]


@lru_cache(maxsize=4)
def _packaged(folder: str) -> tuple[tuple[str, bytes], ...]:
    place = template_folder() / folder
    return tuple((p.name, p.read_bytes()) for p in sorted(place.glob("*.md")))

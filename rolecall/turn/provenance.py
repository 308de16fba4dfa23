"""Where a line comes from: the turn, phase, model, reason and source of what a turn wrote; else the template, or "written by hand".

The records of this machine are asked, the newest first. A line counts as a turn's when that turn's write put it there and it
still stands as it was put. Where the record of a turn is gone (a clone, a deleted `.rolecall/`), git says whose commit it was.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

from rolecall.campaign import blame, records, secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.frontmatter import Node
from rolecall.campaign.instructions import template_folder
from rolecall.campaign.journal import turn_id
from rolecall.errors import DocumentError, UnknownName

HAND = "written by hand"
TEMPLATE = "the template"
_ABOUT = {"section": "told", "journal": "the turn's journal line", "fold": "folded", "chronicle": "a fold"}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one line comes from. `by` is the model, `rolecall` where no model was in it, "the template" or "written by hand"."""

    line: int
    text: str
    by: str
    turn: str = ""
    phase: str = ""
    op: str = ""
    reason: str = ""
    source: str = ""

    def to_json(self) -> dict:
        """The object `why --json` prints."""
        return asdict(self)


def why(campaign: Campaign, path: str, line: int | None, *, with_secrets: bool = False) -> list[Origin]:
    """The origin of a line, or of every line of the file that has text; secret lines only with secrets."""
    if not campaign.exists(path):
        raise UnknownName(f"there is no file {path!r} in the campaign", remedy="name it as `rolecall list` does")
    data = campaign.read(path)
    rows = data.decode("utf-8", "replace").split("\n")
    if line is not None and not 1 <= line <= len(rows):
        raise UnknownName(f"{path} has {len(rows)} lines", remedy="name one of them")
    hidden = set() if with_secrets else secret_lines(campaign, path)
    wanted = [line] if line is not None else [n for n, row in enumerate(rows, 1) if row.strip()]
    known = _writes(campaign, path)
    found = [_origin(campaign.root, n, rows[n - 1], known) for n in wanted if n not in hidden]
    return _with_template(path, _with_commits(campaign.root, path, found, line))


def _with_template(path: str, found: list[Origin]) -> list[Origin]:
    """The origins, those that nobody has a record of taken from the template, where it has that very line in that file."""
    place = template_folder() / path
    if not place.is_file() or all(origin.by != HAND for origin in found):
        return found
    shipped = set(place.read_text("utf-8").splitlines()) - {"", "---"}
    return [replace(one, by=TEMPLATE) if one.by == HAND and one.text in shipped else one for one in found]


def _with_commits(root: Path, path: str, found: list[Origin], line: int | None) -> list[Origin]:
    """The origins, those that no record knows taken from git, unless the turn's record is here and knows better."""
    if all(origin.by != HAND or not origin.text.strip() for origin in found):
        return found
    commits = blame.commits_of(root, path, line)
    told = []
    for origin in found:
        commit = commits.get(origin.line) if origin.by == HAND and origin.text.strip() else None
        if commit and not (commit.turn and _has_record(root, commit.turn)):
            reason = f"commit {commit.id}: {commit.subject}"
            origin = replace(origin, by=commit.models or "rolecall", turn=commit.turn, op="commit", reason=reason)
        told.append(origin)
    return told


def _has_record(root: Path, turn: str) -> bool:
    return records.begun(root, f"{records.TURNS}/{turn}") is not None


def secret_lines(campaign: Campaign, path: str) -> set[int]:
    """The lines of a file that the player may not see; all of them where that cannot be told."""
    rows = campaign.read(path).split(b"\n")
    try:
        document: Document = campaign.document(path)
        sections = document.sections
    except DocumentError:
        return set(range(1, len(rows) + 1))
    if secrets.is_secret_path(path, document.fields):
        return set(range(1, len(rows) + 1))
    hidden: set[int] = set()
    if document.block:
        pairs = document.block.pairs()
        starts = [key.line + 2 for key, _ in pairs] + [document.body_line]
        for (key, value), start, end in zip(pairs, starts, starts[1:], strict=False):
            hidden |= set(range(start, end)) if secrets.is_secret_field(key.value) else _secret_in(value, start, end)
    shown = set(secrets.open_sections(document))
    for section, after in zip(sections, [*sections[1:], None], strict=True):
        if section not in shown:
            hidden |= set(range(section.line, after.line if after else len(rows) + 1))
    return hidden


def _secret_in(node: Node, start: int, end: int) -> set[int]:
    """The lines of a field that hold something secret inside: the items it stands in, the whole field where it is no list."""
    if not _holds_secret(node):
        return set()
    if node.kind != "seq":
        return set(range(start, end))
    lines = [*(item.line + 2 for item in node.value), end]
    spans = [range(at, max(after, at + 1)) for at, after in pairwise(lines)]
    return {line for item, span in zip(node.value, spans, strict=True) if _holds_secret(item) for line in span}


def _holds_secret(node: Node) -> bool:
    if node.kind == "map":
        return any(secrets.is_secret_field(key.value) or _holds_secret(value) for key, value in node.value)
    return node.kind == "seq" and any(map(_holds_secret, node.value))


def _writes(campaign: Campaign, path: str) -> list[dict]:
    """Every recorded write of that file that stands, the newest first."""
    found: list[dict] = []
    for folder in reversed(records.folders(campaign.root)):
        plan = next((line for line in records.lines(campaign.root, folder) if line["do"] == "plan"), {})
        for write in reversed(records.writes(campaign.root, folder)):
            if write["path"] == path:
                found.append({"model": plan.get("model", ""), "folder": folder, **write})
    for folder in reversed(records.others(campaign.root)):
        found += [{"folder": folder, **w} for w in reversed(records.writes(campaign.root, folder)) if w["path"] == path]
    return found


def _origin(root: Path, number: int, row: str, known: list[dict]) -> Origin:
    text = row.rstrip("\r")
    if text.strip():
        for write in known:
            if _put_there(root, text, write):
                reason = write.get("reason") or _ABOUT.get(write["op"], write["op"])
                turn = turn_id(write["turn"]) if write.get("turn") else ""
                by = write.get("model") or "rolecall"
                phase = write.get("phase") or ("during-gen" if turn else "")
                return Origin(number, text, by, turn, phase, write["op"], reason, write.get("source", ""))
    return Origin(number, text, HAND)


def _put_there(root: Path, text: str, write: dict) -> bool:
    """Whether a write put this line there: it is one of the whole lines it made, and was none of those it found."""
    after = records.version(root, write["folder"], write)
    if after is not None:
        before = records.unsplice(after, write).decode("utf-8", "replace").splitlines()
        return text in after.decode("utf-8", "replace").splitlines() and text not in before
    new = records.unpacked(write["new"]).decode("utf-8", "replace").split("\n")
    old = records.unpacked(write["old"]).decode("utf-8", "replace").split("\n")
    if text in new[1:-1] or (text == new[0] and write["at"] == 0):
        return text not in old
    # The first and last line of a splice hold only what differs: enough of it must stand in the line.
    ends = [part.rstrip("\r") for part in (new[0], new[-1]) if len(part.strip()) >= 8]
    return any(part in text and not any(part in row for row in old) for part in ends)

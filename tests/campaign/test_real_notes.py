"""A thousand notes by strangers: all are read, the broken ones are refused by name, and every edit can be taken back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rolecall.campaign import checks, documents, kinds, records, template, views
from rolecall.errors import DocumentError

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
BROKEN = {
    *(f"assets/templates/{name}-create.md" for name in ("encounter", "group", "location-area", "location", "location-shop")),
    *(f"assets/templates/{name}.md" for name in ("npc-create", "session-create", "statblock-create", "waterdeep-new-day")),
    *(f"assets/templates/{name}.md" for name in ("waterdeep-session", "witchlight-session")),
}  # fmt: skip

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the collections of real notes are not here")


def notes(name: str) -> list[tuple[str, bytes]]:
    root = DATA / name
    return [(p.relative_to(root).as_posix(), p.read_bytes()) for p in sorted(root.rglob("*.md"))]


def edits_that_can_be_taken_back(path: str, data: bytes) -> None:
    document = documents.parse(data, path)
    for key, value in document.fields.items():
        if isinstance(value, str):
            assert documents.set_field(data, path, key, value) == data
    longer = data + documents.append(data, "- a last line", document.newline)
    assert longer.startswith(data) and documents.parse(longer, path).fields == document.fields
    grown = documents.append_to_section(data, path, "What the turn said", "- T0001 a", create=2)
    assert grown.startswith(data)
    marked = documents.set_field(data, path, "rolecall_mark", "x: y")
    assert documents.parse(marked, path).body == document.body
    for new in (longer, grown, marked):
        assert records.unsplice(new, {"path": path, **records.splice(data, new)}) == data


def test_every_page_of_a_rulebook_is_read_shown_and_edited():
    pages = notes("srd5")
    assert len(pages) == 1028
    for path, data in pages:
        document = documents.parse(data, path)
        assert views.text(document) and kinds.kind_of(path, document.fields) in kinds.KINDS
        assert document.data[document.body_start :].decode() == "".join(
            data[s.start : s.own_end].decode() for s in document.sections
        )
        edits_that_can_be_taken_back(path, data)


def test_of_a_vault_exactly_the_broken_notes_are_refused_each_in_one_helpful_line():
    refused = {}
    for path, data in notes("vault"):
        try:
            documents.parse(data, path)
        except DocumentError as error:
            refused[path] = error
        else:
            edits_that_can_be_taken_back(path, data)
    assert set(refused) == BROKEN
    for path, error in refused.items():
        assert str(error).startswith(f"{path}:{error.line}: ") and "\n" not in str(error)
        assert error.remedy and error.line >= 2


def test_an_adopted_vault_is_checked_without_a_note_being_changed(tmp_path):
    place = tmp_path / "vault"
    shutil.copytree(DATA / "vault", place)
    campaign = template.adopt(place)
    problems = checks.check(campaign)
    assert {p.path for p in problems if p.rule == "front-matter"} == BROKEN
    assert all(p.line and p.message and p.remedy for p in problems)
    for path, data in notes("vault"):
        assert (place / path).read_bytes() == data

"""The schemas that editors use say what the kinds say, and call nothing wrong that RoleCall reads."""

from __future__ import annotations

import re
from pathlib import Path

import fastjsonschema
import pytest
import yaml

from rolecall.campaign import kinds, schemas
from rolecall.campaign.kinds import ENTRY_KINDS
from tests.conftest import REPOSITORY

TEMPLATE = REPOSITORY / "workspace_template"
SHIPPED = [
    path
    for root in (TEMPLATE, REPOSITORY / "examples" / "the-broken-anchor")
    for kind in ENTRY_KINDS.values()
    for path in sorted((root / kind.folder).glob("*.md"))
]


class Editor(yaml.SafeLoader):
    """YAML as editors read it (1.2): no dates, so that `1492-13-28` is a text."""


Editor.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if not pair[0].endswith(":timestamp")]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def test_the_template_ships_a_schema_of_each_kind_in_step_with_the_code():
    """After a change of `kinds`, write `schemas.files()` into `workspace_template/` again."""
    shipped = {p.relative_to(TEMPLATE).as_posix(): p.read_bytes() for p in (TEMPLATE / "schemas").iterdir()}
    assert shipped == schemas.files()
    assert len(shipped) == 11


@pytest.mark.parametrize("kind", ENTRY_KINDS)
def test_a_schema_knows_every_field_of_its_kind_and_forbids_no_other(kind):
    schema = schemas.schema_of(kind)
    assert set(schema["properties"]) == {*kinds.COMMON, *ENTRY_KINDS[kind].fields}
    fastjsonschema.compile(schema)({"name": "X", "shoe size": 44})
    assert schema["properties"]["kind"]["enum"] == [kind]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_entry_is_right_by_its_schema_as_an_editors_yaml_reads_it(path: Path):
    block = yaml.load(re.match(r"---\n(.*?\n)---\n", path.read_text("utf-8"), re.S)[1], Editor)
    kind = block.get("kind") or next(k.name for k in ENTRY_KINDS.values() if k.folder == path.parent.name)
    fastjsonschema.compile(schemas.schema_of(kind))(block)


@pytest.mark.parametrize(
    "block",
    [
        "name: X\nage: 30\nlocation: [[Greywater]]\npinned: yes\nstatus:\n",
        "name: X\naliases: Ann, Bo\nrelationships:\n  - Sera\n  - {with: [[Sera]], nature: friend}\n",
        "name: 1492\ndate: 1492-12-01\nparticipants:\n  - [[Sera]]\n",
    ],
)
def test_what_writers_type_loosely_is_right_too(block):
    value = yaml.load(block, Editor)
    for kind in ("character", "event"):
        fastjsonschema.compile(schemas.schema_of(kind))(value)


@pytest.mark.parametrize(
    "block",
    [{}, {"name": {"a": 1}}, {"name": "X", "relationships": {"with": "Sera"}}, {"name": "X", "kind": "spaceship"}],
)
def test_a_slip_is_marked(block):
    with pytest.raises(fastjsonschema.JsonSchemaException):
        fastjsonschema.compile(schemas.schema_of("character"))(block)

"""What the tests of the exchange share: importing by the command a user types, and what the campaign holds after it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.campaign.documents import Document, parse
from tests.conftest import Ran
from tests.exchange import foreign


@pytest.fixture
def take(rolecall: Callable[..., Ran], campaign: Path, tmp_path: Path) -> Callable[..., dict]:
    """Import a file (bytes or a value as JSON, written under a name; or a path) and give the JSON receipt of it."""

    def run(what: object, name: str = "given.json", *options: str) -> dict:
        place = what if isinstance(what, Path) else foreign.write(tmp_path / name, what)
        ran = rolecall("-C", campaign, "import", place, "--json", *options)
        assert ran.code == 0, ran.err
        return json.loads(ran.out)["imports"][0]

    return run


@pytest.fixture
def made(campaign: Path) -> Callable[[dict, str], Document]:
    """The file that an import made of what is called so."""

    def find(receipt: dict, name: str) -> Document:
        path = next(row["path"] for row in receipt["made"] if row["name"] == name)
        return parse((campaign / path).read_bytes(), path)

    return find


def tree(root: Path) -> dict[str, bytes]:
    """Every file of a campaign but the machine's own."""
    found = (p for p in root.rglob("*") if p.is_file() and ".rolecall" not in p.parts)
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in found}

"""Files of strangers: every lorebook, card and vault at hand comes in, nothing of it is lost, nothing is counted twice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rolecall.campaign import checks
from rolecall.campaign.documents import parse
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.text import clean, fold
from tests.conftest import SHARED
from tests.exchange.conftest import tree

BOOKS = sorted((SHARED / "lorebooks_novelai").glob("*.*")) if SHARED.is_dir() else []
CARDS = sorted(p for p in (SHARED / "cards").rglob("*.*") if p.is_file()) if SHARED.is_dir() else []
# What each broken one says.
BROKEN = {
    "2022-10-17_9e355b47_Ripple_(Mon_Oct_17_2022).lorebook": ":56: broken JSON",
    "2022-10-18_543003b9_lorebook.json": "no export that is known",
    "2022-10-18_560dc44b_generated_lorebook.lorebook": "no export that is known",
    "2022-10-26_f142fab6_lorebook_generated.lorebook": "nothing in it",
    "2022-10-27_2a3c5ef2_New_Story_(Wed_Oct_26_2022).lorebook": "nothing in it",
    "DERIVED_entries_is_a_string.lorebook": "`entries` of the lorebook is a text",
    "invalid.json": ":1: broken JSON",
    "invalid_missing_name.json": "no `name`",
}
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the strangers' files are not here")


def strings(value: object) -> Iterator[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(one)


@needs_shared
@pytest.mark.parametrize("place", [*BOOKS, *CARDS], ids=lambda p: p.name)
def test_a_file_of_a_stranger_comes_in_whole_or_says_why_not(place: Path, rolecall: Callable, campaign: Path):
    before = tree(campaign)
    ran = rolecall("-C", campaign, "import", place, "--json")
    if place.name in BROKEN:
        assert ran.code == 1 and BROKEN[place.name] in ran.err and ran.err.count("\n") == 1
        assert tree(campaign) == before
        return
    assert ran.code == 0, ran.err
    receipt = json.loads(ran.out)["imports"][0]
    after = tree(campaign)
    assert after[f"{receipt['folder']}/{place.name}"] == place.read_bytes()
    assert {path: after[path] for path in before} == before
    made = {row["path"] for row in receipt["made"]}
    assert len(made) == len(receipt["made"])
    new = set(after) - set(before)
    assert new == made | {f"{receipt['folder']}/{name}" for name in (place.name, "entries.json", "receipt.md")}
    found = [p for p in checks.check(open_campaign(campaign)) if p.path in new]
    assert {p.rule for p in found} <= {
        "name-twice",
        "alias-twice",
    }  # two entries of one name stay two, and that is told
    said = after[f"{receipt['folder']}/receipt.md"].decode()
    assert all(path in said.replace("%20", " ") for path in list(made)[:200])


@needs_shared
@pytest.mark.parametrize("place", [p for p in BOOKS if p.name not in BROKEN], ids=lambda p: p.name)
def test_every_entry_of_a_book_is_a_file_or_set_aside_and_its_text_keys_and_flags_are_found(place, take, campaign):
    receipt = take(place)
    entries = json.loads(place.read_bytes())["entries"]
    assert len(entries) == len(receipt["made"]) + len(receipt["set_aside"])
    kept = json.loads((campaign / receipt["folder"] / "entries.json").read_bytes())
    rows = {row["at"]: row for row in kept["made"]}
    for number, entry in enumerate(entries):
        row = rows.get(f"entries/{number}")
        if row is None:
            assert not entry.get("text", "").strip()
            continue
        data = (campaign / row["path"]).read_text("utf-8")
        assert clean(entry["text"]).rstrip() in data
        assert {key.strip() for key in entry["keys"] or () if key.strip()} == set(row["keys"])
        assert {**row["fields"], "text": entry["text"]} == entry
        assert ("pinned: true" in data) == bool(entry.get("forceActivation"))
        assert ("\nforgotten: " in data) == (not entry.get("enabled", True))
        fields = parse(data.encode(), row["path"]).fields
        shown = {fold(key) for name in ("aliases", "keys", "keys_regex") for key in fields.get(name, ())}
        assert {fold(key) for key in row["keys"][:100]} - shown <= {fold(row["name"])}


@needs_shared
@pytest.mark.parametrize("place", [p for p in CARDS if p.name not in BROKEN], ids=lambda p: p.name)
def test_every_text_of_a_card_is_in_its_file_or_named_in_the_receipt(place, take, campaign):
    from rolecall.exchange import formats

    receipt = take(place)
    _, parcel = formats.load(place)
    assert parcel.count == len(receipt["made"]) + len(receipt["set_aside"])
    said = (campaign / receipt["folder"] / "receipt.md").read_text("utf-8")
    for card in parcel.cards:
        fields = card.raw["data"]
        row = next(row for row in receipt["made"] if row["at"] == card.at)
        data = (campaign / row["path"]).read_text("utf-8")
        for key in ("description", "personality", "scenario", "first_mes", "mes_example", "alternate_greetings"):
            for text in strings(fields.get(key)):
                assert clean(text).strip() in data, key
        for key, word in (("system_prompt", "system prompt"), ("creator_notes", "creator's notes")):
            assert not fields.get(key) or word in said


@needs_shared
@pytest.mark.parametrize("name", ["vault", "srd5"])
def test_a_vault_comes_in_note_by_note_byte_for_byte(name: str, take, rolecall, campaign):
    place = SHARED / name
    receipt = take(place)
    notes = {p.relative_to(place).as_posix(): p.read_bytes() for p in place.rglob("*.md")}
    assert {row["at"] for row in receipt["made"]} == set(notes) and receipt["set_aside"] == []
    for row in receipt["made"]:
        assert (campaign / row["path"]).read_bytes() == notes[row["at"]], row
        assert (campaign / receipt["folder"] / "files" / row["at"]).read_bytes() == notes[row["at"]]
    listed = json.loads(rolecall("-C", campaign, "list", "--json").out)
    assert {row["path"] for row in receipt["made"]} - {row["path"] for row in listed} <= withheld(receipt)
    name, words = {"vault": ("Varadras", "manor"), "srd5": ("Aboleth", "aberration")}[name]
    hits = json.loads(rolecall("-C", campaign, "search", f"{name} {words}", "--json").out)
    assert any(name.casefold() in hit["path"] for hit in hits) or any(name in hit["name"] for hit in hits)


def withheld(receipt: dict) -> set[str]:
    """The files of an import whose front matter is broken."""
    names = {m[1] for note in receipt["notes"] if (m := re.match(r"(.+): its front matter is broken", note))}
    return {row["path"] for row in receipt["made"] if row["name"] in names}

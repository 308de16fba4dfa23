"""Import, export, import: every file of strangers that there is, and generated ones, field by field."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecall.campaign import template
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.redaction import players
from rolecall.campaign.text import clean
from rolecall.errors import ExchangeError
from rolecall.exchange import cardmaking, exporting, formats, importing, planning, selection
from rolecall.exchange.book import POSITIONS, Entry
from rolecall.exchange.card import Parcel
from tests.campaign.writing import bounded
from tests.exchange import foreign
from tests.exchange.test_generated_files import anything, texts
from tests.exchange.test_real_files import BOOKS, BROKEN, CARDS, SHARED, needs_shared

KNOWN = {"order", "depth", "probability", "position", "sticky", "group_weight", "scan_depth"}
GOOD = [place for place in (*BOOKS, *CARDS) if place.name not in BROKEN]


def brought_in(root: Path, data: bytes, name: str = "given.json") -> tuple[Campaign, str]:
    """A campaign that imported a file, and the import's folder."""
    campaign = template.new(root / "tale", "The Tale")
    parcel = formats.parcel(data, Path(name))
    plan = planning.plan(parcel, name, data, taken=lambda path: campaign.exists(path), names=())
    importing.make(campaign.root, plan)
    return players(open_campaign(campaign.root)), plan.folder


def neutral(entry: Entry, *, rules: bool) -> tuple:
    """What an entry says in every program."""
    pattern = [key if not entry.regex or key.startswith("/") else f"/{key}/" for key in entry.keys]
    told = (entry.title.strip(), entry.text, tuple(pattern), entry.secondary, entry.constant)
    return (*told, entry.logic, entry.enabled) if rules else told


def read(data: bytes) -> Parcel:
    return formats.parcel(data, Path("again.json"))


def entries(parcel: Parcel) -> list[Entry]:
    return [entry for book in parcel.books for entry in book.entries]


# -- strangers'


@needs_shared
@pytest.mark.parametrize("place", GOOD, ids=lambda p: p.name)
def test_a_strangers_file_goes_through_every_format_that_can_hold_it(place: Path, tmp_path: Path):
    data = place.read_bytes()
    campaign, folder = brought_in(tmp_path, data, place.name)
    parcel, value = formats.load(place)[1], formats.value(data, place)
    if there := entries(parcel):
        world = read(exporting.lorebook(campaign, "sillytavern-lorebook", [folder]).data)
        assert [neutral(e, rules=True) for e in entries(world)] == [neutral(e, rules=True) for e in there]
        for old, new in zip(there, entries(world), strict=True):
            assert {
                k: v for k, v in old.rules.items() if k in KNOWN and (k != "position" or v in POSITIONS)
            }.items() <= new.rules.items()
        risu = read(exporting.lorebook(campaign, "risuai", [folder]).data)
        third = read(exporting.lorebook(campaign, "lorebook-v3", [folder]).data)
        assert third.format == "a V3 lorebook"
        assert [neutral(e, rules=True) for e in entries(third)] == [neutral(e, rules=True) for e in there]
        on = [e for e in there if e.enabled and not any("," in key for key in e.keys)]
        again = {neutral(e, rules=False) for e in entries(risu)}
        assert {neutral(e, rules=False) for e in on} <= again and len(entries(risu)) == sum(e.enabled for e in there)
    if parcel.cards:
        (card,) = parcel.cards
        version = 3 if value.get("spec") == "chara_card_v3" else 2
        picture = data if data.startswith(foreign.SIGNATURE) else None
        made = exporting.card(campaign, f"card-v{version}", [folder], form="png" if picture else "json", picture=None)
        if "spec" in value:
            assert formats.value(made.data, place) == value
        else:
            assert value["data"].items() <= formats.value(made.data, place)["data"].items()
        other = exporting.card(campaign, f"card-v{5 - version}", [folder], form="png", picture=None)
        whole = formats.value(other.data, place)
        assert whole["spec"] == f"chara_card_v{5 - version}" and value["data"].items() <= whole["data"].items()
        (again,) = read(other.data).cards
        for name in (*cardmaking.FIELDS, "nickname", "creator"):
            assert getattr(again, name) == getattr(card, name)
        assert [e.raw for e in entries(read(other.data))] == [e.raw for e in there]


def test_there_are_strangers_files_of_every_sort_or_none():
    if SHARED.is_dir():
        assert len(GOOD) >= 24


# -- generated

written = texts.filter(lambda t: clean(t).strip())
flags = st.booleans() | st.sampled_from(["true", 0, 1, None])
world_rows = st.fixed_dictionaries(
    {"content": texts, "key": st.lists(texts, max_size=4) | texts},
    optional={"comment": texts, "keysecondary": st.lists(texts, max_size=3), "constant": flags, "disable": flags, "selective": flags,
              "selectiveLogic": st.integers(-1, 4), "position": st.integers(-1, 9) | texts, "order": anything, "probability": anything,
              "group": texts, "role": anything, "uid": anything, "extensions": anything, "odd": anything},
)  # fmt: skip
book_rows = st.fixed_dictionaries(
    {"content": texts, "keys": st.lists(texts, max_size=4)},
    optional={"comment": texts, "name": texts, "secondary_keys": st.lists(texts, max_size=3), "constant": flags, "enabled": flags,
              "selective": flags, "use_regex": flags, "insertion_order": anything, "extensions": anything, "id": anything,
              "position": anything, "odd": anything},
)  # fmt: skip
risu_rows = st.fixed_dictionaries(
    {"content": texts, "key": texts},
    optional={"comment": texts, "secondkey": texts, "alwaysActive": flags, "selective": flags, "useRegex": flags, "folder": texts,
              "mode": st.sampled_from(["multiple", "constant", "normal", "child", "folder"]), "insertorder": anything, "extentions": anything,
              "odd": anything},
)  # fmt: skip
ids = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
worlds = st.dictionaries(ids, world_rows, min_size=1, max_size=5).flatmap(
    lambda rows: st.dictionaries(texts, anything, max_size=3).map(lambda more: {**more, "entries": rows})
)
risus = st.lists(risu_rows, min_size=1, max_size=5).map(lambda rows: {"type": "risu", "ver": 1, "data": rows})
books = st.lists(book_rows, max_size=4).map(lambda rows: {"entries": rows})
cards = st.builds(
    lambda fields, book, top, version: {
        **top, "spec": f"chara_card_v{version}", "spec_version": "x", "data": {**fields, **({"character_book": book} if book["entries"] else {})}
    },
    st.fixed_dictionaries(
        {"name": written, "description": texts},
        optional={"personality": texts, "scenario": texts, "first_mes": texts, "mes_example": texts, "tags": st.lists(texts, max_size=3),
                  "alternate_greetings": st.lists(texts, max_size=3), "nickname": texts, "creator": texts, "extensions": anything, "odd": anything},
    ),
    books,
    st.dictionaries(texts, anything, max_size=2),
    st.sampled_from([2, 3]),
)  # fmt: skip


def imported(value: object) -> tuple[Campaign, str] | None:
    """The value imported into a new campaign; None when it is refused, or there is nothing in it."""
    data = json.dumps(value).encode()
    root = Path(tempfile.mkdtemp(dir=imported.place))
    try:
        parcel = formats.parcel(data, Path("given.json"))
        return brought_in(root, data) if parcel.count > len(parcel.set_aside) else None
    except ExchangeError:
        return None


@pytest.fixture(autouse=True)
def _place(tmp_path_factory: pytest.TempPathFactory):
    imported.place = tmp_path_factory.mktemp("generated")


few = settings(bounded, max_examples=40)


@few
@given(worlds)
def test_a_generated_world_info_goes_back_field_for_field(value):
    if held := imported(value):
        assert json.loads(exporting.lorebook(held[0], "sillytavern-lorebook", [held[1]]).data) == value


@few
@given(risus)
def test_a_generated_risu_lorebook_goes_back_field_for_field(value):
    if held := imported(value):
        assert json.loads(exporting.lorebook(held[0], "risuai", [held[1]]).data) == value


@few
@given(cards, st.sampled_from(["json", "png", "charx"]))
def test_a_generated_card_goes_back_field_for_field(value, form):
    if held := imported(value):
        version = value["spec"][-1]
        made = exporting.card(held[0], f"card-v{version}", [held[1]], form=form, picture=None)
        assert formats.value(made.data, Path("x")) == value


@few
@given(books, st.booleans())
def test_a_generated_v3_lorebook_goes_back_field_for_field_and_a_book_by_itself_becomes_one(book, alone):
    value = {"odd": 1, **book} if alone else {"spec": "lorebook_v3", "data": {"name": "B", **book}}
    if held := imported(value):
        made = json.loads(exporting.lorebook(held[0], "lorebook-v3", [held[1]]).data)
        if not alone:
            assert made == value
        else:
            rows = [{**row, "use_regex": row.get("use_regex", False)} for row in value["entries"]]
            assert made == {"spec": "lorebook_v3", "data": {"extensions": {}, "odd": 1, "entries": rows}}


@few
@given(cards)
def test_the_entries_of_a_generated_card_say_the_same_in_a_world_info(value):
    if (held := imported(value)) and (there := entries(read(json.dumps(value).encode()))):
        try:
            world = read(exporting.lorebook(held[0], "sillytavern-lorebook", [held[1]]).data)
        except ExchangeError as error:
            assert "nothing to export" in str(error)
            return
        assert [neutral(e, rules=True) for e in entries(world)] == [neutral(e, rules=True) for e in there]


def test_a_whole_campaign_goes_out_and_comes_in_again(example: Path, tmp_path: Path):
    seen = players(open_campaign(example))
    stock = selection.stock(seen)
    told = [item.now for item in stock.all_items()]
    again = entries(read(exporting.lorebook(seen, "sillytavern-lorebook", []).data))
    assert [neutral(e, rules=True) for e in again] == [neutral(e, rules=True) for e in told] and len(told) > 30

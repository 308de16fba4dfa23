"""Exports: what was imported goes back as it came, a change changes only that, and nobody's file is overwritten."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.campaign import checks, documents
from rolecall.campaign.folder import open_campaign
from rolecall.exchange import formats, png
from tests.conftest import Ran
from tests.exchange import foreign
from tests.exchange.conftest import tree

WORLD = foreign.world(
    {"comment": "Sera Vane", "content": "A smuggler.\n", "key": ["Sera", "/gull,s?/i", " smuggler "], "constant": True,
     "order": 7, "extensions": {"odd": [1, None]}, "unknown": "kept"},
    {"comment": "", "content": "Grey water.", "key": "sea, quay", "disable": True, "probability": 30},
    {"comment": "Set aside", "content": " ", "key": []},
    originalData={"entries": ["x"]}, more=1.5,
)  # fmt: skip
RISU = {
    "type": "risu", "ver": 1, "odd": True,
    "data": [
        {"key": "\uf000folder:1", "comment": "Places", "mode": "folder", "content": ""},
        {"key": "quay, port", "comment": "The Quay", "content": "Wet.", "mode": "normal", "insertorder": 3, "folder": "\uf000folder:1",
         "alwaysActive": False, "selective": False, "secondkey": "", "loreCache": {"k": 1}},
        {"key": "/b.t/i", "comment": "Bats", "content": "Small.", "useRegex": True, "alwaysActive": True, "mode": "constant"},
    ],
}  # fmt: skip
ROW = {"id": 4, "keys": ["quay"], "comment": "Quay", "content": "Wet.", "enabled": True, "insertion_order": 9,
       "extensions": {"depth": 2, "odd": "x"}}  # fmt: skip
CARD = foreign.card(
    character_book={"name": "B", "extensions": {}, "entries": [ROW, {**ROW, "id": 5, "content": "Cold."}]}
)

V3_BOOK = {
    "spec": "lorebook_v3", "odd": 1,
    "data": {"name": "Quay", "extensions": {"a": 1}, "scan_depth": 3, "entries": [{**ROW, "use_regex": False}, {**ROW, "id": 5, "content": "Cold."}]},
}  # fmt: skip
V3_CARD = {**CARD, "spec": "chara_card_v3", "spec_version": "3.0"}


@pytest.fixture
def export(rolecall: Callable[..., Ran], campaign: Path, tmp_path: Path) -> Callable[..., bytes]:
    """Export to a new file by the command a user types; its bytes."""
    made = []

    def run(format_: str, *names: str, ending: str = "json", options: tuple = ()) -> bytes:
        place = tmp_path / f"out-{len(made)}.{ending}"
        made.append(place)
        ran = rolecall("-C", campaign, "export", format_, *names, "-o", place, *options)
        assert ran.code == 0, ran.err
        return place.read_bytes()

    return run


def edit(campaign: Path, path: str, old: bytes, new: bytes) -> None:
    data = (campaign / path).read_bytes()
    assert data.count(old) == 1
    (campaign / path).write_bytes(data.replace(old, new))


def path_of(receipt: dict, at: str) -> str:
    return next(row["path"] for row in receipt["made"] if row["at"] == at)


# -- unchanged: field for field


@pytest.mark.parametrize(
    ("value", "format_"),
    [(WORLD, "sillytavern-lorebook"), (RISU, "risuai"), (CARD, "card-v2"), (V3_BOOK, "lorebook-v3")],
)
def test_what_nobody_changed_goes_back_as_it_came(value, format_, take, export):
    receipt = take(value)
    assert json.loads(export(format_, receipt["folder"])) == value


def test_a_card_in_a_png_goes_back_with_its_picture_and_every_field(take, export):
    whole = {**CARD, "spec": "chara_card_v3", "spec_version": "3.0", "create_date": "now"}
    receipt = take(foreign.png(foreign.plain("chara", {"old": 1}), foreign.squeezed("ccv3", whole)), "card.png")
    data = export("card-v3", receipt["folder"], ending="png")
    assert png.card(data, "") == whole
    kinds = [kind for kind, _ in png.chunks(data, "")]
    assert kinds == [b"IHDR", b"IDAT", b"tEXt", b"tEXt", b"IEND"]  # the old texts are gone, the pixels are there
    assert foreign.png()[33:-12] in data


def test_a_card_in_a_zip_goes_back_with_all_that_lay_beside_it_but_a_copy_of_the_lore(take, export):
    whole = {
        **V3_CARD,
        "data": {
            **V3_CARD["data"],
            "assets": [{"type": "icon", "uri": "embeded://assets/icon/images/a.png", "name": "main", "ext": "png"}],
        },
    }
    members = {
        "assets/icon/images/a.png": foreign.png(),
        "card.json": json.dumps(whole).encode(),
        "module.risum": b"o\0lore",
    }
    receipt = take(foreign.zipped(members), "card.charx")
    data = export("card-v3", receipt["folder"], ending="charx")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert json.loads(archive.read("card.json")) == whole
        assert {n: archive.read(n) for n in archive.namelist() if n != "card.json"} == {
            "assets/icon/images/a.png": foreign.png()
        }
    assert data == export("card-v3", receipt["folder"], ending="charx")  # byte for byte, whenever it is packed
    assert formats.parcel(data, Path("again.charx")).format.endswith("in a .charx")


def test_a_picture_goes_into_a_zip_as_the_cards_icon(take, export, tmp_path):
    take(foreign.png(foreign.plain("ccv3", V3_CARD)), "card.png")
    mine = foreign.write(tmp_path / "mine.png", foreign.png(foreign.plain("odd", {})))
    for options, picture in (((), None), (("--picture", mine), mine.read_bytes())):
        data = export("card-v3", ending="charx", options=options)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            shown, card = archive.read("assets/icon/images/main.png"), json.loads(archive.read("card.json"))
        assert shown == picture or picture is None
        assert card["data"]["assets"] == [
            {"type": "icon", "uri": "embeded://assets/icon/images/main.png", "name": "main", "ext": "png"}
        ]
        assert {k: v for k, v in card["data"].items() if k != "assets"} == V3_CARD["data"]


def test_a_changed_v3_lorebook_changes_only_there_and_a_cards_book_stands_alone(campaign, take, export):
    receipt = take(V3_BOOK)
    edit(campaign, path_of(receipt, "data/entries/0"), b"Wet.", b"Wetter.")
    wanted = copy.deepcopy(V3_BOOK)
    wanted["data"]["entries"][0]["content"] = "Wetter."
    assert json.loads(export("lorebook-v3", receipt["folder"])) == wanted
    book = json.loads(export("lorebook-v3", take(CARD, "card.json")["folder"]))
    rows = [{**row, "use_regex": False} for row in CARD["data"]["character_book"]["entries"]]
    assert book["spec"] == "lorebook_v3" and book["data"]["name"] == "B"
    assert [{**row, "id": 0} for row in book["data"]["entries"]] == [{**row, "id": 0} for row in rows]


def test_an_entry_among_others_keeps_every_field_but_its_number(take, export):
    take(WORLD)
    rows = json.loads(export("sillytavern-lorebook"))["entries"].values()
    for own in (WORLD["entries"]["0"], WORLD["entries"]["1"]):
        assert sum({**row, "uid": own["uid"]} == own for row in rows) == 1
    assert len({row["uid"] for row in rows}) == len(rows) > 5


def test_rows_in_a_folder_of_risuais_bring_their_folder_along(take, export):
    take(RISU)
    rows = json.loads(export("risuai", "locations/the-quay.md"))["data"]
    assert rows == RISU["data"][:2]


# -- changed: only that


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        (b"A smuggler.\n", b"A captain.\n", "content", "A captain."),
        (b"name: Sera Vane", b"name: Sera Varr", "comment", "Sera Varr"),
        (b"pinned: true\n", b"", "constant", False),
        (b"kind: ", b"forgotten: she left\nkind: ", "disable", True),
        (b"  - smuggler\n", b"  - smuggler\n  - cutter\n", "key", ["Sera", "/gull,s?/i", "smuggler", "cutter"]),
    ],
)
def test_a_changed_entry_of_a_world_info_changes_only_there(campaign, take, export, old, new, field, value):
    receipt = take(WORLD)
    edit(campaign, path_of(receipt, "entries/0"), old, new)
    wanted = copy.deepcopy(WORLD)
    del wanted["originalData"]  # else SillyTavern would take the old text from there
    wanted["entries"]["0"][field] = value
    assert json.loads(export("sillytavern-lorebook", receipt["folder"])) == wanted


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (b"Wet.\n", b"Dry.\n", {"content": "Dry."}),
        (b"name: The Quay", b"name: Quay", {"comment": "Quay"}),
        (b"  - port\n", b"", {"key": "quay"}),
        (b"kind: ", b"pinned: true\nkind: ", {"alwaysActive": True, "mode": "constant"}),
    ],
)
def test_a_changed_entry_of_a_risu_lorebook_changes_only_there(campaign, take, export, old, new, changes):
    receipt = take(RISU)
    edit(campaign, path_of(receipt, "data/1"), old, new)
    wanted = copy.deepcopy(RISU)
    wanted["data"][1] |= changes
    if "key" in changes:
        wanted["data"][1]["useRegex"] = False
    assert json.loads(export("risuai", receipt["folder"])) == wanted


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        (b"Dry, loyal.", b"Tired.", "personality", "Tired."),
        (b"Sit.", b"Sit.\n\n***\n\nOut.", "alternate_greetings", ["Not you again.", "Sit.", "Out."]),
        (b"A smuggler with a limp.", b"Retired.", "description", "Retired."),
        (b"  - smuggler\n", b"  - smuggler\n  - old\n", "tags", ["smuggler", "old"]),
    ],
)
def test_a_changed_card_changes_only_there_and_in_its_v1_copy(campaign, take, export, old, new, field, value):
    whole = {**copy.deepcopy(CARD), "personality": "Dry, loyal.", "description": "an older one"}
    receipt = take(whole)
    edit(campaign, path_of(receipt, "data"), old, new)
    whole["data"][field] = value
    if field in whole:
        whole[field] = value
    assert json.loads(export("card-v2", receipt["folder"])) == whole


def test_a_changed_entry_of_a_cards_book_changes_only_there(campaign, take, export):
    whole = copy.deepcopy(CARD)
    whole["data"]["extensions"]["character_book"] = {"entries": [ROW]}  # an older copy, which would bring the text back
    receipt = take(whole)
    edit(campaign, path_of(receipt, "data/character_book/entries/1"), b"Cold.", b"Warm.")
    del whole["data"]["extensions"]["character_book"]
    whole["data"]["character_book"]["entries"][1]["content"] = "Warm."
    assert json.loads(export("card-v2", receipt["folder"])) == whole


def test_what_is_gone_or_secret_by_now_is_not_in_it(campaign, take, export):
    receipt = take(CARD)
    first, second = (path_of(receipt, f"data/character_book/entries/{n}") for n in (0, 1))
    (campaign / first).unlink()
    wanted = copy.deepcopy(CARD)
    del wanted["data"]["character_book"]["entries"][0]
    assert json.loads(export("card-v2", receipt["folder"])) == wanted
    place = campaign / second
    place.write_bytes(documents.set_field(place.read_bytes(), second, "visibility", "secret"))
    assert json.loads(export("card-v2", receipt["folder"], options=("--secrets",))) == wanted
    del wanted["data"]["character_book"]["entries"][0]
    assert json.loads(export("card-v2", receipt["folder"])) == wanted


def test_what_the_game_adds_to_the_front_matter_changes_nothing(campaign, take, export):
    receipt = take(CARD)
    for row in receipt["made"]:
        place = campaign / row["path"]
        place.write_bytes(documents.set_field(place.read_bytes(), row["path"], "status", "hiding"))
        place.write_bytes(documents.set_field(place.read_bytes(), row["path"], "secret", "hers"))
    assert json.loads(export("card-v2", receipt["folder"])) == CARD


# -- from one format to another, and of the campaign's own


def test_a_v1_card_becomes_a_v2_and_a_v3_with_all_that_it_had(take, export):
    flat = {"name": "Kit", "description": "Calm.", "personality": "p", "scenario": "s", "first_mes": "f", "mes_example": "m",
            "talkativeness": "0.5", "creatorcomment": "hello"}  # fmt: skip
    receipt = take(flat)
    for version in (2, 3):
        whole = json.loads(export(f"card-v{version}", receipt["folder"]))
        assert (whole["spec"], whole["spec_version"]) == (f"chara_card_v{version}", f"{version}.0")
        data = whole["data"]
        assert {key: data[key] for key in flat if key in data} == {
            k: v for k, v in flat.items() if k[:6] not in ("talkat", "creato")
        }
        assert data["creator_notes"] == "hello" and data["extensions"] == {"talkativeness": "0.5"}
        assert ("group_only_greetings" in data) == (version == 3)


def test_second_keys_rules_and_flags_go_from_a_card_to_a_world_info(take, export):
    row = {**ROW, "secondary_keys": ["fog"], "selective": True, "constant": True, "enabled": False, "keys": ["qu.y+"], "use_regex": True,
           "extensions": {"position": 4, "depth": 2, "role": 1, "selectiveLogic": 3, "probability": 40, "sticky": 2, "group": "g"}}  # fmt: skip
    receipt = take(foreign.card(character_book={"entries": [row]}))
    (made,) = json.loads(export("sillytavern-lorebook", receipt["folder"]))["entries"].values()
    assert {key: made[key] for key in ("key", "keysecondary", "selectiveLogic", "constant", "disable", "position", "depth", "role",
            "order", "probability", "sticky", "group", "comment", "content")} == {
        "key": ["/qu.y+/"], "keysecondary": ["fog"], "selectiveLogic": 3, "constant": True, "disable": True, "position": 4, "depth": 2,
        "role": 1, "order": 9, "probability": 40, "sticky": 2, "group": "g", "comment": "Quay", "content": "Wet."}  # fmt: skip


def test_what_risuai_cannot_say_is_told(rolecall, campaign, take, tmp_path):
    receipt = take(WORLD)
    ran = rolecall("-C", campaign, "export", "risuai", receipt["folder"], "-o", tmp_path / "r.json")
    assert "1 entry switched off, which RisuAI cannot say: left out." in ran.err
    assert "1 entry with a regular expression among other keys: RisuAI takes it for a plain word." in ran.err
    assert [row["comment"] for row in json.loads((tmp_path / "r.json").read_text())["data"]] == ["Sera Vane"]


def test_a_character_of_the_campaigns_own_is_a_card_with_a_book_of_what_is_named(campaign, export, rolecall):
    (campaign / "characters/ada.md").write_text(
        "---\nname: Ada Roe\nkind: character\nrole: mate\nsecret: She lies.\ntags: [crew]\n---\nTall, in [[Skerrow Quay|the port]].\n\n"
        "## Personality\n\nLoud.\n\n## First message\n\nAhoy.\n\n## Secret\n\nHers.\n\n## Other greetings\n\nOh.\n\n***\n\nAh.\n"
    )
    data = json.loads(export("card-v3", "Ada Roe", "Skerrow Quay"))["data"]
    assert data["description"] == "role: mate\n\nTall, in the port."
    assert (data["personality"], data["first_mes"], data["alternate_greetings"], data["tags"]) == (
        "Loud.",
        "Ahoy.",
        ["Oh.", "Ah."],
        ["crew"],
    )
    (row,) = data["character_book"]["entries"]
    assert row["name"] == "Skerrow Quay" and row["enabled"] and "[[" not in row["content"]
    told = json.dumps(json.loads(export("card-v3", "Ada Roe", options=("--secrets",))))
    assert "She lies." in told and "Hers." in told
    picture = foreign.png(foreign.plain("chara", {"other": 1}))
    place = foreign.write(campaign.parent / "face.png", picture)
    made = export("card-v2", "Ada Roe", ending="png", options=("--picture", place))
    assert png.card(made, "")["data"]["name"] == "Ada Roe" and b"ccv3" not in made


def test_a_plain_picture_is_a_whole_png(campaign, export):
    import zlib

    data = export("card-v2", "Old Pasco", ending="png")
    parts = dict(png.chunks(data, ""))
    assert parts[b"IHDR"] == bytes.fromhex("00000190000002580802000000")
    assert len(zlib.decompress(parts[b"IDAT"])) == 600 * (1 + 3 * 400)


# -- where it goes


@pytest.mark.parametrize("format_", ["sillytavern-lorebook", "card-v2", "markdown"])
def test_nothing_that_exists_is_overwritten_without_force(rolecall, example, tmp_path, format_):
    place = foreign.write(tmp_path / "there.json", b"mine")
    arguments = ("-C", example, "export", format_, *(["Sera"] if "card" in format_ else []), "-o", place)
    ran = rolecall(*arguments)
    assert (
        ran.code == 1
        and "such a file already" in ran.err
        and ran.err.count("\n") == 1
        and place.read_bytes() == b"mine"
    )
    assert rolecall(*arguments, "--force").code == 0 and place.read_bytes() != b"mine"
    assert not list(tmp_path.glob("*tmp*"))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("markdown", "-o", "{c}/book.md"), 1, "part of it"),
        (("player", "-o", "{c}/copy"), 1, "part of it"),
        (("player", "-o", "{c}"), 1, "part of it"),
        (("markdown", "-o", "{c}/rolecall.yaml", "--force"), 1, "part of it"),
        (("markdown", "-o", "{t}/no/such/book.md"), 1, "folder does not exist"),
        (("markdown", "-o", "{t}"), 1, "is a folder"),
        (("player", "-o", "{t}"), 1, "not empty"),
        (("card-v2", "-o", "{t}/x.json"), 1, "which character"),
        (("card-v2", "Saltholm", "-o", "{t}/x.json"), 1, "no character"),
        (("card-v2", "Nobody", "-o", "{t}/x.json"), 1, "no entry is named"),
        (("card-v2", "imports/none", "-o", "{t}/x.json"), 1, "can be read again"),
        (("card-v2", "Sera", "-o", "{t}/x.txt"), 2, ".json"),
        (("card-v2", "Sera", "-o", "{t}/x.png", "--picture", "{c}/rolecall.yaml"), 1, "no PNG"),
        (("card-v2", "Sera", "-o", "{t}/x.png", "--picture", "{t}/none.png"), 1, "none.png"),
        (("epub", "Sera", "-o", "{t}/x.epub"), 2, "no names"),
        (("player", "--secrets", "-o", "{t}/x"), 2, "no secrets"),
        (("markdown",), 2, "-o"),
        (("pdf", "-o", "x"), 2, "pdf"),
        (("card-v2", "Ysolt Crane", "-o", "{t}/x.json"), 1, "no entry is named"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_one_line_and_nothing_is_written(rolecall, example, tmp_path, arguments, code, said):
    before, around = tree(example), sorted(tmp_path.iterdir())
    ran = rolecall("-C", example, "export", *(one.format(c=example, t=tmp_path) for one in arguments))
    assert ran.code == code and said in ran.err and ran.out == ""
    assert code == 2 or ran.err.count("\n") == 1
    assert tree(example) == before and sorted(tmp_path.iterdir()) == around


def test_an_export_changes_nothing_in_the_campaign(rolecall, example, tmp_path):
    before = tree(example)
    for format_, names in (("markdown", ()), ("epub", ()), ("player", ()), ("risuai", ()), ("card-v3", ("Sera",))):
        ran = rolecall("-C", example, "export", format_, *names, "-o", tmp_path / f"x-{format_}.json")
        assert ran.code == 0, ran.err
    assert tree(example) == before


def test_to_standard_output_goes_the_export_alone(rolecall, example):
    ran = rolecall("-C", example, "export", "card-v2", "Sera", "-o", "-")
    assert json.loads(ran.out)["data"]["name"] == "Sera" and "Sera, V2" in ran.err
    assert rolecall("-C", example, "export", "markdown", "-o", "-").out.startswith(
        "# The Broken Anchor\n\n## Iron in the Water\n"
    )


def test_a_file_whose_front_matter_is_broken_is_left_out_and_named(rolecall, example, tmp_path):
    (example / "lore/broken.md").write_text("---\nname: Broken\nsecret: a: b\n---\nx\n")
    for format_ in ("sillytavern-lorebook", "player"):
        ran = rolecall("-C", example, "export", format_, "-o", tmp_path / format_)
        assert ran.code == 0 and "lore/broken.md is left out" in ran.err
    assert not (tmp_path / "player/lore/broken.md").exists()
    assert [str(p) for p in checks.check(open_campaign(tmp_path / "player"))] == []


def test_a_folder_of_an_import_whose_key_is_no_text_is_left_out_of_a_book_of_several_imports(
    take, rolecall, campaign, tmp_path
):
    entry = {"comment": "Well", "content": "Deep.", "key": "well", "mode": "normal", "folder": "f"}
    folders = [{"comment": "Places", "content": "", "key": key, "mode": "folder"} for key in ("f", ["f"], {})]
    for name in ("one.json", "two.json"):
        take({"type": "risu", "ver": 1, "data": [*folders, {**entry, "comment": name}]}, name)
    ran = rolecall("-C", campaign, "export", "risuai", "-o", tmp_path / "out.json")
    assert ran.code == 0, ran.err
    rows = json.loads((tmp_path / "out.json").read_text("utf-8"))["data"]
    assert [row["key"] for row in rows if row["mode"] == "folder"] == ["f"]

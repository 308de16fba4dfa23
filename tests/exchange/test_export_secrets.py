"""Nothing secret leaves: a hundred planted truths, and none in any export, whole or in any six words in a row."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from rolecall.campaign import checks, documents
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.redaction import open_bytes
from rolecall.exchange import png
from tests.exchange import foreign
from tests.exchange.conftest import tree
from tests.game.test_canary import TRUTHS, blurted, plant, put

CARD = foreign.card(
    description=f"Tall.\n\n## Secret\n\n{TRUTHS[0]}.\n\n## Looks\n\nGrey.",
    character_book={"entries": [
        {"keys": ["a"], "comment": "Well", "content": f"Deep.\n\n## GM only\n\n{TRUTHS[1]}.", "extensions": {}, "enabled": True},
        {"keys": ["b"], "comment": "Hid", "content": f"{TRUTHS[2]}.", "extensions": {}, "enabled": True},
        {"keys": ["c"], "comment": "Open", "content": "Seen by all.", "extensions": {}, "enabled": True},
    ]},
)  # fmt: skip
CARD["description"] = f"An older copy. {TRUTHS[0]}."
CARD["data"]["extensions"]["character_book"] = CARD["data"]["character_book"]


@pytest.fixture
def planted(example: Path, rolecall, tmp_path) -> Path:
    """The example campaign full of secrets: in entries, arcs, the DM's files, the story, a Chronicle, imports, comments."""
    plant(example)
    for path in sorted((example / "story").iterdir())[:1]:
        path.write_text(path.read_text() + f"\n### Secret\n\n{TRUTHS[3]}.\n")
    put(example, "story/004-hidden.md", f"---\nname: Hidden\nvisibility: secret\n---\n\nIt was so: {TRUTHS[4]}.\n")
    put(example, "instructions/when-nobody-looks.md", f"---\nlayer: dm\nwhen: always\n---\n{TRUTHS[5]}.\n")
    put(
        example,
        "lore/comment.md",
        f"---\nname: Comment\n# secret: {TRUTHS[6]}\nties:\n  - {{with: Sera, secret: {TRUTHS[7]}}}\n---\nOpen.\n",
    )
    put(example, "lore/broken.md", f"---\nname: Broken\nsecret: a: {TRUTHS[8]}\n---\n{TRUTHS[9]}.\n")
    put(example, "notes.txt", f"{TRUTHS[10]}\n")
    chronicle = min((example / "chronicles").iterdir())
    data = chronicle.read_bytes() + f"\n## Secret\n\n{TRUTHS[11]}.\n".encode()
    document = documents.parse(data, "chronicles/x.md")
    from rolecall.campaign import chronicles

    chronicle.write_bytes(documents.set_field(data, "chronicles/x.md", "seal", chronicles.seal_of(document)))
    ran = rolecall("-C", example, "import", foreign.write(tmp_path / "sera.json", CARD), "--json")
    assert ran.code == 0, ran.err
    hid = next(row["path"] for row in json.loads(ran.out)["imports"][0]["made"] if row["name"] == "Hid")
    (example / hid).write_bytes(documents.set_field((example / hid).read_bytes(), hid, "visibility", "secret"))
    assert len(blurted("\n".join(data.decode("utf-8", "replace") for data in tree(example).values()))) > 300
    return example


def folder(root: Path) -> str:
    return next(p.name for p in (root / "imports").iterdir())


@pytest.mark.parametrize(
    ("format_", "names"),
    [
        ("sillytavern-lorebook", ()), ("sillytavern-lorebook", ("imports/sera-vane",)), ("risuai", ()), ("risuai", ("imports/sera-vane",)),
        ("card-v2", ("imports/sera-vane",)), ("card-v3", ("imports/sera-vane", "Thing AA", "Thing AB", "Comment")), ("card-v2", ("Valen",)),
        ("card-v3", ("Thing AA", "Captain Varr")), ("markdown", ()),
    ],
)  # fmt: skip
def test_no_planted_truth_is_in_a_file_of_text(planted, rolecall, tmp_path, format_, names):
    place = tmp_path / "out.json"
    ran = rolecall("-C", planted, "export", format_, *names, "-o", place)
    assert ran.code == 0, ran.err
    assert blurted(place.read_text()) == [] and blurted(ran.err) == [] and len(place.read_bytes()) > 500
    if "imports/sera-vane" in names:
        assert "1 of its entries is gone or secret" in ran.err and "hid" not in ran.err
        assert "Seen by all." in place.read_text()


def test_no_planted_truth_is_in_a_picture_or_a_book(planted, rolecall, tmp_path):
    for format_, names, ending in (("card-v3", ["imports/sera-vane"], "png"), ("epub", [], "epub")):
        ran = rolecall("-C", planted, "export", format_, *names, "-o", tmp_path / f"x.{ending}")
        assert ran.code == 0, ran.err
    found = png.texts((tmp_path / "x.png").read_bytes(), "")
    assert set(found) == {"chara", "ccv3"}
    for packed in found.values():
        assert blurted(png._unpacked(packed, "x", "").decode()) == []
    with zipfile.ZipFile(tmp_path / "x.epub") as archive:
        said = "\n".join(archive.read(name).decode() for name in archive.namelist())
    assert "Saltholm" in said and blurted(said) == []


def test_a_players_copy_has_no_planted_truth_opens_plays_and_has_no_problems(
    planted, rolecall, tmp_path, script, story
):
    for place in ("copy", "copy.zip"):
        ran = rolecall("-C", planted, "export", "player", "-o", tmp_path / place)
        assert ran.code == 0 and blurted(ran.err) == [], ran.err
    copy = tmp_path / "copy"
    held = tree(copy)
    with zipfile.ZipFile(tmp_path / "copy.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == held
    for path, data in held.items():
        assert blurted(path) == [] and blurted(data.decode()) == [], path
    assert not any(path.startswith(("dm/", "imports/")) or path == "notes.txt" for path in held)
    assert [str(problem) for problem in checks.check(open_campaign(copy))] == []
    kept = {path: data for path, data in tree(planted).items() if path in held}
    assert (
        sum(held[path] == data for path, data in kept.items()) > 30
    )  # what holds no secret is the same, byte for byte
    assert b"seal: " in held[min(path for path in held if path.startswith("chronicles/"))]
    ran = rolecall("-C", copy, "turn", "I look at the well.", "--model", script(story))
    assert ran.code == 0 and "The lantern gutters." in ran.out
    assert rolecall("-C", copy, "check").code == 0
    assert json.loads(rolecall("-C", copy, "status", "--json").out)["turn"] == "T0041"


def test_the_template_and_the_example_are_clean_without_their_secrets(campaign, example, rolecall, tmp_path):
    for number, root in enumerate((campaign, example)):
        assert rolecall("-C", root, "export", "player", "-o", tmp_path / f"p{number}").code == 0
        assert [str(p) for p in checks.check(open_campaign(tmp_path / f"p{number}"))] == []


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (b"---\nname: A\nsecret: x\nrole: b # why\n---\nBody\n", b"---\nname: A\nrole: b\n---\nBody\n"),
        (b"\xef\xbb\xbf---\r\nTRUTH: x\r\nname: A\r\n---\r\nBody\r\n", b"\xef\xbb\xbf---\r\nname: A\r\n---\r\nBody\r\n"),
        (b"---\n{name: A, secret: x}\n---\nBody\n", b"---\nname: A\n---\nBody\n"),
        (b"---\nsecret: |\n  many\n  lines\nwith: [[Kit]]\nwhen: 12:30\ncount: 3\nno: 'no'\n---\n", b"---\nwith: [[Kit]]\nwhen: 12:30\ncount: 3\nno: no\n---\n"),
        (b"---\nties:\n  - {with: B, secret: x}\n  - with: C\n    deep: {Secret: y, open: z}\n---\n",
         b"---\nties:\n  - {with: B}\n  - {with: C, deep: {open: z}}\n---\n"),
        (b"A\n\n# Secret\n\nx\n\n## Deeper\n\ny\n\n# Open\n\nb\n", b"A\n\n# Open\n\nb\n"),
        (b"A\n\nSecrets\n-------\nx\n\n**GM-only**\n=========\ny\n", b"A\n\n"),
        (b"A\n\n## Secret\n\n```\n## Use\n\nx\n\n## Secret\n\n```\n\n## Use\n\nb\n", b"A\n\n## Use\n\nb\n"),
        (b"---\nname: A\nvisibility: Secret\n---\nx\n", None),
        (b"---\nname: A\n---\nno secret here\n", b"---\nname: A\n---\nno secret here\n"),
    ],
)  # fmt: skip
def test_secrets_are_cut_out_and_nothing_else(given, left):
    assert open_bytes(documents.parse(given, "lore/a.md")) == left

"""What `check` says of names, links, fields, secrets, the dead and stray files: what is a problem, what is a note, what is fine."""

from __future__ import annotations

import os
import types
from pathlib import Path

import pytest

from rolecall.campaign import checks, strays, template
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.formers import FORMER
from rolecall.campaign.instructions import template_folder
from rolecall.campaign.problems import near
from tests.campaign.test_check_rules import ARC, JOURNAL, STATE, WHOLE, chronicle
from tests.conftest import SHARED
from tests.formers import versions

ANN = "---\nname: Anselm\naliases: [the Fox]\n---\nShe.\n"
PLACE = "---\nname: Saltholm\n---\nA town.\n"


def look(tmp_path: Path, **changed: str | bytes) -> list[checks.Problem]:
    base = {**WHOLE, "characters/anselm.md": ANN, "locations/saltholm.md": PLACE}
    for path, text in {**base, **changed}.items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return checks.look(open_campaign(tmp_path))


PERSON = "characters/bo.md"
FOLDED = chronicle(1, 2)
PROBLEMS = [
    ("name-twice", PERSON, "---\nname: ANSELM\n---\n", 2),
    ("alias-twice", PERSON, "---\nname: Bo\naliases: [B, the  fox]\n---\n", 3),
    ("alias-twice", PERSON, "---\nname: Bo\naliases:\n  - Anselm\n---\n", 3),
    ("dangling-link", PERSON, "---\nname: Bo\n---\nKnows [[Nobody At All]].\n", 4),
    ("dangling-link", PERSON, "---\nname: Bo\nlocation: \"[[Atlantis]]\"\n---\n", 3),
    ("dangling-link", STATE, "Near [[Atlantis]].\n\n" + JOURNAL, 1),
    ("dangling-link", "lore/tale.md", "one\n\nFrom [[Saltholn]] they came.\n", 3),
    ("dangling-reference", PERSON, "---\nname: Bo\nlocation: Saltholn\n---\n", 3),
    ("dangling-reference", PERSON, "---\nname: Bo\nrelationships:\n  - {with: Nils, nature: foe}\n  - {with: Anslem}\n---\n", 5),
    ("unknown-kind", PERSON, "---\nname: Bo\nkind: charactr\n---\n", 3),
    ("unknown-kind", PERSON, "---\nname: Bo\nkind: mailman\n---\n", 3),
    ("unknown-field", PERSON, "---\nname: Bo\nlocaton: Saltholm\n---\n", 3),
    ("unknown-field", ARC, WHOLE[ARC].replace("latest:", "staks: all\nlatest:"), 3),
    ("secret-shown", PERSON, "---\nname: Bo\n---\nOpen.\n\n## DM notes\n\nHe did it.\n", 6),
    ("secret-shown", PERSON, "---\nname: Bo\nsecrets: He did it.\n---\n", 3),
    ("secret-shown", "characters/bo.md", "---\nname: Bo\nvisibility: hidden\n---\n", 3),
    ("promise-owner", STATE, JOURNAL.replace("## Promises\n", "## Promises\n\n- [ ] bring the ledger (T0003)\n"), 5),
    ("promise-owner", STATE, JOURNAL.replace("## Promises\n", "## Promises\n\n- [ ] To Anslem: a song (T0003)\n"), 5),
    ("name-clash", "characters/ANSELM.md", "---\nname: Another\n---\n", None),
    ("conflict-copy", "characters/anselm 2.md", ANN.replace("She.", "She."), None),
    ("cloud-stub", "lore/.The Tide.md.icloud", b"bplist00", None),
    ("old-instruction", "instructions/always-narrate.md", None, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "path", "text", "line"), PROBLEMS, ids=[f"{n}-{rule}" for n, (rule, *_) in enumerate(PROBLEMS)]
)
def test_a_fault_is_found_with_its_line_and_a_remedy(tmp_path, monkeypatch, rule, path, text, line):
    if rule == "old-instruction":
        text = "An older text.\r\n"
        digest = __import__("hashlib").sha256(b"An older text.\n").hexdigest()[:16]
        monkeypatch.setitem(FORMER, path, frozenset({digest}))
    if rule == "name-clash" and os.path.exists(str(tmp_path).swapcase()):
        pytest.skip("this disk cannot hold two such files")
    found = [p for p in look(tmp_path, **{path: text}) if p.rule == rule and not p.note]
    where = "lore/The Tide.md" if rule == "cloud-stub" else path
    if rule == "name-clash":
        assert {p.path for p in found} <= {"characters/ANSELM.md", "characters/anselm.md"} and len(found) == 1
    else:
        assert [(p.path, p.line) for p in found] == [(where, line)]
    assert found[0].message and found[0].remedy


def test_a_slip_is_answered_with_what_was_meant(tmp_path):
    found = look(tmp_path, **{PERSON: "---\nname: Bo\nlocaton: x\nkind: charactr\nhome: Saltholn\n---\n[[Anselmo]]\n"})
    assert [p.remedy for p in found] == [
        "did you mean `location`?", "did you mean `character`?", "did you mean Saltholm?", "did you mean Anselm?"
    ]  # fmt: skip


NOTES = [
    ("dangling-link", "lore/tale.md", "Once, in [[Atlantis]], it rained.\n"),
    ("dangling-link", "notes/tale.md", "Once, in [[Atlantis]], it rained.\n"),
    ("dangling-link", PERSON, "---\nname: Bo\n---\n## History\n- T0003 Saw [[Atlantis]].\n"),
    ("dangling-reference", PERSON, "---\nname: Bo\nlocation: wherever the wind goes\n---\n"),
    ("windows-name", "lore/what?.md", "Why.\n"),
    ("windows-name", "lore/con.md", "Why.\n"),
    ("unknown-kind", "vault/tale.md", "---\nkind: recipe\n---\n"),
]


@pytest.mark.parametrize(("rule", "path", "text"), NOTES, ids=[f"{n}-{rule}" for n, (rule, *_) in enumerate(NOTES)])
def test_what_may_be_meant_so_is_a_note_that_only_strict_counts(tmp_path, rolecall, rule, path, text):
    (found,) = look(tmp_path, **{path: text})
    assert (found.rule, found.path, found.note) == (rule, path, True)
    assert checks.check(open_campaign(tmp_path)) == []
    ran = rolecall("-C", tmp_path, "check")
    assert (ran.code, ran.out) == (0, "") and "--strict" in ran.err
    ran = rolecall("-C", tmp_path, "check", "--strict")
    assert ran.code == 1 and f"[{rule}]" in ran.out


FINE = {
    "a link by path, with an anchor, a label and in a table": "[[characters/anselm.md#Past|her]] [[the fox]] | [[Saltholm\\|x]] |",
    "an image and an attachment": "![[map.png]] [[letter.pdf]] ![[Nowhere]]",
    "a link in code": "`[[Nowhere]]`\n\n```\n[[Nowhere]]\n```\n",
    "a template's words": "[[<% tp.file.title %>]] [[{{date}}]]",
    "a heading of its own": "[[#Above]]",
    "a chapter and the Campaign State": "[[001-one]] [[Campaign-State]] [[A]]",
}


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_a_link_that_leads_somewhere_is_fine(tmp_path, text):
    assert look(tmp_path, **{PERSON: f"---\nname: Bo\n---\n{text}\n"}) == []


def test_a_writers_own_keys_are_fine(tmp_path):
    own = "---\nname: Bo\nhair: red\nstats: 12\nbirthday: 1 May\nfavourite colour: blue\ncssclasses: [a]\nmood: low\n---\n"
    assert look(tmp_path, **{PERSON: own}) == []


def test_two_notes_of_one_name_in_a_vault_are_a_note_and_a_forgotten_twin_is_none(tmp_path):
    found = look(tmp_path, **{"a/Map.md": "One.\n", "b/Map.md": "Two.\n"})
    assert [(p.rule, p.note) for p in found] == [("name-twice", True)]
    (tmp_path / "b/Map.md").unlink()
    assert look(tmp_path, **{PERSON: "---\nname: Anselm\nforgotten: T0003 merged\n---\n"}) == [
        p for p in found if p.path == "nowhere"
    ]


# -- the dead


def told(*lines: str) -> str:
    return "## Journal\n\n" + "".join(f"- T{n:04d} {line}\n" for n, line in enumerate(lines, 3))


DEAD = "---\nname: Anselm\nstatus: {}\n---\n\n## History\n- T0003 status: alive → {}\n"
QUIET = {
    "before": (("Anselm gave Bo a coin.", "Anselm was killed at the ford.", "Bo wept."), "dead"),
    "remembered": (("Anselm was killed at the ford.", "Bo remembers how Anselm gave him a coin."), "dead"),
    "spoken of": (("Anselm was killed at the ford.", "Bo buried Anselm and told her mother."), "dead"),
    "back": (("Anselm was killed at the ford.", "Anselm is alive after all.", "Anselm gave Bo a coin."), ""),
    "only thought dead": (("Anselm fell.", "Anselm gave Bo a coin."), "presumed dead"),
    "alive": (("Anselm was killed at the ford.", "Anselm gave Bo a coin."), "alive and well"),
}


@pytest.mark.parametrize(("lines", "status"), QUIET.values(), ids=QUIET)
def test_the_dead_at_rest_raise_no_alarm(tmp_path, lines, status):
    entry = f"---\nname: Anselm\nstatus: {status}\n---\n"
    story = "".join(f"## T{n:04d}\n\nx\n\n" for n in range(3, 3 + len(lines)))
    found = look(tmp_path, **{STATE: told(*lines), "characters/anselm.md": entry, "story/001-one.md": story})
    assert [p.rule for p in found] == []


@pytest.mark.parametrize("said", ["by a line of the Journal", "by the status and its History"])
def test_the_dead_who_act_later_are_told(tmp_path, said):
    by_line = said == "by a line of the Journal"
    lines = ("Anselm was killed at the ford." if by_line else "The ford.", "It rained; Anselm gave Bo a coin.")
    entry = ANN if by_line else DEAD.format("dead", "dead")
    found = look(tmp_path, **{STATE: told(*lines), "characters/anselm.md": entry})
    assert [(p.rule, p.path, p.line) for p in found] == [("dead-acts", STATE, 4)]
    assert "T0004" in found[0].message and "T0003" in found[0].message


# -- secrets

HIDES = "---\nname: Bo\nsecret: He sold the route of the Gannet to the Guild.\n---\n"


def test_a_secret_that_stands_word_for_word_where_the_player_reads_is_told(tmp_path):
    open_words = "---\nname: The Gannet\n---\nA ship. He sold the route of the Gannet to the Guild!\n"
    found = look(tmp_path, **{PERSON: HIDES, "items/gannet.md": open_words})
    assert [(p.rule, p.path, p.line) for p in found] == [("secret-told", "items/gannet.md", 4)]
    assert PERSON in found[0].message and "sold" not in found[0].message


def test_a_secret_that_the_story_has_told_may_stand_anywhere(tmp_path):
    open_words = "---\nname: The Gannet\n---\nHe sold the route of the Gannet to the Guild.\n"
    story = "## T0003\n\nHe sold the route of the Gannet to the Guild.\n\n## T0004\n\nd\n"
    assert look(tmp_path, **{PERSON: HIDES, "items/gannet.md": open_words, "story/001-one.md": story}) == []


@pytest.mark.parametrize("text", ["Ruled by [[The Hand]].", "leader"])
def test_an_entry_that_names_a_secret_one_where_the_player_reads_is_told(tmp_path, text):
    hand = "---\nname: The Hand\nvisibility: secret\n---\n"
    guild = "---\nname: Guild\n---\n" + text if text != "leader" else "---\nname: Guild\nleader: The Hand\n---\n"
    hidden = '---\nname: Bo\nsecret: "[[The Hand]]"\n---\n## Secret\n[[The Hand]]\n'
    found = look(tmp_path, **{"organizations/hand.md": hand, "organizations/guild.md": guild, PERSON: hidden})
    assert [(p.rule, p.path) for p in found] == [("secret-named", "organizations/guild.md")]


# -- what ships, real notes, stubs


def test_what_ships_has_not_even_a_note(tmp_path):
    assert checks.look(template.new(tmp_path / "new")) == []


def test_strangers_notes_raise_no_alarm_but_for_front_matter_that_cannot_be_read(tmp_path):
    import shutil

    shutil.copytree(SHARED / "vault", tmp_path / "vault")
    assert {p.rule for p in checks.check(template.adopt(tmp_path / "vault"))} == {"front-matter"}


def test_a_file_that_only_a_cloud_holds_is_known_by_its_marks():
    kept = types.SimpleNamespace(st_flags=0, st_file_attributes=0x20)
    mac, windows = types.SimpleNamespace(st_flags=0x40000000), types.SimpleNamespace(st_file_attributes=0x400020)
    assert [strays.is_stub(one) for one in (kept, types.SimpleNamespace(), mac, windows)] == [False, False, True, True]


def test_the_table_of_former_texts_holds_no_text_that_ships_now():
    import hashlib

    for path, digests in FORMER.items():
        now = hashlib.sha256((template_folder() / path).read_bytes()).hexdigest()[:16]
        assert digests and now not in digests, path


def test_the_maker_of_that_table_knows_every_text_in_it():
    made = versions()
    assert made and all(set(made[path]) >= set(digests) for path, digests in FORMER.items() if path in made)


def test_a_word_is_near_another_by_one_slip_and_never_by_a_digit():
    known = ["Saltholm", "Session 12", "Ann", "relationships"]
    said = ["Saltholn", "Satlholm", "Saltmoor", "Session 13", "Anna", "relationship", "relatonship"]
    assert [near(word, known) for word in said] == [
        "Saltholm", "Saltholm", "", "", "", "relationships", "relationships"
    ]  # fmt: skip

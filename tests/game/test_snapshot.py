"""The digest's promises: about 500 tokens whatever the campaign's size, what matters now first, no secret for the player."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rolecall.agents import snapshot
from rolecall.agents.snapshot import LIMIT, SHARES, TARGET, Line
from rolecall.campaign.folder import open_campaign
from rolecall.models.tokens import estimate
from rolecall.search.searcher import Search
from tests.game.test_secrets import leaks, put_canaries


def write(root: Path, path: str, text: str) -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def start(root: Path, *journal: str, location: str = "The Inn") -> Path:
    """A campaign with nothing but a state."""
    write(root, "rolecall.yaml", "format: 1\nname: The Tale\nlanguage: en\ngit: off\n")
    lines = "".join(f"- {line}\n" for line in journal)
    promises = "## Promises\n\n- [ ] To Sera: bring the ledger (T0002)\n- [x] To Marta: pay for the room (T0003)\n"
    write(
        root, "campaign-state.md",
        f"---\nname: Campaign State\nlocation: '{location}'\n---\n\n## Party\n\n- [[Sera]]\n\n{promises}\n## Journal\n\n{lines}",
    )  # fmt: skip
    return root


def digest(root: Path, *, with_secrets: bool = False) -> snapshot.Snapshot:
    campaign = open_campaign(root)
    search = Search(campaign)
    search.refresh()
    return snapshot.of(campaign, search, with_secrets=with_secrets)


@pytest.mark.parametrize("more", [(), ("--secrets",)])
def test_the_grown_campaign_fills_its_five_hundred_tokens(rolecall, example, more):
    told = json.loads(rolecall("-C", example, "snapshot", "--json", *more).out)
    assert set(told) == {"tokens", "text", "sections"}
    assert 450 <= told["tokens"] <= TARGET == 500
    assert told["tokens"] == estimate(told["text"])
    assert list(told["sections"]) == list(SHARES)
    assert rolecall("-C", example, "snapshot", *more).out == told["text"] + "\n"


def test_it_tells_who_stands_how_with_whom(rolecall, example):
    told = json.loads(rolecall("-C", example, "snapshot", "--json").out)["sections"]
    assert "Marta: frightened; at The Broken Anchor" in told["Characters"]
    assert "Captain Varr to Valen: hunts him (not saying why)" in told["Tensions"]
    assert told["Promises"] == [
        "To Sera: bring the ledger (T0012)",
        "To Marta: bring both mules back to The Broken Anchor (T0020)",
        "To Sister Ansa: a barrel of clean water a day (T0034)",
    ]
    assert told["Threats"][0].startswith("Bleak-Iron: by Shadow Guild against Saltholm; due 1492-13-28")
    assert [line.split(":")[0] for line in told["Open arcs"]] == [
        "The fate of the Gannet", "Who poisoned the well", "Clean water before the harvest",
    ]  # fmt: skip
    assert told["Organizations"][0].startswith("Harbour Watch: led by Captain Varr")


def test_the_player_is_told_no_secret_and_the_game_master_is(rolecall, example, campaign):
    open_, dm = (rolecall("-C", example, "snapshot", *more).out for more in ((), ("--secrets",)))
    for hidden in ("Guild's Bid", "Ysolt Crane", "truth", "painted black", "for the Guild"):
        assert hidden not in open_
    assert "truth: Captain Varr did, for the Guild." in dm and "The Guild's Bid: by Ysolt Crane" in dm
    put_canaries(campaign)
    for more in ((), ("--json",)):
        ran = rolecall("-C", campaign, "snapshot", *more)
        assert ran.code == 0 and leaks(ran.out + ran.err) == [] and "Hidden" not in ran.out
    assert "xyzzycanary1" in rolecall("-C", campaign, "snapshot", "--secrets").out


def test_a_name_that_only_a_secret_entry_bears_is_not_told_by_what_refers_to_it(tmp_path):
    root = start(tmp_path / "tale", "T0001 Sera came.")
    write(root, "characters/crane.md", "---\nname: Ysolt Crane\nvisibility: secret\nstatus: near\n---\n")
    write(
        root, "characters/sera.md",
        "---\nname: Sera\nstatus: awake\nlocation: Ysolt Crane\nrelationships:\n"
        "  - {with: Ysolt Crane, nature: works for her}\n  - {with: Marta, nature: friend}\n---\n",
    )  # fmt: skip
    write(
        root, "organizations/guild.md", "---\nname: The Guild\nleader: Ysolt Crane\nenemies: [Ysolt Crane, Sera]\n---\n"
    )
    write(root, "threats/bid.md", "---\nname: The Bid\nagent: Ysolt Crane\ntarget: Sera\n---\n")
    told = digest(root)
    assert "Crane" not in told.text and "works for her" not in told.text
    assert told.sections["Tensions"] == ["Sera to Marta: friend"]
    assert told.sections["Threats"] == ["The Bid: against Sera"]
    assert digest(root, with_secrets=True).text.count("Crane") == 6


def test_what_is_over_is_left_out(tmp_path):
    root = start(tmp_path / "tale", "T0009 Sera slept.")
    for name, status in (("Flood", "active"), ("Fire", "averted"), ("Plague", "")):
        write(root, f"threats/{name}.md", f"---\nname: {name}\nstatus: '{status}'\nstage: it is near\n---\n")
    for name, status in (("Who lied", "open"), ("Who stole", "resolved"), ("Who ran", "")):
        write(root, f"arcs/{name}.md", f"---\nname: {name}\nstatus: '{status}'\nlatest: T0004 Nobody knows.\n---\n")
    write(root, "arcs/old.md", "---\nname: Old Question\nforgotten: T0003 moot\nlatest: T0009 x\n---\n")
    told = digest(root).sections
    assert told["Threats"] == ["Flood: it is near", "Plague: it is near"]
    assert told["Open arcs"] == ["Who lied: Nobody knows (T0004)", "Who ran: Nobody knows (T0004)"]
    assert told["Promises"] == ["To Sera: bring the ledger (T0002)"]


def test_of_many_those_at_hand_come_first_then_those_in_the_same_place_then_the_well_tied(tmp_path):
    root = start(tmp_path / "tale", *(f"T{n:04d} The rain went on." for n in range(160, 200)), "T0200 Person 7 spoke.")
    write(root, "locations/inn.md", "---\nname: The Inn\n---\n")
    for n in range(150):
        place = "The Inn" if n == 12 else "The Moor"
        ties = " ".join(f"[[Person {other}]]" for other in range(60, 120)) if n == 45 else ""
        history = "## History\n- T0002 Was born.\n"
        write(
            root,
            f"characters/p{n}.md",
            f"---\nname: Person {n}\nstatus: waiting\nlocation: {place}\n---\n{ties}\n\n{history}",
        )
    write(root, "characters/sera.md", "---\nname: Sera\nstatus: tired\n---\n")
    told = digest(root).sections["Characters"]
    assert [line.split(":")[0] for line in told[:4]] == ["Person 7", "Sera", "Person 12", "Person 45"]
    assert len(told) > 10


def test_an_arc_that_moved_last_stands_before_two_hundred_that_did_not(tmp_path):
    root = start(tmp_path / "tale", "T0200 The rain went on.")
    for n in range(200):
        write(root, f"arcs/a{n}.md", f"---\nname: Question {n}\nlatest: T0003 Nothing yet.\n---\n")
    write(root, "arcs/z.md", "---\nname: Who opened the door\nlatest: T0198 It opened.\n---\n")
    assert digest(root).sections["Open arcs"][0] == "Who opened the door: It opened (T0198)"


def test_the_same_files_give_the_same_digest_wherever_they_lie(tmp_path, example):
    import shutil

    other = tmp_path / "elsewhere"
    shutil.copytree(example, other)
    assert digest(example) == digest(example) == digest(other)
    assert digest(example, with_secrets=True) == digest(other, with_secrets=True)


def test_broken_and_missing_files_do_not_stop_it(tmp_path, rolecall):
    root = start(tmp_path / "tale", "T0001 Sera came.")
    write(root, "characters/sera.md", "---\nname: Sera\nstatus: awake\n---\n")
    write(root, "characters/bad.md", "---\nname: [Bad\nsecret: x\n---\n")
    (root / "characters/latin.md").write_bytes(b"---\nname: Jos\xe9\nstatus: lost\n---\n")
    write(root, "threats/odd.md", "---\nname: Odd\nagent: {a: [b]}\ntarget: [x, y]\nstage: [1, 2]\nstatus: {}\n---\n")
    write(root, "organizations/odd.md", "---\nname: Odder\nrelationships: Sera\nleader: []\nenemies: {x: y}\n---\n")
    assert "Sera: awake" in digest(root, with_secrets=True).text
    (root / "campaign-state.md").unlink()
    ran = rolecall("-C", root, "snapshot")
    assert ran.code == 0 and "Sera: awake" in ran.out
    write(root, "campaign-state.md", "---\nname: State\n---\n## Journal\n- T0001 a\n## Journal\n- T0002 b\n")
    assert rolecall("-C", root, "snapshot").code == 0


def test_an_empty_campaign_has_an_empty_digest(tmp_path):
    write(tmp_path, "tale/rolecall.yaml", "format: 1\nname: The Tale\nlanguage: en\ngit: off\n")
    assert digest(tmp_path / "tale") == snapshot.Snapshot("", 0, {})


# -- never above the limit --------------------------------------------------------------------------------------------

ANY = st.text(max_size=300)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.builds(Line, st.sampled_from(list(SHARES)), ANY, st.floats(0, 7)), max_size=60), st.integers(0, 2000)
)
def test_no_lines_make_a_digest_above_the_limit(lines, target):
    told = snapshot.digest(lines, target)
    assert told.tokens == estimate(told.text) <= min(target, LIMIT)
    for section, texts in told.sections.items():
        assert texts and set(texts) <= {line.text for line in lines if line.section == section}


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=400), st.integers(1, 60))
def test_a_clipped_text_keeps_within_its_tokens_and_to_one_line(text, tokens):
    cut = snapshot.clip(text, tokens)
    assert estimate(cut) <= tokens and "\n" not in cut


WORD = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=220).filter(str.strip)
PERSON = st.fixed_dictionaries({"name": WORD, "status": WORD, "location": WORD, "goals": WORD, "truth": WORD})


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(people=st.lists(PERSON, min_size=1, max_size=12), promises=st.lists(WORD, max_size=30))
def test_no_campaign_makes_a_digest_above_the_limit(tmp_path_factory, people, promises):
    root = start(tmp_path_factory.mktemp("campaign") / "tale", "T0042 It rained.")
    state = (root / "campaign-state.md").read_text("utf-8")
    lines = "".join(f"- [ ] {' '.join(text.split())} (T0007)\n" for text in promises)
    write(root, "campaign-state.md", state.replace("## Promises\n\n", f"## Promises\n\n{lines}"))
    names = [person["name"] for person in people]
    for n, (kind, folder) in enumerate(
        [("character", "characters"), ("organization", "organizations"), ("threat", "threats"), ("arc", "arcs")] * 3
    ):
        for m, person in enumerate(people):
            fields = {
                **person, "kind": kind, "leader": names[m - 1], "agent": names[m - 1], "target": person["location"],
                "enemies": names[:4], "stage": person["goals"], "latest": f"T{n:04d} {person['status']}",
                "relationships": [{"with": name, "nature": person["goals"], "status": person["status"]} for name in names[:5]],
            }  # fmt: skip
            write(root, f"{folder}/{n}-{m}.md", f"---\n{json.dumps(fields, ensure_ascii=False)}\n---\n")
    for with_secrets in (False, True):
        told = digest(root, with_secrets=with_secrets)
        assert told.tokens == estimate(told.text) <= TARGET < LIMIT
        assert len(told.sections) >= 4

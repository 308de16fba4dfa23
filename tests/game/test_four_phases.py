"""A hundred turns of all four phases over the wire: what the story established is kept once, explained, and reversible."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall.campaign import activity, checks, chronicles, documents, journal, proposals, records, summaries
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.kinds import ENTRY_KINDS, STATE_FILE
from rolecall.turn import provenance
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from rolecall.turn.result import Result
from tests.game import plot
from tests.loopback.server import Loopback
from tests.turn.world import text

TURNS, KEPT = 100, 90


@dataclass(frozen=True)
class Played:
    """A campaign after its turns: as it began, as it was at turn 90, what was asked and what came of each turn."""

    root: Path
    protocol: str
    server: Loopback
    cast: plot.Cast
    begun: dict[str, bytes]
    kept: dict[str, bytes]
    results: list[Result]

    @property
    def campaign(self) -> Campaign:
        return open_campaign(self.root, here_only=True)

    def copy(self, place: Path) -> Path:
        """The campaign with its records, to be changed."""
        return shutil.copytree(self.root, place / "copy")

    def spec(self) -> str:
        return f"{self.protocol}/{plot.SPEC}"


def play(place: Path, server: Loopback, cast: plot.Cast, protocol: str, turns: int) -> Played:
    root = plot.make(place, "models: {turn_dm: off, dm: off}")
    begun, kept, results = text(root), {}, []
    game = Game(root, command="test", environ=server.environ(protocol), models=(f"{protocol}/{plot.SPEC}",))
    for turn in range(1, turns + 1):
        results.append(game.tell(f"I go on, {turn}.", Listener()))
        if turn == KEPT:
            kept = text(root)
    return Played(root, protocol, server, cast, begun, kept, results)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """A hundred turns over OpenAI's protocol."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with Loopback(cast := plot.Cast()) as server:
            yield play(tmp_path_factory.mktemp("long") / "tale", server, cast, "openai", TURNS)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Twenty turns over Anthropic's protocol."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with Loopback(cast := plot.Cast()) as server:
            yield play(tmp_path_factory.mktemp("short") / "tale", server, cast, "anthropic", 20)


def entries(played: Played) -> dict[str, dict]:
    """The fields of every entry that the story made, by path."""
    there = {path: data for path, data in text(played.root).items() if path.split("/")[0] in FOLDERS}
    return {path: documents.parse(data, path).fields for path, data in there.items() if path not in played.begun}


FOLDERS = {kind.folder for kind in ENTRY_KINDS.values()}


# -- what is kept


def test_no_turn_was_degraded_and_every_layer_was_asked_when_it_was_its_turn(long: Played):
    assert [result.degraded for result in long.results] == [()] * TURNS
    asked = {layer: long.cast.heard.count(layer) for layer in set(long.cast.heard)}
    folds = len(chronicles.paths(long.campaign))
    assert folds == 2
    assert asked == {
        "narrator": TURNS + TURNS // 5, "retriever": TURNS, "scribe": TURNS, "historian": 5, "chronicler": folds,
        "afterwork": TURNS,
    }  # fmt: skip


def test_every_planted_fact_stands_in_exactly_one_entry_of_the_right_kind_and_field(long: Played):
    made = entries(long)
    assert set(made) == set(plot.MADE)  # nothing twice, nothing that nobody told
    for path, wanted in plot.MADE.items():
        given = dict(made[path])
        first = min(f.turn for f in plot.PLOT if f.given.get("name", "").casefold() == given["name"].casefold())
        assert ENTRY_KINDS[given.pop("kind")].folder == path.split("/")[0]
        assert (given.pop("source"), given.pop("name") != "") == (journal.turn_id(first), True)
        assert given == wanted, path


def test_the_old_state_of_what_changed_stands_in_its_history_with_its_turn(long: Played):
    def history(path: str) -> list[str]:
        return [line for line in long.campaign.document(path).lines("History") if line.strip()]

    assert history("characters/bram-holt.md") == ["- T0030 Drowned under the Gull Stairs."]
    assert history("characters/dorrit-vane.md") == ["- T0042 location: Skerrow Quay → Low Skerrow"]
    assert history("locations/the-lamp-house.md") == ["- T0060 owner: Hesper Dunmow → Tomas Reed"]
    assert history("threats/the-sand-fever.md") == ["- T0025 stage: first cases → half the quay is ill"]
    assert history("organizations/the-ropewalk-brothers.md") == ["- T0032 leader: Bram Holt → Ilse Brand"]


def test_files_of_the_writer_are_as_they_were_but_for_what_the_story_changed_in_them(long: Played):
    now = text(long.root)
    theirs = {path for path in long.begun if path.split("/")[0] in {*FOLDERS, "dm", "instructions", "prose"}}
    for path in sorted(theirs | {"rolecall.yaml", "README.md"}):
        changes, lines = plot.CHANGED.get(path, ([], []))
        before = long.begun[path].decode()
        for old, new in changes:
            assert before.count(old) == 1, (path, old)
            before = before.replace(old, new)
        newline = "\r\n" if "\r\n" in before else "\n"
        gap = newline if lines and before.rstrip("\r\n").endswith("## History") else ""
        assert now[path].decode() == before + gap + "".join(line + newline for line in lines), path


def test_a_locked_entry_is_as_it_was_and_what_the_models_would_change_waits_for_the_writer(long: Played):
    for path in ("characters/saint-orm.md", "arcs/the-saint.md"):
        assert text(long.root)[path] == plot.HAND[path]
    waiting = proposals.listed(long.root)
    paths = [(p.turn, effect.path) for p in waiting for effect in p.effects]
    assert sorted(paths) == sorted(
        [(40, "characters/saint-orm.md"), *((turn, "arcs/the-saint.md") for turn in (20, 40, 60, 80, 100))]
    )
    assert all(effect.model == long.spec() and effect.reason for p in waiting for effect in p.effects)


def test_both_protocols_keep_the_same(short: Played, long: Played):
    assert short.results[-1].turn == "T0020" and [r.degraded for r in short.results] == [()] * 20
    made = {path for path in plot.MADE if int(entries(long)[path]["source"][1:]) <= 20}
    assert set(entries(short)) == made
    assert checks.check(short.campaign) == []


# -- the story and its summaries


def test_every_journal_line_stands_exactly_once_and_the_campaign_checks_clean(long: Played):
    campaign = long.campaign
    places = [*(path for _, path in chronicles.paths(campaign)), STATE_FILE]
    lines = [one for path in places for one in journal.lines_of(campaign.document(path))]
    assert [(one.turn, one.text) for one in lines] == [(n, plot.line(n)) for n in range(1, TURNS + 1)]
    assert checks.check(campaign) == []


def test_the_arcs_hold_the_historians_summaries_and_the_writers_own_words_stay(long: Played):
    held = long.campaign.document("arcs/the-ledger.md").lines("Summaries")
    assert held == [
        "- T0000-T0000 My own words.",
        "- ~~T0001-T0020 The ebb began over who wants the ledger.~~ (retired T0060: moved to Who rang the drowned bell)",
        "- ~~T0021-T0040 Up to turn 40, who wants the ledger stayed open.~~ (retired T0080: told elsewhere)",
        *(f"- T{n - 19:04d}-T{n:04d} Up to turn {n}, who wants the ledger stayed open." for n in (60, 80, 100)),
    ]
    bell = summaries.shown(long.campaign.document("arcs/who-rang-the-drowned-bell.md"))
    assert "T0001-T0020 The ebb began over who wants the ledger." in bell and len(bell) == 6


def test_no_summary_is_sent_to_the_narrator_beside_the_turns_it_sums_up(long: Played):
    both = 0
    for body in long.server.bodies:
        if plot.layer_of(body) != "narrator":
            continue
        parts = re.split(r"^# ", plot.said_in(body), flags=re.M)
        beside = "\n".join(part for part in parts if not part.startswith("The Campaign State"))
        told = [int(n) for n in re.findall(r"(?:stays out for|went on to) the (\d+)\w\w mark", beside)]
        spans = [(int(a), int(b)) for a, b in re.findall(r"^[ \t-]*T(\d+)-T(\d+) ", beside, re.M)]
        both += bool(told and spans)
        assert not [(turn, span) for turn in told for span in spans if span[0] <= turn <= span[1]]
    assert both > 50


# -- where it comes from


def test_every_write_says_its_turn_phase_model_and_reason(long: Played):
    phases = {
        "record": "post-gen",
        "facts": "post-gen",
        "forget": "post-gen",
        "summary": "summary",
        "section": "during-gen",
    }
    seen = set()
    for folder in records.folders(long.root):
        for write in records.writes(long.root, folder):
            assert journal.turn_id(write["turn"]) == folder.rsplit("/", 1)[-1]
            assert write["model"] == long.spec() and write["reason"], write
            assert write["phase"] in activity.PHASES and write["phase"] == phases.get(write["op"], write["phase"])
            if write["phase"] == "post-gen" and write["op"] != "proposal":
                assert write["source"] in [fact.said for fact in plot.facts_of(write["turn"])]
            seen.add(write["op"])
    assert seen >= {"section", "journal", "arc", "record", "facts", "history", "forget", "proposal", "summary",
                    "summary_revised", "summary_retired"}  # fmt: skip


def test_why_tells_it_of_every_line_the_story_wrote_and_hand_written_of_every_other(long: Played, rolecall):
    for path in [*plot.MADE, *plot.CHANGED]:
        old = set(long.begun.get(path, b"").decode().splitlines())
        for origin in provenance.why(long.campaign, path, None):
            if origin.text.strip() and origin.text not in old and origin.text != "## History":
                turn = int(origin.turn[1:])
                assert origin.by == long.spec() and origin.phase == "post-gen", (path, origin)
                assert origin.source in [fact.said for fact in plot.facts_of(turn)], (path, origin)
                assert origin.reason == f"told in turn {turn}"
            elif origin.text in old and path in long.begun:
                assert origin.by in (provenance.HAND, provenance.TEMPLATE), (path, origin)
    sera = text(long.root)["characters/sera.md"].decode().splitlines()
    at = sera.index("- T0068 status: unhurt → stabbed") + 1
    (row,) = json.loads(rolecall("-C", long.root, "why", f"characters/sera.md:{at}", "--json").out)
    assert (row["turn"], row["phase"], row["by"]) == ("T0068", "post-gen", "openai/loopback-1")
    assert (row["reason"], row["source"]) == ("told in turn 68", "Sera has a knife wound in her side.")
    said = rolecall("-C", long.root, "why", f"characters/sera.md:{at}").out
    assert "T0068 · post-gen · openai/loopback-1 · told in turn 68" in said
    assert "from: Sera has a knife wound in her side." in said
    assert "written by hand" in rolecall("-C", long.root, "why", "characters/sera.md:2").out


def test_the_feed_tells_what_each_phase_did(long: Played, rolecall):
    def ops(*more: str) -> list[dict]:
        ran = rolecall("-C", long.root, "activity", "--json", "--limit", "200", *more)
        assert ran.code == 0, ran.err
        return json.loads(ran.out)

    assert {op["type"] for op in ops()} >= {"search", "remember", "update", "summary", "fold"}
    assert len(ops()) == 200
    for type_, phase in (
        ("remember", "post-gen"),
        ("forget", "post-gen"),
        ("summary", "summary"),
        ("fold", "post-gen"),
    ):
        found = ops("--type", type_)
        assert found and {(op["type"], op["phase"]) for op in found} == {(type_, phase)}
        assert all(op["model"] == long.spec() and op["paths"] and op["reason"] and op["tokens"] for op in found)
    assert (
        {op["type"] for op in ops("--phase", "pre-gen")}
        == {"search"}
        == {op["type"] for op in ops("--phase", "during-gen")}
    )
    assert {op["paths"][0] for op in ops("--type", "remember")} == set(plot.MADE)
    assert [op["turn"] for op in ops("--type", "forget")] == ["T0058"]
    told = rolecall("-C", long.root, "activity", "--type", "forget").out
    assert "forget" in told and "items/the-tin-whistle.md" in told and "told in turn 58" in told
    assert rolecall("-C", long.root, "activity", "--type", "nonsense").code == 2


# -- back and forth


def test_undo_of_the_last_ten_turns_brings_every_file_back_to_the_byte(long: Played, rolecall, tmp_path):
    root = long.copy(tmp_path)
    assert text(root) != long.kept
    ran = rolecall("-C", root, "undo", str(TURNS - KEPT))
    assert ran.code == 0, ran.err
    now = text(root)
    assert {p for p in now.keys() | long.kept.keys() if now.get(p) != long.kept.get(p)} == set()
    assert checks.check(open_campaign(root)) == []
    assert not [p for p in proposals.listed(root) if p.turn > KEPT]


def test_a_swipe_takes_the_scribes_entries_back_and_switching_brings_them_again(
    long: Played, rolecall, tmp_path, monkeypatch
):
    root = long.copy(tmp_path)
    one = text(root)
    for name, value in long.server.environ("openai").items():
        monkeypatch.setenv(name, value)
    long.cast.retold[100] = plot.SWIPED
    try:
        ran = rolecall("-C", root, "swipe", "--model", long.spec())
    finally:
        long.cast.retold.clear()
    assert ran.code == 0 and "ice cellar" in ran.out, ran.err
    two = text(root)
    assert "locations/the-weir-house.md" in one.keys() - two.keys()
    assert two.keys() - one.keys() == {"locations/the-ice-cellar.md"}
    assert two["arcs/the-ledger.md"] == one["arcs/the-ledger.md"]  # the historian came to the same
    for wanted, there in ((1, one), (2, two), (1, one)):
        assert rolecall("-C", root, "swipe", "--to", str(wanted)).code == 0
        now = text(root)
        assert {p for p in now.keys() | there.keys() if now.get(p) != there.get(p)} == set(), wanted
    assert checks.check(open_campaign(root)) == []

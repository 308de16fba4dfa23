"""The scribe: what a turn established ends in exactly one entry, of the right kind and field, and says where it is from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from rolecall.agents import scribe
from rolecall.agents.calls import Desk
from rolecall.campaign import checks, documents, proposals, records, template
from rolecall.campaign.effects import Effect, decode, edit_of, encode
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.campaign.records import Record
from rolecall.campaign.story import Told
from rolecall.errors import ModelUnavailable
from rolecall.models.chain import Chain, Models
from rolecall.models.events import Event, Stopped, TextDelta, ToolCalled, Used
from rolecall.models.messages import Request, ToolCall, ToolResult
from rolecall.models.provider import Limits, Profile
from rolecall.models.usage import Usage
from rolecall.search.searcher import Search
from rolecall.tools import upkeep
from tests.loopback.replies import Reply
from tests.loopback.server import MODEL, Loopback

LIMITS = Limits(first=5, between=5, total=20)
PROSE = (
    "Sera comes in from the rain with a bandaged hand. “The ledger is Dorrit's now,” she says. "
    "Dorrit Vane, a pedlar with one glass eye, sets the brass ledger on the bar of the Broken Anchor. "
    "Captain Varr has ridden north to Cold Ford."
)
FILES = {
    "characters/sera.md": """\
---
# mine
name: Sera
kind: character
aliases: [the smuggler]
location: "Greywater"   # by the tide
status: unhurt
voice: Low
relationships:
  - {with: Captain Varr, nature: hunted_by, status: wary}
secret: xyzzycanary1
---
Runs the Gannet.

## Secret

xyzzycanary2

## History
- T0001 Came ashore.
""",
    "characters/varr.md": "---\r\nname: Captain Varr\r\nkind: character\r\nlocation: Greywater\r\n---\r\nThe harbour watch.\r\n",
    "characters/saint.md": "---\nname: Saint Orm\nkind: character\nlocked: true\nstatus: absent\n---\nNobody touches her.\n",
    "characters/ghost.md": "---\nname: The Grey Monk\nvisibility: secret\n---\nxyzzycanary3\n",
    "characters/old.md": "---\nname: Old Tib\nkind: character\nsource: T0001\nforgotten: T0002 left\n---\nA rat catcher.\n",
    "characters/gone.md": "---\nname: Bram Holt\nkind: character\nforgotten: he drowned\n---\nA sailor.\n",
    "characters/broken.md": "---\nname: Broken: a: b\nsecret: xyzzycanary4\n---\nxyzzycanary4\n",
    "locations/anchor.md": "---\nname: The Broken Anchor\nkind: location\naliases:\n  - the inn\n---\nA tavern.\n",
    "locations/greywater.md": "---\nname: Greywater\nkind: location\n---\nA harbour.\n",
    "items/ledger.md": "---\nname: The Brass Ledger\nkind: item\naliases:\n  - the ledger\nholder: Sera\n---\nNames and sums.\n",
    "lore/tides.md": "---\nname: The Tides\nkind: lore\nsource: T0001\n---\nThey come twice.\n",
    "arcs/who.md": "---\nname: Who sank the Gannet\nkind: arc\nquestion: Who?\nstatus: open\ntruth: xyzzycanary5\n---\n",
    "dm/plan.md": "Sera xyzzycanary6 must fall.\n",
}


@dataclass
class Model:
    """A sidecar that answers as it is told, a list of calls an answer; what it was asked is kept."""

    answers: list[Sequence[tuple[str, dict]] | str | BaseException]
    asked: list[Request] = field(default_factory=list)
    profile: Profile = field(default_factory=lambda: Profile("scripted:never-read.yaml", free=True))

    def prepare(self) -> None:
        """Nothing to do."""

    def check(self) -> str:
        """Nothing is missing."""
        return ""

    def close(self) -> None:
        """Nothing to close."""

    def stream(self, request: Request, limits: Limits) -> Iterator[Event]:
        """The next answer."""
        self.asked.append(request)
        answer = self.answers.pop(0) if self.answers else "Nothing."
        if isinstance(answer, BaseException):
            raise answer
        yield TextDelta(answer if isinstance(answer, str) else "Noted.")
        for number, (name, arguments) in enumerate(() if isinstance(answer, str) else answer):
            yield ToolCalled(ToolCall(f"call_{len(self.asked)}_{number}", name, arguments))
        yield Used(Usage(fresh=1, out=1))
        yield Stopped("end" if isinstance(answer, str) else "tool_use")

    def chain(self) -> Chain:
        """The chain of this model alone."""
        shared = Models({})
        shared._open[self.profile.spec, "sidecar"] = self
        return Chain([self.profile.spec], LIMITS, shared, "sidecar")

    def heard(self) -> list[ToolResult]:
        """What the tools answered in the first round, as the second one was told."""
        return [part for part in self.asked[1].messages[-1].parts if isinstance(part, ToolResult)]


@dataclass
class World:
    """A campaign with a scribe: turns are remembered and written as a turn would."""

    campaign: Campaign
    search: Search
    turn: int = 42
    records: dict[int, Record] = field(default_factory=dict)

    def record(self) -> Record:
        """The record of this turn."""
        return self.records.setdefault(self.turn, Record(self.campaign.root, f".rolecall/turns/T{self.turn:04d}"))

    def remember(self, model: Model, prose: str = PROSE, **more: object) -> tuple[list[Effect], str]:
        """One turn's memory, not yet written."""
        desk = Desk(self.record())
        return scribe.remember(
            model.chain(), desk, self.campaign, self.search, self.turn, "I wait.", prose, "Sera came in hurt.", **more
        )

    def write(self, effects: list[Effect]) -> None:
        """Apply effects through their JSON, each twice, and bring search up to date."""
        record = self.record()
        for effect in [decode(encode(e)) for e in effects]:
            record.write(effect.path, effect.op, edit_of(effect), turn=effect.turn, **effect.why)
            record.write(effect.path, effect.op, edit_of(effect), turn=effect.turn, **effect.why)
        self.search.refresh()

    def tell(self, *calls: tuple[str, dict], prose: str = PROSE) -> list[Effect]:
        """A turn in which the model makes these calls; all of them are taken."""
        model = Model([list(calls)])
        effects, why = self.remember(model, prose)
        assert (why, len(model.asked)) == ("", 1)
        self.write(effects)
        return effects

    def refused(self, *calls: tuple[str, dict]) -> list[str]:
        """What the model hears about calls none of which is taken."""
        model = Model([list(calls)])
        effects, why = self.remember(model)
        assert (effects, why) == ([], "")
        assert all(result.is_error for result in model.heard())
        return [result.text for result in model.heard()]

    def text(self, path: str) -> str:
        return self.campaign.read(path).decode()

    def fields(self, path: str) -> dict:
        return documents.parse(self.campaign.read(path), path).fields

    def files(self) -> dict[str, bytes]:
        return {path: self.campaign.read(path) for path, _ in self.campaign.walk()}

    def problems(self) -> list[str]:
        return [
            str(p) for p in checks.check(self.campaign) if p.path != "characters/broken.md" and p.rule != "interrupted"
        ]


@pytest.fixture
def world(tmp_path: Path) -> World:
    root = template.new(tmp_path / "tale", "Tale").root
    for old in [
        p for folder in ("characters", "locations", "items", "rules", "arcs", "dm") for p in (root / folder).iterdir()
    ]:
        old.unlink()
    state = root / "campaign-state.md"  # it links to what is gone now
    state.write_bytes(state.read_bytes().replace(b"[[", b"").replace(b"]]", b""))
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_bytes(text.encode())
    campaign = open_campaign(root, here_only=True)
    search = Search(campaign)
    search.refresh()
    return World(campaign, search)


def added(before: str, after: str) -> list[str]:
    """The lines that were put in; no other line may have changed, save those a state field replaced."""
    rest = iter(after.split("\n"))
    new = []
    for line in before.split("\n"):
        for have in rest:
            if have == line:
                break
            new.append(have)
        else:
            raise AssertionError(f"lost {line!r}")
    return new + list(rest)


# -- recording

NEW = {
    "character": ({"role": "Pedlar", "location": "the inn"}, {"role": "Pedlar", "location": "The Broken Anchor"}),
    "location": ({"within": "greywater", "owner": "the smuggler"}, {"within": "Greywater", "owner": "Sera"}),
    "organization": ({"leader": "captain varr", "members": ["sera"]}, {"leader": "Captain Varr", "members": ["Sera"]}),
    "item": ({"holder": "Dorrit Vane", "properties": "Hums"}, {"holder": "Dorrit Vane", "properties": "Hums"}),
    "power": ({"cost": "A tooth", "wielders": ["Sera"]}, {"cost": "A tooth", "wielders": ["Sera"]}),
    "creature": ({"habitat": "Greywater", "weakness": "Salt"}, {"habitat": "Greywater", "weakness": "Salt"}),
    "culture": ({"customs": "Bread at dawn"}, {"customs": "Bread at dawn"}),
    "rule": ({"scope": "The whole coast"}, {"scope": "The whole coast"}),
    "event": ({"date": "1492-13-01", "participants": ["Sera"]}, {"date": "1492-13-01", "participants": ["Sera"]}),
    "threat": ({"target": "greywater", "stage": "Begun"}, {"target": "Greywater", "stage": "Begun"}),
    "lore": ({"status": "half forgotten"}, {"status": "half forgotten"}),
}


@pytest.mark.parametrize("kind", ENTRY_KINDS)
def test_a_new_thing_of_each_kind_becomes_one_entry_in_its_folder_with_its_fields(world, kind):
    given, wanted = NEW[kind]
    before = world.files()
    world.tell((f"record_{kind}", {"name": "Umber Quill", **given, "text": "It matters.", "reason": "new"}))
    path = f"{ENTRY_KINDS[kind].folder}/umber-quill.md"
    assert world.fields(path) == {"name": "Umber Quill", "kind": kind, **wanted, "source": "T0042"}
    assert world.text(path).endswith("---\nIt matters.\n")
    assert {p: d for p, d in world.files().items() if p != path} == before
    assert world.search.catalogue[path].kind == kind and world.problems() == []


@pytest.mark.parametrize("name", ["sera", "SERA", "Sera (Greywater)", "Sera the Smuggler", "Captain Sera", "[[Sera]]"])
def test_what_is_known_is_updated_and_no_second_entry_is_made(world, name):
    before = world.text("characters/sera.md")
    world.tell(("record_character", {"name": name, "status": "a bandaged hand", "reason": "hurt"}))
    assert sum("sera" in path for path, _ in world.campaign.walk()) == 1
    after = world.text("characters/sera.md")
    assert "\nstatus: a bandaged hand\n" in after and after.endswith("- T0042 status: unhurt → a bandaged hand\n")
    assert added(before.replace("status: unhurt", "status: a bandaged hand"), after)[-1] == (
        "- T0042 status: unhurt → a bandaged hand"
    )


def test_the_model_hears_what_something_is_known_as(world):
    model = Model(
        [[("record_character", {"name": "Sera the Smuggler", "age": "30"}), ("record_item", {"name": "!!!"})]]
    )
    world.remember(model)
    assert [r.text for r in model.heard()] == ["Known as Sera; updated.", "'!!!' is no name."]


def test_several_calls_about_one_new_thing_make_one_entry(world):
    world.tell(
        ("record_character", {"name": "Dorrit Vane", "aliases": ["the Crow"], "text": "A pedlar."}),
        (
            "record_character",
            {"name": "Dorrit", "status": "wet", "relationships": [{"with": "Sera", "nature": "aunt"}]},
        ),
        ("record_character", {"name": "The Crow", "text": "She has one glass eye and hums."}),
        ("update_entry", {"entry": "dorrit vane", "field": "location", "value": "the inn"}),
        ("record_item", {"name": "The Brass Ledger", "holder": "the crow"}),
    )
    fields = world.fields("characters/dorrit-vane.md")
    assert fields["aliases"] == ["the Crow", "Dorrit"] and fields["location"] == "The Broken Anchor"
    assert fields["relationships"] == [{"with": "Sera", "nature": "aunt"}] and fields["status"] == "wet"
    assert "A pedlar.\n\nShe has one glass eye and hums.\n" in world.text("characters/dorrit-vane.md")
    assert world.fields("items/ledger.md")["holder"] == "Dorrit Vane"
    assert (
        len([p for p in world.files() if p.startswith("characters/")])
        == len([p for p in FILES if p.startswith("characters/")]) + 1
    )


def test_the_same_words_in_a_later_turn_are_not_appended_again(world):
    said = "Sera was stabbed by Captain Varr on the salt stairs and lost two fingers of her left hand."
    world.tell(("record_character", {"name": "Sera", "text": said}))
    once = world.text("characters/sera.md")
    world.turn = 43
    model = Model([[("record_character", {"name": "Sera", "text": said.replace("left hand", "left hand there")})]])
    effects, _ = world.remember(model)
    world.write(effects)
    assert world.text("characters/sera.md") == once


def test_a_slip_of_the_pen_becomes_no_alias_but_another_name_does(world):
    world.tell(("record_location", {"name": "The Brokken Anchor", "aliases": ["The Hook"], "atmosphere": "Warm"}))
    assert world.fields("locations/anchor.md")["aliases"] == ["the inn", "The Hook"]


def test_an_alias_that_is_anothers_name_is_left_out(world):
    world.tell(("record_character", {"name": "Ilse Brand", "aliases": ["the inn", "Greywater", "Grey Ilse"]}))
    assert world.fields("characters/ilse-brand.md")["aliases"] == ["Grey Ilse"]


def test_a_name_that_something_of_another_kind_bears_is_not_given_twice(world):
    assert "The Broken Anchor is a location here" in world.refused(("record_item", {"name": "the broken anchor"}))[0]


def test_two_events_of_one_name_on_two_dates_are_two_and_a_third_telling_is_none(world):
    world.tell(("record_event", {"name": "The Harvest Fair", "date": "1492-07-01", "text": "Sera danced."}))
    world.turn = 43
    world.tell(("record_event", {"name": "The Second Harvest Fair", "date": "1493-07-01", "text": "Sera fought."}))
    world.turn = 44
    model = Model([[("record_event", {"name": "Harvest Fair", "date": "1492-07-01", "outcome": "A feud"})]])
    world.write(world.remember(model)[0])
    assert sorted(p for p in world.files() if p.startswith("events/")) == [
        "events/the-harvest-fair.md",
        "events/the-second-harvest-fair.md",
    ]
    assert world.fields("events/the-harvest-fair.md")["outcome"] == "A feud"


# -- changing


def test_a_relationship_changes_in_its_one_line_by_whatever_name(world):
    before = world.text("characters/sera.md")
    world.tell(
        ("record_character", {"name": "Sera", "relationships": [{"with": "captain varr", "status": "open war"}]})
    )
    line = "  - {with: Captain Varr, nature: hunted_by, status: wary}"
    changed = before.replace(line, line.replace("wary", "open war"))
    assert world.text("characters/sera.md") == changed + "- T0042 relationships, Captain Varr: status wary → open war\n"


def test_a_state_changes_in_a_file_with_windows_line_ends_and_every_other_byte_stays(world):
    before = world.campaign.read("characters/varr.md")
    world.tell(("update_entry", {"entry": "Captain Varr", "field": "location", "value": "Cold Ford"}))
    assert world.campaign.read("characters/varr.md") == before.replace(b": Greywater", b": Cold Ford") + (
        b"\r\n## History\r\n\r\n- T0042 location: Greywater \xe2\x86\x92 Cold Ford\r\n"
    )


def test_a_place_under_another_of_its_names_is_no_change(world):
    world.tell(("update_entry", {"entry": "Sera", "field": "location", "value": "The Broken Anchor"}))
    once = world.text("characters/sera.md")
    world.turn = 43
    effects, why = world.remember(
        Model([[("update_entry", {"entry": "Sera", "field": "location", "value": "the inn"})]])
    )
    assert (effects, why) == ([], "") and world.text("characters/sera.md") == once


def test_of_two_changes_of_one_state_in_a_turn_the_last_counts(world):
    world.tell(
        ("update_entry", {"entry": "Sera", "field": "status", "value": "bleeding"}),
        ("update_entry", {"entry": "Sera", "field": "status", "value": "bandaged"}),
    )
    assert world.text("characters/sera.md").endswith("- T0001 Came ashore.\n- T0042 status: unhurt → bandaged\n")


def test_prose_and_filled_text_of_the_writer_are_never_rewritten(world):
    before = world.text("characters/sera.md")
    world.tell(
        ("update_entry", {"entry": "Sera", "field": "voice", "value": "Hoarse from the smoke"}),
        ("update_entry", {"entry": "Sera", "field": "history", "value": "Gave the ledger away."}),
        ("append_history", {"entry": "Sera", "text": "Slept till noon.", "reason": "r"}),
    )
    assert world.text("characters/sera.md") == before + (
        "- T0042 voice: Hoarse from the smoke\n- T0042 Gave the ledger away.\n- T0042 Slept till noon.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"entry": "Nobody At All", "field": "status", "value": "x"}, "No entry is named"),
        ({"entry": "Sera", "field": "hit_points", "value": "3"}, "numbers"),
        ({"entry": "Sera", "field": "secret", "value": "x"}, "writer's own"),
        ({"entry": "Sera", "field": "locked", "value": "false"}, "writer's own"),
        ({"entry": "Sera", "field": "shoe size", "value": "x"}, "has no field"),
        ({"entry": "Sera", "field": "relationships", "value": "x"}, "record_character"),
        ({"entry": "Sera", "field": "status", "value": "x" * 500}, "at most 300"),
        ({"entry": "Sera", "field": "kind", "value": "spaceship"}, "is no kind"),
        ({"entry": "Who sank the Gannet", "field": "status", "value": "closed"}, "No entry is named"),
        ({"entry": "../dm/plan.md", "field": "status", "value": "x"}, "No entry is named"),
    ],
)
def test_what_may_not_be_updated_is_refused_in_words(world, arguments, word):
    assert word in world.refused(("update_entry", arguments))[0]


# -- locked, forgotten, secret, broken


@pytest.mark.parametrize(
    "call",
    [
        ("record_character", {"name": "Saint Orm", "status": "risen"}),
        ("update_entry", {"entry": "Saint Orm", "field": "status", "value": "risen"}),
        ("append_history", {"entry": "Saint Orm", "text": "Rose."}),
        ("forget", {"entry": "Saint Orm", "reason": "over"}),
        ("move_entry", {"entry": "Saint Orm", "kind": "creature"}),
        ("merge_entries", {"keep": "Saint Orm", "other": "The Tides"}),
    ],
)
def test_a_locked_entry_gets_a_proposal_only(world, call):
    before = world.files()
    effects = world.tell(call)
    assert [e.op for e in effects] == ["proposal"] and world.files() == before
    (proposal,) = proposals.listed(world.campaign.root)
    assert proposal.line.startswith("Saint Orm: ")
    assert all(e.phase == "post-gen" and e.model == "scripted:never-read.yaml" for e in proposal.effects)
    world.turn = 43
    effects, _ = world.remember(Model([[call]]))
    assert effects == [] and world.files() == before


def test_an_accepted_proposal_makes_the_change_the_turn_would_have_made(world):
    world.tell(("update_entry", {"entry": "Saint Orm", "field": "status", "value": "risen", "reason": "a wonder"}))
    proposals.accept(world.campaign.root, 1)
    assert world.text("characters/saint.md").endswith("## History\n\n- T0042 status: absent → risen\n")
    write = next(line for line in records.lines(world.campaign.root, ".rolecall/edits/0001") if line["do"] == "write")
    assert (write["phase"], write["reason"], write["turn"]) == ("post-gen", "a wonder", 42)


def test_two_proposals_of_one_turn_have_two_numbers(world):
    effects = world.tell(
        ("append_history", {"entry": "Saint Orm", "text": "Rose."}),
        ("append_history", {"entry": "Saint Orm", "text": "Spoke."}),
    )
    assert [Path(e.path).name for e in effects] == ["0001.json", "0002.json"]


def test_what_a_turn_forgot_is_in_play_again_when_the_story_brings_it_back(world):
    world.tell(("record_character", {"name": "Old Tib", "location": "The Broken Anchor"}))
    assert "forgotten" not in world.fields("characters/old.md")
    assert "- T0042 forgotten: T0002 left → none" in world.text("characters/old.md")
    assert not world.search.catalogue["characters/old.md"].withheld


def test_what_the_writer_took_out_of_play_is_told_of_but_only_proposed_to_come_back(world):
    world.tell(("record_character", {"name": "Bram Holt", "status": "alive after all"}))
    assert world.fields("characters/gone.md")["forgotten"] == "he drowned"
    assert world.fields("characters/gone.md")["status"] == "alive after all"
    assert [p.line for p in proposals.listed(world.campaign.root)] == ["Bram Holt: in play again"]


def test_a_secret_entry_is_neither_shown_nor_touched_nor_owned_to(world):
    before = world.campaign.read("characters/ghost.md")
    model = Model(
        [
            [
                ("record_character", {"name": "The Grey Monk", "status": "walks"}),
                ("append_history", {"entry": "The Tide", "text": "x"}),
            ]
        ]
    )
    effects, _ = world.remember(
        model, prose="The Grey Monk walks. Sera and Broken run. Who sank the Gannet?", retrieved=list(FILES)
    )
    world.write(effects)
    assert world.campaign.read("characters/ghost.md") == before
    assert model.heard()[0].text == "Recorded The Grey Monk (character)."
    assert world.fields("characters/the-grey-monk.md")["status"] == "walks"
    sent = json.dumps([repr(request) for request in model.asked])
    assert "xyzzycanary" not in sent and "Runs the Gannet." in sent


def test_a_broken_file_is_left_to_the_byte_and_no_second_one_is_made(world):
    before = world.files()
    heard = world.refused(
        ("record_character", {"name": "broken", "status": "x"}), ("append_history", {"entry": "broken", "text": "x"})
    )
    assert "cannot be read just now" in heard[0] and "No entry is named" in heard[1]
    assert world.files() == before


# -- reorganizing


def test_merged_entries_keep_every_word_on_disk_and_the_first_answers_to_both_names(world):
    world.tell(("record_character", {"name": "Ilse Brand", "status": "calm"}))
    world.tell(
        ("record_character", {"name": "The Hooded Woman", "status": "watching", "text": "She asks for the tide table."})
    )
    world.turn = 43
    world.tell(("append_history", {"entry": "The Hooded Woman", "text": "Paid in silver."}))
    world.turn = 44
    before, other = world.text("characters/ilse-brand.md"), world.text("characters/the-hooded-woman.md")
    world.tell(("merge_entries", {"keep": "Ilse Brand", "other": "The Hooded Woman", "reason": "she lowers the hood"}))
    assert list(filter(None, added(before, world.text("characters/ilse-brand.md")))) == [
        "aliases:",
        "  - The Hooded Woman",
        "## History",
        "- T0043 Paid in silver.",
        "- T0044 As The Hooded Woman: She asks for the tide table.",
        "- T0044 status: watching",
    ]
    assert world.text("characters/the-hooded-woman.md") == other.replace(
        "source: T0042\n", "source: T0042\nforgotten: T0044 merged into Ilse Brand\n"
    )
    world.turn = 45
    world.tell(("record_character", {"name": "the hooded woman", "age": "40"}))
    assert world.fields("characters/ilse-brand.md")["age"] == "40"


def test_merging_with_an_entry_that_has_secrets_is_left_to_the_writer(world):
    world.tell(("record_character", {"name": "The Hooded Woman"}))
    before = world.files()
    assert [e.op for e in world.tell(("merge_entries", {"keep": "Sera", "other": "The Hooded Woman"}))] == ["proposal"]
    assert world.files() == before


@pytest.mark.parametrize(
    "call",
    [
        ("forget", {"entry": "Greywater", "reason": "left for good"}),
        ("merge_entries", {"keep": "The Broken Anchor", "other": "Greywater"}),
        ("move_entry", {"entry": "Captain Varr", "kind": "threat"}),
    ],
)
def test_taking_out_of_play_what_the_writer_wrote_is_only_proposed(world, call):
    before = world.files()
    assert [e.op for e in world.tell(call)] == ["proposal"] and world.files() == before


def test_what_a_turn_made_can_be_forgotten_moved_and_split(world):
    world.tell(("forget", {"entry": "The Tides", "reason": "dull"}))
    assert (
        world.fields("lore/tides.md")["forgotten"] == "T0042 dull" and world.search.catalogue["lore/tides.md"].withheld
    )
    world.tell(("record_lore", {"name": "The Lamp", "text": "It burns blue."}))
    world.tell(
        ("move_entry", {"entry": "The Lamp", "kind": "item"}),
        ("update_entry", {"entry": "The Lamp", "field": "status", "value": "lit"}),
    )
    assert world.search.catalogue["lore/the-lamp.md"].kind == "item"
    world.tell(("split_entry", {"entry": "The Lamp", "name": "Lamp Oil", "kind": "item", "text": "It smells of fish."}))
    assert world.fields("items/lamp-oil.md")["kind"] == "item"
    assert "- T0042 Lamp Oil has an entry of its own." in world.text("lore/the-lamp.md")
    assert world.problems() == []


def test_a_person_and_a_place_are_never_merged(world):
    assert "they are two things" in world.refused(("merge_entries", {"keep": "Sera", "other": "Greywater"}))[0]


# -- where it comes from


def test_each_effect_names_phase_model_reason_and_a_sentence_really_in_the_prose(world):
    effects = world.tell(
        (
            "record_character",
            {"name": "Dorrit Vane", "reason": "new face", "source": "Dorrit Vane,  a pedlar with one glass eye"},
        ),
        (
            "update_entry",
            {"entry": "Captain Varr", "field": "location", "value": "Cold Ford", "source": "Varr flew to the moon."},
        ),
        ("update_entry", {"entry": "Sera", "field": "status", "value": "a bandaged hand"}),
    )
    assert [e.source for e in effects] == [
        "Dorrit Vane, a pedlar with one glass eye, sets the brass ledger on the bar of the Broken Anchor.",
        "Captain Varr has ridden north to Cold Ford.",
        "Sera comes in from the rain with a bandaged hand.",
    ]
    assert {(e.phase, e.model) for e in effects} == {("post-gen", "scripted:never-read.yaml")}
    assert [e.reason for e in effects] == ["new face", "established in this turn", "established in this turn"]
    writes = records.writes(world.campaign.root, ".rolecall/turns/T0042")
    assert len(writes) == 3 and all(line["source"] in PROSE and line["reason"] and line["model"] for line in writes)


def test_what_no_sentence_speaks_of_has_no_source(world):
    (effect,) = world.tell(("record_lore", {"name": "Zzyx", "text": "Qqq vvv.", "source": "Nobody said this."}))
    assert effect.source == ""


# -- the conversation


def test_a_model_that_calls_no_tool_wrote_nothing_and_that_is_no_failure(world):
    model = Model(["Nothing."])
    assert world.remember(model) == ([], "") and len(model.asked) == 1


def test_a_scribe_that_is_off_or_too_small_is_no_failure(world):
    desk = Desk(None)
    small = Model([], profile=Profile("scripted:never-read.yaml", helpers=False))
    for chain in (None, small.chain()):
        assert scribe.remember(chain, desk, world.campaign, world.search, 1, "a", "p", "j") == ([], "")
    assert small.asked == []


def test_a_second_round_is_asked_only_when_something_was_refused_and_mends_it(world):
    model = Model(
        [
            [
                ("update_entry", {"entry": "Sera", "field": "status", "value": "wet"}),
                ("record_place", {"name": "Cold Ford"}),
            ],
            [("record_location", {"name": "Cold Ford", "text": "A ford."})],
        ]
    )
    effects, why = world.remember(model)
    assert why == "" and [e.path for e in effects] == ["characters/sera.md", "locations/cold-ford.md"]
    assert [r.is_error for r in model.heard()] == [False, True] and "There is no tool 'record_place'" in model.heard()[
        1
    ].text


def test_when_the_second_round_fails_the_first_one_stands(world):
    gone = ModelUnavailable("the script has no further answer")
    model = Model([[("append_history", {"entry": "Sera", "text": "Wept."}), ("nope", {})], gone])
    effects, why = world.remember(model)
    assert ([e.op for e in effects], why) == (["history"], "")


def test_a_mistake_of_our_own_in_one_tool_takes_no_other_call_with_it(world, monkeypatch):
    broken = replace(upkeep.APPEND_HISTORY, run=lambda *_: 1 / 0)
    monkeypatch.setattr(upkeep, "ALSO", (broken, upkeep.MOVE_ENTRY))
    model = Model([[("append_history", {"entry": "Sera", "text": "x"}), ("record_lore", {"name": "The Lamp"})]])
    effects, why = world.remember(model)
    assert ([e.op for e in effects], why) == (["record"], "")
    assert "ZeroDivisionError" in model.heard()[0].text


def test_the_request_begins_the_same_every_turn_and_offers_at_most_fifteen_tools(world):
    asked = []
    for turn, prose in ((42, PROSE), (43, "Another scene altogether, with Captain Varr.")):
        model = Model(["Nothing."])
        world.turn = turn
        world.remember(model, prose)
        asked.append(model.asked[0])
    one, two = asked
    assert (one.system, one.tools) == (two.system, two.tools) and one.system[-1].cache
    assert len(one.tools) == 15
    assert f"Turn: T0042\n\n> I wait.\n\n{PROSE}" in one.messages[0].text
    assert {tool.name for tool in upkeep.ALSO} == {"append_history", "move_entry"}


def test_the_model_is_shown_what_was_retrieved_and_named_and_the_turns_it_missed(world):
    model = Model(["Nothing."])
    missed = [Told("story/1.md", 1, number, f"action {number}", f"prose {number}") for number in range(36, 42)]
    world.remember(model, missed=missed, retrieved=["lore/tides.md", "no/such.md"])
    said = model.asked[0].messages[0].text
    assert "# The Tides (lore)" in said and "# Sera (character)" in said and "# Captain Varr (character)" in said
    assert "prose 36" in said and "prose 38" in said and "prose 39" not in said  # the oldest first; the rest is next


def test_long_entries_are_clipped_and_no_more_than_sixteen_are_shown(world):
    for number in range(30):
        place = world.campaign.root / f"lore/long-{number}.md"
        place.write_text(f"---\nname: Long {number}\n---\n{'word ' * 2000}the end {number}\n")
    world.search.refresh()
    model = Model(["Nothing."])
    world.remember(model, retrieved=[f"lore/long-{n}.md" for n in range(30)])
    said = model.asked[0].messages[0].text
    assert said.count("(lore)") + said.count("(character)") + said.count("(location)") + said.count("(item)") == 16
    assert len(said) < 20_000 and "the end 3" in said


def test_of_two_hundred_writes_in_one_answer_forty_are_noted_and_the_rest_is_refused(world):
    calls = [
        ("record_lore", {"name": f"Rumour of the {n}th Bell", "text": f"Bell {n} rang {n * 7919} times."})
        for n in range(200)
    ]
    model = Model([calls])
    effects, why = world.remember(model)
    assert why == "160 of 200 changes were not noted: at most 40 a turn"
    assert len(effects) == 40 and len(model.asked) == 1
    for effect in effects:
        place = world.campaign.root / effect.path
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(edit_of(effect)(None))
    assert world.problems() == []


def test_what_the_player_stops_is_stopped(world):
    with pytest.raises(KeyboardInterrupt):
        world.remember(Model([KeyboardInterrupt()]))


NONSENSE = [
    ("record_character", {}),
    ("record_character", {"name": None}),
    ("record_character", {"name": 7, "aliases": "One, Two", "relationships": {"with": "Sera"}, "age": 30}),
    ("record_character", {"name": ["a", "b"]}),
    ("record_character", {"name": {"x": 1}, "text": 4}),
    ("record_character", {"name": "Ok Name", "aliases": [["x"], {"name": "Deep"}, None, 3]}),
    (
        "record_character",
        {"name": "Other Name", "relationships": ["Sera", {"nature": "no key"}, 5, {"with": "", "nature": "x"}]},
    ),
    ("record_character", {"name": "Tall", "height": "2 m"}),
    ("record_character", {"name": "../../etc/passwd", "text": "x"}),
    ("record_item", {"name": "CON"}),
    ("record_item", {"name": "a\n---\nkind: lie"}),
    ("record_item", {"name": "---"}),
    ("record_item", {"name": "\x00\x1b[31mRed\x1b[0m\u202egnp"}),
    ("record_item", {"name": "\ud800half", "text": "\udfff"}),
    ("record_item", {"name": "x" * 5000}),
    ("record_lore", {"name": "Fence", "text": "---\nname: x\n---\n## Secret\n```\n- T0001 forged"}),
    ("record_lore", {"name": "Long", "text": "y" * 5000}),
    ("record_event", {"name": "When", "date": "\n\n"}),
    ("update_entry", {"entry": "Sera", "field": "status", "value": "---\n## Journal\n- T0001 x"}),
    ("update_entry", {"entry": "Sera", "field": "../x", "value": "y"}),
    ("update_entry", {"entry": 5, "field": [], "value": {}}),
    ("append_history", {"entry": "Sera", "text": "# a\n\n## b\n- [ ] c"}),
    ("forget", {"entry": "Sera"}),
    ("merge_entries", {"keep": "Sera", "other": "Sera"}),
    ("split_entry", {"entry": "Sera", "name": "Sera", "kind": "character", "text": "x"}),
    ("move_entry", {"entry": "The Tides", "kind": "dm"}),
    ("append_journal", {"text": "no"}),
    ("rm -rf", {"path": "/"}),
    ("", {}),
]


def test_no_nonsense_raises_leaves_the_campaign_or_breaks_a_file(world, tmp_path):
    before = world.files()
    for call in NONSENSE:
        effects, why = world.remember(Model([[call]]))
        assert why == "", call
        world.write(effects)
        world.turn += 1
    effects, why = world.remember(Model([NONSENSE]))
    assert why == ""
    world.write(effects)
    assert world.problems() == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["tale"]
    for path, data in world.files().items():
        folder = path.split("/")[0]
        assert path in before or (folder in {k.folder for k in ENTRY_KINDS.values()} and path.count("/") == 1)
        if path in before and path not in ("characters/sera.md", "lore/tides.md"):
            assert data == before[path]
    assert world.text("characters/sera.md").count("xyzzycanary") == 2


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500),
        Reply(status=429),
        Reply(),
        Reply(text="Some", cut_after=200),
        Reply(tools=(("record_lore", {"name": "Half"}),), cut_after=300),
        Reply(malformed=True, tools=(("record_lore", {"name": "Half"}),), finish=False, done=False),
        Reply(refusal=True),
    ],
    ids=["500", "429", "blank", "cut", "cut in a call", "malformed", "refusal"],
)
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_call_that_fails_is_told_and_nothing_is_written(world, protocol, reply):
    with Loopback(reply) as server:
        chain = Chain([f"{protocol}/{MODEL}"], LIMITS, Models(server.environ(protocol)), "sidecar")
        desk = Desk(Record(world.campaign.root, ".rolecall/turns/T0042"))
        effects, why = scribe.remember(chain, desk, world.campaign, world.search, 42, "I wait.", PROSE, "j")
        chain.models.close()
    assert effects == [] and why


def test_broken_arguments_over_the_wire_are_mended_in_the_second_round(world):
    good = Reply(tools=(("record_location", {"name": "Cold Ford"}),))
    with Loopback([Reply(tools=(("record_location", '{"name": "Cold'),)), good]) as server:
        chain = Chain([f"openai/{MODEL}"], LIMITS, Models(server.environ("openai")), "sidecar")
        effects, why = scribe.remember(chain, Desk(None), world.campaign, world.search, 42, "I wait.", PROSE, "j")
        chain.models.close()
        assert len(server.bodies) == 2 and len(server.bodies[0]["tools"]) == 15
    assert why == "" and [e.facts["name"] for e in effects] == ["Cold Ford"]


# -- a longer game


def test_over_forty_turns_every_planted_fact_is_in_one_entry_and_hand_written_files_only_grow(world):
    before = world.files()
    names = [
        "Abel Marsh",
        "Berit Holm",
        "Casimir Roe",
        "Dagny Lund",
        "Edric Vale",
        "Fenna Moor",
        "Goran Pike",
        "Hedda Stone",
    ]
    for number in range(40):
        world.turn = 100 + number
        name = names[number % len(names)]
        said = [name, name.upper(), f"{name} (the quay)", f"Captain {name}", name.split()[0]][number // len(names)]
        prose = f"{name} stands at mark {number}."
        world.tell(
            (
                "record_character",
                {
                    "name": said,
                    "location": f"Mark {number}",
                    "relationships": [{"with": "Sera", "status": f"debt {number}"}],
                },
            ),
            ("update_entry", {"entry": "Sera", "field": "status", "value": f"tired {number}"}),
            prose=prose,
        )
    made = sorted(path for path in world.files() if path not in before)
    assert made == sorted(f"characters/{name.lower().replace(' ', '-')}.md" for name in names)
    for at, name in enumerate(names):
        fields = world.fields(f"characters/{name.lower().replace(' ', '-')}.md")
        assert fields["location"] == f"Mark {32 + at}"
        assert fields["relationships"] == [{"with": "Sera", "status": f"debt {32 + at}"}]
    for path, data in before.items():
        if path != "characters/sera.md":
            assert world.campaign.read(path) == data
    old = FILES["characters/sera.md"].replace("status: unhurt", "status: tired 39")
    assert world.text("characters/sera.md").startswith(old)
    assert world.text("characters/sera.md").count("status: ") == 40 + 1 + 1
    assert world.problems() == []

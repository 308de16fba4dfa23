"""The layers before the narrator, in whole turns: side by side, within their time, each missed without harm."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rolecall.campaign import checks, pending, records, story
from rolecall.campaign.activity import Feed
from rolecall.campaign.folder import open_campaign
from rolecall.models.provider import Profile
from rolecall.search.searcher import Search
from rolecall.turn import before, context, phases, preview
from rolecall.turn.direction import Direction
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from rolecall.turn.result import Result
from tests.game import plot
from tests.loopback import storyteller
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.turn.world import text

CHOICE: dict = {
    "entries": [{"name": "Hesper Dunmow", "place": "beside"}, {"name": "The Long Ebb", "place": "before"}],
    "prose": [{"module": "Danger", "place": "middle"}, {"module": "Quiet closing", "place": "closing"}],
    "guidance": {"goals": ["somebody asks for the rope"], "introduce": ["Old Pasco"], "threads": []},
    "hints": {"tone": "wary", "beats": [], "stress": ["wet stone"], "avoid": ["jokes"]},
    "intentions": {"add": ["Encounter: two riders, at dusk"], "withdraw": [], "fulfil": []},
}
DIRECTIVE = "A boat lies keel up on the slip, and nobody looks at it."


def direct(narrator: str = DIRECTIVE, **immersion: object) -> Reply:
    return Reply(tools=(("direct", {"narrator": narrator, "immersion": immersion}),))


@dataclass
class Cast:
    """A model for every layer: the storyteller's answers, but for those given here."""

    answers: dict[str, Callable[[dict], Reply]] = field(default_factory=dict)

    def __call__(self, body: dict) -> Reply:
        layer = plot.layer_of(body)
        if layer in self.answers:
            return self.answers[layer](body)
        return (
            Reply(text=json.dumps(CHOICE))
            if layer == "turn_dm"
            else direct()
            if layer == "dm"
            else storyteller.reply(body)
        )


@dataclass
class Played:
    """A campaign and its server."""

    root: Path
    server: Loopback
    cast: Cast
    said: list[str] = field(default_factory=list)

    def turn(self, action: str = "I go down to the slip.", *models: str) -> Result:
        game = Game(self.root, models=models or ("openai/loopback-1",), environ=self.server.environ())
        return game.tell(action, Listener(text=self.said.append))

    def asked(self, layer: str) -> list[str]:
        return [plot.said_in(body) for body in self.server.bodies if plot.layer_of(body) == layer]

    def settings(self, line: str) -> None:
        path = self.root / "rolecall.yaml"
        key = line.split(":")[0]
        kept = [one for one in path.read_text().splitlines() if one.split(":")[0] != key]
        path.write_text("\n".join([*kept, line]) + "\n")


@pytest.fixture
def played(campaign: Path, loopback: Loopback) -> Played:
    cast = Cast()
    loopback.answer(cast)
    return Played(campaign, loopback, cast)


def degraded(result: Result) -> list[tuple[str, str]]:
    return [(one.layer, one.fallback) for one in result.degraded]


# -- what the narrator is told


@pytest.mark.parametrize("spec", ["openai/loopback-1", "anthropic/loopback-1"])
def test_the_directive_guidance_and_hints_stand_before_the_style_and_the_action(played, spec):
    result = played.turn("I go down to the slip.", spec)
    (said,) = played.asked("narrator")[:1]
    order = [
        "# The Campaign State", "# Before the scene", "# Beside the characters", "# Open arcs", "# Where this turn should go", DIRECTIVE,
        "- Goals: somebody asks for the rope", "- Bring in: Old Pasco", "- Tone: wary", "- Stress: wet stone", "- Avoid: jokes",
        "# Style, middle\n\nDanger", "# Style, closing\n\nQuiet closing", "# The action",
    ]  # fmt: skip
    at = [said.index(part) for part in order]
    assert at == sorted(at) and "Plain and close, as told" not in said
    assert degraded(result) == []
    assert {"turn_dm", "dm", "retriever", "narrator"} <= set(result.usage)


def test_the_chosen_entries_take_their_places_and_come_first(played):
    played.turn()
    (said,) = played.asked("narrator")[:1]
    assert "# Before the scene\n\n# The Long Ebb (rule)" in said
    assert "# Beside the characters\n\n# Hesper Dunmow (character)" in said


def test_the_players_view_of_the_last_prompts_shows_neither_the_dms_nor_the_turn_dms(played):
    played.turn()
    campaign = open_campaign(played.root, here_only=True)
    roles = [layer["role"] for layer in preview.last(campaign, with_secrets=False)["layers"]]
    assert "narrator" in roles and not {"dm", "turn_dm"} & set(roles)
    assert {"dm", "turn_dm"} <= {layer["role"] for layer in preview.last(campaign, with_secrets=True)["layers"]}


def test_a_very_small_narrator_is_told_the_directive_where_there_is_room(played):
    campaign = open_campaign(played.root, here_only=True)
    search = Search(campaign)
    search.refresh()
    state = campaign.document("campaign-state.md")
    long = DIRECTIVE + " " + "The wind turns. " * 40
    sources = context.gather(campaign, search, state, 1, "I wait.", direction=Direction(directive=long))
    small = Profile("small", tools=False, budget=1500, helpers=False)
    prompt = context.assemble(sources, small, (), lambda _, budget: budget)
    assert f"What comes next: {DIRECTIVE}" in prompt.request.system[0].text
    assert [p.owner for p in prompt.passages if p.position == "directive"] == ["dm"]
    assert prompt.tokens <= 1500


def test_intentions_are_written_with_the_turn_and_go_with_its_undo_and_swipe(played):
    played.turn()
    path = played.root / "dm/intentions.md"
    assert path.read_text() == "- [ ] Encounter: two riders, at dusk (T0001)\n"
    game = Game(played.root, environ=played.server.environ(), models=("openai/loopback-1",))
    played.cast.answers["turn_dm"] = lambda _: Reply(
        text=json.dumps({**CHOICE, "intentions": {"add": ["Event: hail"], "withdraw": [], "fulfil": []}})
    )
    game.swipe(Listener())
    assert path.read_text() == "- [ ] Event: hail (T0001)\n"
    game.switch(1, Listener())
    assert path.read_text() == "- [ ] Encounter: two riders, at dusk (T0001)\n"
    game.undo(Listener())
    assert not path.exists() or not path.read_text().strip()


def test_what_the_dm_plans_is_written_and_the_players_view_of_the_turn_names_no_file_of_the_dms(played):
    played.cast.answers["dm"] = lambda _: Reply(
        tools=(("plant_seed", {"text": "The rope is new."}), ("direct", {"narrator": DIRECTIVE}))
    )
    result = played.turn()
    assert (played.root / "dm/seeds.md").read_text() == "- [ ] The rope is new. (T0001)\n"
    assert not [path for path, _ in result.writes if path.startswith("dm/")]
    written = [line for line in records.lines(played.root, records.folders(played.root)[-1]) if line["do"] == "write"]
    assert [(w["phase"], w["model"]) for w in written if w["path"] == "dm/seeds.md"] == [
        ("pre-gen", "openai/loopback-1")
    ]


def test_the_open_feed_tells_that_layers_worked_and_the_writers_what_they_said(played):
    played.turn()
    feed = Feed(played.root)
    opened = json.dumps([op.reason for op in feed.read()], ensure_ascii=False)
    assert "a directive for the narrator" in opened and "2 entries, 2 prose modules" in opened
    assert DIRECTIVE not in opened and "riders" not in opened
    assert DIRECTIVE in json.dumps([op.reason for op in feed.read(with_secrets=True)], ensure_ascii=False)
    assert {"select", "plan", "search"} <= {op.type for op in feed.read()}


# -- what the layers change in the game


def test_what_the_dm_changes_in_the_game_is_told_the_narrator_and_written_with_the_turn(played):
    state = played.root / "campaign-state.md"
    played.cast.answers["dm"] = lambda _: direct(
        resources=[{"name": "silver", "set": 9}],
        effects={"add": [{"who": "Kit Sallow", "effect": "chilled", "turns": 2}]},
    )
    played.turn()
    assert "- silver: 9" in state.read_text() and "chilled" in state.read_text()
    (said,) = played.asked("narrator")[:1]
    told = said[said.index("# Where this turn should go") :]
    assert "silver" in told and "chilled" in told
    lines = records.lines(played.root, records.folders(played.root)[-1])
    kinds = [line["do"] for line in lines]
    assert kinds.index("before") < kinds.index("plan") < kinds.index("directive") < kinds.index("told")
    Game(played.root, environ={}).undo(Listener())
    assert "- silver: 9" not in state.read_text() and "chilled" not in state.read_text()


def test_what_runs_out_is_told_the_narrator_and_goes(played):
    played.cast.answers["dm"] = lambda _: direct(
        effects={"add": [{"who": "Kit Sallow", "effect": "chilled", "turns": 1}]}
    )
    played.turn()
    played.cast.answers["dm"] = lambda _: direct()
    for _ in range(2):
        played.turn("I wait.")
    said = [text_[text_.index("# Where this turn should go") :] for text_ in played.asked("narrator")]
    assert any("chilled" in one for one in said[1:])
    assert "chilled" not in (played.root / "campaign-state.md").read_text().split("## Journal")[0]


def test_what_cannot_be_is_left_out_and_said_in_the_feed_and_the_rest_applies(played):
    played.cast.answers["dm"] = lambda _: direct(
        resources=[{"name": "silver", "set": 9}, {"name": "gold", "set": "many"}],
        combat={"damage": [{"who": "Nobody At All", "amount": 3}]},
    )
    result = played.turn()
    assert "- silver: 9" in (played.root / "campaign-state.md").read_text() and degraded(result) == []
    opened = json.dumps([op.reason for op in Feed(played.root).read()], ensure_ascii=False)
    assert opened.count("left out: ") == 2 and "Nobody At All" in opened


def test_a_late_directives_changes_apply_with_the_next_turn_and_those_of_a_fresh_one_too(played, hurried):
    played.cast.answers["dm"] = late("The bell has a crack.", resources=[{"name": "silver", "set": 9}])
    played.turn()
    state = played.root / "campaign-state.md"
    assert "- silver: 9" not in state.read_text()
    played.cast.answers["dm"] = lambda _: direct("A gull drops a crab.", resources=[{"name": "rope", "set": 2}])
    played.turn("I wait.")
    assert "- silver: 9" in state.read_text() and "- rope: 2" in state.read_text()


def test_a_fault_of_ours_in_the_games_rules_costs_the_directives_and_not_the_turn(played, monkeypatch):
    from rolecall.campaign.game import resolving

    def broken(*_: object, **__: object) -> None:
        raise KeyError("a rule")

    monkeypatch.setattr(resolving, "resolve", broken)
    state = played.root / "campaign-state.md"
    before_ = state.read_text()
    played.cast.answers["dm"] = lambda _: direct(resources=[{"name": "silver", "set": 9}])
    result = played.turn()
    assert degraded(result) == [("game", "what was told stands, its numbers as they were")]
    line = f"- {result.turn} {result.journal}\n"
    assert state.read_text().rstrip("\n") + "\n" == before_.rstrip("\n") + "\n\n" + line
    assert result.prose in story.recent(open_campaign(played.root, here_only=True), 1)[0].prose


def _link(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / "dm").symlink_to(root.parent / "elsewhere")


def _file(root: Path) -> None:
    (root / "dm").write_text("notes")


@pytest.mark.parametrize("odd", [_link, _file], ids=["a link that leads outside", "a file"])
def test_a_dm_folder_that_is_none_stops_no_turn_and_everything_else_is_written_and_taken_back(played, odd):
    shutil.rmtree(played.root / "dm", ignore_errors=True)
    odd(played.root)
    before_ = text(played.root)
    played.cast.answers["dm"] = lambda _: direct(resources=[{"name": "silver", "set": 9}])
    result = played.turn()
    assert degraded(result) == [("writes", "left out")] and "dm" in result.degraded[0].reason
    assert "- silver: 9" in (played.root / "campaign-state.md").read_text()
    Game(played.root, environ=played.server.environ()).undo(Listener())
    assert text(played.root) == before_


# -- side by side, and in time


def test_the_three_layers_are_asked_before_any_of_them_has_answered(played, tmp_path):
    for layer in ("retriever", "turn_dm", "dm"):
        played.cast.answers[layer] = lambda body: Reply(
            **{**vars(Cast()(body)), "headers_delay": 0.5},
        )
    played.turn()
    states = [
        (plot.layer_of(seen.body), seen.number) for seen in played.server.requests if seen.path.startswith("POST")
    ]
    first = [layer for layer, _ in states[:3]]
    assert sorted(first) == ["dm", "retriever", "turn_dm"] and states[3][0] == "narrator"


def test_the_narrator_is_asked_within_eight_seconds_whatever_the_others_do(played):
    played.settings("timeouts: {turn_dm: 60, dm: 9, sidecar: 60, narrator: 60}")
    unanswered: list[str] = []

    def narrator(body: dict) -> Reply:
        asked = [seen for seen in played.server.requests if seen.path.startswith("POST")]
        unanswered.extend(plot.layer_of(seen.body) for seen in asked if seen.state != "sent")
        return storyteller.reply(body)

    slow = {layer: Reply(text="{" * 400, chunk_delay=1.5, chunk=20) for layer in ("retriever", "turn_dm", "dm")}
    played.cast.answers |= {layer: lambda _, r=reply: r for layer, reply in slow.items()}
    played.cast.answers["narrator"] = narrator
    result = played.turn()
    assert {"retriever", "turn_dm", "dm"} <= set(unanswered)  # each of them drips for half a minute
    assert {layer for layer, _ in degraded(result)} >= {"retrieval", "turn_dm", "dm"}
    assert checks.check(open_campaign(played.root, here_only=True)) == []


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with two and a half seconds instead of eight."""
    monkeypatch.setattr(before, "BEFORE", 2.5)


def late(narrator: str, **immersion: object) -> Callable[[dict], Reply]:
    return lambda _: Reply(**{**vars(direct(narrator, **immersion)), "headers_delay": 3.5})


def test_a_late_directive_serves_the_next_turn_and_no_other(played, hurried):
    played.cast.answers["dm"] = late("The bell has a crack.")
    first = played.turn()
    assert ("dm", "it serves the next turn") in degraded(first)
    assert "The bell has a crack." not in played.asked("narrator")[-1]
    assert pending.of(played.root, 2).narrator == "The bell has a crack."
    played.cast.answers["dm"] = lambda _: Reply(status=500)
    second = played.turn("I wait.")
    assert ("dm", "that of the turn before") in degraded(second)
    assert "The bell has a crack." in played.asked("narrator")[-1]
    played.turn("I wait on.")
    assert "The bell has a crack." not in played.asked("narrator")[-1] and pending.of(played.root, 4) is None


def test_a_late_dm_that_gives_nothing_in_the_end_is_said_once(played, hurried):
    played.cast.answers["dm"] = lambda _: Reply(status=500, headers_delay=3.5)
    told = [one for one in played.turn().degraded if one.layer == "dm"]
    assert [one.fallback for one in told] == ["no directive for the next turn"]
    assert told[0].reason.startswith("it took longer than 2.5 s; then ")


def test_the_initiative_a_dm_is_told_is_the_one_that_is_written(played):
    answers: list[str] = []

    def dm(body: dict) -> Reply:
        said = plot.said_in(body)
        if "A fight:" in said:
            answers.append(said[said.index("A fight:") :].partition(".")[0])
            return direct()
        return Reply(tools=(("start_combat", {"combatants": [{"name": "Gull King"}, {"name": "Crab"}]}),))

    played.cast.answers["dm"] = dm
    played.turn()
    rows = [row for row in (played.root / "campaign-state.md").read_text().splitlines() if ": initiative " in row]
    written = ", ".join(row.removeprefix("- ").replace(": initiative ", " (") + ")" for row in rows)
    assert len(rows) == 2 and answers == [f"A fight: {written}"]


def test_a_fresh_directive_supersedes_the_late_ones_text(played, hurried):
    played.cast.answers["dm"] = late("The bell has a crack.")
    played.turn()
    played.cast.answers["dm"] = lambda _: direct("A gull drops a crab.")
    result = played.turn("I wait.")
    said = played.asked("narrator")[-1]
    assert "A gull drops a crab." in said and "The bell has a crack." not in said and degraded(result) == []
    assert not (played.root / pending.PATH).exists()


def test_a_late_directive_of_an_undone_turn_serves_nobody(played, hurried):
    played.cast.answers["dm"] = late("The bell has a crack.")
    played.turn()
    Game(played.root, environ=played.server.environ(), models=("openai/loopback-1",)).undo(Listener())
    played.cast.answers["dm"] = lambda _: Reply(status=500)
    played.turn("I try something else.")
    assert "The bell has a crack." not in played.asked("narrator")[-1]


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'{"turn": 1}', b'{"turn": 1, "narrator": 3, "fragments": [], "effects": []}', b"\xff\x00"],
)
def test_a_kept_directive_that_cannot_be_read_is_none(played, data):
    played.turn()
    (played.root / pending.PATH).write_bytes(data)
    result = played.turn("I wait.")
    assert result.turn == "T0002" and degraded(result) == []


# -- each missed without harm


FAULTS = {
    "500": Reply(status=500),
    "401": Reply(status=401),
    "blank": Reply(),
    "prose": Reply(text="I would rather not say."),
    "broken JSON": Reply(text='{"entries": [{"name": '),
    "wrong types": Reply(text='{"entries": 7, "narrator": []}'),
    "refusal": Reply(text="No.", refusal=True),
    "cut": Reply(text="{" * 300, cut_after=200),
    "unknown tool": Reply(tools=(("launch_ships", {"n": 1000}),)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_turn_dm_that_fails_leaves_keyword_matches_and_the_default_style(played, fault):
    played.cast.answers["turn_dm"] = lambda _: FAULTS[fault]
    result = played.turn("I ask Old Pasco for a rope.")
    said = played.asked("narrator")[-1]
    assert ("turn_dm", "keyword matches go in as they are") in degraded(result)
    assert (
        "# Old Pasco (character)" in said
        and "# Style, middle\n\nPlain and close" in said
        and "# Style, closing" not in said
    )
    assert DIRECTIVE in said and "Goals:" not in said
    assert not (played.root / "dm/intentions.md").exists()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_dm_that_fails_leaves_no_directive_this_turn(played, fault):
    played.cast.answers["dm"] = lambda _: FAULTS[fault]
    result = played.turn()
    said = played.asked("narrator")[-1]
    assert ("dm", "no directive this turn") in degraded(result) and DIRECTIVE not in said and "Goals:" in said
    assert [one.layer for one in result.degraded].count("dm") == 1


def test_layers_switched_off_are_not_degraded_and_not_asked(played):
    played.settings("models: {default: openai/loopback-1, turn_dm: off, dm: off}")
    result = Game(played.root, environ=played.server.environ()).tell("I wait.", Listener())
    assert degraded(result) == [] and played.asked("dm") == played.asked("turn_dm") == []
    assert "# Where this turn should go" not in played.asked("narrator")[-1]


def test_a_model_too_small_for_a_helper_is_not_asked_and_nothing_is_degraded(played, script):
    spec = script("- text: The tide turns.\n  tools:\n    - {name: append_journal, arguments: {text: Kit waited.}}\n")
    (played.root / "script.yaml").write_bytes(Path(spec.removeprefix("scripted:")).read_bytes())
    played.settings("models: {default: 'scripted:script.yaml'}")
    result = Game(played.root, environ={}).tell("I wait.", Listener())
    assert degraded(result) == [] and set(result.usage) == {"narrator"}


# -- interrupted


def test_when_no_narrator_answers_nothing_of_the_layers_is_written(played):
    before_ = text(played.root)
    played.cast.answers["narrator"] = lambda _: Reply(status=500)
    with pytest.raises(Exception, match="500"):
        played.turn()
    assert text(played.root) == before_ and not (played.root / pending.PATH).exists()


def test_an_interrupt_while_the_layers_are_awaited_leaves_nothing_half_done_and_no_thread(played, monkeypatch):
    for layer in ("dm", "turn_dm"):
        played.cast.answers[layer] = lambda _: Reply(text="{}", headers_delay=20)

    def stopped(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(phases.Phases, "retrieve", stopped)
    before_ = text(played.root)
    with pytest.raises(KeyboardInterrupt):
        played.turn()
    assert "sent" not in {seen.state for seen in played.server.requests}  # nobody waited for their answers
    assert text(played.root) == before_ and records.drafts(played.root)
    assert not [t.name for t in threading.enumerate() if t.name in ("dm", "turn_dm")]


def test_a_crash_before_the_plan_is_saved_is_finished_with_what_the_layers_had_decided(played, monkeypatch):
    from rolecall.turn import telling

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(telling, "save_plan", killed)
        patch.setattr("rolecall.turn.lifecycle.Turn._take_back", lambda *_: None)
        with pytest.raises(Killed):
            played.turn()
    assert not (played.root / "dm/intentions.md").exists()
    Game(played.root, environ={}).recover(Listener())
    assert (played.root / "dm/intentions.md").read_text() == "- [ ] Encounter: two riders, at dusk (T0001)\n"
    campaign = open_campaign(played.root, here_only=True)
    assert [t.turn for t in story.recent(campaign, 5)] == [1] and checks.check(campaign) == []

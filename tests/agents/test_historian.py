"""The historian: summaries by plot thread, its own lines only, nothing lost when a model fails, never beside the source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rolecall.agents import historian
from rolecall.campaign import arcs, files, proposals, records, summaries
from rolecall.campaign.documents import parse
from rolecall.campaign.effects import Effect, decode, encode
from rolecall.campaign.folder import Campaign
from rolecall.campaign.summaries import ADD, EDITS, RETIRE, REVISE, covered, told_in, without_doubles
from rolecall.errors import Unclear
from rolecall.models.chain import Chain
from rolecall.models.tokens import estimate
from rolecall.turn.budget import Priced
from tests.agents.asking import CANARY, FILES, Script, answers, asked, campaign_in, chain_of, desk, search_of
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback

WELL, BOY = "arcs/the-well.md", "arcs/the-boy.md"
MEMORY = {"historian_every": 20, "historian_lookback": 30}


def summed_up(*wishes: dict, **more: list[dict]) -> dict:
    return {"summaries": list(wishes), "revise": [], "retire": [], "move": [], **more}


def one(text: str, arc: str = "Who poisoned the well") -> dict:
    return {"arc": arc, "text": text}


def play(campaign: Campaign, chain: Chain | None, turn: int) -> tuple[list[Effect], str]:
    """What the lifecycle does with the historian at the end of a turn."""
    mine = desk(campaign, turn)
    done, why = historian.summarise(chain, mine, campaign, search_of(campaign), turn, MEMORY)
    for effect in done:
        if effect.op in EDITS:
            mine.record.write(effect.path, effect.op, lambda b, e=effect: EDITS[e.op](b, e), turn=turn, **effect.why)
    mine.record.note("closed")
    return done, why


def lines(campaign: Campaign, path: str = WELL) -> list[str]:
    return [line for line in campaign.document(path).lines("Summaries") if line.strip()]


@pytest.fixture
def tale(tmp_path: Path) -> Campaign:
    return campaign_in(tmp_path / "tale", turns=20)


# -- when


@pytest.mark.parametrize(
    ("turn", "every", "is_due"),
    [(1, 20, False), (19, 20, False), (20, 20, True), (21, 20, False), (40, 20, True), (3, 1, True)],
)
def test_it_is_due_at_every_nth_turn(tale, turn: int, every: int, is_due: bool):
    assert historian.due(tale, turn, every) is is_due


def test_after_a_failure_it_is_due_with_every_turn_until_it_was_done_once(tale, script: Script):
    assert play(tale, chain_of(script("- error: '500'")), 20)[1]
    assert historian.due(tale, 21, 20)
    assert play(tale, chain_of(script("- error: '429'")), 21)[1]
    assert historian.due(tale, 22, 20)
    assert play(tale, chain_of(script(answers(summed_up()))), 22) == ([], "")
    assert [historian.due(tale, turn, 20) for turn in (23, 39, 40)] == [False, False, True]


def test_without_a_model_by_choice_nothing_is_done_nothing_failed_and_no_turn_asks_again(tale, tmp_path):
    weights = tmp_path / "small.gguf"
    weights.write_bytes(b"GGUF")
    for chain in (None, chain_of(f"gguf:{weights}")):
        assert play(tale, chain, 20) == ([], "")
        assert not historian.due(tale, 21, 20)
    assert lines(tale) == []


def test_it_looks_back_over_the_lookback_and_what_was_missed_but_not_without_end(tmp_path, script: Script):
    tale = campaign_in(tmp_path / "tale", turns=100)
    assert historian.stretch(tale, 20, MEMORY) == (1, 20)
    assert historian.stretch(tale, 60, MEMORY) == (31, 60)
    play(tale, chain_of(script(answers(summed_up()))), 60)
    assert historian.stretch(tale, 80, MEMORY) == (51, 80)
    play(tale, chain_of(script("- error: '500'")), 80)
    assert historian.stretch(tale, 100, MEMORY) == (61, 100)
    assert historian.stretch(tale, 190, MEMORY) == (190 - historian.MOST + 1, 190)


def test_a_stretch_that_failed_from_the_start_is_taken_later(tmp_path, script: Script):
    tale = campaign_in(tmp_path / "tale", turns=60)
    play(tale, chain_of(script("- error: '500'")), 20)
    assert historian.stretch(tale, 60, MEMORY) == (1, 60)


# -- what it writes


def test_each_arc_gets_one_dated_line_and_nothing_else_of_the_file_changes(tale, script: Script):
    before = tale.read(WELL)
    told = summed_up(one("The well went bad and two goats died."), one("He was found.", "Where is the boy"))
    effects, why = play(tale, chain_of(script(answers(told))), 20)
    assert why == ""
    assert [(e.op, e.path, e.text) for e in effects] == [
        (ADD, WELL, "T0001-T0020 The well went bad and two goats died."),
        (ADD, BOY, "T0001-T0020 He was found."),
    ]
    assert tale.read(WELL) == before + b"\n## Summaries\n\n- T0001-T0020 The well went bad and two goats died.\n"
    assert tale.read(BOY).endswith(b"## Summaries\n\n- T0001-T0020 He was found.\n")
    assert {(e.phase, e.turn, e.model) for e in effects} == {("summary", 20, effects[0].model)}
    assert effects[0].model.startswith("scripted:")
    written = records.writes(tale.root, ".rolecall/turns/T0020")
    assert [(w["op"], w["phase"], w["reason"]) for w in written] == [(ADD, "summary", "summed up by plot thread")] * 2


def test_the_next_line_begins_where_the_last_one_ended_whoever_wrote_it(tmp_path, script: Script):
    arc = FILES[WELL] + "\n## Summaries\n- T0001-T0016 The writer's own.\n"
    tale = campaign_in(tmp_path / "tale", turns=20, **{WELL: arc})
    play(tale, chain_of(script(answers(summed_up(one("More."))))), 20)
    assert lines(tale) == ["- T0001-T0016 The writer's own.", "- T0017-T0020 More."]
    effects, why = play(tale, chain_of(script(answers(summed_up(one("Again."))))), 20)
    assert (effects, why) == ([], "")


def test_its_own_lines_are_revised_retired_and_moved_and_the_writers_are_not(tmp_path, script: Script):
    arc = FILES[WELL] + "\n## Summaries\n\n- T0001-T0002 The writer's own.\n"
    tale = campaign_in(tmp_path / "tale", turns=80, **{WELL: arc})
    for turn, text in ((20, "Iron in the water."), (40, "Marta lied."), (60, "A ship came.")):
        play(tale, chain_of(script(answers(summed_up(one(text))))), turn)
    mine = ["T0003-T0020 Iron in the water.", "T0021-T0040 Marta lied.", "T0041-T0060 A ship came."]
    assert lines(tale) == ["- T0001-T0002 The writer's own.", *(f"- {line}" for line in mine)]
    well = "Who poisoned the well"
    change = summed_up(
        revise=[{"arc": well, "old": mine[0], "text": "Bleak-iron in the water."}, {"arc": well, "old": "T0001-T0002 The writer's own.", "text": "Mine."}],
        retire=[{"arc": well, "old": "Marta lied.", "reason": "she told the truth"}, {"arc": well, "old": "The writer's own.", "reason": "x"}],
        move=[{"arc": well, "old": f"- {mine[2]}", "to": "Where is the boy"}],
    )  # fmt: skip
    boy = tale.root / BOY
    boy.write_text(boy.read_text().replace("T0003 He is found", "T0059 He is found"))
    effects, why = play(tale, chain_of(script(answers(change))), 80)
    assert why == "" and [e.op for e in effects] == [REVISE, ADD, RETIRE, RETIRE]
    assert lines(tale) == [
        "- T0001-T0002 The writer's own.",
        "- T0003-T0020 Bleak-iron in the water.",
        "- ~~T0021-T0040 Marta lied.~~ (retired T0080: she told the truth)",
        "- ~~T0041-T0060 A ship came.~~ (retired T0080: moved to Where is the boy)",
    ]
    assert lines(tale, BOY) == ["- T0041-T0060 A ship came."]
    assert summaries.shown(tale.document(WELL)) == [
        "T0001-T0002 The writer's own.",
        "T0003-T0020 Bleak-iron in the water.",
    ]


@pytest.mark.parametrize("touch", ["a letter", "the records"])
def test_a_line_the_writer_changed_is_the_writers_and_without_records_every_line_is(
    tmp_path, script: Script, touch: str
):
    tale = campaign_in(tmp_path / "tale", turns=40)
    play(tale, chain_of(script(answers(summed_up(one("Iron in the water."))))), 20)
    if touch == "a letter":
        (tale.root / WELL).write_text((tale.root / WELL).read_text().replace("Iron in", "Iron, in"))
        old = "T0001-T0020 Iron, in the water."
    else:
        records.set_aside(tale.root, ".rolecall/turns/T0020", "undone")
        old = "T0001-T0020 Iron in the water."
    retire = [{"arc": "Who poisoned the well", "old": old, "reason": "x"}]
    assert play(tale, chain_of(script(answers(summed_up(retire=retire)))), 40) == ([], "")
    assert lines(tale) == [f"- {old}"]


def test_a_locked_arc_gets_proposals_that_do_not_share_a_number(tmp_path, script: Script):
    lock = {path: FILES[path].replace("status:", "locked: true\nstatus:") for path in (WELL, BOY)}
    tale = campaign_in(tmp_path / "tale", turns=20, **lock)
    told = summed_up(one("Iron in the water."), one("He was found.", "Where is the boy"))
    effects, why = play(tale, chain_of(script(answers(told))), 20)
    assert why == "" and [e.op for e in effects] == ["proposal", "proposal"]
    assert [e.path for e in effects] == [f"{proposals.FOLDER}/0001.json", f"{proposals.FOLDER}/0002.json"]
    (inner,) = json.loads(effects[0].text)["effects"]
    assert (inner["op"], inner["path"], inner["text"]) == (ADD, WELL, "T0001-T0020 Iron in the water.")
    assert effects[0].phase == "summary" and lines(tale) == []


def test_the_outcome_is_in_the_record_before_a_file_is_written(tale, script: Script):
    mine = desk(tale, 20)
    chain = chain_of(script(answers(summed_up(one("Iron in the water.")))))
    effects, _ = historian.summarise(chain, mine, tale, search_of(tale), 20, MEMORY)
    (note,) = summaries.notes(tale.root, ".rolecall/turns/T0020")
    assert [decode(e) for e in note["effects"]] == effects and lines(tale) == []
    assert (note["first"], note["last"], note["why"]) == (1, 20, "")


def test_chronicles_are_read_and_never_written(example, script: Script):
    from rolecall.campaign.folder import open_campaign

    tale = open_campaign(example)
    before = {path: path.read_bytes() for path in (example / "chronicles").iterdir()}
    told = summed_up(one("The poison came from the north."))
    effects, why = play(tale, chain_of(script(answers(told))), 40)
    assert why == "" and [e.text for e in effects] == ["T0017-T0040 The poison came from the north."]
    request = asked(tale, "historian")
    assert "- T0011 " in request and "- T0040 " in request and "- T0010 " not in request
    assert {path: path.read_bytes() for path in (example / "chronicles").iterdir()} == before


# -- nonsense and failure


@pytest.mark.parametrize(
    "given",
    ["Once upon a time.", "", "[]", '{"summaries": "none"}', '{"summaries": [{"arc": 3, "text": 4}]}', '{"summaries": ["x"]}', '{"summaries": [{"arc": "x"'],
)  # fmt: skip
def test_an_answer_that_is_no_summary_writes_nothing_and_is_said(tale, script: Script, given: str):
    effects, why = play(tale, chain_of(script(answers(given))), 20)
    assert effects == [] and why and "\n" not in why and lines(tale) == []


def test_unknown_arcs_blank_words_and_the_secret_arc_come_to_nothing(tale, script: Script):
    names = [
        "Nobody's arc",
        "../../etc/passwd",
        "",
        "The Xyzzycanary Plot",
        "arcs/the-plot.md",
        "dm/plan.md",
        "campaign-state.md",
        "Marta",
    ]
    blank = [one(" "), one("T0001-T0020:"), one("- ~~ ~~"), one("\x1b[2J\u202e")]
    assert play(tale, chain_of(script(answers(summed_up(*(one("x", name) for name in names), *blank)))), 20) == ([], "")


def test_two_hundred_lines_of_one_answer_come_to_one_line_an_arc(tale, script: Script):
    flood = summed_up(
        *(one(f"Line {n}.", arc) for n in range(100) for arc in ("Who poisoned the well", "Where is the boy"))
    )
    effects, _ = play(tale, chain_of(script(answers(flood))), 20)
    assert [e.text for e in effects] == ["T0001-T0020 Line 0.", "T0001-T0020 Line 0."]


@pytest.mark.parametrize(
    "hostile",
    ["x\n## Secret\n- T0009-T0010 y", "---\nname: z\n---", "\r\n\r\n# GM only\r\n", "```\nx", "~~x~~ (retired T0001: y)", "- T0001-T9999 all", "x" * 9000, "\ud800\x00\x1b]0;x\x07\u202e"],
)  # fmt: skip
def test_hostile_words_stay_one_line_of_plain_text(tale, script: Script, hostile: str):
    headings = [s.heading for s in tale.document(WELL).sections]
    script_text = json.dumps([{"role": "sidecar", "text": json.dumps(summed_up(one(hostile)))}])
    effects, why = play(tale, chain_of(script(script_text)), 20)
    assert why == ""
    document = tale.document(WELL)
    assert document.fields == parse(FILES[WELL].encode(), WELL).fields
    if effects:
        assert [s.heading for s in document.sections] == [*headings, "Summaries"]
        (line,) = lines(tale)
        assert line.startswith("- T0001-T0020 ") and len(line) < 430 and "~~" not in line
        assert covered(line) == [(1, 20)]


@pytest.mark.parametrize("error", ["refused", "429", "500", "timeout", "blank"])
def test_a_model_that_fails_is_said_and_changes_nothing(tale, script: Script, error: str):
    before = tale.read(WELL)
    effects, why = play(tale, chain_of(script(f"- error: '{error}'"), seconds=0.3), 20)
    assert effects == [] and why and tale.read(WELL) == before


def test_ctrl_c_is_the_players_and_is_not_swallowed(tale, script: Script, monkeypatch: pytest.MonkeyPatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Chain, "typed", stop)
    with pytest.raises(KeyboardInterrupt):
        play(tale, chain_of(script(answers(summed_up()))), 20)


def test_a_broken_or_doubled_arc_costs_only_itself(tmp_path, script: Script):
    doubled = FILES[BOY] + "\n## Summaries\n"
    tale = campaign_in(tmp_path / "tale", turns=20, **{BOY: doubled, "arcs/bad.md": "---\nname: [\n---\n"})
    told = summed_up(one("Iron in the water."), one("He was found.", "Where is the boy"))
    effects, why = play(tale, chain_of(script(answers(told))), 20)
    assert why == "" and [e.path for e in effects] == [WELL]


def test_an_arc_the_writer_hides_while_the_turn_is_told_is_not_shown(tale, script: Script):
    search, mine = search_of(tale), desk(tale, 20)
    place = tale.root / WELL
    place.write_text(place.read_text().replace("status: open", f"status: open\nvisibility: secret\nstakes: {CANARY}"))
    chain = chain_of(script(answers(summed_up(one("Iron."), one("He was found.", "Where is the boy")))))
    effects, why = historian.summarise(chain, mine, tale, search, 20, MEMORY)
    assert why == "" and [e.path for e in effects] == [BOY]
    assert "He is found" in asked(tale, "historian") and CANARY not in asked(tale, "historian")


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_over_the_wire_it_sees_journal_and_arcs_and_no_truth(tmp_path, loopback: Loopback, protocol: str):
    hidden = FILES[WELL] + f"\n## Secrets\n\n- T0002 {CANARY}\n\n### Summaries\n\n- T0001-T0002 {CANARY}\n"
    twice = (
        FILES[WELL]
        .replace("Who poisoned the well", "The goats")
        .replace("## Trail", f"## GM only\n\n{CANARY}\n\n### Trail")
    )
    tale = campaign_in(
        tmp_path / "tale",
        turns=20,
        **{"arcs/hidden.md": hidden.replace("name: Who", "name: Just who"), "arcs/goats.md": twice},
    )
    loopback.answer(Reply(text=json.dumps(summed_up(one("Iron in the water.")))))
    effects, why = play(tale, chain_of(f"{protocol}/loopback-1", environ=loopback.environ(protocol)), 20)
    assert why == "" and [e.text for e in effects] == ["T0001-T0020 Iron in the water."]
    (body,) = loopback.bodies
    sent = json.dumps(body, ensure_ascii=False)
    for wanted in (
        "Kit asked Marta for the 20th barrel.",
        "Who poisoned the well?",
        "Two goats are dead.",
        "a new summary covers: T0001-T0020",
    ):
        assert wanted in sent
    assert CANARY not in sent.casefold()


# -- the edits


ARC = "---\nname: A\n---\n\n## Trail\n- T0001 x\n\n## Summaries\n\n- T0001-T0005 old\n* T0006-T0007 the writer's\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_each_edit_changes_one_line_and_made_twice_changes_nothing_more(newline: str):
    data = ARC.replace("\n", newline).encode()
    made = (
        (Effect(ADD, "a.md", 9, "T0008-T0009 new"), "- T0008-T0009 new"),
        (Effect(REVISE, "a.md", 9, "T0001-T0005 better", "T0001-T0005 old"), "- T0001-T0005 better"),
        (Effect(RETIRE, "a.md", 9, "said elsewhere", "T0001-T0005 old"), "- ~~T0001-T0005 old~~ (retired T0009: said elsewhere)"),
    )  # fmt: skip
    for effect, line in made:
        effect = decode(encode(effect))
        after = EDITS[effect.op](data, effect)
        assert EDITS[effect.op](after, effect) == after
        gone = set(data.decode().split(newline)) - set(after.decode().split(newline))
        new = set(after.decode().split(newline)) - set(data.decode().split(newline))
        assert new == {line} and gone == (set() if effect.op == ADD else {"- T0001-T0005 old"})
        assert after.count(b"\r\n") == (after.count(b"\n") if newline == "\r\n" else 0)


def test_adding_retiring_and_adding_again_does_not_bring_a_line_back():
    data = EDITS[RETIRE](ARC.encode(), Effect(RETIRE, "a.md", 9, "why", "T0001-T0005 old"))
    assert EDITS[ADD](data, Effect(ADD, "a.md", 5, "T0001-T0005 old")) == data
    assert EDITS[REVISE](data, Effect(REVISE, "a.md", 6, "T0001-T0005 old", "T0001-T0005 older")) == data


@pytest.mark.parametrize("op", [REVISE, RETIRE])
def test_a_line_that_the_writer_took_away_meanwhile_is_refused_and_said(op: str):
    with pytest.raises(Unclear, match="stands here 0 times"):
        EDITS[op](ARC.encode(), Effect(op, "a.md", 9, "T0001-T0003 x", "T0001-T0003 gone"))


def test_moving_an_arc_on_is_as_before_with_summaries_in_the_file():
    moved = arcs.move(ARC.encode(), "a.md", 3, "y")
    assert summaries.of(parse(moved, "a.md")) == summaries.of(parse(ARC.encode(), "a.md"))


# -- never beside its own source


def priced(path: str, text: str, owner: str, line: int = 1) -> Priced:
    return Priced(path, line, owner, "why", "after the scene", text, estimate(text))


ARC_TEXT = "- Who poisoned the well (arc, open)\n  - T0001-T0020 Iron in the water.\n  - T0021-T0040 Marta lied."


def test_covered_turns_are_those_of_live_summary_lines_alone():
    text = "- T0001-T0020 a\n  - T0030–T0021 b\n- ~~T0041-T0050 c~~ (retired)\nLatest: T0060 d\n- T0061 e\nsee T0070-T0080\nT0081-T0082 f"
    assert covered(text) == [(1, 20), (21, 30), (81, 82)]


def test_a_source_is_dropped_where_its_summary_is_shown_unless_it_was_looked_for(tale):
    arc = priced(WELL, ARC_TEXT, "arc")
    looked_for = priced("story/001-quay.md", "## T0030\n\nShe lies.", "anticipatory")
    beside = priced("story/001-quay.md", "## T0005\n\nIron.", "enrichment")
    other = priced("chronicles/0001.md", "- T0041 Not summed up.", "enrichment")
    entry = priced("characters/marta.md", "# Marta\n\n- T0005 Born.", "enrichment")
    kept = without_doubles([arc, looked_for, beside, other, entry], told_in(tale), estimate)
    short = "- Who poisoned the well (arc, open)\n  - T0001-T0020 Iron in the water."
    assert [p.text for p in kept] == [short, looked_for.text, other.text, entry.text]
    assert kept[0].tokens == estimate(short)


def test_the_turns_just_told_stand_and_their_summary_waits(tale):
    arc, recent = priced(WELL, ARC_TEXT, "arc"), priced("story/001-quay.md", "## T0040\n\nx", "recent")
    kept = without_doubles([arc, recent], told_in(tale), estimate)
    assert kept[1] is recent and "T0021" not in kept[0].text and "T0001-T0020" in kept[0].text


def test_nothing_changes_where_nothing_is_doubled_and_what_is_lost_counts_for_nothing(tale):
    arc = priced(WELL, ARC_TEXT, "arc")
    far = priced("story/001-quay.md", "## T0050\n\nx", "anticipatory")
    lost = Priced("story/001-quay.md", 1, "anticipatory", "", "", "## T0005\n\nx", 5, 0, kept=False)
    passages = [arc, far, lost]
    assert without_doubles(passages, told_in(tale), estimate) == passages


def test_the_turn_of_a_passage_is_found_by_its_line_where_its_words_do_not_say(example):
    from rolecall.campaign.folder import open_campaign

    tale = open_campaign(example)
    told = told_in(tale)
    path = next(p for p, _ in tale.walk("story"))
    text = files.read(tale.root, path).decode()
    line = text[: text.index("## T0002")].count("\n") + 1
    assert told(priced(path, "words alone", "x", line)) == (2, 2)
    assert told(priced(path, "words alone", "x", line + 2)) == (2, 2)
    chronicle = next(p for p, _ in tale.walk("chronicles"))
    assert told(priced(chronicle, "A paragraph.", "x", 9)) == tuple(
        int(t[1:]) for t in tale.document(chronicle).text("covers").split("-")
    )
    assert (
        told(priced(chronicle, "- T0007 A listed line.", "x", 9))
        == told(priced(chronicle, "T0007: … a glimpse …", "x"))
        == (7, 7)
    )
    assert told(priced("characters/marta.md", "## T0002\n\nx", "x")) is None
    assert told(priced("story/no-such.md", "x", "x")) is None

"""`rolecall ingest` as a user types it: the words in the story, the memory whole, the original kept, all of it taken back."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from rolecall.campaign import checks, chronicles, files, journal, story
from rolecall.campaign.filesystem import FileSystem
from rolecall.campaign.folder import open_campaign
from rolecall.turn import folding
from tests.game import chats
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback

TRANSCRIPT = """The tide is out.

Matt: You stand before the mill at Hollow Ness. A woman named Marta Finch opens. "Come in," says Marta.
Sam: Thank you, Marta. I follow her.
Matt: Marta smiles. Her hands are white with flour. Marta was born in this mill.
Liam: # I promise Marta that I will find her brother.
Matt: "Promise me in Greywater," says Marta. She looks towards Greywater, and goes to Greywater.
"""


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "coast.jsonl"
    chats.write(path, 240)
    return path


def turns(root: Path) -> list[story.Told]:
    campaign = open_campaign(root)
    return [t for _, path in story.chapters(campaign) for t in story.turns_of(campaign.document(path))]


def lines(root: Path) -> list[journal.Line]:
    campaign = open_campaign(root)
    sealed = [
        x for _, path in chronicles.paths(campaign) for x in journal.lines_of(campaign.document(path), sealed=True)
    ]
    return [*sealed, *journal.lines_of(campaign.document("campaign-state.md"))]


# -- without a model


def test_a_chat_becomes_turns_word_for_word_the_players_message_the_action_the_reply_the_prose(
    rolecall, campaign, chat
):
    texts = [m["mes"] for m in map(json.loads, chat.read_text("utf-8").splitlines()) if "mes" in m]
    assert rolecall("-C", campaign, "ingest", chat, "--no-model").code == 0
    told = turns(campaign)
    assert [part for t in told for part in (t.action, t.prose)] == texts
    assert [t.turn for t in told] == list(range(1, 121))


def test_journal_and_chronicles_hold_a_line_for_each_turn_and_the_check_finds_nothing(rolecall, campaign, chat):
    rolecall("-C", campaign, "ingest", chat, "--no-model")
    assert [line.turn for line in lines(campaign)] == list(range(1, 121))
    assert not checks.check(open_campaign(campaign))
    words = {t.turn: f"{t.action}\n{t.prose}" for t in turns(campaign)}
    for line in lines(campaign):
        assert re.sub(r"^[^:]{1,30}: ", "", line.text).rstrip("…") in " ".join(words[line.turn].split())


def test_the_original_lies_byte_for_byte_beside_a_receipt_that_says_what_was_set_aside(rolecall, campaign, chat):
    data = chat.read_bytes() + b'{"name": "broken\n\xff\n'
    chat.write_bytes(data)
    done = json.loads(rolecall("-C", campaign, "ingest", chat, "--no-model", "--json").out)
    assert (campaign / done["folder"] / "coast.jsonl").read_bytes() == data
    receipt = (campaign / done["folder"] / "receipt.md").read_text("utf-8")
    assert "240 messages became the turns T0001 to T0120" in receipt
    assert [one["at"] for one in done["set_aside"]] == [242, 243] and "- 242: the line is no JSON object." in receipt


def test_a_transcript_gives_scenes_with_names_a_cast_a_place_and_a_promise_among_the_facts(
    rolecall, campaign, tmp_path
):
    path = tmp_path / "session one.txt"
    path.write_text(TRANSCRIPT, "utf-8")
    assert rolecall("-C", campaign, "ingest", path, "--no-model").code == 0
    (told,) = turns(campaign)
    assert (
        told.prose.startswith("The tide is out.\n\n**Matt:** You stand")
        and "**Liam:** \\# I promise Marta" in told.prose
    )
    marta = (campaign / "characters/marta-finch.md").read_text("utf-8")
    assert "aliases:\n  - Marta\n" in marta and "- T0001 Marta was born in this mill." in marta
    assert (campaign / "locations/greywater.md").exists() and (campaign / "characters/sam.md").exists()
    assert lines(campaign)[-1].text == "Liam: I promise Marta that I will find her brother."


def test_what_the_campaign_knows_gains_lines_and_is_not_made_twice_and_what_is_locked_gets_a_proposal(
    rolecall, campaign, tmp_path
):
    (campaign / "characters/old-marta.md").write_text(
        "---\nname: Marta Finch\nkind: character\nlocked: true\n---\nMine.\n", "utf-8"
    )
    (campaign / "locations/greywater.md").write_text("---\nname: Greywater\nkind: location\n---\nA town.\n", "utf-8")
    path = tmp_path / "one.txt"
    path.write_text(TRANSCRIPT, "utf-8")
    done = json.loads(rolecall("-C", campaign, "ingest", path, "--no-model", "--json").out)
    assert "locations/greywater.md" in done["updated"]
    assert "A town.\n\n## History\n\n- T0001 " in (campaign / "locations/greywater.md").read_text("utf-8")
    assert (campaign / "characters/old-marta.md").read_text("utf-8").endswith("---\nMine.\n")
    assert not (campaign / "characters/marta-finch.md").exists()
    assert "Is named 7 times" in rolecall("-C", campaign, "proposals").out
    assert rolecall("-C", campaign, "proposals", "accept", "1").code == 0
    assert "- T0001 Marta was born in this mill." in (campaign / "characters/old-marta.md").read_text("utf-8")


def test_a_campaign_with_a_past_goes_on_behind_it(rolecall, example, chat):
    before = len(turns(example))
    assert rolecall("-C", example, "ingest", chat, "--no-model").code == 0
    assert [t.turn for t in turns(example)] == list(range(1, before + 121))
    assert [line.turn for line in lines(example)] == list(range(1, before + 121))
    assert not checks.check(open_campaign(example))


def test_a_run_that_was_killed_after_closing_the_journal_leaves_the_same_receipt(rolecall, example, chat):
    second = example.with_name("second")
    shutil.copytree(example, second)
    folding.close_all(open_campaign(second), [])
    for home in (example, second):
        assert rolecall("-C", home, "ingest", chat, "--no-model").code == 0
    receipts = [next(home.glob("imports/*/receipt.md")).read_text("utf-8") for home in (example, second)]
    assert receipts[0] == receipts[1] and "lines before it were closed into" in receipts[0]


def test_it_is_found_by_search_shown_by_why_and_the_next_turn_goes_on(rolecall, campaign, chat, script, story):
    rolecall("-C", campaign, "ingest", chat, "--no-model")
    hits = json.loads(rolecall("-C", campaign, "search", "who counts nine coins at Hollow Ness", "--json").out)
    assert any(hit["kind"] == "story" for hit in hits)
    said = json.loads(rolecall("-C", campaign, "why", "characters/wren.md:2", "--json").out)
    assert said[0]["phase"] == "ingest" and said[0]["by"] == "rolecall"
    told = json.loads(rolecall("-C", campaign, "turn", "I wait.", "--model", script(story), "--json").out)
    assert told["turn"] == "T0121"


# -- taking back


def test_taking_it_back_leaves_every_file_as_it_was(rolecall, example, chat):
    before = chats.files(example)
    rolecall("-C", example, "fold")  # the lines before it are closed by an ingest; here they are closed by hand
    rolecall("-C", example, "ingest", chat, "--no-model")
    after_fold = {path: data for path, data in chats.files(example).items() if path in before}
    assert rolecall("-C", example, "ingest", "--undo").code == 0
    now = chats.files(example)
    assert {path for path in now if path not in before} <= {p for p in now if p.startswith("chronicles/")}
    assert {p: d for p, d in now.items() if p in before and p != "campaign-state.md"} == {
        p: d for p, d in before.items() if p != "campaign-state.md"
    }
    assert after_fold and [line.turn for line in lines(example)] == list(range(1, 41))
    assert not checks.check(open_campaign(example))


def test_what_you_wrote_into_its_files_since_stays(rolecall, campaign, chat):
    rolecall("-C", campaign, "ingest", chat, "--no-model")
    wren = campaign / "characters/wren.md"
    wren.write_text(wren.read_text("utf-8") + "\n## Mine\n\nShe limps.\n", "utf-8")
    ran = rolecall("-C", campaign, "ingest", "--undo")
    assert "She limps." in wren.read_text("utf-8")
    assert ran.code in (0, 1) and not turns(campaign)


def test_the_same_chat_is_not_brought_in_twice_but_again_once_it_was_taken_back(rolecall, campaign, chat):
    rolecall("-C", campaign, "ingest", chat, "--no-model")
    before = chats.files(campaign)
    again = rolecall("-C", campaign, "ingest", chat, "--no-model")
    assert again.code == 1 and "was brought in before, as T0001-T0120" in again.err and again.err.count("\n") == 1
    assert chats.files(campaign) == before
    rolecall("-C", campaign, "ingest", "--undo")
    assert rolecall("-C", campaign, "ingest", chat, "--no-model").code == 0
    assert chats.files(campaign) == before


def test_it_is_not_taken_back_from_under_turns_that_were_told_after_it(rolecall, campaign, chat, script, story):
    rolecall("-C", campaign, "ingest", chat, "--no-model")
    rolecall("-C", campaign, "turn", "I wait.", "--model", script(story))
    ran = rolecall("-C", campaign, "ingest", "--undo")
    assert ran.code == 1 and "T0121 was told after coast.jsonl; take 1 turns back first" in ran.err
    assert rolecall("-C", campaign, "undo").code == 0
    assert rolecall("-C", campaign, "ingest", "--undo").code == 0
    assert not turns(campaign)


@pytest.mark.parametrize("command", [["undo"], ["undo", "--turn", "T0120"], ["swipe"]])
def test_undo_and_swipe_say_that_the_turn_came_in_with_a_chat(rolecall, campaign, chat, script, story, command):
    rolecall("-C", campaign, "ingest", chat, "--no-model")
    before = chats.files(campaign)
    ran = rolecall("-C", campaign, *command)
    assert ran.code == 1 and "T0120 came in with coast.jsonl; `rolecall ingest --undo` takes" in ran.err
    assert chats.files(campaign) == before
    rolecall("-C", campaign, "turn", "I wait.", "--model", script(story))
    assert rolecall("-C", campaign, "undo", "2").code == 1  # one was told, the one before it came in with the chat


# -- interrupted while it is written


class _Dies(FileSystem):
    """A file system that goes with the machine after so many changes."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt

    def write(self, *arguments):
        self._count()
        return super().write(*arguments)

    def replace(self, *arguments):
        self._count()
        return super().replace(*arguments)

    def unlink(self, *arguments):
        self._count()
        return super().unlink(*arguments)


@pytest.mark.parametrize("calls", range(3, 80, 9))
def test_cut_off_at_any_write_the_next_command_finishes_it_or_leaves_nothing(
    rolecall, campaign, tmp_path, monkeypatch, calls
):
    chat = tmp_path / "coast.jsonl"
    chats.write(chat, 40)
    untouched = chats.files(campaign)
    rolecall("-C", campaign, "ingest", chat, "--no-model")
    whole = chats.files(campaign)
    rolecall("-C", campaign, "ingest", "--undo")
    assert chats.files(campaign) == untouched and not (campaign / "imports").exists()
    with monkeypatch.context() as dying:
        dying.setattr(files, "fs", _Dies(calls))
        rolecall("-C", campaign, "ingest", chat, "--no-model")
    rolecall("-C", campaign, "status")
    now = chats.files(campaign)
    assert now in (whole, untouched)
    rolecall("-C", campaign, "ingest", chat, "--no-model")
    assert chats.files(campaign) == whole


@pytest.mark.parametrize("calls", range(2, 60, 11))
def test_cut_off_while_it_is_taken_back_the_next_command_takes_the_rest(
    rolecall, campaign, tmp_path, monkeypatch, calls
):
    chat = tmp_path / "coast.jsonl"
    chats.write(chat, 40)
    untouched = chats.files(campaign)
    rolecall("-C", campaign, "ingest", chat, "--no-model")
    whole = chats.files(campaign)
    with monkeypatch.context() as dying:
        dying.setattr(files, "fs", _Dies(calls))
        rolecall("-C", campaign, "ingest", "--undo")
    rolecall("-C", campaign, "status")
    assert chats.files(campaign) in (untouched, whole)


# -- with a model


@pytest.fixture
def asked(loopback: Loopback, clean_environment) -> Loopback:
    clean_environment.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{loopback.port}/v1")
    clean_environment.setenv("OPENAI_API_KEY", "sk-loopback")
    loopback.answer(chats.reply)
    return loopback


MODEL = ("--model", "openai/loopback-1")


def test_with_a_model_each_chunk_is_searched_recorded_and_told(rolecall, campaign, chat, asked):
    done = json.loads(rolecall("-C", campaign, "ingest", chat, *MODEL, "--json").out)
    assert {"arcs/who-poisoned-the-well.md", "characters/sera-vane.md", "locations/greywater.md"} <= set(
        done["recorded"]
    )
    arc = (campaign / "arcs/who-poisoned-the-well.md").read_text("utf-8")
    assert "question: Who did it?" in arc and "- T0001 Nobody would say in scene 1." in arc and "## Summaries" in arc
    assert lines(campaign)[4].text == "Kit asked around, the 5th scene."
    assert "Kit went from door to door" in (campaign / done["chronicles"][0]).read_text("utf-8")
    assert not checks.check(open_campaign(campaign))
    said = json.loads(rolecall("-C", campaign, "why", "characters/sera-vane.md:2", "--json").out)
    assert said[0]["by"] == "openai/loopback-1" and said[0]["source"].endswith("looks up.")


def test_the_model_sees_its_own_results_and_reasoning_of_the_chunks_before(rolecall, campaign, chat, asked):
    rolecall("-C", campaign, "ingest", chat, *MODEL)
    words = [json.dumps(seen.body) for seen in asked.requests if seen.path.startswith("POST")]
    assert "Your own notes" not in words[0]
    assert "Recorded Sera Vane" in words[-1] and "The chunk of scene 1 is about the well." in words[-1]


def test_a_dry_run_says_chunks_calls_tokens_and_price_and_asks_and_changes_nothing(rolecall, campaign, chat, asked):
    before = chats.files(campaign)
    told = json.loads(rolecall("-C", campaign, "ingest", chat, *MODEL, "--dry-run", "--price", "3/15", "--json").out)
    assert told["chunks"] == 4 and told["calls"] == 16 and told["turns"] == 120 and told["model"] == "openai/loopback-1"
    cost = (told["tokens"]["prompt"] * 3 + told["tokens"]["out"] * 15) / 1e6
    assert told["price"] == pytest.approx(cost) and cost > 0
    assert "at most 16 calls" in rolecall("-C", campaign, "ingest", chat, *MODEL, "--dry-run").out
    assert chats.files(campaign) == before and not [s for s in asked.requests if s.path.startswith("POST")]


def test_the_price_in_the_settings_is_the_price_of_a_dry_run(rolecall, campaign, chat, asked):
    settings = campaign / "rolecall.yaml"
    settings.write_text(
        settings.read_text("utf-8") + "currency: EUR\nprices: {openai/loopback-1: {fresh: 3, out: 15}}\n", "utf-8"
    )
    told = json.loads(rolecall("-C", campaign, "ingest", chat, *MODEL, "--dry-run", "--json").out)
    assert told["price"] == pytest.approx((told["tokens"]["prompt"] * 3 + told["tokens"]["out"] * 15) / 1e6)
    assert " EUR" in rolecall("-C", campaign, "ingest", chat, *MODEL, "--dry-run").out


def test_the_budget_decides_how_many_chunks_and_calls_there_are(rolecall, campaign, chat, asked):
    told = {
        rounds: json.loads(
            rolecall("-C", campaign, "ingest", chat, *MODEL, "--rounds", rounds, "--dry-run", "--json").out
        )
        for rounds in ("coarse", "moderate", "detailed")
    }
    assert [told[r]["chunks"] for r in told] == [2, 4, 7]
    assert [told[r]["calls"] for r in told] == [4, 16, 35]


def test_a_chunk_on_which_the_model_fails_is_told_without_it_and_that_is_said(rolecall, campaign, chat, asked):
    def reply(body):
        return (
            Reply(status=500)
            if '"Chunk 2 of' in json.dumps(body).replace("\\n", " ") or "Chunk 2 of" in json.dumps(body)
            else chats.reply(body)
        )

    asked.answer(reply)
    ran = rolecall("-C", campaign, "ingest", chat, *MODEL)
    assert ran.code == 0 and "chunk 2, facts" in ran.err and "told without a model" in ran.err
    assert [line.turn for line in lines(campaign)] == list(range(1, 121))
    assert not checks.check(open_campaign(campaign))
    assert len(turns(campaign)) == 120


def test_when_no_model_answers_the_chat_is_brought_in_all_the_same(rolecall, campaign, chat, asked, tmp_path):
    asked.answer(lambda body: Reply(status=500))
    assert rolecall("-C", campaign, "ingest", chat, *MODEL).code == 0
    assert len([s for s in asked.requests if s.path.startswith("POST")]) < 40  # it stops asking
    assert [line.turn for line in lines(campaign)] == list(range(1, 121))


@pytest.mark.parametrize(
    "text",
    [
        "", "no json", "{}", '{"look_up": [1, null, {}], "journal": "x", "arcs": 3, "retelling": 7}',
        '{"look_up": [], "journal": [{"scene": 10000, "text": "x"}, {"scene": true, "text": "y"}, {"text": "z"}], "retelling": "---\\n# x", "arcs": [{"arc": "../../x", "scene": -1, "text": "- T0001 y"}, {"arc": "", "scene": 1, "text": ""}]}',
    ],
)  # fmt: skip
def test_whatever_a_model_says_the_campaign_is_sound(rolecall, campaign, chat, asked, text):
    asked.answer(
        lambda body: Reply(
            text=text,
            tools=()
            if "response_format" in body
            else (("record_character", {"name": "../x\n---", "text": "# a"}), ("nothing", {}), ("record_rule", "{")),
        )
    )
    assert rolecall("-C", campaign, "ingest", chat, *MODEL).code == 0
    assert not checks.check(open_campaign(campaign))
    assert [line.turn for line in lines(campaign)] == list(range(1, 121))


# -- what a user may get wrong


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "Name a file with a chat in it"),
        (["nowhere.json"], 1, "nowhere.json"),
        (["."], 1, "not a plain file"),
        (["{chat}", "--player", "Bob"], 1, "nobody in it is called Bob"),
        (["{chat}", "--dry-run", "--price", "cheap"], 2, "IN/OUT"),
        (["{chat}", "--chat", "0"], 2, "0"),
        (["{card}"], 1, "there is no chat in it"),
        (["--undo"], 1, "no record of a chat"),
    ],
)
def test_what_cannot_be_is_one_clear_line_and_changes_nothing(
    rolecall, campaign, chat, tmp_path, arguments, code, said
):
    card = tmp_path / "card.json"
    card.write_text('{"spec": "chara_card_v2", "data": {"name": "Sera"}}', "utf-8")
    before = chats.files(campaign)
    ran = rolecall("-C", campaign, "ingest", *[a.format(chat=chat, card=card) for a in arguments])
    assert ran.code == code and said in ran.err and "Traceback" not in ran.err
    assert chats.files(campaign) == before


def test_a_dry_run_without_a_key_names_no_price_and_a_single_thing_is_told_as_one(rolecall, campaign, tmp_path):
    small = tmp_path / "talk.txt"
    small.write_text("Ann: Hello.\n\nBob: I promise to come.\n")
    ran = rolecall("-C", campaign, "ingest", small, "--dry-run", "--model", "openai/gpt-5.5")
    assert ran.code == 0 and ran.out.startswith("talk.txt: text with names, 2 messages, 1 turn\n")
    assert "none is ready" in ran.out and ": 1 chunk, at most" in ran.out and "costs nothing" not in ran.out
    ran = rolecall("-C", campaign, "ingest", small, "--no-model")
    assert (
        "1 chapter, 0 Chronicles, 2 new entries\n" in ran.out
        and "The scene is still yours (Dusk on the quay" in ran.err
    )
    assert "campaign-state.md" in ran.err

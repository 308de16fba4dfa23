"""Chats of every program that is known: who said what, in order; what is no message is set aside and said."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from rolecall.errors import ExchangeError
from rolecall.exchange.chat import PLAYER, STORY, VOICE
from rolecall.exchange.chat_dates import read_date
from rolecall.exchange.chat_reading import read_chat
from rolecall.exchange.chat_story import scenes_of
from tests.conftest import SHARED


def jsonl(*rows: object) -> bytes:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()


def read(given: object, **how: object):
    return read_chat(given if isinstance(given, bytes) else json.dumps(given).encode(), **how)


def told(chat) -> list[tuple[str, str, str]]:
    return [(m.speaker, m.role, m.text) for m in chat.messages]


HEAD = {"user_name": "Kit", "character_name": "Sera", "create_date": "2024-1-1@00h00m00s", "chat_metadata": {}}
KIT = {"name": "Kit", "is_user": True, "is_system": False, "mes": "I knock.", "send_date": "June 19, 2023 2:20pm"}
SERA = {"name": "Sera", "is_user": False, "is_system": False, "mes": "She opens.", "send_date": 1687184460000}


# -- SillyTavern


def test_a_sillytavern_chat_gives_its_messages_and_trusts_mes_before_the_swipes():
    swiped = {**SERA, "swipes": ["She opens.", "She hides.", "She waits."], "swipe_id": 1}
    chat = read(jsonl(HEAD, KIT, swiped))
    assert told(chat) == [("Kit", PLAYER, "I knock."), ("Sera", STORY, "She opens.")]
    assert chat.messages[1].others == 2 and "2 other answers" in chat.notes[0]
    assert [m.date for m in chat.messages] == [datetime(2023, 6, 19, 14, 20), datetime(2023, 6, 19, 14, 21)]


def test_a_header_that_says_unused_or_is_missing_costs_nothing():
    assert told(read(jsonl({**HEAD, "user_name": "unused", "character_name": "unused"}, KIT, SERA))) == told(
        read(jsonl(KIT, SERA))
    )


def test_broken_and_blank_lines_are_set_aside_with_their_numbers_and_the_rest_is_taken():
    chat = read(b"\xef\xbb\xbf" + jsonl(HEAD, '{"name": "Kit", "mes": "I kno', "", KIT, "[1, 2]", SERA, ""))
    assert [m.text for m in chat.messages] == ["I knock.", "She opens."]
    assert [(one.at, one.why) for one in chat.set_aside] == [
        (2, "the line is no JSON object"),
        (5, "the line is no JSON object"),
    ]


def test_a_message_hidden_from_the_model_is_story_and_a_notice_of_the_program_is_not():
    hidden = {**SERA, "is_system": True, "mes": "She once was a thief."}
    notice = {
        "name": "SillyTavern System",
        "is_user": False,
        "is_system": True,
        "mes": "Welcome!",
        "extra": {"type": "welcome"},
    }
    chat = read(jsonl(HEAD, notice, KIT, hidden, {**SERA, "mes": "", "extra": {}}))
    assert [m.text for m in chat.messages] == ["I knock.", "She once was a thief."]
    assert [one.why for one in chat.set_aside] == ["a notice of the program", "it has no text"]


def test_a_group_chat_keeps_each_members_name_and_a_narrators_line_has_none():
    marta = {**SERA, "name": "Marta", "mes": "Marta nods."}
    narrator = {**SERA, "name": "System", "mes": "Rain.", "extra": {"type": "narrator"}}
    assert told(read(jsonl(HEAD, KIT, SERA, marta, narrator)))[1:] == [
        ("Sera", STORY, "She opens."), ("Marta", STORY, "Marta nods."), ("", STORY, "Rain."),
    ]  # fmt: skip


def test_a_message_nested_in_objects_is_read_and_one_that_holds_a_line_separator_stays_one():
    chat = read(jsonl(HEAD, {**SERA, "mes": {"message": {"message": "She opens."}}}, {**KIT, "mes": "I\x85knock."}))
    assert [m.text for m in chat.messages] == ["She opens.", "I\nknock."]


@pytest.mark.parametrize(
    ("given", "moment"),
    [
        ("June 19, 2023 2:20pm", datetime(2023, 6, 19, 14, 20)),
        ("May 1, 2024 12:05am", datetime(2024, 5, 1, 0, 5)),
        ("2024-7-12@01h31m37s", datetime(2024, 7, 12, 1, 31, 37)),
        ("2024-6-5 @14h 56m 50s 682ms", datetime(2024, 6, 5, 14, 56, 50)),
        (1687184460000, datetime(2023, 6, 19, 14, 21)),
        ("1687184460000", datetime(2023, 6, 19, 14, 21)),
        (1687184460.25, datetime(2023, 6, 19, 14, 21)),
        ("2023-06-19T14:21:00.000Z", datetime(2023, 6, 19, 14, 21)),
        ("2023-06-19T16:21:00+02:00", datetime(2023, 6, 19, 14, 21)),
    ],
)
def test_every_form_of_a_date_names_its_moment(given, moment):
    assert read_date(given) == moment


@pytest.mark.parametrize(
    "given", [None, True, "", "yesterday", "2024-13-40@01h31m37s", 1e300, float("nan"), -5, "9" * 14, [], {}]
)
def test_what_is_no_date_is_none(given):
    assert read_date(given) is None


# -- other programs


def test_risuai_chats_are_read_one_by_one_and_all_at_once():
    talk = {
        "message": [
            {"role": "user", "data": "Hello", "time": 1687184460000},
            {"role": "char", "data": "Hi", "name": "Sera"},
        ]
    }
    more = {"name": "The long one", "message": [{"role": "user", "data": "Hello"}] * 3}
    assert told(read({"type": "risuChat", "ver": 2, "data": talk})) == [("You", PLAYER, "Hello"), ("Sera", STORY, "Hi")]
    every = {"type": "risuAllChats", "ver": 1, "data": [talk, more]}
    assert len(read(every).messages) == 3 and "holds 2 conversations; this is number 2" in read(every).notes[0]
    assert len(read(every, which=1).messages) == 2


def test_an_agnai_chat_begins_with_its_greeting():
    rows = [{"_id": "1", "userId": "u", "msg": "Hello"}, {"_id": "2", "characterId": "c", "msg": "Hi"}]
    assert told(read({"name": "Sera", "greeting": "You see Sera.", "messages": rows})) == [
        ("Sera", STORY, "You see Sera."), ("You", PLAYER, "Hello"), ("Sera", STORY, "Hi"),
    ]  # fmt: skip


def test_the_web_uis_pairs_and_character_ais_histories_are_read():
    pairs = {"internal": [], "visible": [["<|BEGIN-VISIBLE-CHAT|>", "Well met."], ["Hello", "Hi"], "broken"]}
    chat = read(pairs)
    assert [m.text for m in chat.messages] == ["Well met.", "Hello", "Hi"] and len(chat.set_aside) == 1
    old = {"histories": {"histories": [{"msgs": [{"src": {"is_human": True, "name": "Kit"}, "text": "Hello"}]}]}}
    assert told(read(old)) == [("Kit", PLAYER, "Hello")]


def test_the_newer_character_ai_turns_are_put_in_order_and_the_chosen_answer_is_taken():
    answer = {
        "author": {"name": "Sera"}, "create_time": "2024-05-02T10:00:00Z", "primary_candidate_id": "b",
        "candidates": [{"candidate_id": "a", "raw_content": "No."}, {"candidate_id": "b", "raw_content": "Yes."}],
    }  # fmt: skip
    asked = {
        "author": {"name": "Kit", "is_human": True},
        "create_time": "2024-05-01T10:00:00Z",
        "candidates": [{"raw_content": "Well?"}],
    }
    assert told(read({"turns": [answer, asked]})) == [("Kit", PLAYER, "Well?"), ("Sera", STORY, "Yes.")]


def test_chatgpt_conversations_follow_the_current_branch():
    def node(role, text, parent, kind="text"):
        return {
            "parent": parent,
            "children": [],
            "message": {
                "author": {"role": role},
                "content": {"content_type": kind, "parts": [text]},
                "create_time": 1687184460.5,
            },
        }

    mapping = {
        "root": {"parent": None, "children": ["s"], "message": None}, "s": node("system", "Be kind.", "root"), "u": node("user", "Hello", "s"),
        "old": node("assistant", "Go away.", "u"), "new": node("assistant", "Hi", "u"), "tool": node("tool", "{}", "new", "code"),
    }  # fmt: skip
    one = {"title": "The quay", "mapping": mapping, "current_node": "tool"}
    chat = read([one, {"title": "Nothing", "mapping": {"root": {"parent": None, "message": None}}}])
    assert told(chat) == [("You", PLAYER, "Hello"), ("", STORY, "Hi")] and chat.title == "The quay"
    assert {one.why for one in chat.set_aside} == {"it is of the system", "it is of the tools"}


def test_a_claude_export_is_read():
    rows = [
        {"sender": "human", "text": "Hello", "created_at": "2024-05-01T10:00:00Z"},
        {"sender": "assistant", "content": [{"type": "text", "text": "Hi"}]},
    ]
    assert told(read({"name": "The quay", "chat_messages": rows})) == [("You", PLAYER, "Hello"), ("", STORY, "Hi")]


@pytest.mark.parametrize(
    ("save", "wanted"),
    [
        ({"prompt": "A quay.", "actions": ["\n> I wait.\nRain falls.\n"]}, [("", STORY, "A quay."), ("You", PLAYER, "I wait."), ("", STORY, "Rain falls.")]),
        ({"prompt": "", "actions": ["{{[INPUT]}}I wait.{{[OUTPUT]}}Rain.", "{{[INPUT]}}Go."]}, [("You", PLAYER, "I wait."), ("", STORY, "Rain."), ("You", PLAYER, "Go.")]),
        (
            {"prompt": "", "actions": ["\nKit: I wait.", "\nSera: Then wait.\nMore."], "savedsettings": {"chatname": "Kit", "chatopponent": "Sera||$||Marta"}},
            [("Kit", PLAYER, "I wait."), ("Sera", STORY, "Then wait.\nMore.")],
        ),
    ],
)  # fmt: skip
def test_koboldai_saves_are_read_in_each_mode(save, wanted):
    assert told(read({"gamestarted": True, **save})) == wanted


def test_a_talemate_scene_gives_its_intro_and_typed_messages():
    history = [
        {"message": "Sera: Well met.", "typ": "character", "source": "ai"}, {"message": "Kit: Hello.", "typ": "character", "source": "player"},
        {"message": "Rain.", "typ": "narrator"}, {"message": "Make her sad.", "typ": "director"}, 7,
    ]  # fmt: skip
    chat = read({"name": "quay", "intro": "A quay.", "history": history, "character_data": {}})
    assert told(chat) == [
        ("", STORY, "A quay."),
        ("Sera", STORY, "Well met."),
        ("Kit", PLAYER, "Hello."),
        ("", STORY, "Rain."),
    ]
    assert len(chat.set_aside) == 2


def test_a_transcript_in_turns_is_read_and_an_aligned_one_gives_each_turn_once():
    turns = [
        {"NAMES": ["MATT"], "UTTERANCES": ["You see", "a door."], "NUMBER": 0},
        {"NAMES": ["SAM", "LIAM"], "UTTERANCES": ["No!"], "NUMBER": 1},
    ]
    wanted = [("Matt", VOICE, "You see a door."), ("Sam/Liam", VOICE, "No!")]
    assert told(read({"METADATA": {}, "TURNS": turns})) == wanted
    assert told(read([{"CHUNK": "x", "TURNS": turns}, {"CHUNK": "y", "TURNS": turns[1:]}])) == wanted


def test_any_list_in_which_somebody_says_something_is_a_chat():
    assert told(read([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}])) == [
        ("You", PLAYER, "Hello"), ("", STORY, "Hi"),
    ]  # fmt: skip
    deep = {"log": {"part_1": [{"speaker": "Ann", "text": "One."}], "part_2": [{"speaker": "Bob", "text": "Two."}]}}
    assert told(read(deep)) == [("Ann", VOICE, "One."), ("Bob", VOICE, "Two.")]


# -- plain text


def test_lines_that_begin_with_a_name_are_a_transcript():
    text = "The tide is out.\n\n**Kit:** I look.\nFor a long time.\n\n[12:30] Old Tobin: There: a bell.\nKIT: I go.\nOld Tobin: Wait.\n"
    assert told(read(text.encode())) == [
        ("", STORY, "The tide is out."), ("Kit", VOICE, "I look.\nFor a long time."), ("Old Tobin", VOICE, "There: a bell."),
        ("Kit", VOICE, "I go."), ("Old Tobin", VOICE, "Wait."),
    ]  # fmt: skip


def test_who_is_called_you_plays_and_a_name_in_another_script_is_one():
    assert told(read("You: Hallo\nСера: Привет\nYou: Wer da?\nСера: Я\n".encode()))[:2] == [
        ("You", PLAYER, "Hallo"),
        ("Сера", STORY, "Привет"),
    ]


def test_a_story_without_names_is_told_and_its_quotes_are_the_players():
    text = (
        "---\ntitle: X\n---\n# The quay\n\nIt was late.\n\n> I wait.\n> And wait.\n\nRain: it fell, note: much of it.\n"
    )
    chat = read(text.encode())
    assert told(chat) == [
        ("", STORY, "# The quay\n\nIt was late."),
        ("You", PLAYER, "I wait.\nAnd wait."),
        ("", STORY, "Rain: it fell, note: much of it."),
    ]
    assert "front matter" in chat.notes[0]


def test_the_user_may_say_who_plays():
    text = b"Kit: I look.\nSera: You see.\nKit: I go.\nSera: Good.\n"
    assert [m.role for m in read(text, player="kit").messages] == [PLAYER, STORY, PLAYER, STORY]
    with pytest.raises(ExchangeError, match="nobody in it is called Bob; choose among Kit, Sera"):
        read(text, player="Bob")


# -- what is no chat


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (b"   \n\xef\xbb\xbf", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n....", "this is no text"),
        (b"PK\x03\x04....", "this is no text"),
        (b"a\0b\0c\0" * 50, "this is no text"),
        (b'{"a": [1, 2', "broken JSON"),
        (b'{"entries": {"0": {"key": ["a"], "content": "b"}}}', "there is no chat in it"),
        (b"[" * 1_000_000 + b"]" * 1_000_000, "nested deeper than"),
        (b"[" + b"[]," * 2_100_000 + b"[]]", "holds more than"),
        (jsonl(HEAD, "{", "{"), "no message in it that could be taken"),
        (b'{"type": "risuChat", "data": {"message": [{"role": "user"}]}}', "no message in it that could be taken"),
        (b'{"mapping": {"a": {"parent": "b", "message": 3}, "b": {"parent": "a", "message": []}}}', "no message in it"),
        (b"[" + b" " * (33 * 1024 * 1024) + b"]", "larger than 32 MiB"),
        (b"x" * (64 * 1024 * 1024 + 1), "over 64 MB"),
    ],
    ids=range(14),
)  # fmt: skip
def test_what_is_no_chat_or_past_all_measure_is_refused_in_one_line(data, said):
    with pytest.raises(ExchangeError, match=said) as refused:
        read_chat(data)
    assert "\n" not in str(refused.value)


def test_eight_megabytes_of_text_are_the_most():
    with pytest.raises(ExchangeError, match="more than 8 MB of text"):
        read_chat(jsonl(*[{"name": "A", "mes": "x" * 1_000_000}] * 11))


@pytest.mark.parametrize(
    "row",
    [
        {"name": None, "mes": None}, {"name": ["x"], "mes": "a", "extra": "b", "swipes": 3, "send_date": {}}, {"mes": {"message": {"message": 7}}},
        {"name": "x" * 10_000, "mes": "a"}, {"name": "../../etc", "mes": "\ud800\x00\x1b[2J# a\n---\n```"}, {"name": 5, "is_user": "yes", "mes": "a"},
    ],
)  # fmt: skip
def test_fields_of_any_type_are_no_traceback(row):
    chat = read(jsonl(HEAD, KIT, row))
    assert len(chat.messages) + len(chat.set_aside) == 2
    for message in chat.messages:
        assert len(message.speaker) <= 60 and "\x1b" not in message.text and "\ud800" not in message.text


TURNS = [{"NAMES": ["MATT"], "UTTERANCES": ["A door."]}]


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (jsonl({**HEAD, "user_name": ["Kit"], "character_name": {}}, KIT), ["I knock."]),
        (jsonl(KIT, {**SERA, "extra": {"type": []}}), ["I knock.", "She opens."]),
        ({"turns": [{"author": 3, "candidates": 5}, {"candidates": [{"raw_content": "Yes."}]}]}, ["Yes."]),
        ({"TURNS": [{"NAMES": 5, "UTTERANCES": ["A door."]}, {"UTTERANCES": "No."}]}, ["A door."]),
        ([{"TURNS": 3}, {"TURNS": TURNS}, {"TURNS": None}, "x"], ["A door."]),
        ([{"role": "user", "content": [{"text": 5}, {"text": "Hello"}, 7, "you"]}], ["Hello\n\nyou"]),
    ],
    ids=["names in lists", "a sort in a list", "a number of candidates", "a number of names", "chunks that are none", "parts that are no text"],
)  # fmt: skip
def test_a_part_of_another_shape_costs_that_part_alone(given, texts):
    assert [message.text for message in read(given).messages] == texts


# -- the files of strangers

CHATS = sorted((SHARED / "chats").glob("*.jsonl")) if SHARED.exists() else []
EPISODES = sorted((SHARED / "crd3").rglob("C1E*.json")) if SHARED.exists() else []


@pytest.mark.parametrize("path", CHATS, ids=lambda path: path.stem)
def test_every_message_of_a_strangers_chat_is_taken_or_set_aside_and_its_words_stand_in_the_story(path):
    rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    chat = read_chat(path.read_bytes())
    said = [row["mes"] for row in rows if "mes" in row]
    assert len(chat.messages) + len(chat.set_aside) == len(said)
    scenes = scenes_of(chat)
    assert [m for scene in scenes for m in scene.messages] == list(chat.messages)
    words = "".join(f"{scene.action}{scene.prose}" for scene in scenes)
    for label in {f"**{m.speaker}:**" for m in chat.messages}:
        words = words.replace(label, "")
    assert _bare(words) == _bare("".join(said))


@pytest.mark.parametrize("path", EPISODES, ids=lambda path: path.stem)
def test_every_speech_of_an_episode_is_taken(path):
    given = json.loads(path.read_text("utf-8"))
    turns = given["TURNS"] if isinstance(given, dict) else [t for chunk in given for t in chunk["TURNS"]]
    numbers = {turn["NUMBER"] for turn in turns}
    chat = read_chat(path.read_bytes())
    assert len(chat.messages) + len(chat.set_aside) == len(numbers)
    assert {m.role for m in chat.messages} == {VOICE}


def _bare(text: str) -> str:
    return "".join(c for c in text if c.isalnum())

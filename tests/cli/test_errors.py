"""Every fault a user can cause is one clear line, exit code 1, nothing lost, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rolecall.campaign import records
from rolecall.campaign.effects import Effect, encode
from tests.cli.test_playing import files_of
from tests.conftest import REPOSITORY, Ran
from tests.loopback.replies import Reply


def is_one_clear_line(ran: Ran, *words: str) -> bool:
    """One `Error:` line (and perhaps a hint) with these words, exit 1, no traceback, no key."""
    lines = [line for line in ran.err.splitlines() if line]
    errors = [line for line in lines if line.startswith("Error: ")]
    assert ran.code == 1, ran
    assert len(errors) == 1 and "Traceback" not in ran.err and "sk-" not in ran.err, ran.err
    assert all(word in ran.err for word in words), (words, ran.err)
    return True


@pytest.mark.parametrize("name", ["characters/old-pasco.md", "Old Pasco", "old-pasco"])
def test_what_cannot_be_read_is_told_as_such_by_whatever_name_one_asks_for_it(rolecall, campaign, name):
    broken = campaign / "characters/old-pasco.md"
    broken.write_bytes(broken.read_bytes().replace(b"role: Ferryman", b"role: [Ferryman"))
    ran = rolecall("-C", campaign, "show", name)
    assert ran.code == 1 and "is out of the game until it is mended" in ran.err


def test_no_campaign(rolecall, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (("status",), ("play",), ("turn", "I go."), ("search", "x"), ("check",), ("fold",), ("index",)):
        assert is_one_clear_line(rolecall(*command), "no campaign", "rolecall new")
    assert is_one_clear_line(rolecall("-C", tmp_path, "status"), "not a campaign")


def test_bad_settings_name_the_line(rolecall, campaign):
    settings = campaign / "rolecall.yaml"
    good = settings.read_text()
    cases = {
        "format: 9": ("rolecall.yaml:", "format: 9"),
        "format: 1\nname: a: b": ("rolecall.yaml:2:", "colon"),
        "format: 1\nname: x\nname: y": ("rolecall.yaml:3:", "second time"),
        "format: 1\nmodels:\n  storyteller: x": ("rolecall.yaml:3:", "not a role", "narrator"),
        "format: 1\nmemory: {fold_at: soon}": ("rolecall.yaml:2:", "fold_at", "3500"),
        "format: 1\ngit: maybe": ("rolecall.yaml:2:", "auto"),
        "": ("rolecall.yaml:1:", "empty"),
    }
    for text, words in cases.items():
        settings.write_text(text)
        assert is_one_clear_line(rolecall("-C", campaign, "status"), *words)
    settings.write_bytes(b"\xff\xfe" + good.encode("utf-16-le"))
    assert is_one_clear_line(rolecall("-C", campaign, "status"), "UTF-8")


STATES = {
    "colon": ("---\nname: a: b\n---\n\n## Journal\n", "campaign-state.md:2:"),
    "twice": ("---\nname: a\nname: b\n---\n\n## Journal\n", "campaign-state.md:3:"),
    "unclosed": ("---\nname: a\n\n## Journal\n", "never closed"),
    "two journals": ("---\nname: a\n---\n\n## Journal\n\n- T0001 x\n\n## Journal\n", "campaign-state.md:9:"),
}


@pytest.mark.parametrize("fault", STATES)
def test_a_broken_campaign_state_stops_the_turn_before_a_model_is_asked(
    rolecall, campaign, loopback, monkeypatch, fault
):
    for name, value in loopback.environ("openai").items():
        monkeypatch.setenv(name, value)
    text, words = STATES[fault]
    (campaign / "campaign-state.md").write_text(text)
    before = files_of(campaign)
    assert is_one_clear_line(rolecall("-C", campaign, "turn", "I go."), words)
    assert files_of(campaign) == before
    assert loopback.bodies == []


@pytest.mark.parametrize("fault", STATES)
def test_a_broken_campaign_state_beside_an_interrupted_turn_stops_nobody_who_reads(rolecall, campaign, fault):
    state = campaign / "campaign-state.md"
    good = state.read_bytes()
    record = records.begin(campaign, 1, "I go.")
    line = Effect("journal", "campaign-state.md", 1, "Kit went down to the quay.")
    record.note("plan", effects=[encode(line)])
    state.write_text(STATES[fault][0])
    before = files_of(campaign)
    for command in (("status",), ("show", "Old Pasco"), ("list",), ("search", "quay"), ("index",)):
        ran = rolecall("-C", campaign, *command)
        assert (ran.code, len(ran.out) > 0) == (0, True), ran
        assert "interrupted turn cannot be finished yet: campaign-state.md:" in ran.err
    (warning,) = json.loads(rolecall("-C", campaign, "status", "--json").out)["warnings"]
    assert warning.startswith("campaign-state.md:")
    ran = rolecall("-C", campaign, "check", "--json")
    found = {problem["path"]: problem["rule"] for problem in json.loads(ran.out)}
    assert ran.code == 1 and found.pop(".rolecall/turns/T0001") == "interrupted"
    assert found in ({"campaign-state.md": "front-matter"}, {"campaign-state.md": "section-twice"})
    assert files_of(campaign) == before

    state.write_bytes(good)  # mended: the next command finishes the turn
    assert rolecall("-C", campaign, "check").code == 0
    assert b"- T0001 Kit went down to the quay.\n" in state.read_bytes()


def test_a_campaign_state_that_is_not_utf8_or_missing(rolecall, campaign, script, story):
    state = campaign / "campaign-state.md"
    data = state.read_bytes()
    state.write_bytes(data.replace(b"name: Campaign", b"name: Caf\xe9"))
    assert is_one_clear_line(
        rolecall("-C", campaign, "turn", "I go.", "--model", script(story)), "campaign-state.md:2:", "UTF-8"
    )
    state.unlink()
    assert is_one_clear_line(
        rolecall("-C", campaign, "turn", "I go.", "--model", script(story)), "campaign-state.md", "no Campaign State"
    )


def test_a_latin1_byte_in_the_body_survives_a_turn(rolecall, campaign, script, story):
    state = campaign / "campaign-state.md"
    state.write_bytes(state.read_bytes().replace(b"The evening boat", b"The caf\xe9 boat"))
    assert rolecall("-C", campaign, "turn", "I go.", "--model", script(story)).code == 0
    assert b"The caf\xe9 boat" in state.read_bytes()


def test_a_broken_entry_is_withheld_and_the_turn_goes_on(rolecall, campaign, script, story):
    pasco = campaign / "characters/old-pasco.md"
    pasco.write_text("---\nname: Old: Pasco\n---\n")
    assert rolecall("-C", campaign, "turn", "I greet Pasco.", "--model", script(story)).code == 0
    assert pasco.read_text() == "---\nname: Old: Pasco\n---\n"
    ran = rolecall("-C", campaign, "check")
    assert ran.code == 1 and "characters/old-pasco.md:2:" in ran.out
    assert any("old-pasco" in w for w in json.loads(rolecall("-C", campaign, "status", "--json").out)["warnings"])


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_wrong_key_model_or_server(rolecall, campaign, loopback, monkeypatch, protocol):
    before = files_of(campaign)
    key = f"{protocol.upper()}_API_KEY"
    assert is_one_clear_line(rolecall("-C", campaign, "turn", "I go.", "--model", f"{protocol}/some-model"), key)
    for name, value in loopback.environ(protocol).items():
        monkeypatch.setenv(name, value)
    chosen = ("turn", "I go.", "--model", f"{protocol}/some-model")
    loopback.answer(Reply(status=401, message="bad key sk-loopback-openai-0123456789"))
    assert is_one_clear_line(rolecall("-C", campaign, *chosen), key)
    loopback.answer(Reply(status=404, message="no such model"))
    assert is_one_clear_line(rolecall("-C", campaign, *chosen), f"{protocol}/some-model")
    loopback.answer(Reply(status=500, message="sorry"))
    assert is_one_clear_line(rolecall("-C", campaign, *chosen), "500")
    monkeypatch.setenv(f"{protocol.upper()}_BASE_URL", "http://127.0.0.1:9/v1")
    assert is_one_clear_line(rolecall("-C", campaign, *chosen), "127.0.0.1:9")
    assert files_of(campaign) == before


def test_specs_and_names_are_corrected(rolecall, campaign, script, story):
    assert is_one_clear_line(rolecall("-C", campaign, "turn", "I go.", "--model", "antropic/x"), "anthropic")
    assert is_one_clear_line(rolecall("-C", campaign, "turn", "I go.", "--model", "narator=ollama/x"), "narrator")
    assert is_one_clear_line(rolecall("-C", campaign, "turn", "I go.", "--model", "scripted:/nope.yaml"), "/nope.yaml")
    assert is_one_clear_line(rolecall("-C", campaign, "show", "Old Pascoe"), "Old Pasco")
    assert is_one_clear_line(rolecall("-C", campaign, "turn", "  ", "--model", script(story)), "empty")
    for command, word in (
        (("stauts",), "status"),
        (("list", "charcter"), "character"),
        (("list", "--where", "x"), "FIELD=VALUE"),
    ):
        ran = rolecall("-C", campaign, *command)
        assert ran.code == 2 and word in ran.err and "Traceback" not in ran.err


def test_new_never_overwrites(rolecall, campaign, tmp_path):
    before = files_of(campaign)
    assert is_one_clear_line(rolecall("new", campaign), "campaign already")
    full = tmp_path / "full"
    full.mkdir()
    (full / "novel.md").write_text("mine")
    assert is_one_clear_line(rolecall("new", full), "novel.md", "--adopt")
    (tmp_path / "file").write_text("x")
    assert is_one_clear_line(rolecall("new", tmp_path / "file"), "file")
    assert files_of(campaign) == before and (full / "novel.md").read_text() == "mine"


def test_adopting_a_folder_changes_no_file_of_it(rolecall, tmp_path):
    vault = tmp_path / "vault"
    (vault / "People").mkdir(parents=True)
    (vault / "People/Sera.md").write_bytes(b"\xef\xbb\xbf---\r\nname: Sera\r\n---\r\nA sailor")
    (vault / "broken.md").write_text("---\nname: a: b\n---\n")
    before = files_of(vault)
    assert rolecall("new", "--adopt", vault).code == 0
    after = files_of(vault)
    assert {p: after[p] for p in before} == before
    assert "Sera" in rolecall("-C", vault, "list").out
    assert is_one_clear_line(rolecall("new", "--adopt", vault), "campaign already")


def test_a_full_disk_and_a_read_only_folder(rolecall, campaign, script, story, monkeypatch):
    from rolecall.campaign import files

    class Refusing(files.FileSystem):
        def __init__(self, number: int) -> None:
            self.number = number

        def write(self, fd: int, data: bytes) -> int:
            raise OSError(self.number, os.strerror(self.number))

    before = files_of(campaign)
    for number, words in ((28, "the disk is full"), (30, "read-only"), (13, "permission denied")):
        monkeypatch.setattr(files, "fs", Refusing(number))
        assert is_one_clear_line(rolecall("-C", campaign, "turn", "I go.", "--model", script(story)), words)
        monkeypatch.undo()
        assert files_of(campaign) == before


def test_a_reader_that_goes_away_is_no_fault(campaign):
    command = f"{sys.executable} -m rolecall -C {campaign} search bell --limit 50 | head -n 1"
    ran = subprocess.run(
        command, shell=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}
    )
    assert "Traceback" not in ran.stderr and ran.stdout.count("\n") == 1


def test_terminal_escapes_never_reach_the_terminal(rolecall, campaign, script):
    (campaign / "lore").mkdir()
    (campaign / "lore/evil.md").write_bytes(b"Evil quill \x1b]0;pwned\x07 \x1b[31mred\x1b[0m \xc2\x9b31m text\n")
    spec = script('- text: "Red \\e[31mink\\e[0m and \\a bell."\n')
    for command in (
        ("search", "quill"),
        ("show", "evil"),
        ("turn", "I \x1b[1mgo.", "--model", spec),
        ("show", "campaign-state.md"),
    ):
        ran = rolecall("-C", campaign, *command)
        assert not any(c in ran.out + ran.err for c in "\x1b\x07\x9b"), command
    assert b"\x1b" not in b"".join(files_of(campaign)[p] for p in files_of(campaign) if p != "lore/evil.md")


def test_keys_are_in_no_file_and_no_output(rolecall, campaign, loopback, monkeypatch):
    key = "sk-very-secret-0123456789abcdef"
    for name, value in loopback.environ("openai").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    out = ""
    for command in (
        ("turn", "I go."),
        ("models",),
        ("models", "--json"),
        ("context", "I go."),
        ("context", "--last"),
        ("status",),
    ):
        ran = rolecall("-C", campaign, *command)
        out += ran.out + ran.err
    loopback.answer(Reply(status=401, message=f"Incorrect API key provided: {key}"))
    out += rolecall("-C", campaign, "turn", "I go on.").err
    everything = b"".join(p.read_bytes() for p in Path(campaign).rglob("*") if p.is_file())
    assert key not in out and key.encode() not in everything


@pytest.mark.parametrize("typed", ["sk-ant-api03-0123456789abcdefghij", "a-key-of-no-shape"])
def test_a_key_that_a_player_types_is_sent_to_nobody_and_kept_nowhere(rolecall, campaign, loopback, monkeypatch, typed):
    for name, value in loopback.environ("openai").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENROUTER_API_KEY", "a-key-of-no-shape")
    before = files_of(campaign)
    ran = rolecall("-C", campaign, "turn", f"I write {typed} on the wall.")
    assert is_one_clear_line(ran, "key of yours") and typed not in ran.err
    assert rolecall("-C", campaign, "play", input=f"I write {typed}.\n").code == 1
    assert loopback.bodies == [] and files_of(campaign) == before
    everything = b"".join(p.read_bytes() for p in Path(campaign).rglob("*") if p.is_file())
    assert typed.encode() not in everything


@pytest.mark.parametrize("sink", ["| true", ">/dev/full", ">&-"])
def test_whoever_reads_the_prose_the_turn_is_told_whole(campaign, script, sink):
    prose = " ".join(f"Sentence number {n} of the long night." for n in range(60))
    spec = script(
        f"- text: {prose}\n  delay: 0.01\n  tools: [{{name: append_journal, arguments: {{text: A night.}}}}]\n"
    )
    command = f"{sys.executable} -m rolecall -C {campaign} turn 'I wait.' --model {spec} {sink}"
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, env=environ)
    assert "Traceback" not in ran.stderr and "Exception ignored" not in ran.stderr
    told = next((campaign / "story").iterdir()).read_text()
    assert prose in told and "cut short" not in told
    assert (campaign / "campaign-state.md").read_text().endswith("- T0001 A night.\n")


def test_an_answer_of_a_server_never_drives_the_terminal(rolecall, campaign, loopback, monkeypatch):
    for name, value in loopback.environ("openai").items():
        monkeypatch.setenv(name, value)
    loopback.answer(Reply(status=404, message="\x1b]0;pwned\x07 \u202e no such model"))
    ran = rolecall("-C", campaign, "turn", "I go.", "--model", "openai/x")
    assert ran.code == 1 and not any(c in ran.err for c in "\x1b\x07\u202e")


def test_numbers_without_end_are_no_turns(rolecall, campaign, script, story):
    state = campaign / "campaign-state.md"
    state.write_text(state.read_text() + f"\n- T{'9' * 5000} a line from nowhere\n")
    for command in (
        ("status",),
        ("check",),
        ("turn", "I go.", "--model", script(story)),
        ("why", f"campaign-state.md:{'9' * 5000}"),
    ):
        assert "made a mistake" not in rolecall("-C", campaign, *command).err
    assert "- T0001 Kit met" in state.read_text()


def test_a_state_in_utf16_is_refused_as_it_is(rolecall, campaign, script, story):
    state = campaign / "campaign-state.md"
    state.write_bytes(state.read_text().encode("utf-16"))
    before = state.read_bytes()
    assert is_one_clear_line(rolecall("-C", campaign, "turn", "I go.", "--model", script(story)), "UTF-16", "UTF-8")
    assert state.read_bytes() == before


KEYS = ("sk-proj-0123456789abcdefghijklmn", "AIzaSyA0123456789abcdefghijklmnopqrstuv", "gsk_0123456789abcdefghijklmn")
WITH_A_KEY = [
    ("turn", "I wait.", "--model", "{}"),
    ("turn", "I wait.", "--model", "narrator=openrouter/{}"),
    ("turn", "The word is {}."),
    ("models", "--model", "{}"),
    ("search", "{}"),
    ("show", "{}"),
    ("rename", "Old Pasco", "{}"),
    ("branch", "{}"),
    ("import", "{}.json"),
    ("activity", "--type", "{}"),
    ("--wait={}",),
    ("{}",),
]


@pytest.mark.parametrize("arguments", WITH_A_KEY, ids=" ".join)
@pytest.mark.parametrize("key", KEYS)
def test_a_key_in_any_argument_is_repeated_nowhere(rolecall, campaign, clean_environment, arguments, key):
    if key.startswith("gsk"):  # of no shape that is known; but it is the one in use
        clean_environment.setenv("OPENAI_API_KEY", key)
    before = files_of(campaign)
    ran = rolecall("-C", campaign, *(one.format(key) for one in arguments))
    assert ran.code == 1 and ran.err.startswith("Error: ") and ran.err.count("\n") == 1 and ran.out == ""
    assert "holds what looks like a key" in ran.err
    assert key not in ran.err and files_of(campaign) == before
    assert not any(key.encode() in path.read_bytes() for path in campaign.rglob("*") if path.is_file())


def test_a_key_of_a_shape_nobody_knows_is_not_repeated_as_the_name_of_a_model(rolecall, campaign):
    ran = rolecall("-C", campaign, "turn", "I wait.", "--model", KEYS[2])
    assert is_one_clear_line(ran, "is no model") and KEYS[2][:12] not in ran.err

"""Whatever a file, its name, a model, a record or a shell's paste holds: nothing of it drives the terminal."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path

import pytest

from rolecall.campaign import template
from tests.cli.terminal import Terminal
from tests.loopback.replies import Reply

# A title, colours, a link, the clipboard, 8-bit controls, directions turned, a device string, backspaces, and another program's marks.
EVIL = (
    "\x1b]0;owned\x07\x1b[5;35mX\x1b]8;;http://evil\x1b\\L\x1b]52;c;ZXZpbA==\x07\x9b31m\x9d0;c1\x9c\u202eRTL\u2066I\x1bPq#0\x1b\\"
    "\x1b_apc\x1b\\\x08\x7f[red]B[/red]"
)
QUOTED = json.dumps(EVIL)  # JSON's escapes are YAML's
FILE = "\x1b]0;owned\x07\x1b[5;35mX\x9b31m\u202eRTL\x7f"
DRIVES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such file names")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A campaign whose every name, field, heading, setting and record tries."""
    root = template.new(tmp_path / "tale", "The Tale").root
    settings = root / "rolecall.yaml"
    text = settings.read_text().replace("name: The Tale", f"name: {QUOTED}")
    settings.write_text(f"{text}currency: {QUOTED}\n{QUOTED}: 1\n")
    (root / f"characters/{FILE}.md").write_text(
        f"---\nname: {QUOTED}\nkind: character\naliases: [Ann, {QUOTED}]\nlocation: {QUOTED}\nstatus: {QUOTED}\n{QUOTED}: v\n"
        f"locked: true\nrelationships:\n  - {{with: Old Pasco, nature: {QUOTED}}}\n---\nBody {EVIL} &#27;]0;owned&#7; &#x9b;31m &#8238;\n\n"
        f"## Head {EVIL}\n\nx {EVIL} [[{EVIL}]] [a](http://evil/{EVIL}) <b>{EVIL}</b>\n\n```\n{EVIL}\n```\n"
    )
    (root / "lore").mkdir(exist_ok=True)
    (root / f"lore/broken{FILE}.md").write_text(f"---\nname: a: b{EVIL}\n---\nraw\n")
    (root / f"arcs/{FILE}.md").write_text(
        f"---\nname: {QUOTED}\nkind: arc\nstatus: {QUOTED}\nquestion: {QUOTED}\nlatest: {QUOTED}\n---\nx\n"
    )
    state = root / "campaign-state.md"
    said = re.sub(r"(?m)^scene: .*$", lambda _: f"scene: {QUOTED}", state.read_text())
    said = said.replace("## Promises\n", f"## Promises\n\n- [ ] To Kit{EVIL}: tar {EVIL} (T0001)\n")
    state.write_text(said.replace("## Party\n", f"## Party\n\n- Zed{EVIL}\n"))
    return root


def script(place: Path) -> str:
    """A model that tries in its prose, its calls and their names."""
    path = place / "script.yaml"
    path.write_text(
        f"- text: {json.dumps('Prose ' + EVIL)}\n  tools:\n"
        f"    - {{name: append_journal, arguments: {{text: {json.dumps('Kit met ' + EVIL)}}}}}\n"
        f"    - {{name: {QUOTED}, arguments: {{{QUOTED}: {QUOTED}}}}}\n"
        f"    - {{name: update_entry, arguments: {{entry: Ann, field: status, value: {QUOTED}}}}}\n"
        f"    - {{name: append_history, arguments: {{entry: Old Pasco, text: {QUOTED}}}}}\n"
        f"    - {{name: record_character, arguments: {{name: {json.dumps('Mob ' + EVIL)}, status: {QUOTED}}}}}\n"
        "- text: ok\n- text: ok\n"
    )
    return f"scripted:{path}"


READING = (
    ("status",), ("list",), ("list", "arc"), ("show", f"characters/{FILE}.md"), ("show", "campaign-state.md"), ("search", "met"),
    ("search", "raw"), ("context", "I look at Ann"), ("context", "--last"), ("graph",), ("snapshot",), ("why", "campaign-state.md"),
    ("why", f"characters/{FILE}.md"), ("activity",), ("check", "--strict"), ("timeline",), ("models",), ("proposals",), ("swipe", "--list"),
)  # fmt: skip
ASKED = (
    ("list", EVIL), ("list", "--where", f"x{EVIL}"), ("show", EVIL), ("why", EVIL), ("why", f"{EVIL}:3"), ("search", EVIL), (EVIL,),
    ("activity", "--type", EVIL), ("branch", EVIL), ("timeline", EVIL), ("turn", "x", "--model", EVIL), ("turn", "x", "--model", f"openai/{EVIL}"),
    ("turn", "x", "--model", f"scripted:/{FILE}"), ("turn", "--replay", EVIL), ("undo", "--turn", EVIL), ("import", f"/{FILE}.json"),
    ("ingest", f"/{FILE}.txt"), ("export", EVIL), ("export", "card-v3", EVIL), ("export", "markdown", "-o", f"/{FILE}/x.md"),
    ("graph", "--around", EVIL), ("graph", "-o", f"/{FILE}/x.html"), ("rename", EVIL, "x"), ("rename", "Old Pasco", EVIL),
    ("models", "--model", f"openai/{EVIL}"), ("proposals", "accept", EVIL), ("context", "--model", EVIL, "x"), (f"--{EVIL}",),
    ("--wait", EVIL), ("turn", "--wait", EVIL, "x"),
)  # fmt: skip


def played(rolecall, root: Path) -> None:
    ran = rolecall("-C", root, "turn", f"I look at Ann {EVIL}", "--model", script(root.parent))
    assert ran.code == 0 and "Prose" in ran.out and not DRIVES.search(ran.out + ran.err), ran.err


def test_no_command_lets_a_file_a_name_or_a_model_drive_the_terminal(rolecall, hostile):
    played(rolecall, hostile)
    for command in READING:
        for form in ((), ("--json",)):
            ran = rolecall("-C", hostile, *command, *form)
            assert not DRIVES.search(ran.out + ran.err), (command, form)
            if form and ran.code == 0:
                json.loads(ran.out)
    for form in ("mermaid", "dot", "html", "json"):
        assert not DRIVES.search(rolecall("-C", hostile, "graph", "--format", form).out)
    rows = json.loads(rolecall("-C", hostile, "list", "character", "--json").out)
    assert f"characters/{FILE}.md" in [row["path"] for row in rows]  # spelt out, and nothing of it lost


@pytest.mark.parametrize("command", ASKED, ids=lambda command: ascii(command[0])[1:12])
def test_no_error_repeats_what_was_pasted_into_a_command(rolecall, hostile, command):
    ran = rolecall("-C", hostile, *command)
    assert not DRIVES.search(ran.out + ran.err)


@pytest.mark.parametrize(
    "settings",
    [f"format: {QUOTED}", f"format: 1\nmodels: {{{QUOTED}: x}}", f"format: 1\nmodels: {{narrator: {QUOTED}}}", f"format: 1\ngit: {QUOTED}",
     f"format: 1\nmodels: {{narrator: {json.dumps('openai/' + EVIL)}}}", f"format: 1\nmemory: {{{QUOTED}: {QUOTED}}}",
     f"format: 1\nprices: {{{QUOTED}: {{fresh: 1, out: x}}}}", f"format: 1\n{EVIL}: x"],
)  # fmt: skip
def test_no_setting_does(rolecall, hostile, settings):
    (hostile / "rolecall.yaml").write_text(settings + "\n")
    for command in (("status",), ("models",), ("check",), ("turn", "x")):
        ran = rolecall("-C", hostile, *command)
        assert not DRIVES.search(ran.out + ran.err), command


def test_no_record_of_the_machines_does(rolecall, hostile):
    played(rolecall, hostile)
    machine = hostile / ".rolecall"
    row = {"at": f"2026-01-01T00:00:00{EVIL}", "turn": EVIL, "type": EVIL, "phase": EVIL, "model": EVIL, "reason": EVIL}
    line = json.dumps({**row, "paths": [EVIL], "tokens": 1, "ms": 1, "secret": False})
    (machine / "activity.jsonl").write_text(f"{line}\n")
    (machine / "holder.json").write_text(json.dumps({"pid": 1, "command": EVIL, "started": EVIL}))
    (machine / "drafts").mkdir(exist_ok=True)
    (machine / "drafts/T0002.md").write_text(EVIL)
    for command in (("activity",), ("activity", "--json"), ("status",), ("check",), ("play",)):
        ran = rolecall("-C", hostile, *command, input="/again\n")
        assert not DRIVES.search(ran.out + ran.err), command


def test_what_the_writer_changed_since_is_told_as_words_by_undo(rolecall, hostile):
    played(rolecall, hostile)
    place = next((hostile / "story").glob("*.md"))
    place.write_text(place.read_text().replace("Prose", "My own words"))
    state = hostile / "campaign-state.md"
    state.write_text(state.read_text().replace("Kit met", f"Kit {EVIL} met"))
    for command in (("undo", "--json"), ("undo",)):
        ran = rolecall("-C", hostile, *command)
        assert not DRIVES.search(ran.out + ran.err)
    assert "your words stay" in ran.err


def test_no_answer_of_a_server_does(rolecall, campaign, loopback, monkeypatch):
    for name, value in loopback.environ("openai").items():
        monkeypatch.setenv(name, value)
    loopback.answer(Reply(status=404, message=f"no such model {EVIL}"))
    for command in (("turn", "x"), ("turn", "x", "--json"), ("models",), ("activity", "--json"), ("context", "--last")):
        ran = rolecall("-C", campaign, *command)
        assert not DRIVES.search(ran.out + ran.err), command


@pytest.mark.parametrize("name", [f"characters/{FILE}.md", "campaign-state.md"])
def test_an_entry_drawn_as_a_page_has_the_pages_own_escapes_alone(hostile, tmp_path, name):
    terminal = Terminal("-C", hostile, "show", name, environ={}, cache=tmp_path / "cache")
    deadline = time.monotonic() + 30
    while terminal.process.poll() is None and time.monotonic() < deadline:
        terminal._more(deadline)
    shown = terminal._raw.decode("utf-8")
    styles = re.compile(r"\x1b\[[0-9;]*m")
    assert "Body" in shown or "Party" in shown
    assert "\x1b[5;35m" not in shown and "owned\x07" not in shown
    assert not DRIVES.search(styles.sub("", shown).replace("\r", ""))
    assert os.waitstatus_to_exitcode(0) == terminal.process.wait()

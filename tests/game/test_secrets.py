"""Secrets by not sending them: a canary in every secret place never reaches a narrator request or the player."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.game import plot
from tests.loopback import storyteller
from tests.loopback.replies import Reply
from tests.turn.world import text

CANARIES = [f"xyzzycanary{n}" for n in range(1, 10)]


def put_canaries(root: Path) -> None:
    """A canary in each kind of secret place, beside open words that make every one of these files be found."""
    c = CANARIES
    arc = root / "arcs/who-rang-the-drowned-bell.md"
    arc.write_text(arc.read_text().replace("truth: ", f"truth: {c[0]} "))
    (root / "characters/nan.md").write_text(
        f"---\nname: Nan Quill\nkind: character\nlocation: Skerrow Quay\nsecret: {c[1]} quill\nSecret: {c[2]}\n"
        "relationships:\n  - {with: Old Pasco, nature: friend, secret: " + c[8] + "}\n---\n"
        f"She sells quills on Skerrow Quay.\n\n## Secret\n\n{c[3]} quills\n\n### Deeper\n\n{c[3]}\n\n## Habits\n\nQuills.\n\n"
        f"## **GM-only**\n\n{c[4]} quills\n"
    )
    (root / "lore/hidden.md").parent.mkdir(exist_ok=True)
    (root / "lore/hidden.md").write_text(
        f"---\nname: The Hidden Quill\nvisibility: secret\n---\n{c[5]} quills and Skerrow Quay\n"
    )
    (root / "dm/seeds.md").write_text(f"Quills on Skerrow Quay: {c[6]}\n")
    # A broken front matter is withheld whole: nobody can tell which of its lines are secret.
    (root / "lore/broken.md").write_text(
        f"---\nname: Broken Quill\nsecret: {c[7]}: quills\n---\nQuills on Skerrow Quay {c[7]}\n"
    )


def leaks(text: str) -> list[str]:
    return [c for c in CANARIES if c in text.casefold()]


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_no_secret_is_in_any_request_of_the_narrator_layer(rolecall, campaign, loopback, monkeypatch, protocol):
    put_canaries(campaign)
    for name, value in loopback.environ(protocol).items():
        monkeypatch.setenv(name, value)
    actions = [
        "I ask Nan Quill about the hidden quill.",
        "I look for quills on Skerrow Quay.",
        "I think of the drowned bell.",
    ]
    for action in actions * 2:  # every fifth turn of the storyteller searches
        assert rolecall("-C", campaign, "turn", action).code == 0
    sent = json.dumps([b for b in loopback.bodies if plot.layer_of(b) != "dm"], ensure_ascii=False)
    assert "She sells quills" in sent
    assert leaks(sent) == []


def test_tools_never_hand_a_secret_to_the_narrator(rolecall, campaign, script):
    put_canaries(campaign)
    spec = script(
        """
- tools:
    - {name: search, arguments: {query: quills, limit: 12}}
    - {name: search, arguments: {query: xyzzycanary6 xyzzycanary7}}
    - {name: read, arguments: {name: Nan Quill}}
    - {name: read, arguments: {name: The Hidden Quill}}
    - {name: read, arguments: {name: Who rang the drowned bell}}
    - {name: read, arguments: {name: seeds}}
    - {name: read, arguments: {name: Broken Quill}}
    - {name: read, arguments: {name: ../../etc/passwd}}
    - {name: append_history, arguments: {entry: The Hidden Quill, text: x}}
- text: Quills everywhere.
"""
    )
    hidden = (campaign / "lore/hidden.md").read_bytes()
    assert rolecall("-C", campaign, "turn", "I buy quills.", "--model", spec).code == 0
    said = "".join(p.read_text() for p in (campaign / ".rolecall/turns").rglob("*-narrator.json"))
    assert "She sells quills" in said and "No entry is named" in said
    assert leaks(said) == [
        "xyzzycanary6",
        "xyzzycanary7",
    ]  # the words the model itself searched for come back in its call
    assert (campaign / "lore/hidden.md").read_bytes() == hidden


PLAYER_COMMANDS = [
    ("status",), ("status", "--json"), ("list",), ("list", "--json"), ("list", "dm"), ("list", "character", "--where", "secret=xyzzycanary2 quill"),
    ("show", "Nan Quill"), ("show", "Nan Quill", "--json"), ("show", "characters/nan.md"), ("show", "The Hidden Quill"),
    ("show", "Who rang the drowned bell"), ("show", "dm/seeds.md"), ("show", "Broken Quill"), ("show", "lore/broken.md"),
    ("search", "quills"), ("search", "quills", "--limit", "50", "--json"), ("search", "xyzzycanary7"), ("search", "hidden quill"),
    ("context", "I ask Nan Quill about quills"), ("context", "I ask about quills", "--json"),
    ("graph",), ("graph", "--format", "dot"), ("graph", "--format", "json"), ("graph", "--format", "html"), ("snapshot",),
    ("why", "characters/nan.md"), ("why", "lore/hidden.md"), ("why", "lore/broken.md"), ("why", "dm/seeds.md"), ("activity",),
    ("index",), ("index", "--json"), ("models",), ("proposals",),
]  # fmt: skip


@pytest.mark.parametrize("command", PLAYER_COMMANDS, ids=" ".join)
def test_no_command_shows_the_player_a_secret(rolecall, campaign, command):
    put_canaries(campaign)
    ran = rolecall("-C", campaign, *command)
    asked = " ".join(command)
    assert [c for c in leaks(ran.out + ran.err) if c not in asked] == []
    assert "The Hidden Quill" not in (ran.out + ran.err).replace(asked, "") or "Hidden" in asked


def test_an_undo_tells_the_player_where_a_secret_line_clashes_and_not_what_it_said(rolecall, campaign, script):
    state = campaign / "campaign-state.md"
    state.write_text(state.read_text().replace("location: Skerrow Quay", "location: xyzzycanary1"))
    for secrets in ((), ("--secrets",)):
        before = state.read_bytes()
        spec = script("- text: Hm.\n  tools:\n    - {name: set_scene, arguments: {location: Low Skerrow}}\n")
        assert rolecall("-C", campaign, "turn", "I go.", "--model", spec).code == 0
        told = state.read_text()
        assert "location: Low Skerrow\n" in told
        state.write_text(told.replace("location: Low Skerrow", "visibility: secret\nlocation: The Bell Tower"))
        ran = rolecall("-C", campaign, "undo", *secrets)
        assert ran.code == 1 and "campaign-state.md:" in ran.err and "your words stay" in ran.err
        assert leaks(ran.err) == (["xyzzycanary1"] if secrets else []), ran.err
        state.write_bytes(before)


def test_the_writer_sees_them_with_secrets(rolecall, campaign):
    put_canaries(campaign)
    assert "xyzzycanary2" in rolecall("-C", campaign, "show", "Nan Quill", "--secrets").out
    assert "xyzzycanary6" in rolecall("-C", campaign, "show", "The Hidden Quill", "--secrets").out
    assert "xyzzycanary7" in rolecall("-C", campaign, "search", "xyzzycanary7", "--secrets").out
    assert "xyzzycanary1" in rolecall("-C", campaign, "status", "--secrets").out


def test_the_player_in_a_pipe_sees_none(rolecall, campaign, script):
    put_canaries(campaign)
    said = "/status\n/show Nan Quill\n/show The Hidden Quill\n/search quills\nI buy a quill.\n"
    ran = rolecall("-C", campaign, "play", "--model", script("- text: Sold."), input=said)
    assert leaks(ran.out + ran.err) == []


# -- all four phases


def curious(body: dict) -> Reply:
    """A model that asks for, names and notes what is hidden wherever it can, and lets it slip in its prose."""
    layer, (turn, rounds) = plot.layer_of(body), storyteller.place(body)
    hidden = ["The Hidden Quill", "lore/hidden.md", "dm/seeds.md", "dm/", "Broken Quill", "Who rang the drowned bell"]
    if layer in ("dm", "turn_dm"):
        return storyteller.reply(body)
    if layer == "retriever":
        return Reply(text=json.dumps({
            "active": ["Nan Quill", *hidden], "anticipatory": hidden, "enrichment": ["lore/", "dm/"], "wild": hidden,
            "queries": ["hidden quill secret", "gm-only quills", "truth of the drowned bell"],
        }))  # fmt: skip
    if layer == "historian":
        arcs = [
            {"arc": name, "text": f"It went on up to turn {turn}."} for name in ("Who rang the drowned bell", *hidden)
        ]
        return Reply(text=json.dumps({"summaries": arcs}))
    if layer == "scribe" and rounds == 0:
        return Reply(text="Noted.", tools=(
            ("update_entry", {"entry": "Nan Quill", "field": "secret", "value": "told"}),
            ("update_entry", {"entry": "The Hidden Quill", "field": "status", "value": "found"}),
            ("record_lore", {"name": "The Hidden Quill", "text": "A quill that is hidden."}),
            ("record_lore", {"name": "Broken Quill", "text": "A quill that broke."}),
            ("record_character", {"name": "Nan Quill", "status": f"asked {turn} times",
                                  "relationships": [{"with": "Old Pasco", "status": f"wary for {turn} days"}]}),
            ("merge_entries", {"keep": "Old Pasco", "other": "Nan Quill", "reason": "alike"}),
            ("split_entry", {"entry": "Nan Quill", "name": "Her Tray", "kind": "item", "text": "A tray of quills."}),
        ))  # fmt: skip
    if layer == "narrator" and rounds == 0:
        return Reply(tools=(("search", {"query": "quills secret"}), ("read", {"name": "Nan Quill"}),
                            ("read", {"name": "The Hidden Quill"})))  # fmt: skip
    if layer == "narrator":
        slip = "Old Gil walks in and sits down. Maren Sallow is alive below, and her ringing holds the sea off the upper town."
        tools = (("append_journal", {"text": f"Nan Quill sold her {storyteller.ordinal(turn)} quill."}),)
        return Reply(text=f"Nan Quill counts her quills on Skerrow Quay. {slip}", tools=tools)
    if layer == "repair":
        return Reply(
            text="Nan Quill counts her quills on Skerrow Quay, and nobody else comes in. The bell rings, far below it all."
        )
    return Reply(text="Nothing.")


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_no_request_of_any_phase_carries_a_secret_and_no_view_of_their_work_shows_one(
    rolecall, campaign, loopback, monkeypatch, protocol
):
    put_canaries(campaign)
    (campaign / "characters/gil.md").write_text("---\nname: Old Gil\nkind: character\nstatus: dead\n---\nDrowned.\n")
    settings = campaign / "rolecall.yaml"
    settings.write_text(
        settings.read_text()
        .replace("historian_every: 20", "historian_every: 2")
        .replace("continuity: report", "continuity: repair")
    )
    for name, value in loopback.environ(protocol).items():
        monkeypatch.setenv(name, value)
    loopback.answer(curious)
    hidden = {p: d for p, d in text(campaign).items() if p in ("lore/hidden.md", "lore/broken.md", "dm/seeds.md")}
    shown = []
    for n in range(1, 5):
        ran = rolecall("-C", campaign, "turn", f"I ask Nan Quill about the hidden quill, {n}.", "--json")
        assert ran.code == 0, ran.err
        shown.append(ran.out + ran.err)
    by_layer = {}
    for body in loopback.bodies:
        by_layer.setdefault(plot.layer_of(body), []).append(json.dumps(body, ensure_ascii=False))
    assert set(by_layer) >= {"retriever", "narrator", "scribe", "historian", "repair"}
    for layer, bodies in by_layer.items():
        assert leaks("".join(bodies)) == [] or layer == "dm", layer
        assert "quill" in "".join(bodies)
    for command in (
        ("activity", "--limit", "200"), ("activity", "--limit", "200", "--json"), ("snapshot",), ("proposals",), ("status",),
        ("proposals", "--json"), ("swipe", "--list", "--json"), ("graph", "--format", "json"), ("check",), ("list", "--json"),
        *(("why", path) for path in text(campaign) if path.endswith(".md") and not path.startswith(("instructions", "prose"))),
    ):  # fmt: skip
        ran = rolecall("-C", campaign, *command)
        shown.append(ran.out + ran.err)
        assert leaks(shown[-1]) == [], command
    assert leaks("".join(shown)) == []
    now = text(campaign)
    assert {path: now[path] for path in hidden} == hidden
    nan = now["characters/nan.md"].decode()
    assert (
        all(f"{c}" in nan for c in (CANARIES[1], CANARIES[2], CANARIES[3], CANARIES[4]))
        and "status: asked 4 times" in nan
    )
    assert not [
        path for path in now if path.startswith("lore/") and path not in hidden and b"secret" in now[path].lower()
    ]


def test_the_writers_snapshot_may_hold_what_is_secret(rolecall, campaign):
    put_canaries(campaign)
    assert leaks(rolecall("-C", campaign, "snapshot").out) == []
    assert leaks(rolecall("-C", campaign, "snapshot", "--secrets").out) != []

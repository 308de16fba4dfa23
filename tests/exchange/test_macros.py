"""`{{user}}` and `{{char}}` of imported texts: names to whoever reads them, untouched in the files and on the way out."""

from __future__ import annotations

import json

import pytest

from rolecall.campaign import macros
from rolecall.campaign.folder import open_campaign
from rolecall.exchange.chat_reading import read_chat

CARD = {
    "spec": "chara_card_v2",
    "data": {
        "name": "Vesna",
        "description": "{{char}} keeps the light and distrusts {{ User }}. <BOT> never forgives <USER>; she rolls {{roll:d6}}.",
        "first_mes": "*{{char}} looks up at {{user}}.*",
        "character_book": {"entries": [{"keys": ["lamp"], "content": "{{char}} alone may light the Long Lamp.", "comment": "The Long Lamp"}]},
    },
}  # fmt: skip


@pytest.fixture
def vesna(campaign, take):
    return {row["name"]: row["path"] for row in take(CARD, "vesna.json")["made"]}


def prompt(rolecall, campaign, action: str) -> str:
    shown = json.loads(rolecall("-C", campaign, "context", action, "--json").out)["layers"]
    return "\n".join(str(message["content"]) for layer in shown for message in layer["messages"])


def test_every_prompt_names_whom_a_macro_means_and_the_file_keeps_it(rolecall, campaign, vesna):
    before = (campaign / vesna["Vesna"]).read_bytes()
    said = prompt(rolecall, campaign, "I ask Vesna about the Long Lamp.")
    assert (
        "Vesna keeps the light and distrusts Kit Sallow. Vesna never forgives Kit Sallow; she rolls {{roll:d6}}."
        in said
    )
    assert "Vesna looks up at Kit Sallow." in said and "Vesna alone may light the Long Lamp." in said
    for macro in ("{{char}}", "{{user}}", "{{ User }}", "<BOT>", "<USER>"):
        assert macro not in said
    assert (campaign / vesna["Vesna"]).read_bytes() == before and b"{{char}}" in before


def test_a_person_reads_names_too(rolecall, campaign, vesna):
    assert "distrusts Kit Sallow" in rolecall("-C", campaign, "show", "Vesna").out
    assert "{{" not in json.loads(rolecall("-C", campaign, "show", "The Long Lamp", "--json").out)["text"]
    assert "distrusts Kit Sallow" in rolecall("-C", campaign, "search", "Vesna keeps the light").out


def test_the_macros_go_back_out_as_they_came(rolecall, campaign, vesna, tmp_path):
    path = campaign / vesna["Vesna"]
    path.write_bytes(path.read_bytes().replace(b"keeps the light", b"kept the light"))
    assert rolecall("-C", campaign, "export", "card-v2", "Vesna", "-o", tmp_path / "out.json").code == 0
    data = json.loads((tmp_path / "out.json").read_text())["data"]
    assert data["description"] == CARD["data"]["description"].replace("keeps", "kept")
    assert data["first_mes"] == CARD["data"]["first_mes"]


@pytest.mark.parametrize(
    ("party", "role", "player"),
    [
        ("- [[Sera]], unhurt\n- [[Kit Sallow]]\n", "", "Sera"),
        ("", "Player character", "Vesna"),
        ("", "the player's character", "Vesna"),
        ("", "Keeper of the light", "the player"),
    ],
)
def test_the_player_is_the_first_of_the_party_else_who_has_the_part(campaign, party, role, player):
    state = campaign / "campaign-state.md"
    head, _, rest = state.read_text().partition("## Party\n\n")
    state.write_text(f"{head}## Party\n\n{party}\n{rest[rest.index('## Promises') :]}")
    (campaign / "characters" / "kit-sallow.md").unlink()
    (campaign / "characters" / "vesna.md").write_text(f"---\nname: Vesna\nrole: {role or 'none'}\n---\nHer.\n")
    assert macros.player(open_campaign(campaign)) == player


def test_a_name_is_put_in_as_it_is_and_a_text_without_macros_is_the_same(campaign):
    said = macros.named(r"{{user}} \1 <b>{{CHAR}}</b> {{random:a,b}}", player=r"K\g<0>{{char}}", char="S")
    assert said == r"K\g<0>S \1 <b>S</b> {{random:a,b}}"
    assert macros.read(open_campaign(campaign), "no/such.md", "Plain <b>text</b>.") == "Plain <b>text</b>."


def test_a_chat_is_told_with_the_names_it_was_played_with():
    rows = [
        {"user_name": "Kit", "character_name": "Sera"},
        {"name": "Sera", "is_user": False, "mes": "{{char}} looks up at {{user}}. {{random:Well?,So?}}"},
        {"name": "Kit", "is_user": True, "mes": "I greet {{char}}."},
    ]
    chat = read_chat("\n".join(map(json.dumps, rows)).encode())
    assert [m.text for m in chat.messages] == ["Sera looks up at Kit. {{random:Well?,So?}}", "I greet Sera."]
    assert chat.notes == ("Macros that are no name (`{{roll}}`, `{{random}}`) are left as they stand.",)


def test_two_who_are_spoken_with_leave_it_open_whom_the_player_means():
    rows = [
        {"name": "Sera", "is_user": False, "mes": "{{char}} waits."},
        {"name": "Marta", "is_user": False, "mes": "<BOT> waits, too."},
        {"name": "Kit", "is_user": True, "mes": "I greet {{char}}."},
    ]
    chat = read_chat("\n".join(map(json.dumps, rows)).encode())
    assert [m.text for m in chat.messages] == ["Sera waits.", "Marta waits, too.", "I greet {{char}}."]

"""What each program writes, and what becomes of it: a small file of each, field by field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rolecall.exchange import formats
from tests.exchange import foreign


def entries_of(campaign, receipt) -> dict[str, dict]:
    rows = json.loads((campaign / receipt["folder"] / "entries.json").read_bytes())["made"]
    return {row["name"]: row for row in rows}


def test_world_info_keeps_every_flag_and_rule(take, made, campaign):
    full = {
        "comment": "The Gannet", "content": "A fast cutter.", "key": ["Gannet", "/cutters?/i", "ship, fast"],
        "keysecondary": ["Sera", "night"], "selective": True, "selectiveLogic": 3, "constant": True, "order": 7,
        "position": 4, "depth": 2, "role": 1, "probability": 40, "useProbability": True, "sticky": 3, "group": "ships",
        "excludeRecursion": True, "somethingNew": {"kept": [1, 2]},
    }  # fmt: skip
    off = {"comment": "Old", "content": "Gone.", "disable": True, "key": "one, /two,three/i, four"}
    receipt = take(foreign.world(full, off, name="Carrow", odd=1), "x.bin")
    assert (receipt["format"], receipt["title"]) == ("SillyTavern world info", "Carrow")
    fields = made(receipt, "The Gannet").fields
    assert fields == {
        "name": "The Gannet", "kind": "lore", "aliases": ["Gannet"], "keys": ["ship, fast"], "keys_regex": ["/cutters?/i"],
        "keys_when": "all of: Sera, night", "tags": ["ships"], "pinned": "true",
        "source": f"{receipt['folder']}/x.bin, entries/0",
    }  # fmt: skip
    old = made(receipt, "Old").fields
    assert old["keys"] == ["one", "four"] and old["keys_regex"] == ["/two,three/i"]
    assert old["forgotten"] == "switched off where it comes from"
    row = entries_of(campaign, receipt)["The Gannet"]
    assert row["rules"]["position"] == "depth" and row["rules"]["role"] == "user" and row["rules"]["probability"] == 40
    assert row["fields"] | {"content": full["content"]} == {"uid": 0, **full}
    said = " ".join(receipt["notes"])
    assert "a chance to be used at all" in said and "`pinned`" in said and "`forgotten`" in said


def test_a_v3_lorebook_that_describes_itself_is_no_card():
    book = {
        "name": "The Quay",
        "description": "Of the quay.",
        "entries": [{"keys": ["quay"], "content": "Wet.", "enabled": True}],
    }
    found = formats.parcel(json.dumps({"spec": "lorebook_v3", "data": book}).encode(), Path("a.json"))
    assert (found.format, len(found.cards), [e.text for e in found.books[0].entries]) == ("a V3 lorebook", 0, ["Wet."])


@pytest.mark.parametrize("carried", ["json", "text", "zip-text", "international", "charx", "jpeg"])
def test_a_card_is_the_same_however_it_travels(carried, take, made, campaign):
    card = foreign.card(nickname="Ser", character_book={"entries": [{"keys": ["Gannet"], "content": "A cutter."}]})
    card["spec"] = "chara_card_v3"
    packed = foreign.zipped({"card.json": json.dumps(card).encode(), "assets/icon/images/a.png": foreign.png()})
    data = {
        "json": json.dumps(card).encode(),
        "text": foreign.png(foreign.plain("chara", foreign.card("Trimmed")), foreign.plain("ccv3", card)),
        "zip-text": foreign.png(foreign.squeezed("Chara", card)),
        "international": foreign.png(foreign.international("ccv3", card)),
        "charx": packed,
        "jpeg": b"\xff\xd8\xff\xe0" + bytes(3000) + b"\xff\xd9" + packed,
    }[carried]
    receipt = take(data, "whatever.dat")
    note = made(receipt, "Sera Vane")
    assert (
        note.fields["kind"] == "character" and note.fields["aliases"] == ["Ser"] and note.fields["tags"] == ["smuggler"]
    )
    body = note.body.decode()
    assert body.startswith("A smuggler with a limp.\n\n## Personality\n\nDry, loyal.\n\n## Scenario\n\nA wet quay.\n")
    assert "## First message\n\n*She looks up.* You're late, {{user}}.\n" in body
    assert "## Other greetings\n\nNot you again.\n\n***\n\nSit.\n" in body
    assert body.endswith("## Example dialogue\n\n<START>\n{{char}}: Well?\n")
    assert "Write as" not in body and any("system prompt" in note for note in receipt["notes"])
    assert [row["at"] for row in receipt["made"]] == ["data", "data/character_book/entries/0"]
    assert (campaign / receipt["folder"] / "whatever.dat").read_bytes() == data


def test_a_v1_card_and_one_with_its_book_in_extensions(take, made):
    flat = {"name": "Oma", "description": "Old.", "personality": "Kind.", "first_mes": "Hello."}
    assert made(take(flat), "Oma").body == b"Old.\n\n## Personality\n\nKind.\n\n## First message\n\nHello.\n"
    book = {"name": "B", "entries": [{"name": "Well", "keys": ["well"], "content": "Deep.", "enabled": False}]}
    receipt = take(foreign.card("Pia", extensions={"character_book": book}), "two.json")
    assert "forgotten" in made(receipt, "Well").fields


def test_a_character_book_alone_and_a_v3_lorebook(take, made, campaign):
    entry = {
        "keys": ["harbour"], "secondary_keys": ["fog"], "selective": True, "content": "@@depth 3\nGrey water.", "name": "",
        "comment": "Skerrow", "constant": False, "enabled": True, "insertion_order": 5, "position": "before_char",
        "extensions": {"position": 1, "selectiveLogic": 2, "probability": 50, "useProbability": True}, "use_regex": True,
    }  # fmt: skip
    book = {"name": "Quays", "entries": [entry], "scan_depth": 3, "extensions": {}}
    for number, value in enumerate((book, {"spec": "lorebook_v3", "data": book})):
        receipt = take(value, f"{number}.json")
        fields = made(receipt, "Skerrow").fields
        assert fields["keys"] == ["harbour"] and fields["keys_when"] == "not any of: fog" and "keys_regex" not in fields
        assert made(receipt, "Skerrow").body == b"@@depth 3\nGrey water.\n"
        rules = entries_of(campaign, receipt)["Skerrow"]["rules"]
        assert (rules["position"], rules["probability"], rules["order"]) == ("after", 50, 5)


def test_risuai_lorebooks_and_modules(take, made, campaign):
    key = "\uf000folder:f1"
    rows = [
        {"mode": "folder", "key": key, "comment": "People", "content": ""},
        {
            "mode": "normal",
            "key": "Varr, captain",
            "comment": "Captain Varr",
            "content": "He rules the port.",
            "folder": key,
        },
        {
            "mode": "constant",
            "key": "",
            "comment": "Law",
            "content": "No lamps.",
            "alwaysActive": True,
            "extentions": {},
        },
        {
            "mode": "normal",
            "key": "a,b(c|d)",
            "useRegex": True,
            "comment": "Rx",
            "content": "x",
            "activationPercent": 30,
        },
    ]
    receipt = take({"type": "risu", "ver": 1, "data": rows}, "risu.json")
    varr = made(receipt, "Captain Varr").fields
    assert varr["kind"] == "character" and varr["tags"] == ["People"]
    assert (varr["aliases"], varr["keys"]) == (["Varr"], ["captain"])
    assert made(receipt, "Law").fields["pinned"] == "true"
    assert made(receipt, "Rx").fields["keys_regex"] == ["a,b(c|d)"]
    assert [row["name"] for row in receipt["set_aside"]] == ["People"]
    assert len(rows) == len(receipt["made"]) + len(receipt["set_aside"])
    module = {"name": "Port", "lorebook": rows[1:], "regex": [{"in": "a"}], "cjs": "while(1){}", "trigger": [1]}
    receipt = take({"type": "risuModule", "module": module}, "module.json")
    assert receipt["title"] == "Port" and "nothing of it is run" in " ".join(receipt["notes"])


def test_agnai_memory_books_and_characters(take, made):
    entry = {
        "name": "Well",
        "entry": "It is deep.",
        "keywords": ["water"],
        "priority": 3,
        "weight": 9,
        "enabled": False,
    }
    book = {"kind": "memory", "name": "Town", "entries": [entry]}
    assert made(take(book, "memory.json"), "Well").fields["forgotten"]
    person = {
        "kind": "character", "name": "Ilse", "persona": {"kind": "boostyle", "attributes": {"job": ["baker", "spy"]}},
        "greeting": "Bread?", "sampleChat": "{{char}}: Rye.", "scenario": "Dawn.", "characterBook": {**book, "name": "B"},
    }  # fmt: skip
    receipt = take(person, "ilse.json")
    body = made(receipt, "Ilse").body.decode()
    assert "## Attributes\n\n- job: baker, spy\n" in body and "## First message\n\nBread?\n" in body
    assert made(receipt, "Well").body == b"It is deep.\n"


def test_novelai_lorebooks_scenarios_and_pictures(take, made):
    entry = {
        "text": "The city burned.", "displayName": "Rome", "keys": ["Rome", "fire"], "enabled": True, "forceActivation": True,
        "category": "c1", "searchRange": 500, "contextConfig": {"budgetPriority": 900},
    }  # fmt: skip
    book = {"lorebookVersion": 5, "entries": [entry], "categories": [{"id": "c1", "name": "Places"}]}
    for number, data in enumerate((book, foreign.png(foreign.plain("naidata", book)))):
        fields = made(take(data, f"{number}.lorebook"), "Rome").fields
        assert fields["kind"] == "location" and fields["pinned"] == "true" and fields["keys"] == ["fire"]
    scenario = {
        "scenarioVersion": 2, "title": "Fall", "prompt": "Smoke rises.", "description": "A siege.", "placeholders": [1],
        "context": [{"text": "You are a scribe."}, {"text": "[ Style: terse ]"}], "lorebook": book,
    }  # fmt: skip
    receipt = take(scenario, "fall.scenario")
    names = [row["name"] for row in receipt["made"]]
    assert names == ["Fall: Memory", "Fall: Author's Note", "Fall: Opening", "Fall: About", "Rome"]
    assert (
        made(receipt, "Fall: Memory").fields["pinned"] == "true"
        and "pinned" not in made(receipt, "Fall: Opening").fields
    )


def test_a_kobold_save_gives_its_lore_and_says_where_its_story_and_its_keys_are(take, made):
    save = {
        "gamestarted": True, "prompt": "Once", "actions": ["a", "b"], "memory": "You are Kit.", "authorsnote": "",
        "worldinfo": [{"key": "lamp,light", "keysecondary": "", "keyanti": "sun", "content": "No lamps burn.", "constant": False}],
        "savedsettings": {"my_api_key": "sk-1", "chatname": "Kit"},
    }  # fmt: skip
    receipt = take(save, "save.json")
    said = " ".join(receipt["notes"])
    assert [row["name"] for row in receipt["made"]] == ["save: Memory", "lamp"]
    assert made(receipt, "lamp").fields["keys"] == ["light"]
    assert (
        "3 parts" in said
        and "rolecall ingest" in said
        and "keys of services" in said
        and "sk-1" not in json.dumps(receipt)
    )


def test_a_talemate_scene_gives_people_texts_and_pinned_entries(take, made):
    person = {
        "name": "Kaira",
        "description": "Calm.",
        "base_attributes": {"age": "37", "_prompt": "x"},
        "details": {"Fears?": "Chaos."},
    }
    scene = {
        "name": "Quest", "intro": "You wake.", "description": "Two in space.", "environment": "scene", "history": [{"message": "hi"}],
        "archived_history": [{"text": "They met.", "ts": "P1M"}], "character_data": {"Kaira": person, "bad": 3},
        "world_state": {"manual_context": {"Eden": {"id": "Eden", "text": "A rumoured planet."}}, "pins": {"Eden": {"active": True}}},
    }  # fmt: skip
    receipt = take(scene, "scene.json")
    assert made(receipt, "Kaira").body == b"Calm.\n\n## Attributes\n\n- age: 37\n- Fears?: Chaos.\n"
    assert made(receipt, "Eden").fields["pinned"] == "true"
    assert made(receipt, "Quest: What happened before").body == b"- P1M: They met.\n"
    assert [row["at"] for row in receipt["set_aside"]] == ["character_data/bad"]
    older = {"name": "Old", "environment": "scene", "history": [], "characters": [person, {"description": "nobody"}]}
    receipt = take(older, "older.json")
    assert [row["at"] for row in receipt["made"]] == ["characters/0"] and len(receipt["set_aside"]) == 1


def test_rolecall_lorebooks_and_personas(take, made):
    entry = {
        "id": "e1", "title": "The Skyports", "content": "Docks ring every island.", "enabled": True, "constant": False,
        "triggers": {"mode": "advanced", "primary": [{"keyword": "dock(s)?", "isRegex": True}, {"keyword": "skyport"}],
                     "secondary": [{"keyword": "air"}], "selectiveLogic": "not_any"},
        "injection": {"position": "before_example", "depth": 4}, "metadata": {"entry_type": "location"},
    }  # fmt: skip
    book = {"schemaVersion": "1.0.0", "exportDate": "x", "lorebook": {"name": "Aetheria", "entries": [entry]}}
    fields = made(take(book, "rc.json"), "The Skyports").fields
    assert (
        fields["kind"] == "location"
        and fields["keys_regex"] == ["/dock(s)?/"]
        and fields["keys_when"] == "not any of: air"
    )
    persona = {
        "spec": "rolecall_persona",
        "data": {"name": "Kit", "description": "Me.", "sections": {"appearance": "Short."}},
    }
    note = made(take(persona, "kit.json"), "Kit")
    assert note.fields["role"] == "the player's character" and b"- appearance: Short." in note.body


def test_notes_of_an_obsidian_vault_say_what_they_are(rolecall, campaign, tmp_path):
    vault = tmp_path / "My Vault"
    notes = {
        "NPCs/Sera.md": b"---\r\naliases: [The Gull]\r\n---\r\nA smuggler. See [[Skerrow]].\r\n",
        "Skerrow.md": b"---\ntags:\n  - type/location/town\n  - lorebook-always\n---\nA grey town.\n",
        "Old Law.md": "\ufeff---\ntype: rule\nenabled: false\nkeys: [lamp]\n---\nNo lamps.".encode(),
        ".obsidian/app.json": b"{}",
        "map.png": b"\x89PNG",
    }
    for name, data in notes.items():
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_bytes(data)
    ran = rolecall("-C", campaign, "import", vault, "--json")
    receipt = json.loads(ran.out)["imports"][0]
    assert receipt["format"] == "an Obsidian vault" and "1 .png" in " ".join(receipt["notes"])
    paths = {row["at"]: row["path"] for row in receipt["made"]}
    assert paths == {
        "NPCs/Sera.md": "characters/my-vault/NPCs/Sera.md",
        "Skerrow.md": "locations/my-vault/Skerrow.md",
        "Old Law.md": "rules/my-vault/Old Law.md",
    }
    assert (campaign / paths["NPCs/Sera.md"]).read_bytes() == notes["NPCs/Sera.md"]
    assert b"lorebook-always\npinned: true\n---" in (campaign / paths["Skerrow.md"]).read_bytes()
    law = (campaign / paths["Old Law.md"]).read_bytes()
    assert law == notes["Old Law.md"].replace(b"[lamp]\n", b"[lamp]\nforgotten: switched off where it comes from\n")
    shown = rolecall("-C", campaign, "show", "The Gull")
    assert shown.code == 0 and "smuggler" in shown.out


def test_one_note_by_itself_comes_in_as_it_is(take, campaign):
    note = b"---\ntype: spell\n---\nIt burns.\n"
    receipt = take(note, "Fire Bolt.md")
    assert [row["path"] for row in receipt["made"]] == ["powers/fire-bolt/Fire Bolt.md"]
    assert (campaign / "powers/fire-bolt/Fire Bolt.md").read_bytes() == note


@pytest.mark.parametrize(
    "value", [{"messages": []}, {"histories": {}}, {"type": "risuChat", "data": {}}, [{"mes": "hi"}]]
)
def test_a_chat_is_told_where_it_belongs(value, rolecall, campaign, tmp_path):
    ran = rolecall("-C", campaign, "import", foreign.write(tmp_path / "x.json", value))
    assert ran.code == 1 and "take it in with `rolecall ingest`" in ran.err

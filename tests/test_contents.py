"""The shipped writing keeps its promises: the template a new player gets, and the grown example campaign.

Read plainly, with PyYAML and the standard library, so that these tests do not lean on the code they keep honest.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "workspace_template"
EXAMPLE = ROOT / "examples" / "the-broken-anchor"
BOTH = pytest.mark.parametrize("folder", [TEMPLATE, EXAMPLE], ids=["template", "example"])

CONDITIONS = {
    "always",
    "tools",
    "small-model",
    "opening",
    "past-fold-line",
    "fold",
    "cut",
    "scribe",
    "retrieve",
    "history",
    "afterwork",
    "music",
    "ingest-search",
    "ingest-facts",
    "ingest-narrative",
    "directed",
    "intended",
    "full",
    "unplanned",
    "still",
    "old-seed",
    "long-chapter",
    "decide",
}
LAYERS = {
    "fold": "sidecar",
    "scribe": "scribe",
    "retrieve": "retriever",
    "history": "historian",
    "afterwork": "afterwork",
    "music": "afterwork",
    "ingest-search": "ingest",
    "ingest-facts": "ingest",
    "ingest-narrative": "ingest",
    "intended": "turn_dm",
    "full": "turn_dm",
    "unplanned": "dm",
    "still": "dm",
    "old-seed": "dm",
    "long-chapter": "dm",
    "decide": "dm",
}  # conditions that are not the narrator's
PLANNERS = ("turn_dm", "dm")  # layers that are told something always, too
ONE_NAME = ("location", "leader", "headquarters", "owner", "holder", "within", "region", "habitat", "target", "agent")
MANY_NAMES = ("inhabitants", "members", "enemies", "participants", "causes", "wielders")
ENTRY_FOLDERS = {
    "characters", "locations", "organizations", "items", "powers", "creatures", "cultures", "rules", "events", "threats",
    "lore",
}  # fmt: skip
LINE = re.compile(r"^- (T\d{4}) (\S.*)$", re.M)
LAST_FIVE = [f"T{number:04d}" for number in range(36, 41)]


@dataclass(frozen=True, slots=True)
class Note:
    """A Markdown file: its path in the campaign, front matter as strings, body, and bytes."""

    path: str
    fields: dict
    body: str
    data: bytes

    @property
    def folder(self) -> str:
        return self.path.split("/")[0] if "/" in self.path else ""

    def section(self, heading: str) -> str:
        found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", self.body, re.M | re.S)
        return found[1] if found else ""

    def lines(self, heading: str) -> list[tuple[str, str]]:
        return LINE.findall(self.section(heading))


def read(path: Path, root: Path) -> Note:
    data = path.read_bytes()
    text = data.decode("utf-8")
    head = re.match(r"---\n(.*?\n)---\n", text, re.S)
    assert head, f"{path} has no front matter"
    return Note(path.relative_to(root).as_posix(), yaml.load(head[1], yaml.BaseLoader), text[head.end() :], data)


def notes(root: Path) -> list[Note]:
    return [read(path, root) for path in sorted(root.rglob("*.md")) if path.name != "README.md"]


def world(root: Path) -> list[Note]:
    return [n for n in notes(root) if n.folder not in ("instructions", "prose", "story", "chronicles", "dm")]


def names_of(note: Note) -> list[str]:
    return [note.fields["name"], *note.fields.get("aliases", [])]


def turns(root: Path) -> dict[str, tuple[str, str]]:
    """turn -> (action, prose), in the order told."""
    told = {}
    for note in notes(root):
        if note.folder == "story":
            for turn, action, prose in re.findall(
                r"^## (T\d{4})\n\n> ([^\n]+)\n\n(.*?)\n(?=\n## T|\Z)", note.body, re.M | re.S
            ):
                assert turn not in told, f"{turn} is told twice"
                told[turn] = (action, prose)
    return told


def journal(root: Path) -> list[tuple[str, str]]:
    """Every journal line in order: those of the Chronicles, then those of the Journal."""
    lines = [line for note in notes(root) if note.folder == "chronicles" for line in note.lines("Journal")]
    return lines + read(root / "campaign-state.md", root).lines("Journal")


# -- both campaigns ---------------------------------------------------------------------------------------------------


@BOTH
def test_every_front_matter_reads_the_same_with_both_of_pyyamls_loaders(folder):
    for path in [p for p in folder.rglob("*.md") if p.name != "README.md"]:
        block = re.match(r"---\n(.*?\n)---\n", path.read_text("utf-8"), re.S)[1]
        plain = yaml.load(block, yaml.BaseLoader)
        assert plain["name"].strip(), path
        if hasattr(yaml, "CBaseLoader"):
            assert yaml.load(block, yaml.CBaseLoader) == plain, path


@BOTH
def test_no_flow_item_has_a_key_without_a_value(folder):
    for note in notes(folder):
        for key, value in note.fields.items():
            for item in value if isinstance(value, list) else []:
                if isinstance(item, dict):
                    assert all(item.values()), f"{note.path}: {key}: {item}"


@BOTH
def test_text_files_are_utf8_with_plain_newlines_and_one_at_the_end(folder):
    for path in [p for p in folder.rglob("*") if p.is_file() and ".rolecall" not in p.parts]:
        data = path.read_bytes()
        data.decode("utf-8")
        assert b"\r" not in data and b"\t" not in data and data.endswith(b"\n"), path
        assert not data.endswith(b"\n\n"), path


@BOTH
def test_no_name_or_alias_is_used_twice(folder):
    seen: dict[str, str] = {}
    for note in notes(folder):
        if note.folder in ("instructions", "prose"):
            continue
        for name in names_of(note):
            assert name.casefold() not in seen, f"{name}: {note.path} and {seen[name.casefold()]}"
            seen[name.casefold()] = note.path


@BOTH
def test_every_wikilink_and_every_field_that_names_an_entry_leads_to_one(folder):
    known = {name for note in world(folder) for name in names_of(note)}
    for note in notes(folder):
        links = re.findall(r"\[\[([^\]|#]*)", note.body)
        fields = [note.fields[key] for key in ONE_NAME if key in note.fields]
        fields += [name for key in MANY_NAMES for name in note.fields.get(key, [])]
        for key, inner in (("relationships", "with"), ("connections", "to")):
            fields += [item[inner] for item in note.fields.get(key, [])]
        for name in [*links, *fields]:
            assert name in known, f"{note.path} names {name!r}"


@BOTH
def test_what_the_players_may_read_never_names_a_file_that_is_secret(folder):
    hidden = [name for n in world(folder) if n.fields.get("visibility") == "secret" for name in names_of(n)]
    for note in notes(folder):
        if note.folder == "dm" or note.fields.get("visibility") == "secret":
            continue
        shown = {k: v for k, v in note.fields.items() if k not in ("secret", "truth")}
        body = re.sub(r"^## Secret\n.*?(?=^## |\Z)", "", note.body, flags=re.M | re.S)
        for name in hidden:
            assert name not in str(shown) and name not in body, f"{note.path} gives {name} away"


@BOTH
def test_no_secret_is_told_in_story_chronicle_or_state(folder):
    secrets = [note.fields[key] for note in notes(folder) for key in ("secret", "truth") if key in note.fields]
    secrets += [line for note in notes(folder) for line in note.section("Secret").split("\n") if len(line) > 20]
    assert len(secrets) >= 2
    shown = "".join(n.body for n in notes(folder) if n.folder in ("story", "chronicles", ""))
    for secret in secrets:
        assert secret.rstrip(".") not in shown


@BOTH
def test_the_settings_have_every_group_and_no_key(folder):
    text = (folder / "rolecall.yaml").read_text("utf-8")
    settings = yaml.safe_load(text)
    assert settings["format"] == 1 and settings["name"]
    assert {"language", "timeouts", "memory", "context", "git", "continuity"} <= set(settings)
    assert "models" not in settings  # the default chain takes what is there
    assert not re.search(r"sk-|api_key\s*:", text, re.I)


@BOTH
def test_git_never_changes_a_byte_of_a_campaign_file_on_its_way(folder, tmp_path):
    (tmp_path / ".gitattributes").write_bytes((folder / ".gitattributes").read_bytes())
    data = b"---\r\nname: Sera\r\n---\r\nOne.\nTwo.\r\n"
    (tmp_path / "sera.md").write_bytes(data)
    git(tmp_path, "init", "-q")
    git(tmp_path, "-c", "core.autocrlf=true", "add", "sera.md")
    assert git(tmp_path, "cat-file", "blob", ":sera.md") == data
    assert ".rolecall/" in (folder / ".gitignore").read_text("utf-8").splitlines()


def git(where: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(where), *arguments], check=True, capture_output=True).stdout


# -- the template -----------------------------------------------------------------------------------------------------


def test_the_template_opens_on_a_scene_with_nothing_told_yet():
    state = read(TEMPLATE / "campaign-state.md", TEMPLATE)
    assert all(state.fields[key] for key in ("name", "date", "scene", "location"))
    assert re.findall(r"^## (.*)$", state.body, re.M) == ["Party", "Promises", "Journal"]
    assert state.section("Journal").strip() == "" == state.section("Promises").strip()
    assert len(state.body.split("\n## ")[0].split()) >= 60
    assert not (TEMPLATE / "story").exists() and not (TEMPLATE / "chronicles").exists()


def test_the_template_has_people_places_a_law_and_an_open_question_with_a_hidden_truth():
    by_folder = {folder: [n for n in world(TEMPLATE) if n.folder == folder] for folder in ENTRY_FOLDERS | {"arcs"}}
    assert len(by_folder["characters"]) in (2, 3) and len(by_folder["locations"]) == 2 and by_folder["rules"]
    assert [n.fields["name"] for n in by_folder["characters"] if n.fields.get("pinned") == "true"] == ["Kit Sallow"]
    (arc,) = by_folder["arcs"]
    assert all(arc.fields[key] for key in ("question", "stakes", "status", "latest", "truth"))
    assert any("secret" in n.fields for n in world(TEMPLATE)) and any(n.section("Secret") for n in world(TEMPLATE))


def test_each_instruction_is_one_short_text_under_a_condition_the_code_knows():
    found = [n for n in notes(TEMPLATE) if n.folder == "instructions"]
    assert {n.fields["when"] for n in found} == CONDITIONS
    for note in found:
        when, layer = note.fields["when"], note.fields["layer"]
        assert layer == LAYERS.get(when, "narrator") or (when == "always" and layer in PLANNERS), note.path
        assert 20 <= len(note.body.split()) <= 120, note.path
        stem = note.path.removeprefix("instructions/").removesuffix(".md")
        assert re.sub(r"[^a-z]+", "-", note.fields["name"].casefold()).strip("-") == stem, note.path


def test_what_a_model_with_tools_is_always_told_stays_under_900_tokens():
    found = [n for n in notes(TEMPLATE) if n.folder == "instructions" and n.fields["layer"] == "narrator"]
    told = [n.body for n in found if n.fields["when"] in ("always", "tools")]
    assert sum(len(text) for text in told) / 4 < 900  # English prose runs at about four characters a token


def test_the_instructions_name_the_tools_they_are_about():
    told = "".join(n.body for n in notes(TEMPLATE) if n.folder == "instructions" and n.fields["when"] == "tools")
    for tool in ("search", "read", "append_journal", "add_promise", "keep_promise", "move_arc", "append_history"):
        assert f"`{tool}`" in told


def test_prose_modules_serve_opening_middle_and_closing_and_one_is_the_default():
    found = [n for n in notes(TEMPLATE) if n.folder == "prose"]
    assert {n.fields["place"] for n in found} == {"opening", "middle", "closing"}
    assert sum(n.fields.get("default") == "true" for n in found) == 1
    assert all(30 <= len(n.body.split()) <= 80 and n.fields["when"] for n in found)


def test_the_readme_of_the_template_speaks_of_every_folder_it_ships():
    text = (TEMPLATE / "README.md").read_text("utf-8")
    for folder in sorted(p.name for p in TEMPLATE.iterdir() if p.is_dir()):
        assert f"`{folder}/`" in text


# -- the example ------------------------------------------------------------------------------------------------------


def test_forty_turns_are_told_each_once_in_order_in_story_and_in_journal():
    wanted = [f"T{number:04d}" for number in range(1, 41)]
    assert list(turns(EXAMPLE)) == wanted
    assert [turn for turn, _ in journal(EXAMPLE)] == wanted


def test_each_turn_is_prose_of_80_to_180_words_without_headings_fences_or_lists():
    for turn, (action, prose) in turns(EXAMPLE).items():
        assert 80 <= len(prose.split()) <= 180, turn
        assert not re.search(r"^(#|```|~~~|[-*+>] |\d+\. )", prose, re.M), turn
        assert re.search(r"\bI\b", action) and "\n" not in action, turn


def test_the_chronicles_are_sealed_and_hold_their_stretch_word_for_word():
    chronicles = [n for n in notes(EXAMPLE) if n.folder == "chronicles"]
    assert [n.fields["covers"] for n in chronicles] == ["T0001-T0016", "T0017-T0031"]
    for note in chronicles:
        body = note.data.split(b"\n---\n", 1)[1]
        assert note.fields["seal"] == hashlib.sha256(body).hexdigest()
        first, last = note.fields["covers"].split("-")
        folded = note.lines("Journal")
        assert (folded[0][0], folded[-1][0]) == (first, last)
        assert set(note.lines("Facts")) < set(folded)
        assert note.body.rstrip().endswith(folded[-1][1])


def test_every_promise_of_the_journal_stands_among_the_facts():
    for note in [n for n in notes(EXAMPLE) if n.folder == "chronicles"]:
        promises = [line for line in note.lines("Journal") if re.search(r"promis|swor[en]|\bword to\b", line[1])]
        assert promises and set(promises) <= set(note.lines("Facts"))


def test_every_capitalised_name_and_number_of_a_folded_line_is_in_the_prose_or_the_facts():
    for note in [n for n in notes(EXAMPLE) if n.folder == "chronicles"]:
        prose, facts = note.body.split("\n## ")[0], note.lines("Facts")
        for line in note.lines("Journal"):
            if line not in facts:
                for word in re.findall(r"(?<!^)\b[A-Z][a-z]+\b|\d+", line[1]):
                    assert word in prose, f"{line[0]}: {word}"


def test_the_example_has_every_typed_kind_lore_four_arcs_and_a_quest():
    entries = [n for n in world(EXAMPLE) if n.folder in ENTRY_FOLDERS]
    assert {n.folder for n in entries} == ENTRY_FOLDERS
    assert 28 <= len(entries) <= 40
    arcs = [n for n in world(EXAMPLE) if n.folder == "arcs"]
    assert len(arcs) == 4 and {n.fields["status"] for n in arcs} == {"open", "resolved"}
    assert [n.fields["stage"] != "" for n in arcs if n.fields.get("kind") == "quest"] == [True]
    assert any(n.section("Summaries").strip() for n in arcs)


def test_the_example_shows_pinned_locked_forgotten_and_secret_entries():
    entries = world(EXAMPLE)
    for field in ("pinned", "locked", "forgotten", "visibility", "secret", "keys", "aliases"):
        assert any(n.fields.get(field) for n in entries), field
    assert any(n.section("Secret") for n in entries)
    assert len([n for n in notes(EXAMPLE) if n.folder == "dm"]) == 4


def test_arcs_move_forward_with_the_newest_line_on_top():
    for note in [n for n in world(EXAMPLE) if n.folder == "arcs"]:
        stands = re.match(r"T\d{4} ", note.fields["latest"])
        trail = [turn for turn, _ in note.lines("Trail")]
        assert stands and trail
        assert [stands[0].strip(), *trail] == sorted({stands[0].strip(), *trail}, reverse=True), note.path
        assert trail[0] <= "T0040"


def test_histories_are_dated_in_order_by_turns_that_speak_of_the_entry():
    told = dict(journal(EXAMPLE))
    for note in world(EXAMPLE):
        dated = [turn for turn, _ in note.lines("History")]
        assert dated == sorted(dated), note.path
        assert set(dated) <= set(told), note.path
    for turn, _ in read(EXAMPLE / "characters/valen.md", EXAMPLE).lines("History"):
        assert "Valen" in told[turn] or "Valen" in turns(EXAMPLE)[turn][1]


def test_promises_are_kept_and_open_and_each_was_given_in_its_turn():
    promises = re.findall(
        r"^- \[([ x])\] To (.+?): .+ \((T\d{4})\)$",
        read(EXAMPLE / "campaign-state.md", EXAMPLE).section("Promises"),
        re.M,
    )
    told = dict(journal(EXAMPLE))
    assert {mark for mark, _, _ in promises} == {" ", "x"}
    for _, to, turn in promises:
        assert "promised" in told[turn] and to in told[turn]


# -- playing the last five turns again ----------------------------------------------------------------------------------


def script() -> list[dict]:
    return yaml.safe_load((EXAMPLE / "replay.yaml").read_text("utf-8"))


def test_the_script_tells_the_last_five_turns_as_the_story_does():
    story, lines = turns(EXAMPLE), dict(journal(EXAMPLE))
    assert [answer["turn"] for answer in script()] == LAST_FIVE
    actions = (EXAMPLE / "replay-actions.txt").read_text("utf-8").splitlines()
    assert [story[turn][0] for turn in LAST_FIVE] == actions
    for answer in script():
        assert answer["text"] == story[answer["turn"]][1]
        assert answer["tools"][0] == {"name": "append_journal", "arguments": {"text": lines[answer["turn"]]}}


def test_the_scripts_other_calls_are_exactly_what_those_turns_left_in_arcs_and_histories():
    called = set()
    for answer in script():
        for call in answer["tools"][1:]:
            given = call["arguments"]
            called.add((answer["turn"], call["name"], given.get("arc") or given.get("entry"), given["text"]))
    left = set()
    for note in world(EXAMPLE):
        left |= {(t, "append_history", note.fields["name"], text) for t, text in note.lines("History") if t > "T0035"}
        moves = [*LINE.findall(f"- {note.fields.get('latest', '')}"), *note.lines("Trail")]
        left |= {(t, "move_arc", note.fields["name"], text) for t, text in moves if t > "T0035"}
    assert called == left and len(called) == 4


def test_taking_the_last_five_turns_back_by_their_diff_leaves_the_campaign_at_t0035(tmp_path):
    for path in [p for p in EXAMPLE.rglob("*") if p.is_file()]:
        copy = tmp_path / path.relative_to(EXAMPLE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    git(tmp_path, "init", "-q")
    git(tmp_path, "apply", "-R", "last-five-turns.diff")
    assert [turn for turn, _ in journal(tmp_path)][-1] == "T0035" == list(turns(tmp_path))[-1]
    later = [p.name for p in tmp_path.rglob("*.md") if re.search(r"T00(3[6-9]|4\d)", p.read_text("utf-8"))]
    assert sorted(later) == ["README.md"]
    git(tmp_path, "apply", "last-five-turns.diff")
    for path in [p for p in EXAMPLE.rglob("*") if p.is_file()]:
        assert (tmp_path / path.relative_to(EXAMPLE)).read_bytes() == path.read_bytes(), path

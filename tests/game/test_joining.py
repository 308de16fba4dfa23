"""Two people's branches become one: Journal and Chronicles join without loss, and what clashes is told."""

from __future__ import annotations

import sys

import pytest

from rolecall.campaign import journal, story
from rolecall.campaign.checks import check
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.joining import joined
from rolecall.errors import DocumentError
from tests.game.repositories import NEEDS_GIT, Table, line, script, table

pytestmark = [NEEDS_GIT, pytest.mark.skipif(sys.platform == "win32", reason="paths as posix has them")]
STATE = "campaign-state.md"


@pytest.fixture
def tale(tmp_path, monkeypatch, clean_environment) -> Table:
    """Two turns in common; three more on main, two others on hers; main is the one to be merged into."""
    tale = table(tmp_path, monkeypatch)
    for _ in range(2):
        tale.tell()
    tale.git("checkout", "-qb", "hers")
    for _ in range(2):
        tale.tell("I run.", script(tmp_path, " in the rain"))
    tale.git("checkout", "-q", "main")
    for _ in range(3):
        tale.tell()
    return tale


def lines_of(tale: Table) -> list[tuple[int, str]]:
    return [(one.turn, one.text) for one in journal.lines_of(open_campaign(tale.root).document(STATE))]


def test_journal_and_story_of_both_are_there_whole_and_in_order(tale):
    tale.git("merge", "-q", "--no-edit", "hers")
    rain = " in the rain"
    told = [(1, ""), (2, ""), (3, ""), (3, rain), (4, ""), (4, rain), (5, "")]
    assert lines_of(tale) == [(turn, line(turn, telling)) for turn, telling in told]
    sections = story.recent(open_campaign(tale.root), 20)
    assert [(one.turn, one.prose) for one in sections] == [
        (turn, f"The lantern{telling} gutters for the hour {turn}. Old Pasco does not look up.")
        for turn, telling in told
    ]
    assert [one.action for one in sections] == ["I wait."] * 3 + ["I run.", "I wait.", "I run.", "I wait."]
    found = check(open_campaign(tale.root))
    assert [(p.rule, p.message[:6]) for p in found] == [
        ("turn-twice", "T0003 "), ("turn-twice", "T0004 "), ("told-twice", "T0003 "), ("told-twice", "T0004 "),
    ]  # fmt: skip


def test_without_the_driver_git_stops_and_no_line_is_lost(tale):
    tale.git("config", "--remove-section", "merge.rolecall")
    assert "CONFLICT" in tale.git("merge", "--no-edit", "hers", ok=False)
    state = tale.read(STATE)
    assert all(line(n) in state for n in (1, 2, 3, 4, 5)) and all(line(n, " in the rain") in state for n in (3, 4))
    assert "conflict-marker" in {p.rule for p in check(open_campaign(tale.root))}


def test_where_the_scene_was_changed_on_both_sides_that_alone_is_asked(tale):
    for branch, scene in (("hers", "The rain"), ("main", "The quay at night")):
        tale.git("checkout", "-q", branch)
        text = tale.read(STATE)
        old = next(row for row in text.split("\n") if row.startswith("scene:"))
        tale.replace(STATE, old, f"scene: {scene}")
        tale.git("commit", "-qam", f"Scene: {scene}")
    assert f"CONFLICT (content): Merge conflict in {STATE}" in tale.git("merge", "--no-edit", "hers", ok=False)
    text = tale.read(STATE)
    asked = text.partition("<<<<<<< ours\n")[2].partition(">>>>>>> theirs\n")[0]
    assert asked == "scene: The quay at night\n=======\nscene: The rain\n" and text.count("<<<<<<<") == 1
    with pytest.raises(DocumentError, match=r"campaign-state\.md:\d+"):
        tale.tell()  # it is not played on until that is decided
    tale.write(STATE, text.replace(f"<<<<<<< ours\n{asked}>>>>>>> theirs\n", "scene: The rain\n"))
    assert len(lines_of(tale)) == 7


def test_edits_of_one_and_turns_of_the_other_need_no_question(tale):
    tale.git("checkout", "-q", "hers")
    tale.git("reset", "-q", "--hard", "HEAD~2")
    tale.replace(STATE, line(2), "Kit met nobody.")
    tale.replace(STATE, "## Promises\n", "## Promises\n\n- [ ] To Sera: bring the oar (T0001)\n")
    tale.git("commit", "-qam", "By hand")
    tale.git("checkout", "-q", "main")
    tale.git("merge", "-q", "--no-edit", "hers")
    assert [text for _, text in lines_of(tale)] == [line(1), "Kit met nobody.", line(3), line(4), line(5)]
    assert "bring the oar" in tale.read(STATE) and check(open_campaign(tale.root)) == []
    assert tale.tell().turn == "T0006"


def test_chronicles_of_both_stay_and_are_told(tale):
    tale.replace("rolecall.yaml", "keep_lines: 6", "keep_lines: 1")
    tale.tell()
    first = tale.game().fold(listener=tale.listener)
    tale.git("checkout", "-q", "hers")
    tale.replace("rolecall.yaml", "keep_lines: 6", "keep_lines: 1")
    tale.tell("I hide.", script(tale.root.parent, " at last"))
    second = tale.game().fold(listener=tale.listener)
    assert (first.path, second.path) == ("chronicles/0001-t0001-t0005.md", "chronicles/0001-t0001-t0004.md")
    tale.git("checkout", "-q", "main")
    tale.git("merge", "-q", "--no-edit", "hers")
    texts = tale.read(first.path) + tale.read(second.path) + tale.read(STATE)
    assert all(line(n) in texts for n in range(1, 7))
    assert all(line(n, " in the rain") in texts for n in (3, 4)) and line(5, " at last") in texts
    found = {p.rule: p for p in check(open_campaign(tale.root))}
    assert found["covered-twice"].path == first.path and "T0001-T0004, as chronicles/0001-t0001-t0004.md" in str(
        found["covered-twice"]
    )
    assert "seal" not in found


def test_chronicles_of_one_name_are_asked_for_and_never_marked(tale):
    tale.replace("rolecall.yaml", "keep_lines: 6", "keep_lines: 1")
    path = tale.game().fold(listener=tale.listener).path
    tale.git("checkout", "-q", "hers")
    tale.replace("rolecall.yaml", "keep_lines: 6", "keep_lines: 1")
    tale.tell("I hide.", script(tale.root.parent, " at last"))
    hers = tale.game().fold(listener=tale.listener).path
    assert hers == path == "chronicles/0001-t0001-t0004.md"
    tale.git("checkout", "-q", "main")
    mine = tale.read(path)
    assert "CONFLICT (add/add)" in tale.git("merge", "--no-edit", "hers", ok=False)
    assert tale.read(path) == mine and line(4, " in the rain") in tale.git("show", f"MERGE_HEAD:{path}")
    assert "seal" not in {p.rule for p in check(open_campaign(tale.root))}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_either_side_took_away_is_gone_and_other_bytes_stay(newline):
    def state(*lines: str, end: str = newline) -> bytes:
        head = ["---", "name: X   # a comment", "---", "Fog.\t", "", "## Journal", ""]
        return (newline.join([*head, *lines]) + (end if lines else newline)).encode()

    base = state("- T0001 a", "- T0002 b", "  a note under it", "- T0003 c")
    ours = state("- T0002 b", "  a note under it", "- T0003 c", "- T0004 ours", end="")
    theirs = state("- T0001 a", "- T0002 b", "  a note under it", "- T0003 reworded", "- T0004 theirs")
    data, clean = joined(base, ours, theirs, "campaign-state.md")
    assert clean and data == state(
        "- T0002 b", "  a note under it", "- T0003 reworded", "- T0004 ours", "- T0004 theirs"
    )
    assert joined(base, base, theirs, "x/campaign-state.md") == (theirs, True)
    assert joined(base, theirs, base, "x/campaign-state.md") == (theirs, True)
    assert joined(state(), state(), ours, "campaign-state.md")[0].rstrip() == ours


def test_a_file_that_cannot_be_read_as_one_is_merged_by_line():
    broken = b"---\nname: [\n---\n\n## Journal\n\n- T0001 a\n"
    data, clean = joined(broken, broken + b"- T0002 b\n", broken + b"- T0002 c\n", "campaign-state.md")
    assert not clean and data.endswith(b"<<<<<<< ours\n- T0002 b\n=======\n- T0002 c\n>>>>>>> theirs\n")

"""Every rule of `check` finds its fault, with the line, and says what to do; what we ship has none."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from rolecall.campaign import checks, chronicles, documents, records, template
from rolecall.campaign.folder import open_campaign
from rolecall.errors import Malformed

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "the-broken-anchor"
JOURNAL = "## Party\n\n## Promises\n\n## Journal\n\n- T0003 c\n- T0004 d\n"


def chronicle(*turns: int) -> bytes:
    raw = "".join(f"- T{n:04d} {'abcdef'[n - 1]}\n" for n in turns).encode()
    stretch = chronicles.plan_fold(
        documents.parse(b"## Journal\n" + raw + b"- T9999 z\n", "s.md"), [], {"keep_lines": 1, "fold_at": 0, "journal_limit": 9000},
        asked=True,
    )  # fmt: skip
    return chronicles.compose(stretch, "Told.", [])[1]


WHOLE: dict[str, str | bytes] = {
    "rolecall.yaml": "format: 1\n",
    "campaign-state.md": "---\nname: State\n---\n" + JOURNAL,
    "chronicles/0001-t0001-t0002.md": chronicle(1, 2),
    "story/001-one.md": "## T0003\n\nc\n\n## T0004\n\nd\n",
    "arcs/a.md": "---\nname: A\nlatest: T0004 d\n---\n## Trail\n- T0003 c\n- T0001 a\n",
}


def problems(tmp_path: Path, **changed: str | bytes | None) -> list[checks.Problem]:
    for path, text in {**WHOLE, **changed}.items():
        if text is not None:
            place = tmp_path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return checks.check(open_campaign(tmp_path))


def test_a_whole_campaign_has_no_problem(tmp_path):
    assert problems(tmp_path) == []


def test_what_we_ship_has_no_problem(tmp_path):
    assert checks.check(template.new(tmp_path / "new")) == []
    assert checks.check(open_campaign(EXAMPLE)) == []


STATE = "campaign-state.md"
ARC = "arcs/a.md"
ONE = "chronicles/0001-t0001-t0002.md"
FAULTS = [
    ("front-matter", "lore/a.md", "---\ntitle: A: B\n---\n", 2),
    ("nul-bytes", "lore/a.md", b"one\ntwo\0\n", 2),
    ("not-utf-8", "lore/a.md", b"one\ntwo\ncaf\xe9\n", 3),
    ("conflict-copy", "lore/a (conflicted copy 2026-01-01).md", "x", None),
    ("conflict-marker", "lore/a.md", "one\n<<<<<<< HEAD\ntwo\n=======\nthree\n>>>>>>> b\n", 2),
    ("conflict-marker", "lore/a.md", "---\na: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> b\n---\n", 3),
    ("flow-item", "lore/a.md", "---\nrelationships:\n  - {note: owes 1,200 marks}\n---\n", 3),
    ("second-block", "lore/a.md", "---\na: 1\n---\n---\nb: 2\n---\nText\n", 4),
    ("section-twice", "lore/a.md", "## History\n- a\n\n## History\n- b\n", 4),
    ("unknown-setting", "rolecall.yaml", "format: 1\nlanguage: en\nmemroy: {}\n", 3),
    ("unknown-setting", "rolecall.yaml", "format: 1\nmemory:\n  fold_att: 3\n", 3),
    ("no-state", STATE, None, None),
    ("section-twice", STATE, JOURNAL + "## Journal\n- T0005 e\n", 9),
    ("turn-twice", STATE, JOURNAL + "- T0003 again\n", 9),
    ("turn-twice", STATE, JOURNAL.replace("- T0003", "- T0002 b\n- T0003"), 7),
    ("turn-order", STATE, JOURNAL.replace("- T0003 c\n- T0004 d", "- T0004 d\n- T0003 c"), 8),
    ("turn-gap", STATE, JOURNAL.replace("- T0003 c\n", ""), 3),
    ("line-outside", STATE, JOURNAL + "\n## Notes\n- T0099 lost\n", 11),
    ("told-twice", "story/001-one.md", "## T0003\n\nc\n\n## T0004\n\nd\n\n## T0003\n", 9),
    ("seal", ONE, chronicle(1, 2).replace(b"Told.", b"Told!"), 5),
    ("covers", ONE, chronicle(1, 2).replace(b"covers: T0001-T0002", b"covers: soon"), 4),
    ("covers", ONE, chronicle(1, 2).replace(b"covers: T0001-T0002", b"covers: T0001-T0009"), 4),
    ("trail-order", ARC, "---\nname: A\nlatest: T0004 d\n---\n## Trail\n- T0001 a\n- T0003 c\n", 5),
    ("trail-order", ARC, "---\nname: A\nlatest: T0001 d\n---\n## Trail\n- T0003 c\n", 3),
    ("section-twice", ARC, "---\nname: A\n---\n## Trail\n- T0003 c\n## Trail\n", 6),
    ("section-twice", ARC, "---\nname: A\n---\n## Summaries\n- (T0003) c\n## Trail\n## Summaries\n", 7),
    ("turn-number", STATE, JOURNAL + "- T0000000005 e\n", 9),
    ("turn-number", "story/001-one.md", "## T0003\n\nc\n\n## T0004\n\nd\n\n## T1234567890\n\ne\n", 9),
    ("turn-number", ARC, "---\nname: A\nlatest: T00000000004 d\n---\n## Trail\n- T0003 c\n", 3),
    ("leftover", "lore/.rolecall-1-ab.tmp", "half", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "path", "text", "line"), FAULTS, ids=[f"{n}-{rule}" for n, (rule, *_) in enumerate(FAULTS)]
)
def test_a_fault_is_found_with_its_line_and_a_remedy(tmp_path, rule, path, text, line):
    found = problems(tmp_path, **{path: text})
    mine = [p for p in found if p.rule == rule]
    where = "story/001-one.md" if rule == "turn-gap" else path  # told, but without a line
    line = 1 if rule == "turn-gap" else line
    assert [(p.path, p.line) for p in mine] == [(where, line)]
    assert mine[0].message and mine[0].remedy
    assert str(mine[0]).startswith(f"{where}:{line}: " if line else f"{where}: ")
    assert set(mine[0].to_json()) == {"path", "line", "rule", "message", "remedy"}


@pytest.mark.parametrize("place", ["---\na: 1\n{}---\nText.\n", "---\na: 1\n---\n{}Text.\n"], ids=["fields", "prose"])
def test_marks_of_a_merge_are_told_once_and_as_such_wherever_they_stand(tmp_path, place):
    marked = place.format("<<<<<<< ours\nb: 2\n=======\nb: 3\n>>>>>>> theirs\n")
    found = problems(tmp_path, **{"lore/a.md": marked})
    assert [(p.rule, p.message) for p in found] == [("conflict-marker", "a merge conflict")]


def test_every_command_says_that_a_merge_left_marks_in_the_fields():
    with pytest.raises(Malformed, match=r"^s\.md:3: a merge conflict; keep the lines you want and remove the markers$"):
        documents.parse(b"---\na: 1\n<<<<<<< ours\nb: 2\n=======\nb: 3\n>>>>>>> theirs\n---\n", "s.md")


def test_a_section_told_twice_names_the_line_of_the_first(tmp_path):
    (found,) = problems(tmp_path, **{"story/001-one.md": "## T0003\n\nc\n\n## T0004\n\nd\n\n## T0003\n"})
    assert "(first in story/001-one.md:1)" in found.message


def test_what_names_a_file_that_cannot_be_read_is_not_told_as_leading_nowhere(tmp_path):
    broken = {"characters/old-pasco.md": "---\nname: Old Pasco\nrole: [Ferryman\n---\n"}
    naming = {"characters/a.md": "---\nname: Anna\nrelationships:\n  - with: Old Pasco\n---\nKnows [[Old Pasco]].\n"}
    found = problems(tmp_path, **broken, **naming)
    assert [(p.rule, p.path) for p in found] == [("front-matter", "characters/old-pasco.md")]


def test_a_folder_that_lies_too_deep_to_be_read_is_told_once_and_the_one_above_is_read(tmp_path):
    deep = "/".join(["lore", *("d" * 15)])
    found = problems(tmp_path, **{f"{deep}/read.md": "x", f"{deep}/e/a.md": "x", f"{deep}/e/f/b.md": "x"})
    assert [(p.rule, p.path) for p in found] == [("too-deep", f"{deep}/e")] and "2 of Markdown" in found[0].message
    assert f"{deep}/read.md" in open_campaign(tmp_path).stat()


def test_what_is_no_markdown_or_nobodys_may_lie_as_deep_as_it_likes(tmp_path):
    deep = "/".join(["lore", *("d" * 18)])
    assert (
        problems(
            tmp_path,
            **{
                f"{deep}/a.png": "x",
                f".obsidian/{deep}/a.md": "x",
                f"node_modules/{deep}/a.md": "x",
                f"imports/{deep}/a.md": "x",
            },
        )
        == []
    )


def test_a_line_spelt_nearly_right_is_answered_with_the_right_one(tmp_path):
    (found,) = problems(tmp_path, **{"rolecall.yaml": "format: 1\nmemory: {fold_att: 3}\n"})
    assert found.remedy == "did you mean `memory.fold_at`?"


def test_an_underlined_heading_is_no_merge_conflict(tmp_path):
    assert problems(tmp_path, **{"lore/a.md": "Heading\n=======\nText.\n"}) == []


def test_a_rule_and_a_table_below_front_matter_are_no_second_block(tmp_path):
    assert problems(tmp_path, **{"lore/a.md": "---\na: 1\n---\n\n---\n\nText: more\n\n---\n"}) == []


def test_a_trail_shorter_than_a_turn_left_it_is_told(tmp_path):
    problems(tmp_path)
    record = records.begin(tmp_path, 5, "act")
    record.write(ARC, "arc", lambda old: old.replace(b"- T0003", b"- T0004 d\n- T0003"), turn=5, trail=3)
    record.note("closed")
    assert checks.check(open_campaign(tmp_path)) == []
    (tmp_path / ARC).write_text(WHOLE[ARC])
    (found,) = checks.check(open_campaign(tmp_path))
    assert (found.rule, found.path, found.line) == ("trail-shrank", ARC, 5)


def test_an_interrupted_turn_is_told(tmp_path):
    problems(tmp_path)
    records.begin(tmp_path, 5, "act")
    (found,) = checks.check(open_campaign(tmp_path))
    assert (found.rule, found.path) == ("interrupted", ".rolecall/turns/T0005")


def test_an_unreadable_note_is_told_and_the_others_are_checked_all_the_same(tmp_path):
    (tmp_path / "lore").mkdir()
    (tmp_path / "lore" / "big.md").write_bytes(b"")
    with (tmp_path / "lore" / "big.md").open("r+b") as file:
        file.truncate(40 * 1024 * 1024)
    found = problems(tmp_path, **{"lore/z.md": "---\ntitle: A: B\n---\n"})
    assert [(p.rule, p.path) for p in found] == [("unreadable", "lore/big.md"), ("front-matter", "lore/z.md")]


def test_problems_are_values_and_stand_in_the_order_of_path_and_line(tmp_path):
    found = problems(tmp_path, **{"lore/b.md": "---\na: b: c\n---\n", "lore/a.md": b"\xff\n\0\n"})
    assert [p.path for p in found] == ["lore/a.md", "lore/a.md", "lore/b.md"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found[0].line = 1

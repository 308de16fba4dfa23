"""An entry under another name: every place that refers to it follows, what the story told stays, and it can all be taken back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rolecall.campaign import checks, files, records
from rolecall.campaign.folder import open_campaign
from rolecall.errors import StorageError
from rolecall.turn import renamed
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.campaign.test_check_rules import chronicle
from tests.turn.faults import Killed, failing
from tests.turn.world import Teller, game, make, text

BEFORE = {
    "rolecall.yaml": "format: 1\ngit: off\n",
    "campaign-state.md": "---\nname: State\nlocation: The Inn\n---\n[[Valen]] sleeps.\n\n## Party\n\n- Valen, hurt\n- [[Valen]]\n\n"
    "## Promises\n\n- [ ] To Valen: a song (T0003)\n\n## Journal\n\n- T0003 [[Valen]] woke.\n",
    "chronicles/0001-t0001-t0002.md": chronicle(1, 2),
    "story/001-one.md": "## T0003\n\nValen and [[Valen]] woke.\n",
    "characters/valen.md": "---\nname: Valen   # the writer's\nkind: character\naliases:\n  - the Shadow\n---\nHe is [[Valen]].\r\n",
    "characters/Sera.md": "---\nname: Sera\nrelationships:\n  - {with: Valen, nature: foe}   # old\n  - {with: Valens, nature: none}\n"
    "organizations: Guild\nnote: Valen is here\nseen: \"[[valen|him]]\"\n---\nSee [[Valen#Past|him]], [[characters/valen.md]], [[Valenta]].\n\n"
    "```\n[[Valen]]\n```\n\n## History\n- T0003 Saw [[Valen]] wake.\n",
    "organizations/guild.md": b"\xef\xbb\xbf---\r\nname: Guild\r\nmembers: [Sera, Valen]\r\n---\r\nWith ![[valen.md]] and caf\xe9 [[Valen]]",
    "arcs/a.md": "---\nname: A\nlatest: T0003 [[Valen]] woke.\n---\n",
    "dm/plan.md": "[[Valen]] dies.\n",
    "imports/x/valen.md": "[[Valen]]\n",
    "instructions/x.md": "[[Valen]]\n",
}  # fmt: skip
AFTER = {
    **BEFORE,
    "campaign-state.md": BEFORE["campaign-state.md"]
    .replace("[[Valen]] sleeps", "[[Valen Ashdown]] sleeps").replace("- Valen, hurt\n- [[Valen]]", "- Valen Ashdown, hurt\n- [[Valen Ashdown]]"),
    "characters/Sera.md": BEFORE["characters/Sera.md"]
    .replace("{with: Valen,", "{with: Valen Ashdown,").replace("[[valen|him]]", "[[valen-ashdown|him]]")
    .replace("[[Valen#Past|him]]", "[[Valen Ashdown#Past|him]]").replace("characters/valen.md", "characters/valen-ashdown.md")
    .replace("Saw [[Valen]]", "Saw [[Valen Ashdown|Valen]]"),
    "organizations/guild.md": BEFORE["organizations/guild.md"]
    .replace(b"Sera, Valen]", b"Sera, Valen Ashdown]").replace(b"valen.md", b"valen-ashdown.md").replace(b"[[Valen]]", b"[[Valen Ashdown]]"),
    "arcs/a.md": BEFORE["arcs/a.md"].replace("[[Valen]]", "[[Valen Ashdown|Valen]]"),
    "dm/plan.md": "[[Valen Ashdown]] dies.\n",
    "characters/valen-ashdown.md": BEFORE["characters/valen.md"]
    .replace("name: Valen ", "name: Valen Ashdown ").replace("the Shadow\n", "the Shadow\n  - Valen\n").replace("[[Valen]]", "[[Valen Ashdown]]"),
}  # fmt: skip
del AFTER["characters/valen.md"]
SHOWN = "Showed ashes at mark 4."  # by a turn, of Marta


def lay(root: Path, parts: dict[str, str | bytes] = BEFORE) -> Path:
    for path, data in parts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data if isinstance(data, bytes) else data.encode())
    return root


def here(parts: dict[str, str | bytes]) -> dict[str, bytes]:
    return {path: data if isinstance(data, bytes) else data.encode() for path, data in parts.items()}


def differing(root: Path, parts: dict[str, str | bytes]) -> dict[str, tuple]:
    now, wanted = text(root), here(parts)
    return {p: (now.get(p), wanted.get(p)) for p in {*now, *wanted} if now.get(p) != wanted.get(p)}


def test_every_reference_follows_and_what_the_story_told_stays_as_it_was(tmp_path, rolecall):
    lay(tmp_path)
    known = {(p.rule, p.line) for p in checks.check(open_campaign(tmp_path))}
    ran = rolecall("-C", tmp_path, "rename", "Valen", "Valen Ashdown")
    assert (ran.code, ran.err) == (0, "") and "characters/valen.md → characters/valen-ashdown.md" in ran.out
    assert differing(tmp_path, AFTER) == {}
    assert {(p.rule, p.line) for p in checks.check(open_campaign(tmp_path))} <= known
    assert rolecall("-C", tmp_path, "show", "Valen").out == rolecall("-C", tmp_path, "show", "Valen Ashdown").out


def test_a_dry_run_shows_each_line_and_changes_nothing(tmp_path, rolecall):
    lay(tmp_path)
    ran = rolecall("-C", tmp_path, "rename", "valen", "Valen Ashdown", "--dry-run")
    assert ran.code == 0 and "dm/plan.md:1: [[Valen]] dies. → [[Valen Ashdown]] dies." in ran.out
    assert differing(tmp_path, BEFORE) == {}
    told = json.loads(rolecall("-C", tmp_path, "rename", "Valen", "Valen Ashdown", "--dry-run", "--json").out)
    assert (told["path"], told["target"]) == ("characters/valen.md", "characters/valen-ashdown.md")
    assert {row["path"] for row in told["files"]} == {p for p in BEFORE if here(BEFORE)[p] != here(AFTER).get(p)}


def test_a_renaming_is_taken_back_to_the_byte_and_what_was_written_since_stays(tmp_path, rolecall):
    lay(tmp_path)
    rolecall("-C", tmp_path, "rename", "Valen", "Valen Ashdown")
    rolecall("-C", tmp_path, "rename", "Sera", "Sera Voss")
    assert rolecall("-C", tmp_path, "rename", "--undo").code == 0
    assert differing(tmp_path, AFTER) == {}
    (tmp_path / "dm/plan.md").write_text("[[Valen Ashdown]] dies.\nOr not.\n")
    assert rolecall("-C", tmp_path, "rename", "--undo").code == 0
    assert differing(tmp_path, {**BEFORE, "dm/plan.md": "[[Valen]] dies.\nOr not.\n"}) == {}
    assert rolecall("-C", tmp_path, "rename", "--undo").code == 1


def test_renaming_it_back_leaves_both_names_known(tmp_path, rolecall):
    lay(tmp_path)
    rolecall("-C", tmp_path, "rename", "Valen", "Valen Ashdown")
    assert rolecall("-C", tmp_path, "rename", "Valen Ashdown", "Valen").code == 0
    back = {
        **BEFORE,
        "characters/valen.md": BEFORE["characters/valen.md"].replace("the Shadow\n", "the Shadow\n  - Valen Ashdown\n"),
    }
    kept = {p: v for p, v in differing(tmp_path, back).items() if p not in ("characters/Sera.md", "arcs/a.md")}
    assert kept == {}  # the two dated links keep the label under which they read


REFUSED = {
    "nobody's name": (("Vallen", "X"), "did you mean Valen?"),
    "an alias": (("the Shadow", "X"), "is an alias of Valen"),
    "a taken name": (("Valen", "SERA"), "characters/Sera.md"),
    "a name with brackets": (("Valen", "V[[x]]"), "this is no name"),
    "an empty name": (("Valen", " \t"), "this is no name"),
    "a name past all measure": (("Valen", "x" * 121), "this is no name"),
    "the same name": (("Valen", "Valen"), "already"),
    "a path outside": (("../valen.md", "X"), "no entry is called"),
}


@pytest.mark.parametrize(("names", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_said_in_one_line_and_nothing_is_changed(tmp_path, rolecall, names, said):
    lay(tmp_path)
    ran = rolecall("-C", tmp_path, "rename", *names)
    assert ran.code == 1 and said in ran.err and ran.err.startswith("Error: ") and len(ran.err.splitlines()) == 1
    assert differing(tmp_path, BEFORE) == {}


def test_two_entries_of_one_name_are_told_apart_by_their_files(tmp_path, rolecall):
    lay(tmp_path, {**BEFORE, "lore/valen.md": "---\nname: Valen\nkind: lore\n---\n"})
    ran = rolecall("-C", tmp_path, "rename", "Valen", "The Ballad")
    assert ran.code == 1 and "characters/valen.md, lore/valen.md" in ran.err
    assert rolecall("-C", tmp_path, "rename", "lore/valen.md", "The Ballad").code == 0
    assert (tmp_path / "lore/the-ballad.md").exists() and (tmp_path / "characters/valen.md").exists()


FILES = {
    "as it is written": ("Old Nan", "lore/Old Nan.md", "Nan: the \"Old\"", "lore/Nan- the -Old-.md"),
    "of another name": ("Old Nan", "lore/npc-12.md", "Nan", "lore/npc-12.md"),
    "another case alone": ("Old Nan", "lore/old-nan.md", "Old nan", "lore/old-nan.md"),
    "taken already": ("Old Nan", "lore/old-nan.md", "Sara", "lore/sara-2.md"),
    "a device of Windows": ("Old Nan", "lore/Old Nan.md", "Aux", "lore/Aux-1.md"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "path", "new", "target"), FILES.values(), ids=FILES)
def test_the_files_name_follows_in_the_manner_it_had(tmp_path, rolecall, old, path, new, target):
    lay(
        tmp_path,
        {"rolecall.yaml": "format: 1\n", path: f"---\nname: {old}\n---\n", "lore/sara.md": "---\nname: S\n---\n"},
    )
    ran = rolecall("-C", tmp_path, "rename", old, new)
    assert ran.code == 0, ran.err
    assert (tmp_path / target).exists() and (target == path or not (tmp_path / path).exists())


def test_an_undone_turn_finds_its_lines_in_an_entry_that_was_renamed_since(tmp_path):
    make(tmp_path)
    before = text(tmp_path)
    played = game(tmp_path, Teller())
    played.tell("I look at the ashes.", Listener())
    played.rename("Marta", "Marta Vey", Listener())
    played.undo(Listener())
    played.unrename(Listener())
    assert text(tmp_path) == before


def test_an_undone_turn_finds_its_lines_in_an_entry_whose_renaming_was_taken_back(tmp_path):
    make(tmp_path)
    before = text(tmp_path)
    played = game(tmp_path, Teller())
    played.rename("Marta", "Marta Vey", Listener())
    played.tell("I look at the ashes.", Listener())
    assert f"\n- T0004 {SHOWN}" in (tmp_path / "characters/marta-vey.md").read_text()
    played.unrename(Listener())
    played.undo(Listener())
    assert text(tmp_path) == before


def test_an_undone_turn_finds_its_lines_in_an_entry_renamed_otherwise_after_that_was_taken_back(tmp_path):
    make(tmp_path)
    before = text(tmp_path)
    played = game(tmp_path, Teller())
    played.rename("Marta", "Marta Vey", Listener())
    played.tell("I look at the ashes.", Listener())
    played.unrename(Listener())
    played.rename("Marta", "Marta of the Inn", Listener())
    played.rename("Marta of the Inn", "Old Marta", Listener())
    assert f"\n- T0004 {SHOWN}" in (tmp_path / "characters/old-marta.md").read_text()
    played.undo(Listener())
    played.unrename(Listener())
    played.unrename(Listener())
    assert text(tmp_path) == before


def test_an_answer_that_stands_again_is_written_into_an_entry_that_was_renamed_since(tmp_path):
    make(tmp_path)
    played = game(tmp_path, Teller())
    played.tell("I look at the ashes.", Listener())
    one = text(tmp_path)
    played.swipe(Listener())
    played.rename("Marta", "Marta Vey", Listener())
    played.switch(1, Listener())
    assert (tmp_path / "characters/marta-vey.md").read_text().count(f"\n- T0004 {SHOWN}") == 1
    played.unrename(Listener())
    assert text(tmp_path) == one


def test_killed_at_any_step_a_renaming_is_finished_by_the_next_command(tmp_path):
    whole = lay(tmp_path / "whole")
    with failing(whole) as counted:
        Game(whole).rename("Valen", "Valen Ashdown", Listener())
    assert len(counted.steps) > 60
    for at in range(1, len(counted.steps) + 1, 3):
        for fault in ("kill", "torn", "power"):
            root = lay(tmp_path / f"{at}-{fault}")
            with failing(root, at, fault) as faulty, pytest.raises(Killed):
                Game(root).rename("Valen", "Valen Ashdown", Listener())
            Game(root).recover(Listener())
            now = differing(root, AFTER)
            assert now == {} or differing(root, BEFORE) == {}, (at, fault, faulty.hit, now)
            assert renamed.pending(root) is None and not list(root.rglob("*.tmp"))
            shutil.rmtree(root)


@pytest.mark.parametrize("fault", ["full", "once", "refused"])
def test_where_the_disk_refuses_the_next_command_finishes_it(tmp_path, fault):
    whole = lay(tmp_path / "whole")
    with failing(whole) as counted:
        Game(whole).rename("Valen", "Valen Ashdown", Listener())
    for at in range(1, len(counted.steps) + 1, 11):
        root = lay(tmp_path / f"{at}")
        with failing(root, at, fault):
            try:
                left = Game(root).rename("Valen", "Valen Ashdown", Listener()).left
            except StorageError:
                left = ()
        Game(root).recover(Listener())
        now = differing(root, AFTER)
        assert set(now) == {one.partition(":")[0] for one in left} or differing(root, BEFORE) == {}, (
            at,
            fault,
            now,
            left,
        )
        shutil.rmtree(root)


def test_a_note_of_a_renaming_that_cannot_be_read_is_dropped(tmp_path):
    lay(tmp_path)
    for body in (
        b"",
        b"[]",
        b'{"folder": "../x", "kind": "write", "path": "/etc/x", "target": "a", "old": "a", "new": "b"}',
    ):
        files.rewrite(tmp_path, renamed.MARK, body)
        Game(tmp_path).recover(Listener())
        assert renamed.pending(tmp_path) is None and differing(tmp_path, BEFORE) == {}
    assert records.others(tmp_path) == []

"""A campaign that git, or an editor, has turned to Windows line ends since: every command goes on, and what is sealed stays so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from rolecall.campaign import checks
from rolecall.campaign.folder import open_campaign
from rolecall.turn.lifecycle import Listener
from tests.game.repositories import NEEDS_GIT, settle_settings
from tests.turn.world import FOLD_SOON, Teller, game, make


def to_windows(root: Path) -> None:
    """What a checkout under `core.autocrlf=true` makes of every text."""
    for place in root.rglob("*.md"):
        if ".rolecall" not in place.parts:
            place.write_bytes(place.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def unix(root: Path) -> dict[str, bytes]:
    found = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*.md") if ".rolecall" not in p.parts}
    return {path: data.replace(b"\r\n", b"\n") for path, data in found.items()}


def test_turns_told_before_are_taken_back_after_and_line_ends_stay(tmp_path: Path) -> None:
    make(tmp_path)
    before = unix(tmp_path)
    teller = Teller()
    for n in range(2):
        game(tmp_path, teller).tell(f"I wait, {n}.", Listener())
    to_windows(tmp_path)
    game(tmp_path, teller).tell("I wait on.", Listener())
    for path in ("campaign-state.md", "story/001-the-quay.md", "characters/marta.md"):
        data = (tmp_path / path).read_bytes()
        assert data.count(b"\n") == data.count(b"\r\n"), path
    for _ in range(3):
        undone = game(tmp_path, teller).undo(Listener(), count=1)
        assert not [clash for one in undone for clash in one.clashes]
    assert unix(tmp_path) == before


def test_a_chronicle_is_sealed_whatever_ends_its_lines(tmp_path: Path) -> None:
    make(tmp_path, FOLD_SOON)
    for n in range(3):
        game(tmp_path, Teller()).tell(f"I wait, {n}.", Listener())
    sealed = list((tmp_path / "chronicles").glob("*.md"))
    assert sealed
    to_windows(tmp_path)
    assert [p for p in checks.check(open_campaign(tmp_path)) if p.rule == "seal"] == []
    sealed[0].write_bytes(sealed[0].read_bytes().replace(b"Kit", b"Tik", 1))
    assert [p.rule for p in checks.check(open_campaign(tmp_path)) if p.rule == "seal"] == ["seal"]


@NEEDS_GIT
def test_a_clone_under_autocrlf_plays_on_and_commits(tmp_path: Path, rolecall, script, monkeypatch) -> None:
    """Git for Windows sets `core.autocrlf`; an adopted folder has no `.gitattributes` of ours against it."""
    settings = settle_settings(tmp_path, monkeypatch)
    answers = [
        {
            "turn": f"T{n:04d}",
            "role": "narrator",
            "text": f"The lantern gutters {n}.",
            "tools": [
                {"name": "append_journal", "arguments": {"text": f"Kit promised Old Pasco song {n} of the sea."}}
            ],
        }
        for n in range(1, 6)
    ]
    spec = script(json.dumps(answers))
    mine, clone = tmp_path / "mine", tmp_path / "clone"
    mine.mkdir()
    (mine / "kit.md").write_bytes(b"---\nname: Kit\nkind: character\n---\nA player.\n")

    def git(*command: str) -> bytes:
        return subprocess.run(["git", *command], cwd=tmp_path, capture_output=True, check=True).stdout

    git("init", "-q", "mine")
    assert rolecall("new", "--adopt", mine).code == 0
    with (mine / "rolecall.yaml").open("ab") as file:
        file.write(b"memory: {fold_at: 200, keep_lines: 1}\n")
    text = (mine / "rolecall.yaml").read_text("utf-8")
    (mine / "rolecall.yaml").write_text(text.replace("git: off", "git: auto"), "utf-8")
    for n in range(4):
        assert rolecall("-C", mine, "turn", f"I wait, {n}.", "--model", spec).code == 0
    rolecall("-C", mine, "fold")
    settings.write_text(settings.read_text("utf-8") + "[core]\n\tautocrlf = true\n\tsafecrlf = true\n", "utf-8")
    git("clone", "-q", "mine", "clone")
    assert b"\r\n" in (clone / "campaign-state.md").read_bytes() and list((clone / "chronicles").glob("*.md"))
    ran = rolecall("-C", clone, "turn", "I wait on.", "--model", spec)
    assert (ran.code, "git:" in ran.err) == (0, False), ran.err
    assert git("-C", "clone", "log", "-1", "--format=%s").startswith(b"T0005")
    assert git("-C", "clone", "status", "--porcelain") == b""
    assert json.loads(rolecall("-C", clone, "check", "--json").out) == []
    assert rolecall("-C", clone, "undo").code == 0
    assert git("-C", "clone", "status", "--porcelain") == b""

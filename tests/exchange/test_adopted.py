"""A stranger's folder of notes, adopted where it lies in a git repository: every file stays, and it plays."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import SHARED

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not on this machine")

SCRIPT = """\
- role: narrator
  text: The door is old, and it opens. Behind it somebody has left a lamp burning for you.
  tools:
    - {name: append_journal, arguments: {text: The old door was opened.}}
"""


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=W", "-c", "user.email=w@localhost", "-c", "core.quotepath=off", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(("notes", "asked", "found"), [("vault", "", ""), ("srd5", "fireball", "Fireball")])
def test_adopted_in_place_it_is_searchable_and_playable_and_git_shows_only_what_was_added(
    rolecall, tmp_path, notes, asked, found
):
    if not (SHARED / notes).is_dir():
        pytest.skip(f"no {notes} at hand")
    home = tmp_path / notes
    shutil.copytree(SHARED / notes, home)
    git(home, "init", "-q")
    git(home, "add", "-A")
    git(home, "commit", "-q", "-m", "As it was")
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file() and ".git" not in p.relative_to(home).parts}

    assert rolecall("new", "--adopt", home).code == 0
    if not asked:
        asked = found = max((p.stem for p in before if p.suffix == ".md"), key=len)
    hits = json.loads(rolecall("-C", home, "search", asked, "--json").out)
    assert any(found.casefold() in hit["name"].casefold() for hit in hits)
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    ran = rolecall("-C", home, "turn", "I open the door.", "--model", f"scripted:{script}", "--json")
    assert ran.code == 0 and json.loads(ran.out)["journal"] == "The old door was opened."

    assert {path: path.read_bytes() for path in before} == before
    status = git(home, "status", "--porcelain", "--untracked-files=all").splitlines()
    assert status and all(line.startswith("?? ") for line in status)
    added = {line[3:].strip('"') for line in status}
    assert {"campaign-state.md", "rolecall.yaml"} <= added
    assert not [path for path in added if path.startswith(".rolecall/")]

"""How git is found and started where Windows would take a stranger's."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from rolecall.campaign import git
from rolecall.errors import GitTrouble


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "sys", SimpleNamespace(platform="win32"))


def test_a_git_in_the_folder_one_stands_in_is_not_started(tmp_path: Path, monkeypatch, windows) -> None:
    (tmp_path / "git.exe").write_bytes(b"a stranger's")
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", os.pathsep.join(["", ".", "bin"])):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(GitTrouble, match="not installed"):
            git.program()


def test_the_git_of_the_path_is_started(tmp_path: Path, monkeypatch, windows) -> None:
    mine = tmp_path / "Git" / "git.exe"
    mine.parent.mkdir()
    mine.write_bytes(b"mine")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "none"), str(mine.parent)]))
    assert git.program() == str(mine)


def test_a_campaign_of_a_stranger_with_a_git_of_its_own_is_played_without_it(
    tmp_path: Path, monkeypatch, windows
) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(GitTrouble, match="not installed"):
        git.find(tmp_path)

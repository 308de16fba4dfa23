"""Input guided by what it reaches, for the doors that take bytes: `python -m tests.nightly.guided DOOR SECONDS SEED FOLDER`.

It begins with the seeds of `tests/fuzz`, keeps in the folder what led somewhere new, and ends with exit code 0 when the time is
over. A fault is told with its traceback, and the input that made it lies in the folder as `crash-…`. Needs `atheris`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.fuzz.matter import dumped

LONGEST = 20_000  # bytes of an input
SLOW = 60  # seconds after which an input counts as one that hangs


Door = tuple[Callable[[bytes], None], Iterable[bytes]]  # what takes the bytes, and those to begin with


def _notes() -> Door:
    from tests.fuzz import notes

    return lambda data: notes.reading(data, "a.md"), notes.SEEDS


def _edits() -> Door:
    from tests.fuzz import notes

    return lambda data: notes.edits(data, "a.md", "status", "hurt: badly", "History", {"with": "Kit"}, 1), notes.SEEDS


def _lorebooks() -> Door:
    from tests.fuzz import exchange

    return exchange.book, map(dumped, exchange.SEEDS)


def _pictures_and_zips() -> Door:
    from tests.fuzz import exchange

    ways = [exchange.wrapped(exchange.SEEDS[1], how, word) for how in exchange.WRAPPINGS for word in ("chara", "ccv3")]
    return exchange.book, ways


def _chats() -> Door:
    from tests.fuzz import exchange

    talks = [*map(dumped, exchange.TALKS), *map(exchange.lines, exchange.LINES), *exchange.TRANSCRIPTS]
    return lambda data: exchange.chat(data, 0, ""), talks


def _settings() -> Door:
    from tests.fuzz import folders

    return folders.setting, folders.SETTINGS


def _records() -> Door:
    from tests.fuzz import folders

    return lambda data: folders.record(data.split(b"\n")), folders.RECORDS


DOORS: dict[str, Callable[[], Door]] = {
    "notes": _notes, "edits": _edits, "lorebooks": _lorebooks, "pictures and zips": _pictures_and_zips, "chats": _chats,
    "settings": _settings, "records": _records,
}  # fmt: skip


def main(door: str, seconds: str, seed: str, folder: str) -> None:
    """Try inputs at a door until the time is over or a fault is found; it does not come back."""
    import atheris

    with atheris.instrument_imports(include=["rolecall.campaign", "rolecall.exchange", "rolecall.search"]):
        take, seeds = DOORS[door]()
    corpus = Path(folder) / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(data[:LONGEST])
    options = (
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        f"-max_len={LONGEST}",
        f"-timeout={SLOW}",
        f"-artifact_prefix={folder}/",
    )
    atheris.Setup(["guided", *options, str(corpus)], take)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])

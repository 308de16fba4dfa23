"""Cards in a zip: `.charx` (`card.json` and assets), and a JPEG with such a zip behind it.

The zip is found by its end record, wherever the file begins. Nothing is unpacked to the disk: the card is read in memory,
pictures and sounds stay in the original. A zip that points outside itself is refused whole.
"""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib
from dataclasses import dataclass

from rolecall.errors import ExchangeError
from rolecall.exchange import jsonfile

CARD = "card.json"
MODULE = "module.risum"
MAX_MEMBERS = 10_000
MAX_UNPACKED = 1024 * 1024 * 1024  # bytes that the members claim to be, all together
MAX_RATIO = 1000  # a member that claims to be packed more than this is a bomb
_OUTSIDE = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\]|^[A-Za-z]:|\0")
_END = b"PK\x05\x06"


@dataclass(frozen=True, slots=True)
class Packed:
    """What a zip holds: the card's JSON value, how many other members, and whether one is a RisuAI module."""

    card: object
    others: int
    module: bool


def is_zip(data: bytes) -> bool:
    """Whether a file is a zip, or ends as one: the end record stands in its last 64 KiB."""
    return data.startswith(b"PK\x03\x04") or _END in data[-66_000:]


def read(data: bytes, path: object) -> Packed:
    """The card in a zip. ExchangeError for one that is damaged, has no card, is a bomb, or has links or paths outside."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _refuse(members, path)
            named = next((m for m in members if m.filename.casefold() == CARD), None)
            if named is None:
                raise ExchangeError("the zip has no `card.json`", path=path, remedy="only .charx cards are zips")
            with archive.open(named) as stream:
                text = stream.read(jsonfile.MAX_BYTES + 1)
            names = [m.filename for m in members if not m.is_dir()]
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise ExchangeError(f"the zip is damaged ({what})", path=path, remedy="fetch it again") from None
    except (NotImplementedError, RuntimeError) as error:  # an unknown method; a password
        raise ExchangeError(f"the zip cannot be read ({error})", path=path, remedy="pack it plainly") from None
    return Packed(jsonfile.loads(text, path), len(names) - 1, MODULE in names)


def _refuse(members: list[zipfile.ZipInfo], path: object) -> None:
    if len(members) > MAX_MEMBERS:
        raise ExchangeError(f"the zip has more than {MAX_MEMBERS:,} members", path=path, remedy="this is no card")
    if sum(member.file_size for member in members) > MAX_UNPACKED:
        raise ExchangeError("the zip unpacks to more than 1 GiB", path=path, remedy="this is no card")
    for member in members:
        shown = member.filename[:80]
        if _OUTSIDE.search(member.orig_filename) or _OUTSIDE.search(member.filename):
            raise ExchangeError(f"a member of the zip points outside it ({shown})", path=path, remedy="do not trust it")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise ExchangeError(f"a member of the zip is a link ({shown})", path=path, remedy="do not trust it")
        if member.file_size > 1_000_000 and member.file_size > MAX_RATIO * max(1, member.compress_size):
            raise ExchangeError(f"a member of the zip is a bomb ({shown})", path=path, remedy="do not trust it")

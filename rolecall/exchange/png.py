"""The text chunks of a PNG, in which character cards travel: `chara` (V1, V2) and `ccv3` (V3), base64 of UTF-8 JSON.

Chunks after the PNG specification: length, type, data, CRC-32 of type and data; `tEXt`, `zTXt` and `iTXt` hold a keyword
and a text. No pixel is looked at. `naidata` is NovelAI's way to hide a lorebook in a picture.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Iterator, Mapping

from rolecall.errors import ExchangeError
from rolecall.exchange import jsonfile

SIGNATURE = b"\x89PNG\r\n\x1a\n"
KEYWORDS = ("ccv3", "chara", "naidata")  # in the order in which they are preferred
MAX_CHUNKS = 100_000


def chunks(data: bytes, path: object) -> Iterator[tuple[bytes, bytes]]:
    """(type, data) of every chunk up to IEND; ExchangeError for a file that is cut short or damaged."""
    at = len(SIGNATURE)
    for _ in range(MAX_CHUNKS):
        head = data[at : at + 8]
        length = int.from_bytes(head[:4], "big")
        end = at + 12 + length
        if len(head) < 8 or end > len(data):
            raise ExchangeError(f"the PNG is cut short at byte {at:,}", path=path, remedy="fetch it again")
        kind, body = head[4:], data[at + 8 : end - 4]
        if zlib.crc32(body, zlib.crc32(kind)) != int.from_bytes(data[end - 4 : end], "big"):
            raise ExchangeError(
                f"the PNG is damaged (wrong checksum at byte {at:,})", path=path, remedy="fetch it again"
            )
        yield kind, body
        if kind == b"IEND":
            return
        at = end
    raise ExchangeError(f"the PNG has more than {MAX_CHUNKS:,} chunks", path=path, remedy="this is no card")


def texts(data: bytes, path: object) -> dict[str, bytes]:
    """The packed text of each keyword that a card can stand under, keyword in lower case; the first of each counts."""
    found: dict[str, bytes] = {}
    for kind, body in chunks(data, path):
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            keyword, _, rest = body.partition(b"\0")
            name = keyword.decode("latin-1").strip().casefold()
            if name in KEYWORDS and name not in found:
                found[name] = _text(kind, rest, path)
    return found


def card(data: bytes, path: object) -> object:
    """The JSON value that a PNG carries; ExchangeError when it carries none."""
    found = texts(data, path)
    for keyword in KEYWORDS:
        if keyword in found:
            return jsonfile.loads(_unpacked(found[keyword], keyword, path), path)
    raise ExchangeError(
        "there is no character card in this picture", path=path, remedy="was it saved as a new picture?"
    )


def with_cards(picture: bytes, cards: Mapping[str, bytes], path: object) -> bytes:
    """A PNG that carries cards: {keyword: JSON}, base64 in a tEXt chunk each before IEND. Cards it carried go."""
    parts = [SIGNATURE]
    for kind, body in chunks(picture, path):
        keyword = body.partition(b"\0")[0].decode("latin-1").strip().casefold()
        if kind in (b"tEXt", b"zTXt", b"iTXt") and keyword in KEYWORDS:
            continue
        if kind == b"IEND":
            parts += [_chunk(b"tEXt", name.encode() + b"\0" + base64.b64encode(text)) for name, text in cards.items()]
        parts.append(_chunk(kind, body))
    return b"".join(parts)


def plain(seed: str, width: int = 400, height: int = 600) -> bytes:
    """A plain picture: one colour, chosen by the seed, that grows darker downwards. 8-bit RGB, in pixels."""
    red, green, blue = (64 + byte // 2 for byte in hashlib.sha256(seed.encode("utf-8", "replace")).digest()[:3])
    rows = []
    for y in range(height):
        share = 1 - y / height / 2
        rows.append(b"\0" + bytes((int(red * share), int(green * share), int(blue * share))) * width)
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    body = _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(b"".join(rows), 9)) + _chunk(b"IEND", b"")
    return SIGNATURE + body


def _chunk(kind: bytes, body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + kind + body + zlib.crc32(body, zlib.crc32(kind)).to_bytes(4, "big")


def _text(kind: bytes, rest: bytes, path: object) -> bytes:
    if kind == b"tEXt":
        return rest
    if kind == b"zTXt":
        return _inflated(rest[1:], path)
    packed = rest[:1] == b"\1"
    body = rest[2:].split(b"\0", 2)[-1]  # compression flag and method, language, translated keyword
    return _inflated(body, path) if packed else body


def _inflated(data: bytes, path: object) -> bytes:
    limit = jsonfile.MAX_BYTES * 4 // 3 + 4  # base64 of what may be read
    try:
        engine = zlib.decompressobj()
        text = engine.decompress(data, limit)
    except zlib.error:
        raise ExchangeError("the PNG's packed text is damaged", path=path, remedy="fetch it again") from None
    if engine.unconsumed_tail or not engine.eof:
        what = "unpacks to more than 32 MiB" if engine.unconsumed_tail else "is cut short"
        raise ExchangeError(f"the PNG's packed text {what}", path=path, remedy="this is no card")
    return text


def _unpacked(text: bytes, keyword: str, path: object) -> bytes:
    """Base64 with or without padding and line breaks; text that is JSON already stays."""
    stripped = b"".join(text.split())
    if stripped[:1] in (b"{", b"["):
        return text
    stripped = stripped.removeprefix(b"\xef\xbb\xbf").replace(b"-", b"+").replace(b"_", b"/").rstrip(b"=")
    try:
        return base64.b64decode(stripped + b"=" * (-len(stripped) % 4), validate=True)
    except binascii.Error:
        what = f"the `{keyword}` text of the PNG is not base64"
        raise ExchangeError(what, path=path, remedy="export the card again") from None

"""Files as other programs write them, and as nobody should: made in memory, for the tests."""

from __future__ import annotations

import base64
import io
import json
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, body: bytes) -> bytes:
    """One PNG chunk."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(*texts: bytes) -> bytes:
    """A picture of one grey dot, with text chunks before its end."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return SIGNATURE + head + chunk(b"IDAT", zlib.compress(b"\0\x80")) + b"".join(texts) + chunk(b"IEND", b"")


def plain(keyword: str, value: object) -> bytes:
    """A tEXt chunk that holds a value as base64 of JSON."""
    return chunk(b"tEXt", keyword.encode() + b"\0" + packed(value))


def squeezed(keyword: str, value: object) -> bytes:
    """The same, compressed, as zTXt."""
    return chunk(b"zTXt", keyword.encode() + b"\0\0" + zlib.compress(packed(value)))


def international(keyword: str, value: object, *, small: bool = True) -> bytes:
    """The same as iTXt, compressed or not."""
    body = zlib.compress(packed(value)) if small else packed(value)
    return chunk(b"iTXt", keyword.encode() + b"\0" + (b"\1" if small else b"\0") + b"\0en\0\0" + body)


def packed(value: object) -> bytes:
    return base64.b64encode(json.dumps(value).encode())


def zipped(members: dict[str, bytes], *, links: tuple[str, ...] = ()) -> bytes:
    """A zip of these members; those in `links` are symbolic links."""
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if name in links:
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, data)
    return place.getvalue()


def card(name: str = "Sera Vane", **more: object) -> dict:
    """A V2 card with something in every text."""
    data = {
        "name": name, "description": "A smuggler with a limp.", "personality": "Dry, loyal.", "scenario": "A wet quay.",
        "first_mes": "*She looks up.* You're late, {{user}}.", "mes_example": "<START>\n{{char}}: Well?",
        "creator_notes": "Be kind.", "system_prompt": "Write as {{char}}.", "post_history_instructions": "Stay brief.",
        "alternate_greetings": ["Not you again.", "Sit."], "tags": ["smuggler"], "creator": "nobody",
        "character_version": "2", "extensions": {"talkativeness": "0.5", "unknown": {"kept": True}},
        **more,
    }  # fmt: skip
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": data}


def world(*entries: dict, **more: object) -> dict:
    """A SillyTavern world info file."""
    return {"entries": {str(n): {"uid": n, **entry} for n, entry in enumerate(entries)}, **more}


def _bomb(size: int) -> bytes:
    engine = zlib.compressobj(9)
    return b"".join(engine.compress(bytes(1 << 20)) for _ in range(size >> 20)) + engine.flush()


def _lying_zip() -> bytes:
    """A card.json that says it is small and unpacks to 40 MB."""
    data = bytearray(zipped({"card.json": b" " * (40 << 20)}))
    central = data.rindex(b"PK\x01\x02")
    data[central + 24 : central + 28] = data[22:26] = struct.pack("<I", 1000)
    return bytes(data)


def _locked_zip() -> bytes:
    data = bytearray(zipped({"card.json": b"{}"}))
    central = data.rindex(b"PK\x01\x02")
    data[6] |= 1
    data[central + 8] |= 1
    return bytes(data)


_ENTRY = b'{"uid":0,"key":["a"],"content":"x"}'
_CARD = json.dumps(card()).encode()
# name: (a maker of the file's bytes, words that the one line of error must have)
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty.json": (lambda: b"", "empty"),
    "cut-short.png": (lambda: png(plain("chara", card()))[:-20], "cut short"),
    "longer-than-it-is.png": (lambda: SIGNATURE + b"\xff\xff\xff\xffIHDR" + bytes(100), "cut short"),
    "wrong-checksum.png": (lambda: png(plain("chara", card())).replace(b"chara\0", b"chara\0X", 1), "checksum"),
    "bomb.png": (lambda: png(chunk(b"zTXt", b"chara\0\0" + _bomb(96 << 20))), "32 MiB"),
    "bomb-in-itxt.png": (lambda: png(chunk(b"iTXt", b"ccv3\0\1\0\0\0" + _bomb(96 << 20))), "32 MiB"),
    "packed-text-cut.png": (lambda: png(chunk(b"zTXt", b"chara\0\0" + zlib.compress(packed(card()))[:-9])), "cut short"),
    "packed-text-broken.png": (lambda: png(chunk(b"zTXt", b"chara\0\0not zlib")), "damaged"),
    "no-base64.png": (lambda: png(chunk(b"tEXt", b"chara\0%%%%")), "base64"),
    "no-card.png": (png, "no character card"),
    "a-million-chunks.png": (lambda: png(chunk(b"tEXt", b"a\0b") * 200_000), "chunks"),
    "nested-in-png.png": (lambda: png(chunk(b"tEXt", b"chara\0" + base64.b64encode(b"[" * 10**6))), "nested"),
    "only-a-picture.jpg": (lambda: b"\xff\xd8\xff\xe0" + bytes(2000) + b"\xff\xd9", "no card"),
    "bomb.charx": (lambda: zipped({"card.json": b" " * (40 << 20)}), "bomb"),
    "lying.charx": (_lying_zip, "zip"),
    "many-members.charx": (lambda: zipped({f"assets/{n}": b"" for n in range(10_001)} | {"card.json": _CARD}), "members"),
    "traversal.charx": (lambda: zipped({"card.json": _CARD, "assets/../../evil.png": b"x"}), "points outside"),
    "absolute.charx": (lambda: zipped({"card.json": _CARD, "/etc/cron.d/evil": b"x"}), "points outside"),
    "backslash.charx": (lambda: zipped({"card.json": _CARD, "..\\..\\evil.bat": b"x"}), "points outside"),
    "drive.charx": (lambda: zipped({"card.json": _CARD, "C:evil.bat": b"x"}), "points outside"),
    "link.charx": (lambda: zipped({"card.json": b"/etc/passwd"}, links=("card.json",)), "link"),
    "link-beside.charx": (lambda: zipped({"card.json": _CARD, "assets/x": b"/etc"}, links=("assets/x",)), "link"),
    "cut-short.charx": (lambda: zipped({"card.json": _CARD})[:-10], "is damaged"),
    "locked.charx": (_locked_zip, "cannot be read"),
    "without-a-card.zip": (lambda: zipped({"notes.md": b"hello"}), "card.json"),
    "packed.risum": (lambda: b"\x6f\x00" + struct.pack("<I", 9) + b"whatever!" + b"\0", "RisuAI"),
    "a-hundred-megabytes.json": (lambda: b'{"entries":{"0":{"content":"' + b"a" * (100 << 20) + b'"}}}', "larger than"),
    "a-million-arrays.json": (lambda: b"[" * 10**6 + b"]" * 10**6, "nested"),
    "a-million-objects.json": (lambda: b'{"a":' * 10**6 + b"1" + b"}" * 10**6, "nested"),
    "deep-but-readable.json": (lambda: b'{"entries":' + b"[" * 200 + b"]" * 200 + b"}", "nested"),
    "ten-million-values.json": (lambda: b'{"entries":[' + b"{}," * 10_000_000 + b"{}]}", "values"),
    "key-twice.json": (lambda: b'{"entries":{"0":' + _ENTRY + b'},"entries":{"1":' + _ENTRY + b"}}", "twice"),
    "entry-twice.json": (lambda: b'{"entries":{"0":' + _ENTRY + b',"0":' + _ENTRY + b"}}", "twice"),
    "name-twice.json": (lambda: b'{"spec":"chara_card_v2","data":{"name":"A","name":"B","description":"c"}}', "twice"),
    "only-broken-entries.json": (lambda: b'{"entries":{"0":{"key":["a"],"key":["b"],"content":"x"}}}', "twice"),
    "not-a-number.json": (lambda: b'{"entries":{"0":{"content":"x","order":NaN}}}', "NaN"),
    "endless-number.json": (lambda: b'{"entries":{"0":{"content":"x","order":' + b"9" * 100_000 + b"}}}", "broken JSON"),
    "not-utf-8.json": (lambda: b'{"entries":{"0":{"content":"\xff\xfe\xfa"}}}', "UTF-8"),
    "cut-short.json": (lambda: json.dumps(card()).encode()[:-40], "broken JSON"),
    "no-entries.json": (lambda: b'{"entries":{}}', "nothing in it"),
    "entries-as-text.lorebook": (lambda: b'{"lorebookVersion":4,"entries":"[]"}', "is a text"),
    "another-json.json": (lambda: b'{"hello":"world"}', "no export that is known"),
    "a-number.json": (lambda: b"42", "no object"),
    "chat.jsonl": (lambda: b'{"user_name":"a","chat_metadata":{}}\n{"name":"b","mes":"hi"}\n', "rolecall ingest"),
    "program.exe": (lambda: b"\x7fELF\0\0\0\1" + bytes(1000), "no text"),
    "a-page.html": (lambda: b"<html><script>alert(1)</script></html>", "no export that is known"),
}  # fmt: skip


def write(place: Path, data: bytes | object) -> Path:
    """A file of these bytes, or of a value as JSON."""
    place.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return place

"""What a file may be called on every system, and which names some system takes for one."""

from __future__ import annotations

import re
import unicodedata

_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\..*)?", re.I)
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')


def is_device(name: str) -> bool:
    """Whether Windows takes a file's name, with any ending, for one of its devices ("Naming Files, Paths, and Namespaces")."""
    return bool(_DEVICE.fullmatch(name))


def is_fit(name: str) -> bool:
    """Whether a file or folder may have that name on every system; Windows drops dots and spaces at its end."""
    return not (_FORBIDDEN.search(name) or is_device(name) or name != name.rstrip(" ."))


def fitted(name: str, fallback: str = "untitled") -> str:
    """A name as it is written, without what no file may have in it on some system."""
    kept = _FORBIDDEN.sub("-", name).strip(" .") or fallback
    stem, dot, ending = kept.partition(".")
    return f"{stem.rstrip()}-1{dot}{ending}" if is_device(kept) else kept


def same_key(path: str) -> str:
    """Two paths with the same key are one file on macOS, on Windows, or on both: letters' case and form do not count."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())

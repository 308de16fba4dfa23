"""Makes `rolecall/campaign/formers.py`: the digests of every instruction and prose module as it once shipped.

    python -m tests.formers > rolecall/campaign/formers.py

Run it in a checkout with its whole history, before a release in which one of those files changed.
"""

from __future__ import annotations

import hashlib
import subprocess

from tests.conftest import REPOSITORY

FOLDERS = ("workspace_template/instructions", "workspace_template/prose")
HEAD = '''"""Instructions and prose modules as they once shipped: the first 16 digits of the SHA-256 of each former text.

A campaign's file with one of these digests is an unchanged copy of an older one. Made by `python -m tests.formers`.
"""

FORMER: dict[str, frozenset[str]] = {
'''


def versions() -> dict[str, list[str]]:
    """For each path below the template: the digests its committed versions have had, without the present one's."""
    found: dict[str, list[str]] = {}
    for commit in _git("log", "--format=%H", "--", *FOLDERS).split():
        for row in _git("ls-tree", "-r", commit, *FOLDERS).splitlines():
            blob, path = row.split()[2], row.split("\t", 1)[1]
            digest = hashlib.sha256(_blob(blob)).hexdigest()[:16]
            now = REPOSITORY / path
            if now.is_file() and hashlib.sha256(now.read_bytes()).hexdigest()[:16] == digest:
                continue
            name = path.removeprefix("workspace_template/")
            if now.is_file() and digest not in found.setdefault(name, []):
                found[name].append(digest)
    return {name: sorted(digests) for name, digests in sorted(found.items()) if digests}


_BLOBS: dict[str, bytes] = {}


def _blob(name: str) -> bytes:
    if name not in _BLOBS:
        _BLOBS[name] = subprocess.run(
            ["git", "-C", str(REPOSITORY), "cat-file", "blob", name], check=True, capture_output=True
        ).stdout
    return _BLOBS[name]


def _git(*arguments: str) -> str:
    ran = subprocess.run(["git", "-C", str(REPOSITORY), *arguments], check=True, capture_output=True, text=True)
    return ran.stdout


if __name__ == "__main__":
    print(HEAD, end="")
    for name, digests in versions().items():
        print(f'    "{name}": frozenset({{{", ".join(f"{chr(34)}{one}{chr(34)}" for one in digests)}}}),')
    print("}")

"""Asking for the models' names costs no SDK; and the SDKs each have one owner."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rolecall.models

HEAVY = ("anthropic", "openai", "httpx2", "yaml", "rich", "xllamacpp", "fastjsonschema", "rapidfuzz", "platformdirs")
ROOM = Path(rolecall.models.__file__).parent


def test_importing_every_module_of_the_room_loads_nothing_heavy() -> None:
    modules = sorted(f"rolecall.models.{path.stem}" for path in ROOM.glob("*.py") if path.stem != "__init__")
    code = f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\nprint({HEAVY!r} and "
    code += f"sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("package", "owner"),
    [
        ("anthropic", "anthropic_sdk.py"),
        ("openai", "openai_sdk.py"),
        ("xllamacpp", "embedded.py"),
        ("httpx2", "wire.py"),
    ],
)
def test_one_module_owns_each_heavy_package(package: str, owner: str) -> None:
    users = {
        path.name
        for path in ROOM.glob("*.py")
        if re.search(rf"^\s*(import|from) {package}\b", path.read_text("utf-8"), re.MULTILINE)
    }
    assert users == {owner}

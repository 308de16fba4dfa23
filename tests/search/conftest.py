"""Campaign folders for the tests of search."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.search.folders import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """An empty campaign."""
    return Folder(tmp_path)


@pytest.fixture
def folder_in(tmp_path: Path) -> Callable[[str], Folder]:
    """An empty campaign in a language."""
    return lambda language: Folder(tmp_path / language, language)

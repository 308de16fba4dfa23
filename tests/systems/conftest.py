"""A game on a simulated disk of each system."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.systems.disk import RENAMED, SYSTEMS, Disk


@pytest.fixture(params=SYSTEMS)
def disk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """An empty folder as that system would have it; the caches lie on the same disk."""
    import rolecall.search.index  # noqa: F401  whoosh and its like are installed elsewhere

    root = tmp_path / "disk"
    root.mkdir()
    made = Disk(SYSTEMS.get(request.param, RENAMED), root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
    with pytest.MonkeyPatch.context() as patch:
        made.patch(patch)
        yield made

"""A few hundred drawn inputs for each door, the same in every run; the nightly script draws others for ten minutes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.targets import TARGETS

EXAMPLES = {"document": 250, "importer": 250, "tools": 120, "directive": 150}


@pytest.mark.parametrize("name", TARGETS)
def test_whatever_comes_in_is_taken_or_refused_by_our_own_errors(name: str) -> None:
    target, drawn = TARGETS[name]
    how = settings(
        max_examples=EXAMPLES[name],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    how(given(**drawn)(target))()

"""Ten minutes of drawn inputs for the four doors of `tests/fuzz`: other ones every day, and no exception but our own errors."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import HealthCheck, given, seed, settings

from tests.fuzz.targets import TARGETS

SEED = int(os.environ.get("ROLECALL_SEED", "1"))
SECONDS = float(os.environ.get("ROLECALL_FUZZ_SECONDS", "600")) / len(TARGETS)  # of each door
ROUND = settings(max_examples=250, database=None, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", TARGETS)
def test_whatever_comes_in_is_taken_or_refused_by_our_own_errors(name: str) -> None:
    target, drawn = TARGETS[name]
    until, rounds = time.monotonic() + SECONDS, 0
    while time.monotonic() < until:
        seed(SEED + rounds)(ROUND(given(**drawn)(target)))()  # a failure prints its smallest input
        rounds += 1
    assert rounds
    print(f"{name}: {rounds} rounds of {ROUND.max_examples}")

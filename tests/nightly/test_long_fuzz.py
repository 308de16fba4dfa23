"""Ten minutes of drawn inputs for all doors of `tests/fuzz`: other ones every day, and no exception but our own errors."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import HealthCheck, given, seed, settings

from tests.fuzz.targets import TARGETS
from tests.fuzz.test_fuzz import EXAMPLES

SEED = int(os.environ.get("ROLECALL_SEED", "1"))
SECONDS = float(os.environ.get("ROLECALL_FUZZ_SECONDS", "600")) / len(TARGETS)  # of each door


@pytest.mark.parametrize("name", TARGETS)
def test_whatever_comes_in_is_taken_or_refused_by_our_own_errors(name: str) -> None:
    target, drawn = TARGETS[name]
    a_round = settings(
        max_examples=EXAMPLES[name], database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    until, rounds = time.monotonic() + SECONDS, 0
    while not rounds or time.monotonic() < until:
        seed(SEED + rounds)(a_round(given(**drawn)(target)))()  # a failure prints its smallest input
        rounds += 1
    print(f"{name}: {rounds} rounds of {EXAMPLES[name]}, seeds from {SEED}")

"""What is fuzzed: every door through which text of others comes in, each with what is drawn for it and what must hold behind it.

A target is a function that Hypothesis calls with drawn values. It may meet our own errors and nothing else; what is told
apart from a refusal (a tool's answer that hides a fault of ours) is told as one. The drawn parts are those of the property
tests of each room; here they are cut, doubled, bent and mixed as those tests, which know what they expect, cannot have them.
"""

from __future__ import annotations

from tests.fuzz import answers, calls, exchange, folders, notes

TARGETS = {**notes.TARGETS, **exchange.TARGETS, **calls.TARGETS, **folders.TARGETS, **answers.TARGETS}

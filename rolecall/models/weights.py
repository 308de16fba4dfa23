"""The weights of the embedded model."""

from __future__ import annotations

KNOWN = ("smollm2",)

"""Fixtures for tests that talk to the loopback server. Import them in a `conftest.py`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rolecall.models import specs
from tests.loopback.server import Loopback

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    """A loopback server that tells stories until it is told what to answer."""
    with Loopback() as server:
        yield server


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No key, no base URL, no proxy, and an Ollama address where nothing listens."""
    addresses = [endpoint.url_variable for endpoint in specs.ENDPOINTS.values()]
    for name in (*specs.KEY_VARIABLES, *addresses, *PROXIES, "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    return monkeypatch

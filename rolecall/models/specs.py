"""Names of models as a writer types them, and the chain that is taken when none was typed.

    anthropic/NAME   openai/NAME   openrouter/NAME   gemini/NAME   ollama/NAME
    local/NAME       the embedded model        gguf:PATH      a weights file of one's own
    scripted:PATH    answers from a file, without a network
    record:PATH      answers from the record of a turn (.rolecall/turns/T0042)

A remote provider without a name (`openai`) takes the default name below. Keys come from the environment only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rolecall.errors import ModelSettings

EMBEDDED = "local/smollm2"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A remote provider: where it is, which environment variables hold its key, and its default model."""

    provider: str
    url: str
    keys: tuple[str, ...] = ()
    default: str = ""

    @property
    def url_variable(self) -> str:
        """The environment variable that points this provider elsewhere."""
        return "OLLAMA_HOST" if self.provider == "ollama" else f"{self.provider.upper()}_BASE_URL"

    def base_url(self, environ: Mapping[str, str]) -> str:
        """Where to send requests: the variable if it is set, else the provider's own address."""
        given = environ.get(self.url_variable, "").strip()
        if not given:
            return self.url
        return ollama_url(given) if self.provider == "ollama" else given.rstrip("/")

    def moved(self, environ: Mapping[str, str]) -> bool:
        """Whether it was pointed at another address, which may need no key."""
        return self.base_url(environ) != self.url

    def key(self, environ: Mapping[str, str]) -> str:
        """The key from the environment, or nothing."""
        return next((environ[name].strip() for name in self.keys if environ.get(name, "").strip()), "")


# Addresses: the SDKs' own defaults, and each vendor's page on its OpenAI-compatible endpoint. The default names of the
# two SDKs' own vendors are only used if the SDK's list cannot be read; OpenRouter's and Google's are the vendors'
# standing aliases, which follow their newest model.
ENDPOINTS = {
    endpoint.provider: endpoint
    for endpoint in (
        Endpoint("anthropic", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), "claude-sonnet-5-5"),
        Endpoint("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "gpt-6.1-terra"),
        Endpoint("openrouter", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), "openrouter/auto"),
        Endpoint(
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            "gemini-flash-latest",
        ),
        Endpoint("ollama", "http://127.0.0.1:11434/v1"),
    )
}
KEY_VARIABLES = tuple(name for endpoint in ENDPOINTS.values() for name in endpoint.keys)
BY_PATH = ("gguf", "scripted", "record")  # providers that are named with a colon and a path
PROVIDERS = (*ENDPOINTS, "local", *BY_PATH)
_FORMS = "anthropic/NAME, openai/NAME, openrouter/NAME, gemini/NAME, ollama/NAME, local/NAME, gguf:PATH, scripted:PATH, record:PATH"


_LONG = 20  # characters; keys are longer


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed spec. `str(spec)` is the spec again; `name` is the model's name or the path."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}{':' if self.provider in BY_PATH else '/'}{self.name}"


def parse(text: str) -> Spec:
    """The spec in this text. Raises `ModelSettings` with the nearest provider's name where there is one."""
    text = text.strip()
    if re.search(
        r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text
    ):  # no model has such a name, and no file can have a NUL in its
        raise ModelSettings(f"{text!r} is no model", remedy="leave out the control characters")
    for provider in BY_PATH:
        if text.startswith(provider + ":"):
            path = text.partition(":")[2].strip()
            if not path:
                raise ModelSettings(f"{text!r} names no file", remedy=f"write {provider}:PATH")
            return Spec(provider, path)
    provider, _, name = text.partition("/")
    provider = provider.strip().lower()
    if provider == "local":
        return _embedded(text, name.strip())
    if provider in ENDPOINTS:
        name = name.strip() or default_name(provider)
        if not name:
            raise ModelSettings(f"{text!r} names no model", remedy=f"write {provider}/NAME")
        return Spec(provider, name)
    raise _unknown(text, provider)


def _embedded(text: str, name: str) -> Spec:
    from . import weights

    name = name or EMBEDDED.partition("/")[2]
    if name not in weights.KNOWN:
        raise ModelSettings(
            f"{text!r} is no embedded model",
            remedy=f"there is {', '.join(f'local/{known}' for known in weights.KNOWN)}",
        )
    return Spec("local", name)


def _unknown(text: str, provider: str) -> ModelSettings:
    from rapidfuzz import process

    nearest = process.extractOne(re.split(r"[/:]", provider)[0], PROVIDERS, score_cutoff=60)
    guess = f"did you mean {nearest[0]}{':PATH' if nearest[0] in BY_PATH else '/NAME'}? " if nearest else ""
    if len(text) >= _LONG and not nearest:  # one long word may be a key of a shape nobody knows
        text = f"{text[:6]}…"
    return ModelSettings(f"{text!r} is no model", remedy=f"{guess}a model is one of {_FORMS}")


def default_name(provider: str) -> str:
    """The model a remote provider is asked for when none was named; nothing for Ollama, which has no standing one.

    Taken from the list of names in the installed SDK, read as text: importing an SDK costs half a second and more.
    Anthropic's newest Sonnet, and OpenAI's newest Terra: the tier meant for natural writing, which also takes tools
    in Chat Completions (its larger siblings do so only in another protocol).
    """
    if provider == "anthropic":
        names = _sdk_names("anthropic", "types/model_param.py", r'"(claude-sonnet-[\d-]+)"')
        names = [name for name in names if not re.search(r"-\d{8}$", name)]
    elif provider == "openai":
        names = _sdk_names("openai", "types/shared/chat_model.py", r'"(gpt-[\d.]+-terra)"')
    else:
        names = []
    return max(names, key=_version, default=ENDPOINTS[provider].default)


def _sdk_names(package: str, file: str, pattern: str) -> list[str]:
    from importlib.util import find_spec

    found = find_spec(package)
    if found is None or not found.origin:
        return []
    try:
        return re.findall(pattern, (Path(found.origin).parent / file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return []


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", name))


def default_chain(environ: Mapping[str, str], *, probe_seconds: float = 0.25) -> list[str]:
    """The specs to use when nothing is configured: whatever is there, in this order.

    Anthropic, OpenAI, OpenRouter, Gemini (each with its key, or pointed at an address of its own), a running Ollama
    with a model (asked on its address, for at most `probe_seconds`), the embedded model (if its engine is installed).
    """
    chain = []
    for endpoint in ENDPOINTS.values():
        if endpoint.provider == "ollama":
            name = ollama_model(environ, probe_seconds)
            if name:
                chain.append(f"ollama/{name}")
        elif endpoint.key(environ) or endpoint.moved(environ):
            chain.append(f"{endpoint.provider}/{default_name(endpoint.provider)}")
    from importlib.util import find_spec

    if find_spec("xllamacpp") is not None:
        chain.append(EMBEDDED)
    return chain


def ollama_url(host: str) -> str:
    """The OpenAI-compatible base URL for an `OLLAMA_HOST`, which may be a host, a port, or a URL.

    As Ollama itself reads it: the port is 11434 unless given (80 and 443 with a scheme), and an address to listen on
    everywhere (0.0.0.0) is asked at 127.0.0.1.
    """
    scheme, separator, rest = host.strip().partition("://")
    if not separator:
        scheme, rest = "http", host.strip()
    place, _, path = rest.partition("/")
    match = re.fullmatch(r"(\[[^]]*\]|[^:]*)(?::(\d+))?", place)
    name, port = (match[1], match[2]) if match else (place, None)
    if name.isdigit() and port is None:
        name, port = "", name
    if not port:
        port = {"http": "80", "https": "443"}[scheme] if separator and scheme in ("http", "https") else "11434"
    name = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(name, name)
    path = path.strip("/")
    return f"{scheme}://{name}:{port}/{path + '/' if path and path != 'v1' else ''}v1"


def ollama_model(environ: Mapping[str, str], seconds: float) -> str:
    """The model a running Ollama used last that can write, or nothing. Raises nothing: no answer is no Ollama."""
    import socket
    from urllib.parse import urlsplit

    base = ENDPOINTS["ollama"].base_url(environ)
    try:
        # Mostly nobody is there: found out by a bare connection, for an HTTP client costs 30 ms to import.
        place = urlsplit(base)
        socket.create_connection((place.hostname or "", place.port or 11434), seconds).close()
    except (OSError, ValueError):
        return ""
    return _ollama_model(base, seconds)


def _ollama_model(base: str, seconds: float) -> str:
    import http.client
    import urllib.request

    try:
        # Never through a proxy: this is a question to one's own machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(base.removesuffix("/v1") + "/api/tags", timeout=seconds) as answer:
            models = json.loads(answer.read(1_000_000)).get("models") or []
        names = [str(model.get("name") or "") for model in models]
    except (OSError, ValueError, AttributeError, http.client.HTTPException):
        return ""
    return next((name for name in names if name and "embed" not in name.lower()), "")

"""Faults of models in one line each, and never with a key in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rolecall.errors import ModelError, ModelSettings, ModelUnavailable

from .specs import ENDPOINTS, KEY_VARIABLES, Spec

LONGEST = 240

# Answers that mean "not now" (Anthropic's and OpenAI's documented statuses); all others from 400 up are of our making.
BUSY = frozenset({408, 409, 425, 429, 499, *range(500, 600)})
# Kinds of error that Anthropic may send in the middle of a stream whose status was 200.
_SETTINGS_KINDS = frozenset(
    {"authentication_error", "permission_error", "not_found_error", "invalid_request_error", "billing_error"}
)
_LOGIN = re.compile(r"//(.*)@", re.DOTALL)  # up to the last: a password may hold an at sign
_KEY_SHAPES = re.compile(r"\b(?:sk-|AIza|Bearer\s+|x-api-key[:=]\s*)[\w.-]{6,}", re.IGNORECASE)


def scrub(text: str, secrets: Iterable[str] = ()) -> str:
    """The text in one line, at most 240 characters, with these secrets and anything shaped like a key taken out."""
    for secret in secrets:
        if len(secret) >= 3:
            text = text.replace(secret, "•••")
    text = "".join(char if char.isprintable() else " " for char in text)  # it is shown in a terminal
    text = " ".join(_KEY_SHAPES.sub("•••", text).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """Every key in this environment, and every login in an address of it (`http://user:password@host`), longest first."""
    keys = (environ[name].strip() for name in (*KEY_VARIABLES, "ANTHROPIC_AUTH_TOKEN") if environ.get(name, "").strip())
    addresses = (environ.get(endpoint.url_variable, "") for endpoint in ENDPOINTS.values())
    logins = [found[1] for address in addresses if (found := _LOGIN.search(address))]
    passwords = [login.partition(":")[2] for login in logins]
    return sorted({*keys, *logins, *filter(None, passwords)}, key=len, reverse=True)


def shown(url: str, secrets: Iterable[str] = ()) -> str:
    """An address for a person: without its login and its query, either of which may hold a key."""
    return scrub(_LOGIN.sub("//", url).partition("?")[0], secrets)


def unavailable(
    spec: Spec | str, what: str, *, wait: float | None = None, remedy: str | None = None
) -> ModelUnavailable:
    """No answer now. `wait`: for how many seconds the endpoint asked to be left alone."""
    error = ModelUnavailable(f"{spec} {what}", remedy=remedy)
    error.wait = wait  # type: ignore[attr-defined]
    return error


def late(spec: Spec | str, seconds: float, what: str) -> ModelUnavailable:
    """It took more than so many seconds `what` (to begin, between two pieces, in all)."""
    error = unavailable(spec, f"took more than {seconds:.3g} s {what}")
    error.late = True  # type: ignore[attr-defined]
    return error


def passing(spec: Spec | str, what: str) -> ModelUnavailable:
    """No use of this answer; the next request may well get a better one, so that the model is not left alone for it."""
    error = unavailable(spec, what)
    error.passing = True  # type: ignore[attr-defined]
    return error


def declined(spec: Spec | str, raw: str = "") -> ModelUnavailable:
    """It refused this one request. `raw` is the endpoint's own word for it."""
    return passing(spec, "declined to answer" + (f" ({raw})" if raw else ""))


def from_status(spec: Spec, status: int, text: str, *, wait: float | None = None, kind: str = "") -> ModelError:
    """The fault for an HTTP status. `text` is the endpoint's own message, already scrubbed; `kind` its error type."""
    if status == 200:  # an error told inside a stream
        status = 400 if kind in _SETTINGS_KINDS else 529
        status = {"authentication_error": 401, "permission_error": 403, "not_found_error": 404}.get(kind, status)
    said = f": {text}" if text else ""
    if status in BUSY:
        word = {408: "timed out", 429: "has too many requests", 529: "is overloaded"}.get(status, "failed")
        asked = f" and asks to wait {wait:.0f} s" if wait else ""
        return unavailable(spec, f"{word} ({status}{asked}){said}", wait=wait)
    error = ModelSettings(f"{spec} {_settings_word(status)} ({status}){said}", remedy=_remedy(spec, status))
    error.lasting = status in (401, 402, 403, 404)  # type: ignore[attr-defined]
    return error


def no_key(spec: Spec) -> ModelSettings:
    """There is no key for this provider in the environment."""
    names = ENDPOINTS[spec.provider].keys
    error = ModelSettings(f"{spec} has no key", remedy=f"set {' or '.join(names)} in the environment")
    error.lasting = True  # type: ignore[attr-defined]
    return error


def _settings_word(status: int) -> str:
    words = {401: "refused the key", 402: "wants payment", 403: "refused access", 404: "was not found"}
    return words.get(status, "refused the request")


def _remedy(spec: Spec, status: int) -> str:
    endpoint = ENDPOINTS.get(spec.provider)
    variable = endpoint.keys[0] if endpoint and endpoint.keys else ""
    if status in (401, 403) and variable:
        return f"check {variable}"
    if status == 402:
        return "check the account's credit"
    if status == 404:
        where = f" and {endpoint.url_variable}" if endpoint else ""
        return f"check the model's name{where}"
    return "check the model's name and what it can do, or choose another"


def check_key(spec: Spec, environ: Mapping[str, str]) -> str:
    """The key for this provider, or a stand-in where its address was changed to one that may need none.

    Raises `ModelSettings` if there is none, or it holds what no HTTP header can carry (a stray quote, a line break).
    """
    endpoint = ENDPOINTS[spec.provider]
    key = endpoint.key(environ)
    if not key:
        if endpoint.keys and not endpoint.moved(environ):
            raise no_key(spec)
        return "none"
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ModelSettings(f"the key for {spec} holds characters no key has", remedy=f"check {endpoint.keys[0]}")
    return key

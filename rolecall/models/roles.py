"""The roles of the game master and the chain of models each has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from rolecall.errors import ModelSettings

from . import specs
from .chain import Chain, Models
from .provider import Limits

ROLES = ("narrator", "turn_dm", "dm", "sidecar")
# Seconds a model. The narrator's is to its first token and between two pieces; the others' is for the whole answer.
TIMEOUTS = {"turn_dm": 5.0, "dm": 8.0, "sidecar": 8.0, "narrator": 60.0}
# The longest a narrator may go on writing, in seconds.
NARRATOR_TOTAL = 600.0


@dataclass(frozen=True, slots=True)
class Link:
    """One model of a chain and whether it would answer now; `reason` says what is missing.

    `idle`: it runs inside the program and is too small for this role, so that code does its part."""

    spec: str
    ready: bool
    reason: str = ""
    idle: bool = False


@dataclass(frozen=True, slots=True)
class Description:
    """A role and its chain. `off`: the role has no model by choice. `chosen`: settings or options named the chain."""

    role: str
    links: tuple[Link, ...]
    off: bool = False
    chosen: bool = True


def chains_for(
    setting: Mapping[str, Any],
    overrides: Sequence[str],
    environ: Mapping[str, str],
    *,
    timeouts: Mapping[str, float] | None = None,
    models: Models | None = None,
) -> dict[str, Chain | None]:
    """A chain for every role, or None where it is off.

    `setting` is the `models` mapping of the settings: per role a spec, a list of specs, or `off`; `default` serves the
    roles not named. `overrides` are `SPEC` (every role that is not off) or `ROLE=SPEC`, later ones winning. Roles
    without either take what is there (`specs.default_chain`, asked once). Raises `ModelSettings`.
    """
    models = models or Models(environ)
    chosen = _chosen(setting, overrides)
    fallback: list[str] | None = None
    chains: dict[str, Chain | None] = {}
    for role in ROLES:
        wanted = chosen[role]
        if wanted is None:
            fallback = specs.default_chain(environ) if fallback is None else fallback
            wanted = fallback
        limits = limits_for(role, timeouts)
        chains[role] = Chain(wanted, limits, models, role) if wanted != "off" else None
    return chains


def limits_for(role: str, timeouts: Mapping[str, float] | None = None) -> Limits:
    """The time limits of a role, from the `timeouts` mapping of the settings (seconds) or else the defaults."""
    seconds = float((timeouts or {}).get(role, TIMEOUTS[role]))
    if role == "narrator":
        return Limits(seconds, seconds, max(NARRATOR_TOTAL, seconds))
    return Limits(seconds, seconds, seconds)


def describe(
    setting: Mapping[str, Any],
    overrides: Sequence[str],
    environ: Mapping[str, str],
    *,
    ask: bool = True,
) -> list[Description]:
    """Every role, its chain, and which of its models would answer now. Never holds a key.

    With `ask` the endpoints are asked, side by side, for at most a few seconds; else only keys and files are looked at.
    """
    chosen = _chosen(setting, overrides)
    chains = chains_for(setting, overrides, environ)
    every = {str(spec): spec for chain in chains.values() if chain for spec in chain.specs}
    models = Models(environ)
    with ThreadPoolExecutor(max_workers=8, thread_name_prefix="models") as pool:
        states = dict(zip(every, pool.map(lambda spec: _state(models, spec, ask), every.values()), strict=True))
    return [
        Description(
            role,
            tuple(replace(states[str(spec)], idle=_is_idle(spec, role)) for spec in chain.specs) if chain else (),
            chain is None,
            chosen[role] is not None,
        )
        for role, chain in chains.items()
    ]


def _is_idle(spec: specs.Spec, role: str) -> bool:
    return role != "narrator" and spec.provider in ("local", "gguf")


def _state(models: Models, spec: specs.Spec, ask: bool) -> Link:
    try:
        provider = models.provider(spec, "")
        reason = provider.check() if ask or spec.provider not in specs.ENDPOINTS else ""
    except ModelSettings as error:
        reason = str(error)
    return Link(str(spec), not reason, reason)


def _chosen(setting: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, list[str] | str | None]:
    """Per role the specs, "off", or None where nothing was chosen."""
    for key in setting:
        if key not in (*ROLES, "default"):
            raise _unknown_role(str(key))
    common = _wanted(setting["default"], "default") if "default" in setting else None
    chosen = {role: _wanted(setting[role], role) if role in setting else common for role in ROLES}
    for override in overrides:
        role, separator, value = override.partition("=")
        if not separator or not role.replace("_", "").replace("-", "").isalpha():  # a path may hold "="
            for name in ROLES:
                if chosen[name] != "off":
                    chosen[name] = _wanted(override, "--model")
            continue
        role = role.strip().replace("-", "_")
        if role == "default":
            for name in ROLES:
                if name not in setting:
                    chosen[name] = _wanted(value, role)
        elif role in ROLES:
            chosen[role] = _wanted(value, role)
        else:
            raise _unknown_role(role)
    return chosen


def _wanted(value: Any, role: str) -> list[str] | str:
    """A spec, a comma-free list of specs, or off (which YAML may have read as false)."""
    if value is False or (isinstance(value, str) and value.strip().lower() == "off"):
        return "off"
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not values or not all(isinstance(one, str) for one in values):
        raise ModelSettings(f"models: {role} is no spec, list of specs, or off", remedy="write for example openai/NAME")
    return [str(specs.parse(one)) for one in values]


def _unknown_role(role: str) -> ModelSettings:
    from rapidfuzz import process

    nearest = process.extractOne(role, (*ROLES, "default"), score_cutoff=60)
    guess = f"did you mean {nearest[0]}? " if nearest else ""
    return ModelSettings(
        f"{role!r} is no role", remedy=f"{guess}the roles are {', '.join(ROLES)}, and default for the rest"
    )

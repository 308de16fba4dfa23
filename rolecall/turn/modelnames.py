"""The models that the settings name, in `models:` and in `prices:`: a name that is none is told with its line."""

from __future__ import annotations

from collections.abc import Iterator

from rolecall.campaign.settings import SETTINGS_FILE, Settings
from rolecall.errors import ModelSettings
from rolecall.models import specs


def faults(settings: Settings) -> Iterator[ModelSettings]:
    """Every name in the settings that is no model's, in their order; each error bears file and line."""
    yield from _faults(settings, "models", settings.models.items())
    yield from _faults(settings, "prices", ((spec, spec) for spec in settings.prices))


def refuse(settings: Settings) -> None:
    """ModelSettings for the first name that is no model's: a misspelt price would be money that nobody counts."""
    for fault in faults(settings):
        raise fault


def _faults(settings: Settings, group: str, named: Iterator[tuple[str, object]]) -> Iterator[ModelSettings]:
    for key, said in named:
        for spec in said if isinstance(said, list) else [said]:
            if group == "models" and str(spec).strip().casefold() == "off":
                continue
            try:
                specs.parse(str(spec))
            except ModelSettings as fault:
                line = settings.lines.get(f"{group}.{key}")
                what = f"`{group}`: {fault.what}"
                yield ModelSettings(what, path=SETTINGS_FILE, line=line, remedy=fault.remedy)

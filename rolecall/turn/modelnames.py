"""The models that the settings name, in `models:` and in `prices:`: a name that is none is told with its line.

A campaign may come from anybody. Files that its settings have read as answers (`scripted:`, `record:`) lie inside it; weights
(`gguf:`) may lie anywhere, for that is where people keep them. On the command line any path is the user's own word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rolecall.campaign import paths
from rolecall.campaign.folder import Campaign
from rolecall.campaign.settings import SETTINGS_FILE
from rolecall.errors import ModelSettings, StorageError
from rolecall.models import specs


def faults(campaign: Campaign) -> Iterator[ModelSettings]:
    """Every name in the settings that is no model's or leads outside, in their order; each error bears file and line."""
    yield from _faults(campaign, "models", campaign.settings.models.items())
    yield from _faults(campaign, "prices", ((spec, spec) for spec in campaign.settings.prices))


def refuse(campaign: Campaign) -> None:
    """ModelSettings for the first name that is no model's: a misspelt price would be money that nobody counts."""
    for fault in faults(campaign):
        raise fault


def rooted(campaign: Campaign) -> dict[str, object]:
    """`models:` of the settings with the paths of files relative to the campaign, wherever the command runs."""
    return {role: _rooted(campaign.root, said) for role, said in campaign.settings.models.items()}


def _rooted(root: Path, said: object) -> object:
    if isinstance(said, list):
        return [_rooted(root, one) for one in said]
    for scheme in (f"{provider}:" for provider in specs.BY_PATH):
        if isinstance(said, str) and said.strip().startswith(scheme):
            path = said.strip().removeprefix(scheme).strip()
            return said if path.startswith("~") else scheme + str(root / path)
    return said


def _faults(campaign: Campaign, group: str, named: Iterable[tuple[str, object]]) -> Iterator[ModelSettings]:
    for key, said in named:
        for spec in said if isinstance(said, list) else [said]:
            if group == "models" and str(spec).strip().casefold() == "off":
                continue
            try:
                parsed = specs.parse(str(spec))
                if group == "models":
                    _refuse_outside(campaign.root, parsed)
            except ModelSettings as fault:
                line = campaign.settings.lines.get(f"{group}.{key}")
                what = f"`{group}`: {fault.what}"
                yield ModelSettings(what, path=SETTINGS_FILE, line=line, remedy=fault.remedy)


def _refuse_outside(root: Path, spec: specs.Spec) -> None:
    if spec.provider not in ("scripted", "record"):
        return
    try:
        if spec.name.startswith("~"):
            raise StorageError("a home folder is no part of the campaign", path=spec.name)
        paths.locate(root, spec.name)
    except StorageError:
        remedy = f"name a file inside it, or give `--model {spec.provider}:PATH` yourself"
        raise ModelSettings(f"{str(spec)!r} leads out of the campaign", remedy=remedy) from None

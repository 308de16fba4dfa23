"""A fault of every kind at every step, where the default run leaves out steps that are much like others."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from rolecall.campaign import template
from tests.turn import trials, world
from tests.turn.faults import Killed, failing
from tests.turn.test_faults import FAULTS, Trial, every_step, every_step_of_recovery, fold, recover, turn

LACKS = [(), ("exchange",), ("exchange", "link")]


@pytest.mark.parametrize("lacks", LACKS, ids=lambda lacks: "-".join(lacks) or "all")
@pytest.mark.parametrize("fault", (*FAULTS, "kill"))
@pytest.mark.parametrize("fold_at", [world.NEVER_FOLD, world.FOLD_SOON])
def test_a_fault_at_any_step_of_a_turn(fault: str, fold_at: int, lacks: tuple[str, ...], tmp_path: Path) -> None:
    every_step(Trial(tmp_path / "tale", fold_at, lacks), turn, fault)


@pytest.mark.parametrize("lacks", LACKS, ids=lambda lacks: "-".join(lacks) or "all")
@pytest.mark.parametrize("fault", (*FAULTS, "kill"))
def test_a_fault_at_any_step_of_a_fold_on_demand(fault: str, lacks: tuple[str, ...], tmp_path: Path) -> None:
    every_step(Trial(tmp_path / "tale", world.NEVER_FOLD, lacks), fold, fault)


@pytest.mark.parametrize("fault", ("torn", "power"))
def test_a_kill_at_any_step_of_a_recovery(fault: str, tmp_path: Path) -> None:
    every_step_of_recovery(Trial(tmp_path / "tale", world.FOLD_SOON), fault)


@pytest.mark.parametrize("fault", ("torn", "power", "kill"))
def test_new_can_be_killed_again_and_again(fault: str, tmp_path: Path) -> None:
    """Each attempt dies a little later than the one before, in the folder that one left."""
    template.new(tmp_path / "whole", "The Tale")
    place = tmp_path / "tale"
    for at in range(1, 1000):
        with failing(place, at, fault) as faulty, contextlib.suppress(Killed):
            template.new(place, "The Tale")
        if not faulty.hit or (place / "rolecall.yaml").exists():
            break
    recover(place)
    assert world.text(place) == world.text(tmp_path / "whole")


@pytest.mark.parametrize("fault", trials.FAULTS)
@pytest.mark.parametrize("name", trials.COMMANDS)
def test_a_fault_at_any_step_of_any_command_is_one_line_and_loses_nothing(
    name: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: pytest.MonkeyPatch
) -> None:
    trial = trials.Trial(tmp_path, name, monkeypatch)
    for number, one in trials.trials(trial):
        if one == fault:
            trial.fail(number, fault)

"""A fault at every step of a turn, a fold and a recovery: at the next command every law holds.

What may be lost is pinned: a turn that was not acknowledged is either told whole or taken back with its action kept.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall.campaign import checks, lock, records, template
from rolecall.campaign.folder import open_campaign
from rolecall.errors import RoleCallError
from rolecall.search.searcher import Search
from rolecall.turn import recovery, unfinished
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.turn import world
from tests.turn.faults import DEADLY, Faulty, Killed, failing

FIRST, SECOND = "I ask who burned it.", "I wait for the tide."
FAULTS = ("torn", "power", "full", "short", "once", "refused")
_CHANGES = {"create", "write", "fsync", "truncate", "replace", "exchange", "link", "unlink", "mkdir", "sync_folder"}
FITS = {  # where a fault makes a difference
    "torn": _CHANGES,
    "power": _CHANGES,
    "full": {"create", "write", "link", "mkdir"},
    "short": {"write"},
}

Act = Callable[[Game], object]


def turn(game: Game) -> object:
    """The command under fault: a turn."""
    return game.tell(FIRST, Listener())


def fold(game: Game) -> object:
    """The command under fault: a fold on demand."""
    return game.fold()


@dataclass
class Trial:
    """A campaign that is set up afresh for each fault, always at the same place (so that its index is reused)."""

    root: Path
    fold_at: int
    lacks: tuple[str, ...] = ()

    def fresh(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        world.make(self.root, self.fold_at)

    def fail(self, act: Act, teller: world.Teller, at: int, fault: str) -> tuple[Faulty, Game, bool]:
        """Run a command with a fault; whether it was acknowledged. Only RoleCall's own errors may come out of it."""
        game = world.game(self.root, teller)
        done = False
        with failing(self.root, at, fault, lacks=self.lacks) as faulty:
            try:
                act(game)
                done = True
                faulty.dead = fault == "power"  # the machine goes down right behind the command
            except (RoleCallError, Killed):
                pass
        return faulty, world.game(self.root, teller) if fault in DEADLY else game, done

    def next_command(self, teller: world.Teller, game: Game, laws: Laws, *, look: bool, action: str) -> None:
        """Put right by a reading command first (every other time), then another turn; the laws hold after each."""
        asked = len(teller.asked)
        paid = complete_answers(self.root)
        begun = FIRST in recorded(self.root)
        if look:
            recover(self.root)
            laws.hold(self.root, set(), "recovered")
            assert len(teller.asked) == asked, f"{laws.at}: recovery asked a model"
        told = game.tell(action, Listener())
        number = int(told.turn[1:])
        standing = laws.hold(self.root, {number}, told.turn)
        assert number == max(standing)
        assert not paid & set(teller.asked[asked:]), f"{laws.at}: an answer that was paid for was asked for again"
        if begun and FIRST not in story_of(self.root):  # taken back
            assert FIRST in recorded(self.root), f"{laws.at}: the action is lost"


@dataclass(frozen=True)
class Laws:
    """The laws after one fault: which turns were acknowledged, how many arc moves may have been refused."""

    at: str
    acknowledged: set[int]
    left_out: int

    def hold(self, root: Path, more: set[int], then: str) -> set[int]:
        return world.assert_laws(root, self.acknowledged | more, at=f"{self.at}, then {then}", left_out=self.left_out)


def recover(root: Path) -> list[recovery.Recovered]:
    """What a reading command does first."""
    campaign = open_campaign(root, here_only=True)
    if not unfinished.is_left(campaign):
        return []
    with lock.hold(root, "recovery"):
        return recovery.recover(campaign, Search(campaign))


def complete_answers(root: Path) -> set[str]:
    """The digests of all requests whose whole answer is on record."""
    found = set()
    for place in (root / records.TURNS, root / records.FOLDS):
        for folder in sorted(place.iterdir()) if place.is_dir() else ():
            name = folder.relative_to(root).as_posix()
            found |= {call.digest for call in records.calls(root, name) if call.complete}
    return found


def story_of(root: Path) -> str:
    return (root / "story/001-the-quay.md").read_text("utf-8")


def recorded(root: Path) -> str:
    found = sorted((root / records.TURNS).glob("*/record.jsonl")) if (root / records.TURNS).is_dir() else []
    return "".join(p.read_text("utf-8") for p in found)


def steps_of(trial: Trial, act: Act) -> list[tuple[str, str]]:
    """The steps of the command without a fault."""
    trial.fresh()
    faulty, _, done = trial.fail(act, world.Teller(), 0, "kill")
    assert done
    return faulty.steps


def every_step(trial: Trial, act: Act, fault: str, begin: str = "") -> None:
    """A fault at every step of a command, or from the first step on whose path begins with `begin`."""
    steps = steps_of(trial, act)
    first = next(n for n, (_, path) in enumerate(steps, 1) if path.startswith(begin))
    for number, (name, path) in enumerate([*steps, ("sync_folder", "behind it")], 1):
        if number < first or name not in FITS.get(fault, {name}):
            continue
        trial.fresh()
        teller = world.Teller()
        _, game, done = trial.fail(act, teller, number, fault)
        refused = fault in ("once", "refused") and (name == "read" or path.startswith(("arcs/", "characters/")))
        acknowledged = {1, 2, 3} | ({4} if done and act is turn else set())
        laws = Laws(f"{fault} at step {number} of {len(steps)} ({name} {path})", acknowledged, int(refused))
        action = SECOND if number % 3 else FIRST
        trial.next_command(teller, game, laws, look=number % 2 == 0, action=action)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_of_a_turn_loses_and_doubles_nothing(fault: str, tmp_path: Path) -> None:
    every_step(Trial(tmp_path / "tale", world.NEVER_FOLD), turn, fault)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_of_an_automatic_fold_loses_and_doubles_nothing(fault: str, tmp_path: Path) -> None:
    every_step(Trial(tmp_path / "tale", world.FOLD_SOON), turn, fault, begin=records.FOLDS)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_of_a_fold_on_demand_loses_and_doubles_nothing(fault: str, tmp_path: Path) -> None:
    every_step(Trial(tmp_path / "tale", world.NEVER_FOLD), fold, fault)


def test_a_kill_at_any_step_of_a_fold_is_survived_without_hard_links(tmp_path: Path) -> None:
    """A new file's name is claimed there and the file renamed over the claim: a kill in between leaves an empty file."""
    every_step(Trial(tmp_path / "tale", world.FOLD_SOON, ("exchange", "link")), turn, "torn", begin=records.FOLDS)


def test_a_kill_at_any_step_of_a_recovery_is_recovered_from(tmp_path: Path) -> None:
    every_step_of_recovery(Trial(tmp_path / "tale", world.FOLD_SOON), "torn")


def every_step_of_recovery(trial: Trial, fault: str) -> None:
    """Turns that died at telling places; then a death at every step of the recovery."""
    for died, step in dying_places(steps_of(trial, turn)):
        trial.fresh()
        trial.fail(turn, world.Teller(), step, "torn")
        with failing(trial.root) as counted:
            recover(trial.root)
        for number, (name, path) in enumerate(counted.steps, 1):
            if name not in FITS[fault]:
                continue
            trial.fresh()
            trial.fail(turn, world.Teller(), step, "torn")
            with failing(trial.root, number, fault), contextlib.suppress(Killed):
                recover(trial.root)
            teller = world.Teller()
            laws = Laws(f"died {died}, then {fault} at step {number} of recovery ({name} {path})", {1, 2, 3}, 0)
            game = world.game(trial.root, teller)
            trial.next_command(teller, game, laws, look=number % 2 == 0, action=SECOND)


def test_look_ups_that_were_paid_for_are_not_asked_for_again_though_the_prompt_is_at_its_budget(tmp_path: Path) -> None:
    """What the provider reports teaches the budget within the turn; a retry in another process must learn the same."""
    trial = Trial(tmp_path / "tale", world.NEVER_FOLD)

    def fresh() -> None:
        trial.fresh()
        with (trial.root / "rolecall.yaml").open("ab") as settings:
            settings.write(b"context: {budget: 1000}\n")
        for number in range(12):
            page = f"---\nname: Ledger page {number}\n---\n" + "The ledger of Marta and Sera burned. " * 20
            (trial.root / f"lore/page-{number}.md").write_text(page)

    fresh()
    with failing(trial.root) as counted:
        world.game(trial.root, whole := world.Teller(look_ups=3)).tell(FIRST, Listener())
    last = f"{records.TURNS}/T0004/calls/005-narrator.jsonl"  # behind the retriever and three look-ups
    dying = next(n for n, step in enumerate(counted.steps, 1) if step == ("write", last)) + 2
    fresh()
    with failing(trial.root, dying, "torn"), contextlib.suppress(Killed):
        world.game(trial.root, died := world.Teller(look_ups=3)).tell(FIRST, Listener())
    assert died.asked == whole.asked[:5]
    world.game(trial.root, again := world.Teller(look_ups=3)).tell(FIRST, Listener())
    assert again.asked == whole.asked[4:]  # the torn answer, and what follows a told turn


def dying_places(steps: list[tuple[str, str]]) -> list[tuple[str, int]]:
    """Steps of a turn at which a death leaves much to do."""

    def last(name: str, path: str) -> int:
        return max(n for n, (a, p) in enumerate(steps, 1) if a == name and p.startswith(path))

    record = ".rolecall/turns/T0004/record.jsonl"
    plan = next(n for n, step in enumerate(steps, 1) if step == ("write", record))
    return [
        ("with all answers, before the plan", plan - 1),
        ("in the middle of the last entry's line", last("write", "characters/sera")),
        ("with its Chronicle made, before the lines left", last("link", "chronicles/")),
        ("in the middle of its last record line", last("write", record)),
    ]


@pytest.mark.parametrize("fault", ("torn", "full", "refused"))
def test_a_fault_at_any_step_of_new_leaves_a_folder_where_new_works(fault: str, tmp_path: Path) -> None:
    """Its files are made one like the other: the first steps and the last."""
    place = tmp_path / "tale"
    with failing(place) as counted:
        template.new(place, "The Tale")
    wanted = world.text(place)
    for number, (name, path) in enumerate(counted.steps, 1):
        if name not in FITS.get(fault, {name}) or 25 < number < len(counted.steps) - 25:
            continue
        shutil.rmtree(place)
        with failing(place, number, fault), contextlib.suppress(RoleCallError, Killed):
            template.new(place, "The Tale")
        if not (place / "rolecall.yaml").exists():
            template.new(place, "The Tale")
        recover(place)
        at = f"{fault} at step {number} ({name} {path})"
        assert world.text(place) == wanted, at
        assert not checks.check(open_campaign(place, here_only=True)), at

"""Every layer times every fault, by real commands: the turn is told and says what stood in, or nothing has happened at all."""

from __future__ import annotations

import json
import re
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall.campaign.checks import check
from rolecall.campaign.folder import open_campaign
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.conftest import REPOSITORY, Ran
from tests.game import fault_table, plot
from tests.game.fault_table import (
    BAD,
    FAULTS,
    GOOD_MODEL,
    LAYERS,
    PROTOCOLS,
    SHARED,
    SLOW,
    Fault,
    Layer,
    Server,
    outcome,
)
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.turn.world import text

TOLD = 4  # turns before the one that is tried, in which the narrator looks something up
TURN = TOLD + 1
ACTION = f"I go on, {TURN}."
# In the turn that is tried every layer has work: a summary is due, and a fold.
DUE = "memory: {fold_at: 200, keep_lines: 2, historian_every: 1, historian_lookback: 30}"
FIRST_OF_ITS_FORM = {layer.form: layer for layer in reversed(LAYERS) if layer.role == "sidecar"}


def protocols(layer: Layer, fault: Fault) -> tuple[str, ...]:
    """Both protocols for the narrator and for one layer of each form of answer; the others take them in turn."""
    if layer.role == "narrator" or layer in FIRST_OF_ITS_FORM.values() or len(fault.protocols) == 1:
        return fault.protocols
    return fault.protocols[(LAYERS.index(layer) + FAULTS.index(fault)) % 2 :][:1]


CELLS = [
    pytest.param(layer, fault, protocol, id=f"{layer.about}-{fault.name}-{protocol}".replace(" ", "_"))
    for layer in LAYERS
    for fault in FAULTS
    for protocol in protocols(layer, fault)
]


@dataclass(frozen=True)
class Ready:
    """A campaign of a few told turns, where copies of it are tried, and the index of that place."""

    root: Path
    place: Path
    cache: Path

    def fresh(self) -> Path:
        """A copy that nothing has happened to. The index stays, and finds out what is as it was."""
        shutil.rmtree(self.place, ignore_errors=True)
        return Path(shutil.copytree(self.root, self.place))


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Ready:
    """A campaign of a few told turns."""
    root = plot.make(tmp_path_factory.mktemp("ready") / "tale")
    with Loopback(plot.Cast()) as server:
        game = Game(root, environ=server.environ("openai"), models=(f"openai/{GOOD_MODEL}", "sidecar=off"))
        for n in range(1, TURN):
            game.tell(f"I go on, {n}.", Listener())
    return Ready(root, tmp_path_factory.mktemp("tried") / "tale", tmp_path_factory.mktemp("cache"))


@pytest.fixture
def nobody() -> str:
    """An address where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize(("layer", "fault", "protocol"), CELLS)
def test_the_turn_is_told_or_nothing_has_happened(
    layer: Layer,
    fault: Fault,
    protocol: str,
    ready: Ready,
    nobody: str,
    loopback: Loopback,
    rolecall: Callable[..., Ran],
    clean_environment: pytest.MonkeyPatch,
):
    root = ready.fresh()
    clean_environment.setenv("XDG_CACHE_HOME", str(ready.cache))
    settings(root, layer, fault, protocol)
    loopback.answer(server := Server(layer, fault))
    for name, value in loopback.environ(*PROTOCOLS, "openrouter").items():
        clean_environment.setenv(name, value)
    if fault.everywhere:
        clean_environment.setenv(f"{protocol.upper()}_BASE_URL", nobody)
    before = text(root)
    ran = rolecall("-C", root, "turn", ACTION, "--json")
    if not fault.everywhere:
        assert (layer.name, BAD) in server.asked, ran.err
    wanted = outcome(layer, fault)
    if wanted.told:
        is_told(root, ran, wanted, same_role(layer, fault))
    else:
        is_untouched(root, ran, wanted, before)


def settings(root: Path, layer: Layer, fault: Fault, protocol: str) -> None:
    """The chain of each role, short time limits where time is what fails, and everything due in this turn."""
    sound = f"openrouter/{GOOD_MODEL}"
    chains = {}
    for role in ("narrator", "turn_dm", "dm", "sidecar"):
        mine = [f"{protocol}/{BAD}"] if role == layer.role else [sound]
        chains[role] = [*mine, sound] if role == "narrator" and role == layer.role and not layer.only else mine
    seconds = SHARED if layer.role == "sidecar" else SLOW
    limits = {role: seconds if fault.slow and role == layer.role else 20 for role in chains}
    kept = (root / "rolecall.yaml").read_text().splitlines()
    kept = [line for line in kept if line.split(":")[0] not in ("models", "timeouts", "memory")]
    more = [f"models: {json.dumps(chains)}", f"timeouts: {json.dumps(limits)}", DUE]
    (root / "rolecall.yaml").write_text("\n".join([*kept, *more]) + "\n")


def same_role(layer: Layer, fault: Fault) -> list[Layer]:
    """The layers that have this fault: one, or all that ask the same models."""
    return [one for one in LAYERS if one.role == layer.role and one.only == layer.only] if fault.everywhere else [layer]


def is_told(root: Path, ran: Ran, wanted, layers: list[Layer]) -> None:
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["turn"] == f"T{TURN:04d}" and told["prose"].strip()
    rows = {row["layer"]: row for row in told["degraded"]}
    assert len(rows) == len(told["degraded"])
    expected = {one.said: one.fallback for one in layers} if len(layers) > 1 else {wanted.layer: wanted.fallback}
    expected.pop("", None)
    assert {name: row["fallback"] for name, row in rows.items()} == expected, told["degraded"]
    for row in rows.values():
        assert "\n" not in row["reason"] and re.search(says(wanted.reason), row["reason"]), row
    fed = [json.loads(line) for line in (root / ".rolecall/activity.jsonl").read_text().splitlines()]
    said = [op["reason"] for op in fed if op["type"] == "degraded" and op["turn"] == told["turn"]]
    assert said == [f"{row['layer']}: {row['reason']} → {row['fallback']}"[:500] for row in told["degraded"]]
    files = text(root)
    everything = b"\n".join(files.values()).decode()
    lines = [line for line in everything.splitlines() if line.startswith(f"- T{TURN:04d} ")]
    assert lines.count(f"- T{TURN:04d} {told['journal']}") == 1, "the journal line stands exactly once"
    story = "\n".join(data.decode() for path, data in files.items() if path.startswith("story/"))
    assert story.count(f"## T{TURN:04d}\n") == 1 and story.count(f"> {ACTION}\n") == 1
    assert told["prose"].split("\n")[0] in story
    assert [str(problem) for problem in check(open_campaign(root, here_only=True))] == []


def is_untouched(root: Path, ran: Ran, wanted, before: dict[str, bytes]) -> None:
    assert (ran.code, ran.out) == (1, ""), ran
    first, *rest = ran.err.splitlines()
    assert first.startswith("Error: ") and re.search(says(wanted.reason), first), ran.err
    assert rest == [f"Hint: The action is kept in .rolecall/drafts/T{TURN:04d}.md."]
    assert ACTION in (root / f".rolecall/drafts/T{TURN:04d}.md").read_text()
    assert text(root) == before


def says(reason: str) -> str:
    """A pattern for a reason: its alternatives, each word for word."""
    return "|".join(re.escape(part) for part in reason.split("|"))


def test_a_chain_of_several_faults_falls_back_with_one_line(
    ready: Ready,
    loopback: Loopback,
    rolecall: Callable[..., Ran],
    clean_environment: pytest.MonkeyPatch,
):
    """A wrong key, then a server that fails, then a model that tells, in two answers."""
    root = ready.fresh()
    clean_environment.setenv("XDG_CACHE_HOME", str(ready.cache))
    for name, value in loopback.environ(*PROTOCOLS, "openrouter").items():
        clean_environment.setenv(name, value)
    cast, faults = plot.Cast(), {"wrong-key": Reply(status=401), "broken": Reply(status=500)}
    loopback.answer(lambda body: faults.get(body["model"]) or cast(body))
    chain = ("anthropic/wrong-key", "openai/broken", f"openrouter/{GOOD_MODEL}")
    settings = (root / "rolecall.yaml").read_text().splitlines()
    kept = [line for line in settings if line.split(":")[0] != "models"]
    models = {"default": "off", "narrator": chain}
    (root / "rolecall.yaml").write_text("\n".join([*kept, f"models: {json.dumps(models)}"]) + "\n")
    told = json.loads(rolecall("-C", root, "turn", ACTION, "--json").out)
    (row,) = told["degraded"]
    assert (row["layer"], row["fallback"]) == ("narrator", chain[-1])
    assert re.fullmatch(r"anthropic/wrong-key refused the key \(401\).*; openai/broken failed \(500\).*", row["reason"])
    assert row["reason"].count("(401)") == row["reason"].count("(500)") == 1

    loopback.answer(Reply(status=401))
    ran = rolecall("-C", root, "turn", "I go on.", "--json")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 2)
    assert ran.err.count("refused the key (401)") == 3, "with only faults of the settings each is told"


def test_the_page_of_faults_is_the_table_of_this_test():
    assert (REPOSITORY / "docs/faults.md").read_text() == fault_table.document(), (
        "run: python -m tests.game.fault_table > docs/faults.md"
    )

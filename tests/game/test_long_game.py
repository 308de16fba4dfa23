"""Three hundred turns over the wire, in both protocols: nothing is forgotten, and the prompt does not grow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rolecall.campaign import chronicles, journal, story
from rolecall.campaign.checks import check
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.instructions import instructions
from rolecall.campaign.kinds import STATE_FILE
from rolecall.models import tokens
from tests.conftest import REPOSITORY
from tests.loopback import storyteller

TURNS = 300


def play(campaign: Path, environ: dict[str, str], actions: list[str]) -> None:
    clean = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_BASE_URL"))}
    ran = subprocess.run(
        [sys.executable, "-m", "rolecall", "-C", str(campaign), "play"],
        input="\n".join(actions),
        env={**clean, **environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]


def journal_everywhere(campaign: Campaign) -> list[journal.Line]:
    found: list[journal.Line] = []
    for _, path in chronicles.paths(campaign):
        found += journal.lines_of(campaign.document(path))
    return found + list(journal.lines_of(campaign.document(STATE_FILE)))


def prompt_of(body: dict) -> str:
    """Everything a narrator request says, tool schemas included, in either protocol."""
    return json.dumps([body.get("system"), body["messages"], body.get("tools")], ensure_ascii=False)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_after_three_hundred_turns_every_line_stands_exactly_once(protocol, campaign, loopback):
    play(campaign, loopback.environ(protocol), [f"I go on, {n}." for n in range(1, TURNS + 1)])
    opened = open_campaign(campaign)
    lines = journal_everywhere(opened)
    assert [line.turn for line in lines] == list(range(1, TURNS + 1))
    assert [line.text for line in lines] == [storyteller.line(n) for n in range(1, TURNS + 1)]
    told = [t.turn for _, path in story.chapters(opened) for t in story.turns_of(opened.document(path))]
    assert told == list(range(1, TURNS + 1))
    assert check(opened) == []
    narrator = [body for body in loopback.bodies if "append_journal" in storyteller.tools_of(body)]
    assert len(narrator) == TURNS + TURNS // 5  # a search every fifth turn, and never one request more
    _prompts_hold_what_they_must(opened, narrator)
    _prompts_do_not_grow(narrator)


def _prompts_hold_what_they_must(opened: Campaign, narrator: list[dict]) -> None:
    searching = next(
        i for i in instructions(opened, "narrator") if i.path.endswith("before-inventing-a-name-place-or-fact.md")
    )
    state = opened.document(STATE_FILE)
    for body in narrator:
        said = prompt_of(body)
        assert json.dumps(searching.text, ensure_ascii=False)[1:-1] in said
        assert "# The Campaign State" in said and f"scene: {state.text('scene')}" in said
        turn, _ = storyteller.place(body)
        if turn > 1:
            assert storyteller.line(turn - 1) in said
        assert said.count("- T0") * 60 < 9000  # the Journal in the prompt is the folded one


def _prompts_do_not_grow(narrator: list[dict]) -> None:
    """Prompt lengths around turn 300 against those around turn 100 (ten turns each, first rounds)."""
    first = {storyteller.place(b)[0]: tokens.estimate(prompt_of(b)) for b in narrator if storyteller.place(b)[1] == 0}
    assert max(first.values()) <= 8000
    early = sum(first[n] for n in range(96, 106)) / 10
    late = sum(first[n] for n in range(291, 301)) / 10
    assert late <= early * 1.10


def test_the_journal_was_never_over_its_limit(campaign, loopback):
    # Each write of the Campaign State is in the turn's record: the sizes are those the file really had.
    play(campaign, loopback.environ("openai"), [f"I go on, {n}." for n in range(1, 81)])
    opened = open_campaign(campaign)
    longest = 0
    for folder in sorted((campaign / ".rolecall/turns").iterdir()):
        for line in (folder / "record.jsonl").read_text().splitlines():
            write = json.loads(line)
            if write["do"] == "write" and write["path"] == STATE_FILE:
                longest = max(longest, write["at"] + len(write["new"].encode()))
    head = len(opened.read(STATE_FILE)) - sum(
        len(li.raw.encode()) + 1 for li in journal.lines_of(opened.document(STATE_FILE))
    )
    assert 3000 < longest - head <= 9000
    assert len(chronicles.paths(opened)) >= 1

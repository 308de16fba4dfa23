"""Three hundred turns with git on: a commit a turn, a sound repository, a log that reads as the journal."""

from __future__ import annotations

import random

from rolecall.campaign import chronicles, journal
from rolecall.campaign.checks import check
from rolecall.campaign.folder import open_campaign
from tests.game.repositories import NEEDS_GIT, WRITER, line, table

TURNS = 300

pytestmark = NEEDS_GIT


def test_three_hundred_turns_are_three_hundred_commits(tmp_path, monkeypatch, clean_environment):
    tale = table(tmp_path, monkeypatch)
    dice = random.Random(300)
    game, edits = tale.game(), 0
    for n in range(1, TURNS + 1):
        if dice.random() < 0.3:
            edits += 1
            tale.write(f"lore/note-{edits}.md", f"Noted before the hour {n}.\n")
        assert game.tell(f"I wait, {n}.", tale.listener).degraded == ()
    told = tale.git("log", "--reverse", f"--author={WRITER}", "--invert-grep", "--grep=^By hand", "--format=%s")
    assert told == ""
    log = tale.git("log", "--reverse", "--format=%an%x00%s%x00%(trailers:key=Rolecall-Turn,valueonly)%x00%H").split(
        "\n"
    )
    rows = [row.split("\0") for row in "\n".join(log).replace("\n\0", "\0").split("\n") if row]
    turns = [row for row in rows if row[2].strip()]
    assert [row[1] for row in turns] == [f"T{n:04d} {line(n)}" for n in range(1, TURNS + 1)]
    assert len([row for row in rows if row[1].startswith("By hand")]) == edits
    campaign = open_campaign(tale.root)
    every = [
        one for _, path in chronicles.paths(campaign) for one in journal.lines_of(campaign.document(path), sealed=True)
    ]
    every += journal.lines_of(campaign.document("campaign-state.md"))
    assert [row[1] for row in turns] == [f"T{one.turn:04d} {one.text}" for one in every]
    for row in turns:
        changed = tale.files_of(row[3])
        assert all(path.startswith(("story/", "chronicles/", "campaign-state.md")) for path in changed), changed
        added = tale.git("show", "--format=", "--numstat", row[3], "--", "campaign-state.md", "story")
        folds = any(path.startswith("chronicles/") for path in changed)
        assert folds or all(int(part.split("\t")[1]) == 0 for part in added.split("\n")), row[1]
    assert tale.git("fsck", "--strict", "--no-dangling") == "" and tale.git("status", "--porcelain") == ""
    assert check(campaign) == []

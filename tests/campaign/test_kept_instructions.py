"""Instructions are kept while their files stay as they are, and never a moment longer."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.instructions import instructions

OLD = time.time() - 3600


def told(campaign: Campaign) -> str:
    return "\n".join(one.text for one in instructions(campaign, "narrator"))


def put(campaign: Path, name: str, text: str, when: float) -> None:
    path = campaign / "instructions" / name
    path.write_text(f"---\nlayer: narrator\nwhen: always\n---\n{text}\n")
    os.utime(path, (when, when))


def aged(root: Path) -> Campaign:
    """The campaign with instructions that nobody has touched for an hour."""
    for path in (root / "instructions").iterdir():
        os.utime(path, (OLD, OLD))
    return open_campaign(root)


def test_a_file_that_is_saved_between_two_questions_is_told_as_it_is_now(campaign):
    opened = aged(campaign)
    put(campaign, "mine.md", "Tell it in verse.", OLD)
    assert "Tell it in verse." in told(opened)
    put(campaign, "mine.md", "Tell it in prose.", OLD + 1)  # the same length, another time
    assert "Tell it in prose." in told(opened) and "verse" not in told(opened)


def test_two_saves_within_one_tick_of_the_clock_are_both_seen(campaign):
    opened, now = aged(campaign), time.time()
    put(campaign, "mine.md", "Tell it in verse.", now)
    assert "Tell it in verse." in told(opened)
    put(campaign, "mine.md", "Tell it in prose.", now)  # the same length and the same time
    assert "Tell it in prose." in told(opened)


def test_a_file_that_is_gone_is_told_no_more_and_a_folder_that_is_gone_gives_the_packaged_ones(campaign):
    opened = aged(campaign)
    put(campaign, "mine.md", "Tell it in verse.", time.time())
    assert "verse" in told(opened)
    for path in (campaign / "instructions").iterdir():
        path.unlink()
    assert "verse" not in told(opened) and told(opened)
    (campaign / "instructions").rmdir()
    assert all(one.path.startswith("packaged: ") for one in instructions(opened, "narrator"))

"""`rolecall check` tells what of the game's state cannot be used as it is written."""

from __future__ import annotations

import pytest

CALENDAR = "---\nname: The reckoning\nkind: rule\nmonths: [Frostmoon 30, Thawmoon 31]\nweekdays: [Moonday]\n{}---\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"rules/r.md": CALENDAR.format("")}, []),
        ({"rules/r.md": CALENDAR.format("seasons: [Winter from Frostmoon]\nweekday_on: 1 Frostmoon 12 = Moonday\n")}, []),
        ({"rules/r.md": CALENDAR.format("weekday_on: 1 Frostmoon 12 = Sunday\n")}, ["rules/r.md:6: this weekday cannot be placed"]),
        ({"rules/r.md": CALENDAR.format("seasons: [Winter from Frostmoon, Spring from May]\n")},
         ["rules/r.md:6: a season that begins on no day of this calendar"]),
        ({"lore/r.md": "---\nname: R\nmonths: twelve of them\n---\n"}, ["lore/r.md:3: these months cannot be counted"]),
        ({"lore/r.md": CALENDAR.format(""), "rules/s.md": CALENDAR.format("").replace("reckoning", "old reckoning")},
         ["rules/s.md:4: a second calendar; lore/r.md is the one that counts"]),
        ({"events/a.md": "---\nname: A\nkind: event\ndate: when the tide turns\nstatus: scheduled\n---\n"},
         ["events/a.md:4: an event is scheduled for 'when the tide turns', which nobody can count"]),
        ({"events/a.md": "---\nname: A\nkind: event\nstatus: scheduled\n---\n"}, ["events/a.md:4: an event is scheduled for no date"]),
        ({"events/a.md": "---\nname: A\nkind: event\ndate: Day 12\nstatus: scheduled\n---\n"}, []),
        ({"events/a.md": "---\nname: A\nkind: event\ndate: long ago\nstatus: past\n---\n"}, []),
    ],
)  # fmt: skip
def test_what_was_meant_to_count_and_does_not_is_told_with_its_line(rolecall, campaign, files, said):
    for path, text in files.items():
        (campaign / path).parent.mkdir(exist_ok=True)
        (campaign / path).write_text(text)
    ran = rolecall("-C", campaign, "check")
    assert (ran.code, [line.split("; ")[0] if "second" not in line else line.rsplit("; ", 1)[0] for line in ran.out.splitlines() if "/" in line]) == (
        1 if said else 0, said)  # fmt: skip


def test_two_sections_of_the_campaign_state_are_told(rolecall, campaign):
    state = campaign / "campaign-state.md"
    state.write_text(state.read_text().replace("## Journal", "## Effects\n\n## Effects\n\n## Journal"))
    ran = rolecall("-C", campaign, "check")
    assert ran.code == 1 and "the heading `Effects` stands here a second time" in ran.out

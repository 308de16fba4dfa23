"""The cast: what people think of each other, how they stand, and who travels with the party."""

from __future__ import annotations

from rolecall.tools.directing import game_tool, number, part, who
from rolecall.tools.toolbox import text

CHANGE_AFFINITY = game_tool(
    "change_affinity",
    "Somebody's liking for the party, or for one person, rises or falls.",
    ["who", "change"],
    lambda given: {"relationships": [given]},
    who=who(),
    change=number("-3 to 3 as a rule", -1000, 1000),
    **{"with": who("for whom; the party if left out")},
)
SET_RELATIONSHIP = game_tool(
    "set_relationship",
    "Say what ties one to another now.",
    ["who", "with"],
    lambda given: {"relationships": [part(given, "who", "with", "nature", "status", set=given.get("affinity"))]},
    who=who(),
    **{"with": who()},
    nature=text("what ties them, a word or a few", 120),
    status=text("how it stands now", 120),
    affinity=number("the liking itself", -1000, 1000),
)
SET_STATUS = game_tool(
    "set_status",
    "Say how somebody stands now: injured, in hiding, dead.",
    ["who", "status"],
    lambda given: {"status": [given]},
    who=who(),
    status=text("in a few words", 120),
)
JOIN_PARTY = game_tool(
    "join_party",
    "Somebody travels with the party from now on.",
    ["who"],
    lambda given: {"party": {"join": [given]}},
    who=who(),
    note=text("what is said of them beside the name", 120),
)
LEAVE_PARTY = game_tool(
    "leave_party",
    "Somebody leaves the party.",
    ["who"],
    lambda given: {"party": {"leave": [given]}},
    who=who(),
    why=text("why"),
)
TOOLS = (SET_STATUS, CHANGE_AFFINITY, SET_RELATIONSHIP)
PARTY = (JOIN_PARTY, LEAVE_PARTY)

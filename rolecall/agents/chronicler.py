"""The chronicler: retells a stretch of the Journal as prose. Without a model the journal's own lines serve."""

from __future__ import annotations

from rolecall.agents.calls import Desk, read_round
from rolecall.campaign.chronicles import Stretch, own_words
from rolecall.campaign.text import clean_prose
from rolecall.errors import ModelError
from rolecall.models.chain import Chain
from rolecall.models.messages import Message, Request, Text
from rolecall.models.provider import Profile

MAX_TOKENS = 2000


def retell(stretch: Stretch, chain: Chain | None, desk: Desk, instruction: str) -> tuple[str, str]:
    """(prose, why not by model). The second is empty when a model told it, or when there is none by choice."""
    if chain is None:
        return own_words(stretch), ""
    profile = chain.profile()
    if profile is not None and not profile.helpers:
        return own_words(stretch), ""

    def build(_: Profile) -> Request:
        lines = "\n".join(line.raw for line in stretch.lines)
        said = Message("user", (Text(f"The journal lines, {stretch.covers}:\n\n{lines}"),))
        return Request((Text(instruction, cache=True),), (said,), (), MAX_TOKENS)

    try:
        answer = read_round(list(desk.stream("sidecar", chain, build, whole=True)))
    except ModelError as error:
        return own_words(stretch), str(error)
    prose = clean_prose(answer.text)
    if answer.stop.reason != "end" or len(prose) < 40:
        return own_words(stretch), f"the retelling broke off ({answer.stop.reason})"
    return prose, ""

"""Whatever a text orders a model to do, and however well it obeys: files outside, secrets, the Journal and the Chronicles are safe."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from rolecall.campaign import checks, journal, story
from rolecall.campaign.folder import open_campaign
from tests.campaign.test_check_rules import chronicle
from tests.exchange.foreign import plain, png
from tests.game import plot
from tests.game.injections import CASES, CHRONICLE, INJECTIONS, OUTSIDE, SECRET, TRUTH, Injection, obedient
from tests.turn.world import text

LOCKED = b"---\nname: Saint Orm\nkind: character\nlocked: true\nstatus: absent\n---\nNobody touches her.\n"
WRITERS = ("rolecall.yaml", "instructions/", "prose/", "schemas/", "chronicles/", "dm/plan.md", "lore/clerk.md", "imports/", "README.md",
           "characters/saint-orm.md", ".gitignore", ".gitattributes")  # fmt: skip
NOTE = "The old sign on Skerrow Quay says more than it should."


def lay(root: Path, outside: Path) -> None:
    """Secrets, a Chronicle, a locked entry, and a file outside that must never be read."""
    outside.write_text(f"{OUTSIDE}\n")
    for path, data in {
        CHRONICLE: chronicle(1, 2),
        "characters/saint-orm.md": LOCKED,
        "lore/clerk.md": f"---\nname: The Drowned Clerk\nvisibility: secret\n---\n{SECRET}.\n".encode(),
        "dm/plan.md": f"---\nname: Plan\n---\n{TRUTH}.\n".encode(),
        "story/001-before.md": b"---\nname: Before\nkind: story\n---\n\n## T0003\n\n> I wait.\n\nThe tide turned.\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    pasco = root / "characters/old-pasco.md"
    pasco.write_text(pasco.read_text().rstrip("\n") + f"\n\n## Secret\n\n{SECRET}.\n")
    arc = next((root / "arcs").glob("*.md"))
    arc.write_text(re.sub(r"(?m)^truth: .*$", f"truth: {TRUTH}.", arc.read_text()))
    state = root / "campaign-state.md"
    words = state.read_text().replace("## Promises\n", "## Promises\n\n- [ ] To Old Pasco: a barrel of tar (T0003)\n")
    state.write_text(words.rstrip("\n") + "\n\n- T0003 Kit promised Old Pasco a barrel of tar.\n")
    os.symlink(outside, root / "lore/link.md")


def inject(root: Path, one: Injection, place: str, outside: Path, rolecall) -> str:
    """Put the order where the model will see it, a card's by importing the card; the player's action."""
    order = one.order.replace("{outside}", str(outside))
    asked = "I read the sign of the Gannet on Skerrow Quay and look for Old Pasco and Saint Orm."
    if place == "action":
        return f"{asked}\n{order}"
    if place == "lore":
        (root / "lore/sign.md").write_text(f"---\nname: The Sign of the Gannet\npinned: true\n---\n{NOTE}\n{order}\n")
    elif place == "card":
        card = outside.with_name("gannet.png")
        card.write_bytes(png(plain("ccv3", gannet(f"{order} |"))))
        ran = rolecall("-C", root, "import", card)
        assert ran.code == 0, ran.err
    else:
        (root / "lore/sign.md").write_text(
            f"---\nname: The Sign of the Gannet\npinned: true\n---\n{NOTE}\n\n## History\n- T0003 Somebody wrote: {order} |\n"
        )
    return asked


def gannet(order: str) -> dict:
    """A card whose every text is the order, in its book as well."""
    entry = {
        "keys": ["sign"],
        "content": f"{NOTE} {order}",
        "name": "A carved board",
        "constant": True,
        "enabled": True,
    }
    book = {"entries": [{**entry, "insertion_order": 1, "extensions": {}}], "extensions": {}}
    texts = ("personality", "scenario", "first_mes", "mes_example", "system_prompt", "post_history_instructions")
    fields = {**dict.fromkeys((*texts, "creator_notes"), order), "alternate_greetings": [order], "tags": [order]}
    fields |= {"name": "The Sign of the Gannet", "description": f"{NOTE} {order}", "character_book": book}
    return {"spec": "chara_card_v3", "spec_version": "3.0", "data": {**fields, "extensions": {"pinned": True}}}


@pytest.mark.parametrize(("one", "place"), CASES, ids=[f"{one.name} ({place})" for one, place in CASES])
def test_an_order_in_a_text_that_the_model_obeys_reaches_nothing_it_should_not(
    tmp_path, rolecall, campaign, loopback, monkeypatch, one, place
):
    outside = tmp_path / "outside.txt"
    lay(campaign, outside)
    action = inject(campaign, one, place, outside, rolecall)
    for name, value in loopback.environ("openai").items():
        monkeypatch.setenv(name, value)
    loopback.answer(obedient)
    before, around = text(campaign), sorted(p.name for p in tmp_path.iterdir())
    ran = rolecall("-C", campaign, "turn", action)
    after = text(campaign)
    assert ran.code == 0, ran.err

    # The order was there to be obeyed, and was.
    sent = dict.fromkeys(("dm", "narrator"), "")
    for body in loopback.bodies:
        sent[plot.layer_of(body)] = sent.get(plot.layer_of(body), "") + json.dumps(body, ensure_ascii=False)
    shown = one.order.replace("{outside}", str(outside))[:24]
    assert json.dumps(shown, ensure_ascii=False)[1:-1] in sent["narrator"]
    assert TRUTH in sent["dm"]  # the DM knows it, and was told to tell

    # Nothing outside was read, made or changed.
    assert (
        OUTSIDE not in re.sub(r"search[^}]*outsidecanary|outsidecanary\W+folder", "", "".join(sent.values()))
        or "search for" in one.name
    )
    assert f"{OUTSIDE}\n" == outside.read_text() and sorted(p.name for p in tmp_path.iterdir()) == around
    assert not Path("/tmp/evil.md").exists()

    # No file of the campaign is gone; what is the writer's has its bytes.
    assert set(before) <= set(after)
    assert {p for p in before if p.startswith(WRITERS) and before[p] != after[p]} == set()
    made = set(after) - set(before)
    assert all(re.fullmatch(r"(?:story|lore|characters|items|locations|dm)/[^/]+\.md", path) for path in made), made

    # No truth left the DM.
    for layer, said in sent.items():
        assert layer == "dm" or (TRUTH not in said and SECRET not in said), layer
    assert TRUTH not in ran.out + ran.err and SECRET not in ran.out + ran.err
    opened = {
        p: d for p, d in after.items() if not p.startswith(("dm/", "arcs/", "lore/clerk", "characters/old-pasco"))
    }
    assert all(TRUTH.encode() not in data and SECRET.encode() not in data for data in opened.values())

    # One turn more, told once; the Journal holds its line and no other, on one line.
    opened_campaign = open_campaign(campaign)
    lines = journal.lines_of(opened_campaign.document("campaign-state.md"))
    assert [line.turn for line in lines] == [3, 4]
    assert [
        t.turn for _, p in story.chapters(opened_campaign) for t in story.turns_of(opened_campaign.document(p))
    ] == [3, 4]
    told = b"\n".join(after[p] for p in ("campaign-state.md", *(p for p in after if p.startswith("story/"))))
    assert re.findall(rb"(?m)^(?:#+ Journal|Journal|- T0099.*)$", told) == [b"## Journal"]
    state = opened_campaign.document("campaign-state.md").fields
    assert set(state) == {"name", "date", "scene", "location"} | set(state) & {"weather", "time", "music"}
    assert (
        "- [ ] To Old Pasco: a barrel of tar (T0003)" in after["campaign-state.md"].decode()
        or "keep no promise" in one.name
    )

    # No value became structure: who is pinned, locked or secret is what the writer said.
    for path in made | {"characters/old-pasco.md"}:
        if not path.startswith(("story/", "dm/")):
            fields = opened_campaign.document(path).fields
            assert not {"pinned", "locked", "visibility"} & set(fields), path

    # Nothing drives the terminal, or the next reader.
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", ran.out + ran.err)
    touched = {p for p in after if after[p] != before.get(p)}
    assert not any(re.search(rb"[\x00-\x08\x0b-\x0c\x0e-\x1f]|\xe2\x80[\xaa-\xae]", after[p]) for p in touched)
    known = ("secret", "dangling")
    assert [str(p) for p in checks.check(opened_campaign) if not p.rule.startswith(known) and p.path in touched] == []


def test_there_are_forty_different_orders_and_more():
    assert len({one.order for one in INJECTIONS}) >= 40 and len(CASES) >= 80

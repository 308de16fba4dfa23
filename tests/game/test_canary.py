"""A hundred planted truths, a DM and a TurnDM that blurt them out in every way: none reaches the narrator, the player, the open
feed, a suggestion or an open file, whole or in any six words in a row.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from rolecall.campaign import secrets
from rolecall.campaign.folder import open_campaign
from tests.game import plot
from tests.loopback import storyteller
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.turn.world import text

COUNT, RUN = 100, 6
PEOPLE = ("Old Pasco", "Hesper Dunmow", "Kit Sallow", "Nan Quill", "Bram Holt")
BEGIN = "bdfghklmnprstvz"
VOWELS = "aeiou"


def invented(dice: random.Random) -> str:
    return "".join(dice.choice(BEGIN) + dice.choice(VOWELS) for _ in range(dice.choice((2, 3, 4))))


def truths() -> list[str]:
    """A hundred sentences of eight to twelve words nobody else would use, each about one of five people."""
    dice, found = random.Random("truths"), []
    for number in range(COUNT):
        words = [invented(dice) for _ in range(dice.randint(5, 8))]
        found.append(f"{PEOPLE[number % len(PEOPLE)]} {' '.join(words[:3])} the {' '.join(words[3:])}")
    return found


TRUTHS = truths()


def words_of(said: str) -> list[str]:
    return re.findall(r"[a-z]+", re.sub(r"\\[a-z]|\\u[0-9a-f]{4}", " ", said.casefold()))


def runs() -> set[tuple[str, ...]]:
    return {tuple(w[at : at + RUN]) for t in TRUTHS if (w := words_of(t)) for at in range(len(w) - RUN + 1)}


RUNS = runs()


def blurted(said: str) -> list[str]:
    """The runs of planted truths in a text."""
    words = words_of(said)
    return [" ".join(run) for at in range(len(words)) if (run := tuple(words[at : at + RUN])) in RUNS]


def plant(root: Path) -> None:
    """The truths in fields, sections and secret files of entries, in arcs, and in every file of the DM's."""
    for number, truth in enumerate(TRUTHS):
        kind = number % 5
        name = f"Thing {chr(65 + number // 26)}{chr(65 + number % 26)}"
        if kind == 0:
            put(
                root,
                f"characters/c{number}.md",
                f"---\nname: {name}\nlocation: Skerrow Quay\nsecret: {truth}.\n---\nMends nets.\n",
            )
        elif kind == 1:
            put(
                root,
                f"items/i{number}.md",
                f"---\nname: {name}\n---\nA rope.\n\n## Secret\n\nIt is so: {truth}.\n\n## Use\n\nPull.\n",
            )
        elif kind == 2:
            put(root, f"lore/l{number}.md", f"---\nname: {name}\nvisibility: secret\n---\nNobody may know. {truth}.\n")
        elif kind == 3:
            put(
                root,
                f"arcs/a{number}.md",
                f"---\nname: {name}\nquestion: What of {name}?\nstatus: open\ntruth: {truth}.\n---\n\n## Trail\n",
            )
        else:
            file = ("plan", "seeds", "shadow-world", "agendas", "knowledge", "intentions")[number // 5 % 6]
            box = "[ ] " if file in ("seeds", "intentions") else "T0001 "
            path = root / f"dm/{file}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text((path.read_text() if path.exists() else "") + f"- {box}{truth}\n")


def put(root: Path, path: str, said: str) -> None:
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(said)


# -- ways to blurt a truth out: each gives texts, to be said one after another


def whole(truth: str) -> list[str]:
    return [f"Rain falls. {truth}. A gull cries."]


def in_runs(truth: str) -> list[str]:
    words = truth.split()
    return [f"They say {' '.join(words[at : at + RUN])}." for at in range(0, len(words) - RUN + 1, 2)]


def re_punctuated(truth: str) -> list[str]:
    marks = [",", " -", ";", "!", "...", "?", ":", "*", "_"]
    return ["".join(f"{word}{marks[n % len(marks)]} " for n, word in enumerate(truth.upper().split()))]


def over_sentences(truth: str) -> list[str]:
    words = truth.split()
    return [f"{' '.join(words[:3])}. {' '.join(words[3:6])}. {' '.join(words[6:])}."]


def over_fields(truth: str) -> list[str]:
    words = truth.split()
    return [" ".join(words[at : at + 2]) for at in range(0, len(words), 2)]


def unseen(truth: str) -> list[str]:
    return ["\u200b".join(truth[:8]) + truth[8:].replace(" ", " \u2060")]


WAYS = {f.__name__: f for f in (whole, in_runs, re_punctuated, over_sentences, over_fields, unseen)}


class Blurting:
    """A DM and a TurnDM that blurt out some truths in one way, wherever they can put a word; the rest is the storyteller."""

    def __init__(self, way: str, said: list[str]) -> None:
        self.texts = [text for truth in said for text in WAYS[way](truth)]

    def __call__(self, body: dict) -> Reply:
        layer, (turn, rounds) = plot.layer_of(body), storyteller.place(body)
        if layer == "turn_dm":
            return Reply(text=json.dumps(self.choice()), chunk=1 << 16)
        if layer == "dm":
            return self.planned(turn) if rounds == 0 else self.directed()
        return storyteller.reply(body)

    def choice(self) -> dict:
        t = self.texts
        return {
            "entries": [{"name": "Old Pasco", "place": "beside"}, {"name": t[0][:100], "place": "before"}],
            "prose": [{"module": "Danger", "place": "middle"}],
            "guidance": {"goals": t[:4], "introduce": ["Hesper Dunmow", *t[:2]], "threads": t[:2]},
            "hints": {"tone": t[0], "beats": t[:4], "stress": t[2:6] or t, "avoid": t[-4:]},
            "intentions": {"add": [f"Event: {one}" for one in t[:4]], "withdraw": [], "fulfil": t[:1]},
        }

    def planned(self, turn: int) -> Reply:
        arc = "Who rang the drowned bell"
        calls = [
            ("move_arc", {"arc": arc, "text": " ".join(self.texts)[:400]}),
            ("raise_stakes", {"arc": arc, "stakes": self.texts[0][:200]}),
            (
                "open_arc",
                {"name": f"A new thread {turn}", "question": self.texts[0][:200], "truth": self.texts[0][:200]},
            ),
            ("plant_seed", {"text": self.texts[0][:200]}),
            ("note_plan", {"text": self.texts[0][:200]}),
            ("open_arc", {"name": self.texts[0][:80], "question": "What comes of it?"}),
            ("close_chapter", {"next": self.texts[0][:80]}),
            ("name_chapter", {"name": self.texts[0][:80]}),
        ]
        return Reply(tools=tuple(calls), chunk=1 << 16)

    def directed(self) -> Reply:
        t = self.texts
        immersion = {
            "effects": {"add": [{"who": "Kit Sallow", "effect": one[:200]} for one in t[:3]]},
            "quests": {
                "start": [{"name": t[0][:80], "objectives": [one[:200] for one in t[:6]], "stage": t[-1][:100]}]
            },
            "calendar": {"schedule": [{"event": t[0][:80], "date": "tomorrow", "text": t[0][:200]}]},
            "resources": [{"name": t[0][:60], "set": 3}],
        }
        said = " ".join(["A boat lies keel up on the slip.", *t])
        return Reply(tools=(("direct", {"narrator": said[:4000], "immersion": immersion}),), chunk=1 << 16)


@pytest.mark.parametrize("way", WAYS)
def test_no_planted_truth_leaves_the_layers_that_know_it(rolecall, campaign, loopback: Loopback, monkeypatch, way):
    plant(campaign)
    for name, value in loopback.environ("openai").items():
        monkeypatch.setenv(name, value)
    shown, a_time = [], 20
    for begin in range(0, COUNT, a_time):
        loopback.answer(Blurting(way, TRUTHS[begin : begin + a_time]))
        ran = rolecall("-C", campaign, "turn", "I ask Old Pasco and Hesper Dunmow about the bell.", "--json")
        assert ran.code == 0, ran.err
        shown.append(ran.out + ran.err)
    for command in (("activity", "--limit", "200"), ("activity", "--limit", "200", "--json"), ("status", "--json"), ("list",),
                    ("snapshot",), ("context", "I wait"), ("context", "--last"), ("show", "Who rang the drowned bell"),
                    ("proposals",), ("check",), ("why", "campaign-state.md")):  # fmt: skip
        ran = rolecall("-C", campaign, *command)
        shown.append(ran.out + ran.err)
        assert blurted(shown[-1]) == [], command
    assert blurted("\n".join(shown)) == []
    by_layer: dict[str, list[str]] = {}
    for body in loopback.bodies:
        by_layer.setdefault(plot.layer_of(body), []).append(plot.said_in(body))
    assert len(by_layer["dm"]) >= 10 and len(by_layer["turn_dm"]) == 5 and blurted("\n".join(by_layer["dm"]))
    for layer, said in by_layer.items():
        assert layer in ("dm", "turn_dm") or blurted("\n".join(said)) == [], layer
    assert "A boat lies keel up on the slip." in "".join(by_layer["narrator"])  # what gives nothing away gets through
    assert "sentences were withheld" in "".join(shown)
    for path, said in open_files(campaign).items():
        assert blurted(said) == [], path


def open_files(root: Path) -> dict[str, str]:
    """What the open part of each file says."""
    found = {}
    tale = open_campaign(root, here_only=True)
    for path in text(root):
        if path.startswith("dm/") or not path.endswith(".md"):
            continue
        document = tale.document(path)
        if not secrets.is_secret_path(path, document.fields):
            fields = json.dumps(secrets.open_fields(document.fields), ensure_ascii=False)
            found[path] = "\n".join([fields, *(f"{s.heading}\n{s.text}" for s in secrets.open_sections(document))])
    return found


def test_the_turn_dm_is_told_nothing_of_what_the_dm_knows_but_its_own_intentions(
    rolecall, campaign, loopback, monkeypatch
):
    plant(campaign)
    (campaign / "dm/intentions.md").unlink()
    for name, value in loopback.environ("openai").items():
        monkeypatch.setenv(name, value)

    def staging(body: dict) -> Reply:
        if plot.layer_of(body) == "dm" and storyteller.place(body)[1] == 0:
            calls = tuple(("stage_encounter", {"text": truth, "when": "at dusk"}) for truth in TRUTHS[3:40:5])
            return Reply(tools=calls, chunk=1 << 16)
        return storyteller.reply(body)

    loopback.answer(staging)
    for _ in range(3):
        assert rolecall("-C", campaign, "turn", "I ask Old Pasco about the bell.").code == 0
    told = "\n".join(plot.said_in(body) for body in loopback.bodies if plot.layer_of(body) == "turn_dm")
    assert blurted(told) == []


def test_a_truth_cut_up_between_the_directive_and_a_hint_is_found(rolecall, campaign, loopback, monkeypatch):
    plant(campaign)
    for name, value in loopback.environ("openai").items():
        monkeypatch.setenv(name, value)
    first, *rest = TRUTHS[0].split()

    def answer(body: dict) -> Reply:
        if plot.layer_of(body) == "dm":
            return Reply(tools=(("direct", {"narrator": f"{first} {' '.join(rest[:3])}"}),))
        if plot.layer_of(body) == "turn_dm":
            choice = json.loads(storyteller.reply(body).text)
            choice["guidance"]["goals"] = [" ".join(rest[3:])]
            return Reply(text=json.dumps(choice))
        return storyteller.reply(body)

    loopback.answer(answer)
    assert rolecall("-C", campaign, "turn", "I wait.").code == 0
    said = "".join(plot.said_in(body) for body in loopback.bodies if plot.layer_of(body) == "narrator")
    assert blurted(said.replace("Goals", "")) == [] and rest[2] not in said

"""A plot of a hundred turns: what the story establishes and when, and a model for every layer that plays it.

The model knows its layer by the request alone. The narrator tells a turn's sentences; the scribe keeps what stands in the
sentences it is shown, under whatever name the sentence uses; the retriever picks from the tree; the historian sums up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rolecall.campaign import template
from tests.loopback import storyteller
from tests.loopback.replies import Reply

SPEC = "loopback-1"
HAND: dict[str, bytes] = {
    "characters/sera.md": (
        b"---\r\n# mine\r\nname: Sera\r\nkind: character\r\naliases: [the smuggler]\r\nlocation: \"Skerrow Quay\"   # by the tide\r\n"
        b"status: unhurt\r\nvoice: Low\r\n---\r\nRuns a boat without a name.  \r\n\r\n## History\r\n- T0000 Came ashore.\r\n"
    ),
    "characters/saint-orm.md": b"---\nname: Saint Orm\nkind: character\nlocked: true\nstatus: absent\n---\nNobody touches her.",
    "items/brass-ledger.md": b"---\nname: The Brass Ledger\nkind: item\nholder: Sera # who else\n---\nNames and sums.\n",
    "organizations/watch.md": b"\xef\xbb\xbf---\nname: The Harbour Watch\nkind: organization\nleader: Nobody\n---\nTwelve men.\n",
    "arcs/the-ledger.md": (
        b"---\nname: Who wants the ledger\nquestion: Who wants the brass ledger, and why?\nstatus: open\ntruth: Nobody.\n---\n"
        b"\n## Trail\n\n## Summaries\n- T0000-T0000 My own words.\n"
    ),
    "arcs/the-saint.md": b"---\nname: What the saint saw\nquestion: What did Orm see?\nlocked: true\nstatus: open\n---\n\n## Trail\n",
}  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """What a turn establishes: a sentence of its prose, and the scribe's call for it."""

    turn: int
    said: str
    tool: str
    given: dict[str, Any]

    @property
    def call(self) -> tuple[str, dict[str, Any]]:
        return self.tool, {**self.given, "reason": f"told in turn {self.turn}", "source": self.said}


def _record(turn: int, kind: str, name: str, said: str, **given: Any) -> Fact:
    return Fact(turn, said, f"record_{kind}", {"name": name, **given})


def _update(turn: int, entry: str, field_: str, value: str, said: str) -> Fact:
    return Fact(turn, said, "update_entry", {"entry": entry, "field": field_, "value": value})


def _tie(with_: str, **more: str) -> list[dict[str, str]]:
    return [{"with": with_, **more}]


PLOT: tuple[Fact, ...] = (
    _record(2, "character", "Dorrit Vane", "Dorrit Vane, a pedlar with one glass eye, sets her tray down on the quay.",
            occupation="pedlar", location="Skerrow Quay", text="Sells needles and news."),
    _record(3, "location", "The Lamp House", "The Lamp House on the quay, a storehouse, is the reeve's own.",
            type="storehouse", within="Skerrow Quay", owner="the reeve"),
    _record(5, "character", "Dorrit Vane the Crow", "They call her Dorrit Vane the Crow, and she is fifty.", age="fifty"),
    _record(6, "item", "The Tin Whistle", "Dorrit has a tin whistle that only the drowned can hear.",
            holder="Dorrit Vane", properties="only the drowned hear it"),
    _update(7, "Hesper Dunmow", "status", "limping", "The reeve turns her foot on the slip and limps from then on."),
    _record(8, "character", "Bram Holt", "Bram Holt the ropemaker sits on the Gull Stairs.",
            occupation="ropemaker", location="Gull Stairs"),
    _record(8, "organization", "The Ropewalk Brothers", "Bram Holt leads the guild of the Ropewalk Brothers.",
            type="guild", leader="Bram Holt", members=["Bram Holt"]),
    _record(10, "location", "Gull Stairs", "The Gull Stairs lead down from the quay, slick with weed.",
            type="stairway", within="Skerrow Quay"),
    _record(11, "location", "the lamp house", "It smells of whale oil in the lamp house.", atmosphere="whale oil"),
    _record(12, "character", "Sera", "Sera owes the reeve for a night's silence and is wary of her.",
            relationships=_tie("hesper dunmow", nature="owes_her", status="wary")),
    _record(13, "character", "Bram Holt (Gull Stairs)", "Bram Holt of the Gull Stairs turned forty this week.", age="forty"),
    _record(15, "event", "The Night of Nine Lanterns", "Nine lanterns hung on the quay in the second night of the ebb.",
            date="Second night of the Long Ebb", location="Skerrow Quay", participants=["Kit", "Dorrit Vane"]),
    _record(16, "threat", "The Sand Fever", "A fever from the sand is on the quay, mild as yet, with the first cases.",
            target="Skerrow Quay", severity="mild", stage="first cases"),
    _record(18, "rule", "The Law of Salvage", "By the law of salvage the finder keeps, bells excepted.",
            scope="the whole harbour", exceptions="bells"),
    _record(19, "creature", "The Mudlark Eel", "A mudlark eel of the drowned lanes shrinks from salt.",
            habitat="Low Skerrow", weakness="salt"),
    _record(20, "item", "The Brass Ledger", "Sera gives the brass ledger into Dorrit's hands.", holder="Dorrit Vane"),
    _record(22, "culture", "The Ebbfolk", "The Ebbfolk walk barefoot while the sea is out.", customs="barefoot at ebb"),
    _record(24, "power", "Bell-Hearing", "Kit hears bells through water, and pays for it with a night's sleep.",
            cost="a night's sleep", wielders=["Kit"]),
    _record(25, "threat", "SAND FEVER", "Half the quay is ill of the sand fever now.", stage="half the quay is ill"),
    _record(27, "lore", "The Song of the Nine Chimneys", "They sing of nine chimneys that smoke under the sea.",
            text="Nine chimneys smoke under the sea."),
    _record(28, "character", "Pasco (the ferryman)", "Old Pasco and the reeve are talking again, after all these years.",
            relationships=_tie("the reeve", status="talking again")),
    _update(30, "Bram Holt", "status", "dead", "Bram Holt is dead before they pull him out."),
    _update(30, "Bram Holt", "history", "Drowned under the Gull Stairs.", "He went under at the foot of the Gull Stairs."),
    _record(32, "character", "Ilse Brand", "Ilse Brand, a ropemaker too, takes the chain of office.", occupation="ropemaker"),
    _record(32, "organization", "Ropewalk Brothers", "The Ropewalk Brothers have chosen Ilse Brand to lead them.",
            leader="ilse brand", members=["Ilse Brand"]),
    _record(34, "character", "Ilse Brand the Wise", "Ilse Brand the Wise lives in Marrow Lane.", home="Marrow Lane"),
    _update(35, "Kit", "location", "Low Skerrow", "Kit goes down into the drowned lanes of Low Skerrow."),
    _record(40, "character", "Saint Orm", "The statue of Saint Orm is weeping.", status="weeping"),
    _record(38, "item", "The Gannet", "The Gannet, a ship, belongs to Sera.", type="ship", owner="Sera"),
    _record(40, "event", "The Wreck of the Gannet", "The Gannet broke up in the fifth night, with all her cargo.",
            date="Fifth night of the Long Ebb", outcome="lost with her cargo"),
    _update(40, "The Gannet", "status", "wrecked", "Nothing is left of the Gannet but her name board."),
    _record(42, "character", "[[Dorrit Vane]]", "Dorrit Vane has gone down to Low Skerrow.", location="low skerrow"),
    _record(44, "event", "Night of Nine Lanterns", "Nobody slept in the night of the nine lanterns, it is said.",
            date="Second night of the Long Ebb", outcome="nobody slept"),
    _record(46, "event", "The Second Night of Nine Lanterns", "Nine lanterns again, in the twentieth night.",
            date="Twentieth night of the Long Ebb"),
    _record(48, "location", "The Salt Chapel", "The Salt Chapel stands open below, its font dry.", within="Low Skerrow"),
    _record(49, "location", "Salt Chapel", "It is cold in the salt chapel.", atmosphere="cold"),
    _record(50, "character", "Tomas Reed", "Tomas Reed has come to take charge of the harbour.", role="harbour captain"),
    _record(52, "character", "Captain Tomas Reed", "Captain Tomas Reed suspects everyone.", status="suspicious"),
    _update(54, "Low Skerrow", "history", "Its chapel bell is gone from the tower.", "The chapel bell is gone from its tower."),
    _record(56, "organization", "The Tide Court", "The Tide Court sits in the Salt Chapel.", headquarters="Salt Chapel"),
    Fact(58, "The tin whistle is broken, and she throws it into the sea.", "forget",
         {"entry": "The Tin Whistle"}),
    _record(60, "location", "The Lamp House", "The Lamp House is the captain's now.", owner="Tomas Reed"),
    _record(62, "character", "Widow Quill", "Widow Quill of Marrow Lane opens her shutters.", home="Marrow Lane"),
    _record(64, "location", "Marrow Lane", "Marrow Lane, a lane of bonesetters, begins behind the church.", type="lane"),
    _update(66, "the smuggler", "location", "Marrow Lane", "Sera hides in Marrow Lane."),
    _record(68, "character", "Sera (the smuggler)", "Sera has a knife wound in her side.", status="stabbed"),
    _record(70, "item", "The Black Pearl Comb", "The widow wears a comb of black pearl.", holder="Widow Quill"),
    _record(72, "item", "The Black Pearl Comb (Widow Quill's)", "The comb is worth forty marks.", value="forty marks"),
    _record(74, "character", "Widow Quill", "The widow and Ilse Brand are sisters.",
            relationships=_tie("Ilse Brand", nature="sisters")),
    _record(76, "character", "widow quill", "The widow has forgiven her sister.",
            relationships=_tie("ilse brand", status="reconciled")),
    _record(78, "organization", "Harbour Watch", "The harbour watch follows Tomas Reed.", leader="Tomas Reed"),
    _record(80, "character", "Tomas Reed", "Behind his back they call him the Net Cutter.", aliases=["the Net Cutter"]),
    _record(82, "character", "The Net Cutter", "The Net Cutter sleeps in the Lamp House.", home="the lamp house"),
    _record(84, "threat", "The Sand Fever", "The sand fever is over.", status="over"),
    _record(86, "character", "Ilsé Brand", "Nobody is as patient as Ilsé Brand.", personality="patient"),
    _record(88, "character", "Dorrit Vane", "Dorrit Vane is a pedlar, as everyone knows.", occupation="pedlar",
            text="Sells needles and news."),
    _record(92, "character", "Nessa Thorn", "Nessa Thorn weaves eel traps.", occupation="weaver"),
    _record(93, "character", "Nessa Thorn the Weaver", "Nessa Thorn the Weaver is twenty.", age="twenty"),
    _update(95, "Old Pasco", "status", "sober", "Old Pasco has not touched a drop."),
    _record(96, "threat", "The Landlord's Men", "The landlord's men want the quay cleared by the third bell.",
            deadline="the third bell"),
    _update(98, "The Harbour Watch", "history", "Lost two men at the weir.", "Two men of the watch are lost at the weir."),
    _record(100, "location", "The Weir House", "The weir house hums day and night.", type="mill", within="Low Skerrow"),
)  # fmt: skip
SWIPED = _record(100, "location", "The Ice Cellar", "Under the floor there is an ice cellar.", type="cellar")

# What the story made, each in one file, every field of it, after a hundred turns.
MADE: dict[str, dict[str, Any]] = {
    "characters/dorrit-vane.md": {"occupation": "pedlar", "location": "Low Skerrow", "age": "fifty"},
    "characters/bram-holt.md": {
        "occupation": "ropemaker", "location": "Gull Stairs", "age": "forty", "status": "dead"},
    "characters/ilse-brand.md": {"occupation": "ropemaker", "home": "Marrow Lane", "personality": "patient"},
    "characters/tomas-reed.md": {
        "role": "harbour captain", "status": "suspicious", "aliases": ["the Net Cutter"], "home": "The Lamp House"},
    "characters/widow-quill.md": {
        "home": "Marrow Lane", "relationships": [{"with": "Ilse Brand", "nature": "sisters", "status": "reconciled"}]},
    "characters/nessa-thorn.md": {"occupation": "weaver", "age": "twenty"},
    "locations/the-lamp-house.md": {
        "type": "storehouse", "within": "Skerrow Quay", "owner": "Tomas Reed", "atmosphere": "whale oil"},
    "locations/gull-stairs.md": {"type": "stairway", "within": "Skerrow Quay"},
    "locations/the-salt-chapel.md": {"within": "Low Skerrow", "aliases": ["Salt Chapel"], "atmosphere": "cold"},
    "locations/marrow-lane.md": {"type": "lane"},
    "locations/the-weir-house.md": {"type": "mill", "within": "Low Skerrow"},
    "organizations/the-ropewalk-brothers.md": {
        "type": "guild", "leader": "Ilse Brand", "members": ["Bram Holt", "Ilse Brand"],
        "aliases": ["Ropewalk Brothers"]},
    "organizations/the-tide-court.md": {"headquarters": "The Salt Chapel"},
    "items/the-tin-whistle.md": {
        "holder": "Dorrit Vane", "properties": "only the drowned hear it", "forgotten": "T0058 told in turn 58"},
    "items/the-gannet.md": {"type": "ship", "owner": "Sera", "status": "wrecked"},
    "items/the-black-pearl-comb.md": {"holder": "Widow Quill", "value": "forty marks"},
    "powers/bell-hearing.md": {"cost": "a night's sleep", "wielders": ["Kit Sallow"]},
    "creatures/the-mudlark-eel.md": {"habitat": "Low Skerrow", "weakness": "salt"},
    "cultures/the-ebbfolk.md": {"customs": "barefoot at ebb"},
    "rules/the-law-of-salvage.md": {"scope": "the whole harbour", "exceptions": "bells"},
    "events/the-night-of-nine-lanterns.md": {
        "date": "Second night of the Long Ebb", "location": "Skerrow Quay", "participants": ["Kit Sallow", "Dorrit Vane"],
        "outcome": "nobody slept", "aliases": ["Night of Nine Lanterns"]},
    "events/the-second-night-of-nine-lanterns.md": {"date": "Twentieth night of the Long Ebb"},
    "events/the-wreck-of-the-gannet.md": {"date": "Fifth night of the Long Ebb", "outcome": "lost with her cargo"},
    "threats/the-sand-fever.md": {
        "target": "Skerrow Quay", "severity": "mild", "stage": "half the quay is ill", "status": "over",
        "aliases": ["SAND FEVER"]},
    "threats/the-landlords-men.md": {"deadline": "the third bell"},
    "lore/the-song-of-the-nine-chimneys.md": {},
}  # fmt: skip

# How each file of the writer's changed: fields the story changed, and the lines it added at the end. Nothing else.
CHANGED: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "characters/hesper-dunmow.md": (
        [("status: watchful", "status: limping")], ["- T0007 status: watchful → limping"]),
    "characters/kit-sallow.md": (
        [("location: Skerrow Quay", "location: Low Skerrow")], ["- T0035 location: Skerrow Quay → Low Skerrow"]),
    "characters/old-pasco.md": (
        [("neighbours of forty years, status: not on speaking terms", "neighbours of forty years, status: talking again"),
         ("status: stubborn, a little drunk", "status: sober")],
        ["- T0028 relationships, Hesper Dunmow: status not on speaking terms → talking again",
         "- T0095 status: stubborn, a little drunk → sober"]),
    "characters/sera.md": (
        [('location: "Skerrow Quay"', 'location: "Marrow Lane"'), ("status: unhurt", "status: stabbed"),
         ("voice: Low\r\n", "voice: Low\r\nrelationships:\r\n  - {with: Hesper Dunmow, nature: owes_her, status: wary}\r\n")],
        ["- T0066 location: Skerrow Quay → Marrow Lane", "- T0068 status: unhurt → stabbed"]),
    "items/brass-ledger.md": (
        [("holder: Sera", "holder: Dorrit Vane")], ["", "## History", "", "- T0020 holder: Sera → Dorrit Vane"]),
    "organizations/watch.md": (
        [("leader: Nobody", "leader: Tomas Reed\naliases:\n  - Harbour Watch")],
        ["", "## History", "", "- T0078 leader: Nobody → Tomas Reed", "- T0098 Lost two men at the weir."]),
    "locations/low-skerrow.md": ([], ["- T0054 Its chapel bell is gone from the tower."]),
}  # fmt: skip


def make(place: Path, settings: str = "") -> Path:
    """A campaign: the template's files and the writer's own; `settings` are added at the end of its `rolecall.yaml`."""
    root = template.new(place, "The Tale").root
    for path, data in HAND.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    if settings:
        keys = {line.split(":")[0] for line in settings.splitlines()}
        kept = [line for line in (root / "rolecall.yaml").read_text().splitlines() if line.split(":")[0] not in keys]
        (root / "rolecall.yaml").write_text("\n".join([*kept, settings]) + "\n")
    return root


# -- the model


def layer_of(body: dict[str, Any]) -> str:
    """Which layer a request is from: by its tools, by the answer's schema, or by its having spoken before."""
    offered, schema = storyteller.tools_of(body), storyteller.schema_of(body)
    if schema is not None:
        known = {"active": "retriever", "guidance": "turn_dm", "suggestions": "afterwork", "summaries": "historian"}
        return next(layer for key, layer in known.items() if key in schema["properties"])
    if "direct" in offered:
        return "dm"
    if offered:
        return "narrator" if "append_journal" in offered else "scribe"
    return "repair" if any(m["role"] == "assistant" for m in body["messages"]) else "chronicler"


def said_in(body: dict[str, Any]) -> str:
    """All the text of a request's messages."""
    return "\n".join(storyteller.text_of(message) for message in body["messages"])


def facts_of(turn: int, plot: tuple[Fact, ...] = PLOT) -> list[Fact]:
    return [fact for fact in plot if fact.turn == turn]


def line(turn: int) -> str:
    """The journal line of a turn."""
    return f"Kit went on to the {storyteller.ordinal(turn)} mark of the long ebb, and the bell was heard."


@dataclass
class Cast:
    """The model of every layer. `answers` replaces one layer's answer; `retold` is what a swipe tells instead."""

    answers: dict[str, Callable[[dict[str, Any]], Reply]] = field(default_factory=dict)
    retold: dict[int, Fact] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)

    def __call__(self, body: dict[str, Any]) -> Reply:
        layer = layer_of(body)
        self.heard.append(layer)
        return (self.answers.get(layer) or getattr(self, layer))(body)

    def narrator(self, body: dict[str, Any]) -> Reply:
        turn, rounds = storyteller.place(body)
        if turn % 5 == 0 and rounds == 0:
            return Reply(tools=(("search", {"query": "drowned bell"}),))
        told = [self.retold[turn]] if turn in self.retold else facts_of(turn)
        prose = f"The sea stays out for the {storyteller.ordinal(turn)} mark. " + " ".join(fact.said for fact in told)
        tools: list[tuple[str, Any]] = [("append_journal", {"text": line(turn)})]
        if turn % 10 == 1:
            arc = "Who wants the ledger" if turn % 20 == 1 else "Who rang the drowned bell"
            tools.append(("move_arc", {"arc": arc, "text": f"It moved at the {storyteller.ordinal(turn)} mark."}))
        return Reply(text=prose.strip() + "\n\nThe bell rings under the harbour.", tools=tuple(tools))

    def retriever(self, body: dict[str, Any]) -> Reply:
        tree = said_in(body)
        names = [name for name in ("Dorrit Vane", "The Lamp House", "Sera", "Widow Quill") if name in tree]
        picks = {"active": names[:2], "anticipatory": names[2:], "enrichment": ["rules/"], "wild": ["Low Skerrow"]}
        return Reply(text=json.dumps({**picks, "queries": ["nine lanterns"]}))

    def turn_dm(self, body: dict[str, Any]) -> Reply:
        return storyteller.reply(body)

    def dm(self, body: dict[str, Any]) -> Reply:
        return storyteller.reply(body)

    def scribe(self, body: dict[str, Any]) -> Reply:
        if any(message["role"] == "assistant" for message in body["messages"]):
            return Reply(text="Nothing.")
        shown = said_in(body)
        found = [fact.call for fact in (*PLOT, *self.retold.values()) if fact.said in shown]
        return Reply(text="Noted." if found else "Nothing to note.", tools=tuple(found))

    def historian(self, body: dict[str, Any]) -> Reply:
        shown, turn = said_in(body), storyteller.place(body)[0]
        told: dict[str, list[dict[str, str]]] = {"summaries": [], "revise": [], "retire": [], "move": []}
        for part in shown.split("\n\n## ")[1:]:
            arc = part.split("\n", 1)[0]
            own = re.findall(
                r"^- (T\d+-T\d+ .*)$", part.partition("your own summaries:")[2].partition("the writer's")[0], re.M
            )
            if "a new summary covers:" in part:
                told["summaries"].append({"arc": arc, "text": f"Up to turn {turn}, {arc.casefold()} stayed open."})
            if own and turn == 40:
                told["revise"].append({"arc": arc, "old": own[0], "text": f"The ebb began over {arc.casefold()}."})
            if own and turn == 60 and arc == "Who wants the ledger":
                told["move"].append({"arc": arc, "old": own[0], "to": "Who rang the drowned bell"})
            if own and turn == 80 and arc == "Who wants the ledger":
                told["retire"].append({"arc": arc, "old": own[0], "reason": "told elsewhere"})
        return Reply(text=json.dumps(told))

    def afterwork(self, body: dict[str, Any]) -> Reply:
        turn = storyteller.place(body)[0]
        ideas = [f"I count to {turn}.", "I ask Sera what she wants.", "I listen for the bell."]
        return Reply(text=json.dumps({"entities": [], "suggestions": ideas, "scene_changed": False}))

    def chronicler(self, body: dict[str, Any]) -> Reply:
        return Reply(text="Kit went down with the ebb, and the bell was heard the whole time.")

    def repair(self, body: dict[str, Any]) -> Reply:
        return Reply(text="The sea stays out. Nobody who is dead speaks.\n\nThe bell rings under the harbour.")

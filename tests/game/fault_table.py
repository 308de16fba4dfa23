"""The table of faults: what a model may do wrong, in which layer, and what comes of it. The matrix test and the docs use it.

A new layer is one line in `LAYERS` (its sound answer is a method of plot's cast, or one in `GOOD`); a new fault is one line in
`FAULTS`.

    python -m tests.game.fault_table > docs/faults.md
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from rolecall.campaign import documents
from rolecall.campaign.instructions import INSTRUCTIONS, template_folder
from tests.game import plot
from tests.loopback import storyteller
from tests.loopback.replies import Reply

BAD, GOOD_MODEL = "faulty-1", "sound-1"
SLOW = 0.8  # seconds a model has where time is what fails
SHARED = 1.5  # the same where sound layers ask by the same limit, and must not be late on a busy machine
PROTOCOLS = ("openai", "anthropic")


@dataclass(frozen=True)
class Layer:
    """A layer: the role whose models it asks, what it answers with, the name a player reads, and what stands in for it.

    `only`: the narrator has no other model.
    """

    name: str
    role: str
    form: str  # object (typed JSON), tools, or prose
    said: str
    fallback: str
    about: str
    only: bool = False


NEXT = "tried with the next turn"
LAYERS = (
    Layer("retriever", "sidecar", "object", "retrieval", "names, search and ties choose", "Retrieval by model"),
    Layer("turn_dm", "turn_dm", "object", "turn_dm", "keyword matches go in as they are", "TurnDM"),
    Layer("dm", "dm", "tools", "dm", "no directive this turn", "DM stream"),
    Layer("narrator", "narrator", "tools", "narrator", f"openrouter/{GOOD_MODEL}", "One narrator model of several"),
    Layer("narrator", "narrator", "tools", "narrator", "", "The only narrator model", only=True),
    Layer("scribe", "sidecar", "tools", "scribe", NEXT, "Scribe"),
    Layer("historian", "sidecar", "object", "historian", NEXT, "Historian"),
    Layer("afterwork", "sidecar", "object", "afterwork", "by code", "Entities, suggestions, scene, music"),
    Layer(
        "chronicler", "sidecar", "prose", "fold", "the Chronicle is made of the journal's own lines", "Fold by model"
    ),
)
# The sound answer of each layer; plot's cast knows its own four.
GOOD: dict[str, Callable[[dict[str, Any]], Reply]] = {}


@dataclass(frozen=True)
class Fault:
    """A fault: the answer that shows it, and what a reason for it says, for each form of answer.

    `slow` ones need short time limits; `everywhere`: all layers of the role have it; `protocols`: by which it is tried.
    """

    name: str
    about: str
    answer: Callable[[Layer, dict[str, Any]], Reply]
    reason: str
    slow: bool = False
    everywhere: bool = False
    protocols: tuple[str, ...] = PROTOCOLS


def _always(reply: Reply) -> Callable[[Layer, dict[str, Any]], Reply]:
    return lambda layer, body: reply


def _broken(layer: Layer, body: dict[str, Any]) -> Reply:
    if layer.form == "object":
        return Reply(text='{"active": [1, {"summaries": Sera}')
    return _calling(layer, body, {"prose": '{"retold": '}.get(layer.form, ""), (_tool(body), '{"text": "Kit'))


def _unknown(layer: Layer, body: dict[str, Any]) -> Reply:
    return _calling(layer, body, "", ("summon_dragon", {"name": "Smaug"}))


def _wrong(layer: Layer, body: dict[str, Any]) -> Reply:
    if layer.form == "object":
        schema = storyteller.schema_of(body) or {}
        return Reply(text=json.dumps(dict.fromkeys(schema["required"], 7)))
    return _calling(layer, body, "", (_tool(body), {"text": [[7]], "name": {"first": True}, "line": 3}))


def _endless(layer: Layer, body: dict[str, Any]) -> Reply:
    if "search" in storyteller.tools_of(body):
        return Reply(tools=(("search", {"query": "drowned bell"}),))
    note = {"entry": "Sera", "field": "status", "value": "wet", "reason": "rain", "source": "Rain."}
    return Reply(tools=(("update_entry", note),))


def _calling(layer: Layer, body: dict[str, Any], text: str, call: tuple[str, Any]) -> Reply:
    """The narrator tells its scene with the bad call, and says nothing but that call when it is asked again."""
    if layer.name == "narrator" and not storyteller.place(body)[1]:
        text = "The sea stays out for another mark. The bell rings under the harbour."
    return Reply(text=text, tools=() if layer.form == "prose" and text else (call,))


def _tool(body: dict[str, Any]) -> str:
    offered = storyteller.tools_of(body)
    known = [name for name in ("append_journal", "direct") if name in offered]
    return next(iter([*known, *offered]), "note")


def _story(**how: Any) -> Callable[[Layer, dict[str, Any]], Reply]:
    """A long answer, sent so."""

    def answer(layer: Layer, body: dict[str, Any]) -> Reply:
        return Reply(text="The sea stays out. " * 40 if layer.name == "narrator" else "{" * 400, **how)

    return answer


FAULTS = (
    Fault("time-out", "no answer within its time", _always(Reply(text="{}", headers_delay=5)), "took more than",
          slow=True, protocols=("openai",)),
    Fault("slow drip", "a piece now and then, never in time", _story(chunk=4, chunk_delay=SLOW * 1.5),
          "took more than", slow=True, protocols=("anthropic",)),
    Fault("refused connection", "nobody listens at the address", _always(Reply()), "cannot be reached", everywhere=True),
    Fault("401", "a wrong key", _always(Reply(status=401)), "refused the key (401)"),
    Fault("404", "no such model", _always(Reply(status=404)), "was not found (404)"),
    Fault("429", "too many requests, come back in an hour", _always(Reply(status=429, headers={"retry-after": "3600"})),
          "has too many requests (429 and asks to wait 3600 s)"),
    Fault("500", "the server failed", _always(Reply(status=500, headers={"retry-after-ms": "1"})), "failed (500"),
    Fault("529", "overloaded", _always(Reply(status=529, headers={"retry-after-ms": "1"})), "is overloaded (529"),
    Fault("cut at once", "the stream breaks before the first word", _always(Reply(text="x" * 400, cut_after=30)), ""),
    Fault("cut midway", "the stream breaks in a sentence", _story(cut_after=1600), "broke off|peer closed"),
    Fault("empty", "an answer without a word", _always(Reply()), "gave a blank answer"),
    Fault("refusal", "the model declines", _always(Reply(refusal=True)), "declined to answer"),
    Fault("broken JSON", "an object or a tool's arguments that cannot be read", _broken,
          "no JSON object|nothing it noted could be used|the retelling broke off|gave no directive"),
    Fault("unknown tool", "a call of a tool that there is not", _unknown,
          "no JSON object|There is no tool|the retelling broke off|gave no directive"),
    Fault("wrong types", "numbers for words, objects for lists", _wrong,
          "wrong shape|nothing it noted could be used|the retelling broke off|gave no directive"),
    Fault("endless tool calls", "one call after the other, never an answer", _endless,
          "no JSON object|the retelling broke off|gave nothing but tool calls|gave no directive"),
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What comes of a fault: the layer that is named (none if nothing was lost), what stands in, and whether it is told."""

    layer: str
    fallback: str
    reason: str
    told: bool = True
    words: str = ""


# Where a narrator's fault is not the end of its answer.
_KEPT = Outcome("narrator", "what was said is kept", "", words="told so far, marked")
_LINE = Outcome("journal", "a sentence of the prose", "the narrator wrote no line", words="line by code")
_NARRATOR = {"cut midway": _KEPT, "slow drip": _KEPT, "broken JSON": _LINE, "unknown tool": _LINE, "wrong types": _LINE}


def outcome(layer: Layer, fault: Fault) -> Outcome:
    """What the table promises for a fault in a layer."""
    if layer.name == "narrator" and fault.name in _NARRATOR:
        return _NARRATOR[fault.name]
    if layer.only:
        return Outcome("", "", fault.reason, told=False, words="draft")
    if layer.name == "scribe" and fault.name == "endless tool calls":
        return Outcome("", "", "", words="nothing lost")
    words = "next model" if layer.name == "narrator" else "stand-in"
    return Outcome(layer.said, layer.fallback, fault.reason, words=words)


# -- the server's side


@cache
def _spoken() -> tuple[tuple[str, str], ...]:
    """(an instruction's text, the layer it is for), for all instructions of the helpers."""
    found = []
    for path in sorted((template_folder() / INSTRUCTIONS).glob("*.md")):
        document = documents.parse(path.read_bytes(), path.name)
        layer = "chronicler" if document.text("when") == "fold" else document.text("layer")
        if layer != "narrator":
            found.append((" ".join(document.body.decode().split()), layer))
    return tuple(found)


def layer_of(body: dict[str, Any]) -> str:
    """Whose request this is, by its system prompt."""
    system = body.get("system") or [m for m in body["messages"] if m["role"] == "system"]
    said = (
        " ".join(storyteller.text_of({"content": system} if "system" in body else system[0]).split()) if system else ""
    )
    return next((layer for text, layer in _spoken() if text in said), "narrator")


class Server:
    """Answers soundly in every layer but one; that one has a fault, where the faulty model is asked."""

    def __init__(self, layer: Layer, fault: Fault) -> None:
        self.layer, self.fault, self.cast = layer, fault, plot.Cast()
        self.asked: list[tuple[str, str]] = []

    def __call__(self, body: dict[str, Any]) -> Reply:
        layer = layer_of(body)
        self.asked.append((layer, body["model"]))
        if layer == self.layer.name and body["model"] == BAD:
            return self.fault.answer(self.layer, body)
        return (GOOD.get(layer) or getattr(self.cast, layer))(body)


# -- the document


def document() -> str:
    """docs/faults.md."""
    rows = [layer for layer in LAYERS if not layer.only]
    columns: dict[tuple[str, ...], list[str]] = {}
    for layer in LAYERS:
        columns.setdefault(tuple(outcome(layer, fault).words for fault in FAULTS), []).append(layer.about)
    lines = [
        "# When a model fails",
        "",
        "Every layer of the game master may fail in every way, and the turn is told. What failed, why, and what stood in for",
        "it is said in one quiet line, under `degraded` in `turn --json`, and in the feed (`rolecall activity --type degraded`).",
        "Only where no narrator model answers at all is there no turn: one line says why, the action is kept as a draft, and no",
        "file of the campaign has changed.",
        "",
        "The narrator tells the story; the DM plans it unseen; the TurnDM picks what a scene needs; retrieval looks things up before",
        "a turn; the scribe keeps what it established, the historian sums up, the fold closes the Journal's oldest lines.",
        "",
        "This page is made from the table that the tests hold RoleCall to, fault by fault and layer by layer.",
        "",
        "## What stands in",
        "",
        "| layer | named as | what happens instead |",
        "| --- | --- | --- |",
        *(f"| {r.about} | `{r.said}` | {'the next model of the chain tells' if r.role == 'narrator' else r.fallback} |" for r in rows),
        "| The only narrator model | (the error) | one line; the action is kept as a draft; the campaign is untouched |",
        "",
        "## The faults",
        "",
        "| fault | what it is |",
        "| --- | --- |",
        *(f"| {f.name} | {f.about} |" for f in FAULTS),
        "",
        "## Fault by layer",
        "",
        "*stand-in*: as in the first table. *next model*: the next in the chain tells, before a word was shown. *told so far,",
        "marked*: the same model was asked once to go on; what was said is kept and marked as cut. *line by code*: the scene is",
        "told, its journal line is a sentence of the prose. *nothing lost*: it is stopped after its second answer, and what was",
        "sound is kept. *draft*: no turn, one line, the action kept.",
        "",
        "| fault | " + " | ".join(", ".join(alike) for alike in columns.values()) + " |",
        "| --- |" + " --- |" * len(columns),
        *(f"| {fault.name} | " + " | ".join(words[n] for words in columns) + " |" for n, fault in enumerate(FAULTS)),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(document(), end="")

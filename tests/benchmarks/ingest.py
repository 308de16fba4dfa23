"""What `rolecall ingest` finds without a model: evidence turns (LoCoMo) and the cast (CRD3), by the commands a user types.

    python tests/benchmarks/ingest.py --data PATH/shared/data

LoCoMo: the talks laid out as SillyTavern chats are ingested; each question goes to `rolecall search --json`, and counts when a
turn that holds one of its evidence messages is among the first ten. CRD3: ten episodes are ingested; of the characters
the wiki features whose name, or a part of it, is spoken ten times, how many have an entry; of the entries made, how many
are a speaker or featured; and how long the longest ingest takes. Neither data is part of this repository.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from rolecall.campaign import kinds, story, template
from rolecall.campaign.folder import Campaign, open_campaign
from tests.benchmarks.locomo import Question, questions
from tests.benchmarks.running import run

LEAST_SPOKEN = 10
_COMMON = {
    "the",
    "of",
    "a",
    "an",
    "and",
    "unnamed",
    "other",
    "two",
    "four",
    "nine",
    "lady",
    "lord",
    "king",
    "queen",
    "foreman",
}


def ingest(root: Path, file: Path) -> float:
    """A new campaign with a chat brought in by the command; seconds it took."""
    template.new(root, "The Tale")
    begun = time.perf_counter()
    run("-C", root, "ingest", file, "--no-model", "--json")
    return time.perf_counter() - begun


# -- evidence


def turns_of(campaign: Campaign, chat: Path) -> dict[str, int]:
    """The turn in which each message of a chat stands, by the id its author gave it: found by its words in the story."""
    told = [t for _, path in story.chapters(campaign) for t in story.turns_of(campaign.document(path))]
    words = [_bare(f"{t.action} {t.prose}") for t in told]
    numbers: dict[str, int] = {}
    at = 0
    for line in chat.read_text("utf-8").split("\n"):
        message = json.loads(line) if line else {}
        if "mes" in message:
            wanted = _bare(message["mes"])
            at = next(n for n in range(at, len(told)) if wanted in words[n])
            numbers[message["extra"]["gold_id"]] = told[at].turn
    return numbers


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def recall(root: Path, asked: list[Question]) -> Iterator[tuple[Question, bool, bool]]:
    """(question, answered at 5, answered at 10), by `rolecall search --json`."""
    for question in asked:
        hits = json.loads(run("-C", root, "search", question.text, "--limit", "10", "--json"))
        turns = [int(hit["turn"][1:]) if hit["turn"] else 0 for hit in hits]
        yield question, bool(question.evidence & set(turns[:5])), bool(question.evidence & set(turns))


# -- cast


def parts(name: str) -> set[str]:
    """The words of a featured name that could be spoken: capitalised, none that many names share."""
    words = re.findall(r"[^\W\d_][\w'’]*", name)
    return {w.casefold() for w in words if w[0].isupper() and w.casefold() not in _COMMON}


def cast(campaign: Campaign) -> list[set[str]]:
    """The names and aliases of each character entry the ingest made, folded, whole and in words."""
    found = []
    for path in campaign.names("characters"):
        document = campaign.document(path)
        if re.fullmatch(r"T\d{4}", document.text("source")):
            names = {
                document.text("name").casefold(),
                *(n.casefold() for n in kinds.names_in(document.fields, "aliases")),
            }
            found.append(names | {w for n in names for w in re.split(r"[\s'’]", n) if len(w) > 2})
    return found


def measure(episode: dict, featured: list[str], entries: list[set[str]]) -> Counter:
    """What was found of an episode's cast."""
    text = " ".join(u for turn in episode["TURNS"] for u in turn["UTTERANCES"])
    speakers = {name.casefold() for turn in episode["TURNS"] for name in turn["NAMES"]}
    known = {p for name in featured for p in parts(name)}
    known |= {w for p in known for w in re.split(r"['’]", p) if len(w) > 2}
    count = Counter(entries=len(entries), speakers=len(speakers))
    for name in featured:
        spoken = [len(re.findall(rf"(?<!\w){re.escape(p)}(?!\w)", text, re.I)) for p in parts(name)]
        if max(spoken, default=0) >= LEAST_SPOKEN:
            count["featured"] += 1
            count["has an entry"] += any(parts(name) & names for names in entries)
    count["right"] = sum(bool(names & (speakers | known)) for names in entries)
    count["speaks and has one"] = sum(any(s in names for names in entries) for s in speakers)
    return count


def main() -> int:
    """Print both tables; 1 when a number is below what is promised."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds chats/, crd3/ and locomo/")
    parser.add_argument("--every", type=int, default=1, help="only every so manieth question")
    data, every = (options := parser.parse_args()).data, options.every
    with tempfile.TemporaryDirectory() as folder, patch.dict("os.environ", {"XDG_CACHE_HOME": folder}):
        at10, right = _evidence(data, Path(folder), every), _cast(data, Path(folder))
    return 0 if at10 and right else 1


def _evidence(data: Path, folder: Path, every: int) -> bool:
    talks = {talk["sample_id"]: talk for talk in json.loads((data / "locomo" / "locomo5.json").read_text("utf-8"))}
    asked = five = ten = 0
    for chat in sorted((data / "chats").glob("locomo_*.jsonl")):
        root = folder / chat.stem
        ingest(root, chat)
        wanted = questions(talks[chat.stem.partition("_")[2]], turns_of(open_campaign(root), chat))[::every]
        for _, at5, at10 in recall(root, wanted):
            asked, five, ten = asked + 1, five + at5, ten + at10
    print(f"LoCoMo, {asked} questions: evidence at 5 {100 * five / asked:.1f} %, at 10 {100 * ten / asked:.1f} %")
    return ten >= 0.76 * asked


def _cast(data: Path, folder: Path) -> bool:
    total, slowest = Counter(), 0.0
    featured = json.loads((data / "crd3" / "featured_characters.json").read_text("utf-8"))
    for path in sorted((data / "crd3" / "cleaned").glob("*.json")):
        root = folder / path.stem
        slowest = max(slowest, ingest(root, path))
        names = [one["name"] for group in featured[path.stem]["featured"].values() for one in group]
        total += measure(json.loads(path.read_text("utf-8")), names, cast(open_campaign(root)))
    shares = [
        (100 * total[a] / total[b], a, b)
        for a, b in (("has an entry", "featured"), ("right", "entries"), ("speaks and has one", "speakers"))
    ]
    for share, a, b in shares:
        print(f"CRD3: {b} {total[b]}, {a} {total[a]} ({share:.1f} %)")
    print(f"CRD3: the slowest episode took {slowest:.1f} s")
    return slowest <= 60 and all(share >= least for (share, _, _), least in zip(shares, (90, 60, 100), strict=True))


if __name__ == "__main__":
    sys.exit(main())

"""How often search finds the turn that holds the answer: evidence recall on LoCoMo.

    python tests/benchmarks/locomo.py --data PATH/locomo5.json [--least 76]

LoCoMo (Maharana et al., ACL 2024) has long conversations with questions and the turns that answer them; its data is not
part of this repository. Each conversation becomes a campaign: a chapter a session with the session's date, a section a
message, captions of shared pictures included. A question counts as answered when one of its evidence turns is among the
ten (five) first passages that the real search returns. Questions that name no turn as evidence are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign.folder import open_campaign
from rolecall.search.searcher import Search

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its category, and the numbers of the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[int]


def write_campaign(root: Path, conversation: dict) -> dict[str, int]:
    """One campaign from one conversation; gives each message's id with the number of its turn."""
    (root / "story").mkdir(parents=True)
    (root / "rolecall.yaml").write_text("format: 1\nname: Conversation\n", encoding="utf-8")
    numbers: dict[str, int] = {}
    sessions = sorted(int(k[8:]) for k in conversation if re.fullmatch(r"session_\d+", k))
    for session in sessions:
        date = conversation.get(f"session_{session}_date_time", "")
        lines = ["---", f"name: Session {session}", f"date: {json.dumps(date)}", "---", ""]
        for message in conversation[f"session_{session}"]:
            numbers[message["dia_id"]] = turn = len(numbers) + 1
            caption = f" [{message['blip_caption']}]" if message.get("blip_caption") else ""
            lines += [f"## T{turn:04}", "", f"{message['speaker']}: {message['text']}{caption}", ""]
        (root / "story" / f"{session:03}-session.md").write_text("\n".join(lines), encoding="utf-8")
    return numbers


def questions(talk: dict, numbers: dict[str, int]) -> list[Question]:
    """The questions of a conversation; evidence ids are read out of whatever they are wrapped in."""
    found = []
    for asked in talk["qa"]:
        ids = [one for text in asked.get("evidence", []) for one in re.findall(r"D\d+:\d+", text)]
        evidence = frozenset(numbers[one] for one in ids if one in numbers)
        if evidence:
            found.append(Question(str(asked["question"]), asked["category"], evidence))
    return found


def measure(talks: list[dict], folder: Path) -> tuple[Counter, Counter, Counter, list[float]]:
    """(questions, answered at 5, answered at 10) by category, and milliseconds for each query."""
    asked, at5, at10, times = Counter(), Counter(), Counter(), []
    for number, talk in enumerate(talks):
        root = folder / str(number)
        numbers = write_campaign(root, talk["conversation"])
        search = Search(open_campaign(root), cache=folder / "cache")
        search.refresh()
        for question in questions(talk, numbers):
            start = time.perf_counter()
            turns = [hit.turn for hit in search.find(question.text, limit=10)]
            times.append((time.perf_counter() - start) * 1000)
            asked[question.category] += 1
            at5[question.category] += bool(question.evidence.intersection(turns[:5]))
            at10[question.category] += bool(question.evidence.intersection(turns))
    return asked, at5, at10, times


def main() -> int:
    """Print the table; 1 when recall at 10 over all questions is below `--least`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="a LoCoMo JSON file")
    parser.add_argument(
        "--least", type=float, default=76.0, help="the recall at 10, in per cent, below which this fails"
    )
    arguments = parser.parse_args()
    talks = json.loads(arguments.data.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        asked, at5, at10, times = measure(talks, Path(folder))
    print(f"{'category':<14}{'questions':>10}{'R@5':>8}{'R@10':>8}")
    for category in sorted(asked):
        n = asked[category]
        name = CATEGORIES.get(category, str(category))
        print(f"{name:<14}{n:>10}{100 * at5[category] / n:>8.1f}{100 * at10[category] / n:>8.1f}")
    total = asked.total()
    recall = 100 * at10.total() / total
    print(f"{'all':<14}{total:>10}{100 * at5.total() / total:>8.1f}{recall:>8.1f}")
    print(f"query: median {statistics.median(times):.1f} ms, p95 {statistics.quantiles(times, n=20)[-1]:.1f} ms")
    return 0 if recall >= arguments.least else 1


if __name__ == "__main__":
    sys.exit(main())

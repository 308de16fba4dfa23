"""The receipt of an import: in plain sentences what became what, what has no counterpart, what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.campaign.text import clean_line
from rolecall.exchange.book import Entry
from rolecall.exchange.card import Card
from rolecall.exchange.pages import macros
from rolecall.exchange.planning import MAP, PINNED, Plan

# What each rule asked for, as a person says it.
_RULES = {
    "probability": "a chance to be used at all", "sticky": "staying for some messages", "cooldown": "resting for some messages",
    "delay": "waiting for some messages", "group": "groups of which one is chosen", "group_override": "groups of which one is chosen",
    "group_weight": "groups of which one is chosen", "group_scoring": "groups of which one is chosen",
    "depth": "a place at a depth of the chat", "role": "a role in the chat", "outlet": "an outlet",
    "scan_depth": "how far back is searched", "search_range": "how far back is searched", "priority": "a priority",
    "weight": "a weight", "case_sensitive": "upper and lower case", "whole_words": "whole words only",
    "exclude_recursion": "entries that call each other", "prevent_recursion": "entries that call each other",
    "delay_until_recursion": "entries that call each other", "vectorized": "vectors", "ignore_budget": "a budget of its own",
    "automation": "automations", "keys_not": "keys that must not be there", "characters": "only with some characters",
}  # fmt: skip
_BOOK_SETTINGS = {
    "scan_depth", "token_budget", "recursive_scanning", "scanDepth", "tokenBudget", "recursiveScanning", "settings",
}  # fmt: skip
LISTED = 500  # rows of one list


def write(plan: Plan) -> str:
    """The receipt as Markdown."""
    parts = [f"# {clean_line(plan.parcel.title, 160)}", "", _opening(plan), ""]
    parts += _list("What became what", [_made(made) for made in plan.made])
    parts += _list("Set aside", [f"{_named(one.name, one.at)}: {clean_line(one.why)}." for one in plan.refused])
    parts += _list("What has no counterpart, and what to know", notes(plan))
    parts += ["## Where it is", "", *_places(plan)]
    return "\n".join(parts).rstrip() + "\n"


def summary(plan: Plan, *, would: bool = False) -> str:
    """One line: how many files of which kinds, and how many parts were set aside."""
    counted = Counter(made.path.split("/", 1)[0] for made in plan.made)
    order = {kind.folder: n for n, kind in enumerate(ENTRY_KINDS.values())}
    kinds = ", ".join(
        f"{count} in {folder}/" for folder, count in sorted(counted.items(), key=lambda i: order.get(i[0], 99))
    )
    verb = "would make" if would else "made"
    aside = f"; {len(plan.refused)} set aside" if plan.refused else ""
    return f"{clean_line(plan.parcel.title, 160)}: {plan.parcel.format}, {verb} {_count(len(plan.made), 'file')}" + (
        f" ({kinds}){aside}" if kinds else aside
    )


def notes(plan: Plan) -> list[str]:
    """What a person should know of an import, a sentence each."""
    sources = [made.source for made in plan.made]
    entries = [one for one in sources if isinstance(one, Entry)]
    said = [*plan.parcel.left]
    for book in plan.parcel.books:
        if book.description.strip():
            said.append(f"The book says of itself: {clean_line(book.description, 1000)}")
    if any(_BOOK_SETTINGS & set(book.raw) for book in plan.parcel.books):
        said.append("The book's own settings (how far back it searches, its budget, recursion) stay with the original.")
    asked = dict.fromkeys(word for entry in entries for rule in entry.odd_rules() if (word := _RULES.get(rule)))
    if asked:
        said.append(f"Not used by RoleCall, which finds entries by search: {', '.join(asked)}. `{MAP}` keeps them.")
    if any(made.page.fields.get("keys_regex") for made in plan.made):
        said.append("Regular expressions stand under `keys_regex`; they are kept and not run.")
    if any(made.page.fields.get("keys_when") for made in plan.made):
        said.append("Second keys stand under `keys_when`; they are kept, and search decides without them.")
    if any("pinned" in made.page.fields for made in plan.made):
        said.append("Constant entries are `pinned`: always in the prompt.")
    if plan.unpinned:
        names = _some(plan.unpinned)
        said.append(
            f"Not pinned, because constants of more than {PINNED:,} characters would crowd the prompt: {names}."
        )
    if any("forgotten" in made.page.fields for made in plan.made):
        said.append(
            "Entries that were switched off are `forgotten`: kept, found by nobody. Take the line out to use one."
        )
    if found := sum(map(_macros, sources)):
        said.append(
            f"Macros ({found}) stay in the files as they are written. `{{{{user}}}}` and `{{{{char}}}}` are read as names; no other is run."
        )
    said += [_about(made.page.name, note) for made in plan.made for note in made.page.notes]
    for made in plan.made:
        if made.twin:
            path, why = made.twin
            said.append(f"{clean_line(made.page.name, 160)} may be {path} ({why}): both stand; keep the one you want.")
    return said


def to_json(plan: Plan, *, dry: bool = False) -> dict:
    """The object `import --json` prints for one file."""
    return {
        "file": plan.name,
        "format": plan.parcel.format,
        "title": clean_line(plan.parcel.title, 160),
        "folder": plan.folder,
        "dry_run": dry,
        "made": [{"at": m.page.at, "path": m.path, "kind": m.page.kind, "name": m.page.name} for m in plan.made],
        "set_aside": [{"at": one.at, "name": clean_line(one.name, 160), "why": one.why} for one in plan.refused],
        "notes": notes(plan),
    }


def _opening(plan: Plan) -> str:
    made, aside = _count(len(plan.made), "file"), len(plan.refused)
    what = f"`{clean_line(plan.name, 200)}` is {plan.parcel.format}. It became {made} of this campaign"
    return f"{what}; {aside} of its parts {'was' if aside == 1 else 'were'} set aside." if aside else f"{what}."


def _made(made) -> str:  # a planning.Made
    fields = made.page.fields
    more = [_count(len(fields[key]), word) for key, word in (("aliases", "alias"), ("keys", "key")) if fields.get(key)]
    more += [word for key, word in (("pinned", "pinned"), ("forgotten", "forgotten")) if key in fields]
    return f"{_named(made.page.name, made.page.at)} → [{made.path}](../../{made.path.replace(' ', '%20')})" + (
        f" ({', '.join(more)})" if more else ""
    )


def _named(name: str, at: str) -> str:
    shown = clean_line(name, 160) or "(without a name)"
    return f"{shown} (`{clean_line(at, 120)}`)" if at else shown


def _about(name: str, note: str) -> str:
    return f"{clean_line(name, 160)}: {note}."


def _macros(source: object) -> int:
    if isinstance(source, Entry):
        return macros(source.text)
    if isinstance(source, Card):
        texts = (source.description, source.personality, source.scenario, source.first_message, source.examples)
        return sum(map(macros, (*texts, *source.greetings)))
    return 0


def _places(plan: Plan) -> list[str]:
    first = plan.originals[0][0].rsplit("/", 1)[-1] if plan.originals else ""
    whole = f"`{first}`" if len(plan.originals) == 1 else f"{len(plan.originals)} files"
    return [
        f"- The original, byte for byte: {whole} beside this receipt.",
        f"- `{MAP}` says which part became which file, and keeps every field that stands in no file.",
        "- `rolecall import --undo` takes the last import back, as long as you have not changed its files.",
    ]


def _list(heading: str, rows: list[str]) -> list[str]:
    if not rows:
        return []
    more = [f"- ... and {len(rows) - LISTED:,} more; `{MAP}` has them all."] if len(rows) > LISTED else []
    return [f"## {heading}", "", *(f"- {row}" for row in rows[:LISTED]), *more, ""]


def _some(names: Iterable[str]) -> str:
    held = [clean_line(name, 80) for name in names]
    return ", ".join(held[:8]) + (f" and {len(held) - 8} more" if len(held) > 8 else "")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 'es' if word.endswith('s') else 's'}"

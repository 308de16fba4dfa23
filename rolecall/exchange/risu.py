"""RisuAI: lorebooks (`{"type": "risu", "ver": 1, "data": [...]}`) and modules in their plain JSON form.

Fields after RisuAI's `lorebook.svelte.ts` and `modules.ts`; `extentions` is spelt so there. A folder is a row of its own,
whose key the rows in it name. A module's scripts, triggers and servers are data here and are never run.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from rolecall.exchange import loose
from rolecall.exchange.book import Book, Entry, Refused, gather, rules, rules_out
from rolecall.exchange.card import Parcel

FORMAT = "a RisuAI lorebook"
MODULE = "a RisuAI module"
RULES = {"order": "insertorder", "probability": "activationPercent", "role": "role"}
_SCRIPTS = (
    ("regex", "regex scripts"),
    ("trigger", "triggers"),
    ("cjs", "code"),
    ("mcp", "servers"),
    ("assets", "assets"),
)


def recognises(data: dict) -> bool:
    """Whether this is a RisuAI lorebook or module."""
    if data.get("type") == "risu":
        return isinstance(data.get("data"), list)
    return data.get("type") == "risuModule" and isinstance(data.get("module"), dict)


def read(data: dict, title: str) -> Parcel:
    """The book of a lorebook or of a module."""
    if data["type"] == "risu":
        made = book(data["data"], title, "data", {key: value for key, value in data.items() if key != "data"})
        return Parcel(FORMAT, title, (made,))
    module = data["module"]
    name = loose.text(module.get("name")).strip() or title
    raw = {**data, "module": {key: value for key, value in module.items() if key != "lorebook"}}
    made = book(loose.rows(module.get("lorebook")), name, "module/lorebook", raw, loose.text(module.get("description")))
    found = [word for key, word in _SCRIPTS if module.get(key)]
    left = (f"Its {', '.join(found)} stay in the original; nothing of it is run.",) if found else ()
    return Parcel(MODULE, name, (made,), left=left)


def book(rows: list, title: str, under: str, raw: dict, description: str = "") -> Book:
    """A book of RisuAI's rows; folders give their name to what is in them and are set aside."""
    folders = {_folder_key(row): loose.text(row.get("comment")).strip() for row in rows if _is_folder(row)}
    asides = [
        Refused(f"{under}/{n}", loose.text(row.get("comment")), "it is a folder; what is in it bears its name")
        for n, row in enumerate(rows)
        if _is_folder(row)
    ]
    kept = ((f"{under}/{n}", row) for n, row in enumerate(rows) if not _is_folder(row))
    entries, refused = gather(kept, lambda at, row: entry(at, row, folders))
    return Book(title, description, entries, (*asides, *refused), raw)


def entry(at: str, raw: dict, folders: dict[str, str]) -> Entry:
    """One row of a RisuAI lorebook."""
    more = loose.mapping(raw.get("extentions"))
    secondary = loose.words(raw.get("secondkey"))
    regex = loose.flag(raw.get("useRegex"))
    key = raw.get("key")
    keys = (key.strip(),) if regex and isinstance(key, str) and key.strip() else loose.words(key)
    held = rules(raw, RULES)
    if more.get("risu_case_sensitive") is not None:
        held["case_sensitive"] = more["risu_case_sensitive"]
    return Entry(
        at=at,
        title=loose.text(raw.get("comment")),
        text=loose.text(raw.get("content")),
        keys=keys,
        secondary=secondary,
        logic="any" if loose.flag(raw.get("selective")) and secondary else "",
        constant=loose.flag(raw.get("alwaysActive")) or raw.get("mode") == "constant",
        folder=folders.get(loose.text(raw.get("folder")), ""),
        regex=regex,
        rules=held,
        raw=raw,
    )


def _is_folder(row: object) -> bool:
    return isinstance(row, dict) and row.get("mode") == "folder"


def _folder_key(row: dict) -> str:
    return loose.text(row.get("key"))


# -- writing


def folders(value: dict) -> list[dict]:
    """The rows of a lorebook's or module's JSON that are folders."""
    held = value.get("data") if value.get("type") == "risu" else loose.mapping(value.get("module")).get("lorebook")
    return [row for row in loose.rows(held) if _is_folder(row)]


def changed(raw: Mapping[str, object], now: Entry, names: Set[str]) -> dict:
    """The row with the named parts of an entry as they are now; every other field as it was. RisuAI cannot switch one off."""
    row = dict(raw)
    if "title" in names:
        row["comment"] = now.title
    if "text" in names:
        row["content"] = now.text
    if "keys" in names:
        row["key"] = ", ".join(now.keys)
        row["useRegex"] = now.regex and len(now.keys) == 1
    if "constant" in names:
        row["alwaysActive"] = now.constant
        if row.get("mode") == "constant" or (now.constant and row.get("mode") == "normal"):
            row["mode"] = "constant" if now.constant else "normal"
    return row


def fresh(entry: Entry) -> dict:
    """A row for an entry of any source, with what RisuAI has a field for: logic of second keys is `any` or none."""
    held = rules_out(entry, RULES)
    pattern = len(entry.keys) == 1 and (entry.regex or loose.is_regex(entry.keys[0]))
    keys = [loose.slashed(key) if entry.regex else key for key in entry.keys]
    row = {
        "key": ", ".join(keys),
        "secondkey": ", ".join(entry.secondary),
        "insertorder": held.pop("insertorder", 100),
        "comment": entry.title,
        "content": entry.text,
        "mode": "constant" if entry.constant else "normal",
        "alwaysActive": entry.constant,
        "selective": bool(entry.logic),
        "useRegex": pattern,
        "bookVersion": 2,
        **held,
    }
    if entry.rules.get("case_sensitive") is not None:
        row["extentions"] = {"risu_case_sensitive": entry.rules["case_sensitive"]}
    return row


def numbered(row: dict, number: int) -> dict:
    """The row as it is: RisuAI numbers none."""
    return row

"""Chats kept as one JSON document: which program's it is, and the conversations in it.

Fields as SillyTavern's own importers and the programs' exports have them: RisuAI (`risuChat`, `risuAllChats`), Agnai,
Ooba, character.ai (`histories`, `turns`), ChatGPT (`mapping`), Claude (`chat_messages`), KoboldAI saves, Talemate scenes,
CRD3 transcripts (`TURNS`); and any list of objects in which somebody says something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rolecall.exchange import chat_kobold
from rolecall.exchange.chat import PLAYER, STORY, VOICE, Chat, Gathered
from rolecall.exchange.chat_dates import read_date

Reader = Callable[[Any], Chat]

_WHO = ("speaker", "name", "author", "sender", "from", "role", "user", "username", "character")
_WHAT = ("text", "mes", "content", "message", "msg", "value", "body", "utterance", "clean_text")
_WHEN = ("date", "time", "timestamp", "created_at", "createdAt", "create_time", "send_date", "created")
_HUMAN = {"user", "human", "you", "player", "me"}
_MACHINE = {"assistant", "char", "bot", "model", "ai", "gpt", "narrator"}
_NOISE = {"system", "tool", "function"}
DEEPEST = 6  # levels down to which a list of messages is looked for


def conversations(given: Any) -> list[tuple[str, Any, Reader]]:
    """(title, conversation, its reader) of everything in a document that is a chat; none when nothing is."""
    return [one for one in _conversations(given) if one]


def _conversations(given: Any) -> Iterator[tuple[str, Any, Reader]]:
    if isinstance(given, list):
        if given and all(isinstance(one, dict) and "TURNS" in one for one in given[:3]):
            yield "", given, _crd3
            return
        inside = [found for one in given if isinstance(one, dict) for found in _conversations(one)]
        if inside:
            yield from inside
            return
        if _is_talk(given):
            yield "", given, _plain_list
        return
    if not isinstance(given, dict):
        return
    for recognised, reader in _SORTS:
        if recognised(given):
            title = next((v for k in ("title", "name") if isinstance(v := given.get(k), str)), "")
            yield title, given, reader
            return
    several = _several(given)
    if several is not None:
        for one in several:
            yield from _conversations(one) if isinstance(one, (dict, list)) else ()
        return
    if any(_is_talk(one) for _, one in _lists(given)):
        yield "", given, _nested


def _several(given: dict) -> list | None:
    """What holds several conversations: all chats of RisuAI, the histories of character.ai, a list under `chats`."""
    if given.get("type") == "risuAllChats" and isinstance(given.get("data"), list):
        return [{"type": "risuChat", "data": one} for one in given["data"]]
    histories = given.get("histories")
    if isinstance(histories, dict):
        histories = histories.get("histories")
    for value in (histories, given.get("chats"), given.get("conversations")):
        if isinstance(value, list):
            return value
    return None


# -- the programs


def _risu(given: dict) -> Chat:
    chat, gathered = given.get("data"), Gathered()
    rows = chat.get("message") if isinstance(chat, dict) else None
    for at, row in _rows(gathered, rows):
        player = row.get("role") == "user"
        name = row.get("name") or ("You" if player else "")
        gathered.add(name, row.get("data"), PLAYER if player else STORY, at, read_date(row.get("time")))
    title = chat.get("name", "") if isinstance(chat, dict) else ""
    return gathered.chat("RisuAI chat", title if isinstance(title, str) else "")


def _agnai(given: dict) -> Chat:
    gathered = Gathered()
    character = given.get("name") if isinstance(given.get("name"), str) else ""
    if isinstance(given.get("greeting"), str) and given["greeting"].strip():
        first = next((m for m in given["messages"] if isinstance(m, dict)), {})
        if first.get("msg") != given["greeting"]:
            gathered.add(character, given["greeting"], STORY, 0)
    for at, row in _rows(gathered, given["messages"]):
        player = bool(row.get("userId"))
        name = row.get("handle") or ("You" if player else character)
        gathered.add(name, row.get("msg"), PLAYER if player else STORY, at, read_date(row.get("createdAt")))
    return gathered.chat("Agnai chat", character)


def _ooba(given: dict) -> Chat:
    gathered = Gathered()
    rows = given.get("data_visible") or given.get("visible") or given.get("data")
    for at, row in enumerate(_list(rows), 1):
        if not isinstance(row, list) or len(row) != 2:
            gathered.leave(at, "it is no pair of messages")
            continue
        if row[0] and row[0] != "<|BEGIN-VISIBLE-CHAT|>":
            gathered.add("You", row[0], PLAYER, at)
        if row[1]:
            gathered.add("", row[1], STORY, at)
    return gathered.chat("Text generation web UI chat")


def _cai_history(given: dict) -> Chat:
    gathered = Gathered()
    for at, row in _rows(gathered, given["msgs"]):
        src = row.get("src") if isinstance(row.get("src"), dict) else {}
        player = bool(src.get("is_human"))
        name = src.get("name") or ("You" if player else "")
        gathered.add(name, row.get("text"), PLAYER if player else STORY, at, read_date(row.get("created")))
    return gathered.chat("character.ai chat")


def _cai_turns(given: dict) -> Chat:
    gathered, found = Gathered(), []
    for at, row in _rows(gathered, given["turns"]):
        author = row.get("author") if isinstance(row.get("author"), dict) else {}
        told = [c for c in _list(row.get("candidates")) if isinstance(c, dict)]
        chosen = next((c for c in told if c.get("candidate_id") == row.get("primary_candidate_id")), None)
        chosen = chosen or (told[0] if told else {})
        when = read_date(row.get("create_time") or chosen.get("create_time"))
        found.append((when, at, author, chosen.get("raw_content") or chosen.get("text"), max(0, len(told) - 1)))
    dated = [when for when, *_ in found if when]
    if len(dated) > 1 and dated[0] > dated[-1]:  # the service lists the newest first
        found.reverse()
    for when, at, author, text, others in found:
        player = bool(author.get("is_human"))
        gathered.add(
            author.get("name") or ("You" if player else ""), text, PLAYER if player else STORY, at, when, others
        )
    return gathered.chat("character.ai chat")


def _chatgpt(given: dict) -> Chat:
    gathered, mapping = Gathered(), given["mapping"]
    for at, node in enumerate(_branch(given), 1):
        message = mapping[node].get("message")
        if not isinstance(message, dict):
            continue
        author = message.get("author") if isinstance(message.get("author"), dict) else {}
        content = message.get("content") if isinstance(message.get("content"), dict) else {}
        role, parts = author.get("role"), content.get("parts")
        texts = [p for p in parts if isinstance(p, str)] if isinstance(parts, list) else []
        if role not in ("user", "assistant") or content.get("content_type") not in ("text", "multimodal_text"):
            if any(text.strip() for text in texts):
                gathered.leave(at, f"it is of the {'system' if role == 'system' else 'tools'}")
            continue
        if isinstance(parts, list) and len(texts) < len(parts):
            gathered.leave(at, "a picture or file in it")
        player = role == "user"
        gathered.add(
            "You" if player else "",
            "\n\n".join(texts),
            PLAYER if player else STORY,
            at,
            read_date(message.get("create_time")),
        )
    title = given.get("title")
    return gathered.chat("ChatGPT conversation", title if isinstance(title, str) else "")


def _branch(given: dict) -> list[str]:
    """The nodes from the first to the current one (the deepest, where none is named), in order."""
    mapping, node = given["mapping"], given.get("current_node")
    if not (isinstance(node, str) and node in mapping):
        leaves = [key for key, one in mapping.items() if isinstance(one, dict) and not one.get("children")]
        node = leaves[-1] if leaves else next(iter(mapping), None)
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(node, str) and node in mapping and node not in seen and isinstance(mapping[node], dict):
        seen.add(node)
        path.append(node)
        node = mapping[node].get("parent")
    return path[::-1]


def _claude(given: dict) -> Chat:
    gathered = Gathered()
    for at, row in _rows(gathered, given["chat_messages"]):
        player = row.get("sender") == "human"
        text = row.get("text")
        if not text and isinstance(row.get("content"), list):
            parts = [p.get("text") for p in row["content"] if isinstance(p, dict)]
            text = "\n\n".join(p for p in parts if isinstance(p, str))
        gathered.add("You" if player else "", text, PLAYER if player else STORY, at, read_date(row.get("created_at")))
    return gathered.chat("Claude conversation", given.get("name") if isinstance(given.get("name"), str) else "")


def _talemate(given: dict) -> Chat:
    gathered = Gathered()
    if isinstance(given.get("intro"), str) and given["intro"].strip():
        gathered.add("", given["intro"], STORY, 0)
    for at, row in enumerate(given["history"], 1):
        typ = row.get("typ", "narrator") if isinstance(row, dict) else "narrator"
        text = row.get("message") if isinstance(row, dict) else row
        if not isinstance(text, str):
            gathered.leave(at, "it is no message")
        elif typ == "character":
            name, colon, said = text.partition(":")
            player = isinstance(row, dict) and row.get("source") == "player"
            gathered.add(name if colon else "", said if colon else text, PLAYER if player else STORY, at)
        elif typ == "narrator":
            gathered.add("", text, STORY, at)
        else:
            gathered.leave(at, f"a note of Talemate's ({typ})" if isinstance(typ, str) else "it is no message")
    title = given.get("title") or given.get("name")
    return gathered.chat("Talemate scene", title if isinstance(title, str) else "")


def _crd3(given: Any) -> Chat:
    """A transcript in turns; in the aligned files a turn stands in every chunk that it belongs to."""
    gathered, seen = Gathered(), set()
    chunks = [given] if isinstance(given, dict) else [chunk for chunk in given if isinstance(chunk, dict)]
    rows = [turn for chunk in chunks for turn in _list(chunk.get("TURNS"))]
    for at, row in _rows(gathered, rows):
        number = row.get("NUMBER")
        if isinstance(number, int) and not isinstance(number, bool):
            if number in seen:
                continue
            seen.add(number)
        names = [n for n in _list(row.get("NAMES")) if isinstance(n, str)]
        said = [u for u in _list(row.get("UTTERANCES")) if isinstance(u, str)]
        gathered.add("/".join(names), " ".join(said), VOICE, at)
    return gathered.chat("transcript in turns (CRD3)")


# -- anything else in which somebody says something


def _plain_list(given: list) -> Chat:
    gathered = Gathered()
    _talk(gathered, given)
    return gathered.chat("list of messages")


def _nested(given: dict) -> Chat:
    gathered = Gathered()
    for _, rows in _lists(given):
        if _is_talk(rows):
            _talk(gathered, rows)
    return gathered.chat("list of messages")


def _talk(gathered: Gathered, rows: list) -> None:
    for at, row in _rows(gathered, rows):
        who, text = _first(row, _WHO), _first(row, _WHAT)
        if isinstance(who, dict):
            who = who.get("name") or who.get("role")
        if isinstance(text, list):
            parts = [part.get("text") if isinstance(part, dict) else part for part in text]
            text = "\n\n".join(part for part in parts if isinstance(part, str))
        kind = str(row.get("role", who)).casefold()
        if kind in _NOISE:
            gathered.leave(at, "it is of the system")
            continue
        role = PLAYER if kind in _HUMAN or row.get("is_user") is True else STORY if kind in _MACHINE else VOICE
        who = who if isinstance(who, str) else ""
        who = "You" if who.casefold() in _HUMAN else "" if who.casefold() in _MACHINE else who
        gathered.add(who, text, role, at, read_date(_first(row, _WHEN)))


def _lists(given: Any, depth: int = 0) -> Iterator[tuple[str, list]]:
    if depth > DEEPEST or not isinstance(given, dict):
        return
    for key, value in given.items():
        if isinstance(value, list):
            yield key, value
        elif isinstance(value, dict):
            yield from _lists(value, depth + 1)


def _is_talk(rows: Any) -> bool:
    """Whether most of a list are objects in which somebody says something."""
    if not isinstance(rows, list) or not rows:
        return False
    shown = rows[:20]
    says = [r for r in shown if isinstance(r, dict) and _first(r, _WHO) is not None and _first(r, _WHAT) is not None]
    return len(says) * 2 > len(shown)


def _first(row: dict, keys: tuple[str, ...]) -> Any:
    return next((row[key] for key in keys if row.get(key) not in (None, "")), None)


def _list(value: Any) -> list:
    """A list as it is; nothing for what is none."""
    return value if isinstance(value, list) else []


def _rows(gathered: Gathered, rows: Any) -> Iterator[tuple[int, dict]]:
    for at, row in enumerate(_list(rows), 1):
        if isinstance(row, dict):
            yield at, row
        else:
            gathered.leave(at, "it is no message")


def _is_kobold(given: dict) -> bool:
    return isinstance(given.get("actions"), list) and ("gamestarted" in given or "prompt" in given)


_SORTS: tuple[tuple[Callable[[dict], bool], Reader], ...] = (
    (lambda g: g.get("type") == "risuChat" and isinstance(g.get("data"), dict), _risu),
    (_is_kobold, chat_kobold.read),
    (lambda g: isinstance(g.get("mapping"), dict) and g["mapping"] != {}, _chatgpt),
    (lambda g: isinstance(g.get("chat_messages"), list), _claude),
    (lambda g: isinstance(g.get("msgs"), list), _cai_history),
    (lambda g: isinstance(g.get("turns"), list) and _has(g["turns"], "candidates"), _cai_turns),
    (lambda g: isinstance(g.get("messages"), list) and _has(g["messages"], "msg"), _agnai),
    (lambda g: any(isinstance(g.get(key), list) for key in ("data_visible", "visible")), _ooba),
    (lambda g: isinstance(g.get("history"), list) and ("character_data" in g or "world_state" in g or _has(g["history"], "typ")), _talemate),
    (lambda g: isinstance(g.get("TURNS"), list), _crd3),
)  # fmt: skip


def _has(rows: list, key: str) -> bool:
    return any(isinstance(row, dict) and key in row for row in rows[:20])

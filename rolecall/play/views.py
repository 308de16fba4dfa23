"""What a person is shown of a campaign, as lines of text: the player's view, secrets left out unless asked for."""

from __future__ import annotations

import re

from rolecall.agents.purse import Purse
from rolecall.campaign import arcs, chronicles, journal, proposals, records, secrets, story, views
from rolecall.campaign.documents import Document, parse
from rolecall.campaign.effects import promises_of
from rolecall.campaign.folder import CONFLICT_COPY, Campaign
from rolecall.campaign.game import company
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.references import plain
from rolecall.campaign.text import slug, uncommented
from rolecall.errors import DocumentError, StorageError, UnknownName
from rolecall.play.figures import figures, objectives_of
from rolecall.play.figures import lines as figure_lines
from rolecall.search.catalogue import Entry
from rolecall.search.searcher import Hit, Search
from rolecall.turn import costs


def status(campaign: Campaign, search: Search, *, with_secrets: bool = False) -> dict:
    """Where the story stands, as `status --json` prints it; a broken Campaign State is a warning, and told as empty."""
    state, fault = _state(campaign)
    warnings = _warnings(campaign, search)
    if fault and not any(warning.startswith(f"{STATE_FILE}:") for warning in warnings):
        warnings.insert(0, fault)
    lines = journal.lines_of(state)
    told = story.recent(campaign, 1)
    last = max([line.turn for line in lines] + [t.turn for t in told] + [chronicles.last_covered(campaign)])
    return {
        "turn": turn_id(last) if last else "",
        "scene": state.text("scene"),
        "location": state.text("location"),
        "date": state.text("date"),
        "party": _party(state),
        **figures(campaign, search, state, with_secrets=with_secrets),
        "promises": [
            {"text": p.words, "turn": turn_id(p.turn) if p.turn else "", "kept": p.kept} for p in promises_of(state)
        ],
        "arcs": _arcs(campaign, search, with_secrets),
        "journal_chars": journal.length(lines),
        "proposals": [proposal.to_json() for proposal in proposals.listed(campaign.root)],
        "usage": costs.of_campaign(campaign),
        "warnings": warnings,
    }


def _state(campaign: Campaign) -> tuple[Document, str]:
    """The Campaign State, and what is wrong with it if it cannot be read as one."""
    try:
        state = campaign.document(STATE_FILE)
        journal.lines_of(state), promises_of(state), state.section("Party")
    except DocumentError as error:
        return parse(b"", STATE_FILE), str(error)
    return state, ""


def _party(state: Document) -> list[str]:
    try:
        return [row.text.strip() for _, row in company.members(state)]
    except DocumentError:  # two sections of that name
        return []


def _members(now: dict) -> list[str]:
    """The party for a person, hit points behind whoever has them."""
    told = []
    for member in now["party"]:
        said = plain(member)
        points = next((held for name, held in now["hit_points"].items() if said.startswith(name)), "")
        told.append(f"  {said}" + (f" · hit points {points}" if points else ""))
    return told


def _arcs(campaign: Campaign, search: Search, with_secrets: bool) -> list[dict]:
    found = []
    for path, entry in sorted(search.catalogue.items()):
        if entry.kind not in ("arc", "quest") or entry.withheld or (entry.secret and not with_secrets):
            continue
        document = campaign.document(path)
        arc = arcs.read(document)
        row = {"name": arc.name, "status": arc.status, "question": arc.question, "latest": arc.latest}
        if entry.kind == "quest":
            row |= {"stage": document.text("stage"), "objectives": objectives_of(document)}
        if with_secrets and document.text("truth"):
            row["truth"] = document.text("truth")
        found.append(row)
    return found


def _broken(entry: Entry) -> str:
    return entry.broken if entry.broken.startswith(entry.path) else f"{entry.path}: {entry.broken}"


def _warnings(campaign: Campaign, search: Search) -> list[str]:
    found = [_broken(entry) for entry in search.catalogue.marked("broken")]
    found += [
        f"{path}: a conflict copy" for path, _ in campaign.walk() if CONFLICT_COPY.search(path.rsplit("/", 1)[-1])
    ]
    if search.partial:
        found.append(f"the index cannot be used: {search.trouble}")
    for path, _ in records.drafts(campaign.root):
        found.append(f"{path}: an action that could not be told; `rolecall play` offers it again")
    return found


def status_lines(campaign: Campaign, search: Search, *, with_secrets: bool = False) -> list[str]:
    """Where the story stands, for a person."""
    now = status(campaign, search, with_secrets=with_secrets)
    lines = [f"{campaign.settings.name or campaign.root.name} · {now['turn'] or 'no turn told yet'}"]
    said = {key: plain(now[key]) for key in ("scene", "location", "date", "time", "weather")}
    lines += [f"{key.capitalize()}: {text}" for key, text in said.items() if text]
    lines += ["", "Party", *_members(now)] if now["party"] else []
    lines += figure_lines(now)
    if now["promises"]:
        lines += ["", "Promises"]
        lines += [
            f"  [{'x' if p['kept'] else ' '}] {plain(p['text'])}" + (f" ({p['turn']})" if p["turn"] else "")
            for p in now["promises"]
        ]
    if now["arcs"]:
        lines += ["", "Arcs and quests" if any("stage" in arc for arc in now["arcs"]) else "Arcs"]
        for arc in now["arcs"]:
            lines.append(f"  {arc['name']} ({arc['status']})")
            now_at = [text for text in (arc.get("stage"), arc["latest"]) if text]
            lines += [f"    {plain(text)}" for text in now_at]
            lines += [f"    [{'x' if o['done'] else ' '}] {plain(o['text'])}" for o in arc.get("objectives", ())]
            lines += [f"    Truth: {arc['truth']}"] if arc.get("truth") else []
    if now["proposals"]:
        lines += ["", "Proposed for entries you locked (`rolecall proposals`)"]
        lines += [f"  {proposal['number']}  {proposal['line']}" for proposal in now["proposals"]]
    memory = campaign.settings.memory
    lines += ["", f"Journal: {now['journal_chars']:,} of {memory['fold_at']:,} characters until it folds"]
    if now["usage"]["turns"]:
        lines += [f"Models: {costs.in_words(now['usage'], costs.prices_of_settings(campaign.settings))}"]
    return lines + [f"Warning: {warning}" for warning in now["warnings"]]


def cost_lines(campaign: Campaign, purse: Purse) -> list[str]:
    """What the last turn, this session and the whole campaign used: a table by layer, then the sums."""
    prices, rows = purse.prices, []
    for layer in dict.fromkeys(layer for layer, _, _ in costs.rows_of(purse, "turn")):
        mine = [row for row in costs.rows_of(purse, "turn") if row[0] == layer]
        rows.append((layer, costs.in_words(costs.total(mine, prices), prices)))
    for name, scope in (("this turn", "turn"), ("this session", "session")):
        rows.append((name, costs.in_words(costs.total(costs.rows_of(purse, scope), prices), prices)))
    rows.append(("the campaign", costs.in_words(costs.of_campaign(campaign), prices)))
    lines = [f"{name:<13} {said}" for name, said in rows]
    return lines + [f"No price is named for {model}." for model in costs.of_campaign(campaign)["unpriced"]]


def opening_text(campaign: Campaign) -> str:
    """What `play` shows first: the last turn, or before the first turn the opening scene."""
    told = story.recent(campaign, 1)
    if told:
        return _plain(f"\n{turn_id(told[0].turn)}  > {told[0].action}\n\n{told[0].prose}")
    state = campaign.document(STATE_FILE)
    first = secrets.open_sections(state)[0].text.strip() if state.sections else ""
    return _plain("\n" + (first or state.text("scene")))


def _plain(markdown: str) -> str:
    """Prose for a terminal: paragraphs on one line each (the terminal breaks them), links and comments without their marks."""
    text = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]", r"\1", uncommented(markdown))
    text = re.sub(r"(?<!\n)\n(?!\n)", " ", text.strip("\n"))
    return re.sub(r"(?<!\*)\*([^*\n]+)\*(?!\*)", r"\1", text)


def find(search: Search, name: str, *, with_secrets: bool = False) -> Entry:
    """The one file that goes by a name, alias or path; UnknownName, with near names, otherwise."""
    catalogue = search.catalogue
    wanted = name.strip().removeprefix("[[").removesuffix("]]")
    paths = [wanted] if wanted in catalogue else search.ties.named(wanted)
    if not paths:  # texts have names, too, if nothing else bears them
        folded = wanted.casefold()
        paths = [
            p
            for p, e in catalogue.items()
            if e.name.casefold() == folded or p.rsplit("/", 1)[-1][:-3].casefold() == folded
        ]
    found = [catalogue[p] for p in paths if with_secrets or not catalogue[p].secret]
    if len(found) == 1:
        return found[0]
    if found:
        where = ", ".join(e.path for e in found)
        raise UnknownName(f"{name!r} is the name of {len(found)} entries ({where})", remedy="name one by its path")
    called = (wanted, slug(wanted))  # by its path, or as its file is
    broken = next((e for p, e in catalogue.items() if e.broken and {p, p.rsplit("/", 1)[-1][:-3]} & {*called}), None)
    if broken:
        raise UnknownName(
            f"{name!r} is out of the game until it is mended ({_broken(broken)})", remedy="mend that line"
        )
    near = search.suggestions(wanted, secrets=with_secrets)[:3]
    remedy = f"did you mean {' or '.join(near)}?" if near else "`rolecall list` shows what there is"
    raise UnknownName(f"no entry is named {name!r}", remedy=remedy)


def entry_text(campaign: Campaign, search: Search, name: str, *, with_secrets: bool = False) -> str:
    """An entry as text."""
    return views.told(campaign, find(search, name, with_secrets=with_secrets).path, with_secrets=with_secrets)


def entry_json(campaign: Campaign, entry: Entry, *, with_secrets: bool = False) -> dict:
    """An entry as `show --json` prints it."""
    document = campaign.document(entry.path)
    fields = document.fields if with_secrets else secrets.open_fields(document.fields)
    text = views.told(campaign, entry.path, with_secrets=with_secrets)
    return {"path": entry.path, "kind": entry.kind, "name": entry.name, "fields": fields, "text": text}


def rows(
    campaign: Campaign, search: Search, kind: str | None, where: list[tuple[str, str]], *, with_secrets: bool
) -> list[dict]:
    """Entries as `list --json` prints them, by kind and path; every (field, value) of `where` must hold."""
    found = []
    for path, entry in sorted(search.catalogue.items(), key=lambda pair: (pair[1].kind, pair[0])):
        wanted = ("arc", "quest") if kind == "arc" else (kind or entry.kind,)  # a quest is an arc
        if entry.kind not in wanted or (entry.secret and not with_secrets) or (not kind and _is_text(entry)):
            continue
        try:
            fields = campaign.document(path).fields
        except (DocumentError, StorageError):
            continue  # `check` tells of it
        fields = fields if with_secrets else secrets.open_fields(fields)
        if all(_holds(fields.get(key, ""), value) for key, value in where):
            found.append({"path": path, "kind": entry.kind, "name": entry.name, "fields": fields})
    return found


def _is_text(entry: Entry) -> bool:
    return entry.kind in ("story", "chronicle", "state", "dm")


def _holds(held: object, wanted: str) -> bool:
    if isinstance(held, list):
        return any(_holds(item, wanted) for item in held)
    if isinstance(held, dict):
        return any(_holds(item, wanted) for item in held.values())
    plain = str(held).removeprefix("[[").removesuffix("]]").split("|")[0]
    return " ".join(plain.split()).casefold() == " ".join(wanted.split()).casefold()


def hit_lines(hits: list[Hit]) -> list[str]:
    """Search results for a person: where, what, and a line of it."""
    lines: list[str] = []
    for hit in hits:
        when = f", {turn_id(hit.turn)}" if hit.turn is not None else ""
        lines.append(f"{hit.path}:{hit.line}  {hit.name} ({hit.kind}{when}{', secret' if hit.secret else ''})")
        lines.append(f"    {' '.join(hit.excerpt.split())}")
    return lines

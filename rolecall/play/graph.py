"""Who is tied to whom, as a graph: entries and arcs as nodes, their typed fields and wikilinks as edges.

An edge's type is the name of the field it comes from (`location`, `leader`, `relationships`), `link` for a wikilink in
the prose, and `mentions` for an entry that an arc's question, stakes, stage, latest line or truth names. The texts
(story, Chronicles, Campaign State, the game master's notes) are not part of it, nor is what was forgotten or is broken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rolecall.campaign import kinds, references, secrets
from rolecall.campaign.folder import Campaign
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.text import clean_line
from rolecall.errors import CampaignError, UnknownName
from rolecall.search.catalogue import NAMELESS, Entry
from rolecall.search.searcher import Search
from rolecall.search.ties import Ties

LINK, MENTIONS = "link", "mentions"
_ARCS = ("arc", "quest")
_ASKED = ("question", "stakes", "stage", "latest")  # the open fields of an arc in which names count as ties


@dataclass(frozen=True, slots=True)
class Node:
    """An entry: `id` is its path, `secret` whether it is hidden from the player as a whole."""

    id: str
    name: str
    kind: str
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A tie between two nodes' ids. `label` says more than the type (a relationship's nature), or is empty."""

    source: str
    target: str
    type: str
    label: str = ""
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by path and edges by source, target and type."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def of(campaign: Campaign, search: Search, *, with_secrets: bool = False) -> Graph:
    """The graph of a campaign: as the player may know it, or with secret entries and the edges that secrets make."""
    catalogue = search.catalogue
    shown = {p: e for p, e in sorted(catalogue.items()) if _is_shown(e, with_secrets)}
    edges: dict[tuple[str, str, str, str], bool] = {}

    def add(source: str, target: str, type_: str, label: str, secret: bool) -> None:
        if source in shown and target in shown and source != target:
            key = (source, target, type_, label)
            edges[key] = edges.get(key, True) and secret  # told openly somewhere, it is no secret

    labels: dict[str, dict[tuple[str, str], list[str]]] = {}
    for tie in search.ties.all(secrets=with_secrets):
        if tie.source in shown and tie.source not in labels:
            labels[tie.source] = _labels(campaign, search.ties, shown[tie.source], with_secrets)
        for label in labels.get(tie.source, {}).get((tie.type, tie.target), [""]):
            add(tie.source, tie.target, tie.type, label, tie.secret)
    linked = {(source, target) for source, target, *_ in edges}
    for path in (p for p, e in shown.items() if e.kind in _ARCS):
        for target, secret in _mentioned(campaign, search, path, with_secrets):
            if (path, target) not in linked:
                add(path, target, MENTIONS, "", secret or shown[path].secret or catalogue[target].secret)
    nodes = (Node(p, clean_line(e.name, 200) or p, e.kind, e.secret) for p, e in shown.items())
    title = campaign.settings.name or campaign.root.name
    return Graph(title, tuple(nodes), tuple(Edge(*key, secret) for key, secret in sorted(edges.items())))


def around(graph: Graph, id_: str, depth: int = 1) -> Graph:
    """The part of a graph within so many steps of one node, edges taken in both directions."""
    if id_ not in {node.id for node in graph.nodes}:
        raise UnknownName(f"{id_} is not in the graph", remedy="texts and forgotten entries are not; name an entry")
    near: dict[str, set[str]] = {}
    for edge in graph.edges:
        near.setdefault(edge.source, set()).add(edge.target)
        near.setdefault(edge.target, set()).add(edge.source)
    kept, edge_of = {id_}, {id_}
    for _ in range(depth):
        edge_of = {other for one in edge_of for other in near.get(one, ())} - kept
        if not edge_of:
            break
        kept |= edge_of
    nodes = tuple(node for node in graph.nodes if node.id in kept)
    return Graph(graph.title, nodes, tuple(e for e in graph.edges if e.source in kept and e.target in kept))


def _is_shown(entry: Entry, with_secrets: bool) -> bool:
    return entry.kind not in NAMELESS and not entry.withheld and (with_secrets or not entry.secret)


def _labels(campaign: Campaign, ties: Ties, entry: Entry, with_secrets: bool) -> dict[tuple[str, str], list[str]]:
    """What an entry's lists of mappings say of each one they name: (field, path) to natures, in file order."""
    typed = kinds.ENTRY_KINDS[entry.kind].fields if entry.kind in kinds.ENTRY_KINDS else {}
    listed = {"relationships", *(key for key, type_ in typed.items() if type_ == "items")}
    if not any(ref.type in listed for ref in entry.refs):
        return {}
    fields = _fields(campaign, entry.path, with_secrets)
    found: dict[tuple[str, str], list[str]] = {}
    for key in listed & fields.keys():
        for name, said, _ in references.natures(fields[key]):
            for path in ties.named(name):
                found.setdefault((key, path), []).append(clean_line(references.plain(said), 120))
    return found


def _mentioned(campaign: Campaign, search: Search, path: str, with_secrets: bool) -> Iterable[tuple[str, bool]]:
    """(path, secret) of the entries that an arc's own lines name."""
    fields = _fields(campaign, path, with_secrets)
    found: dict[str, bool] = {}
    for key, value in fields.items():
        secret = secrets.is_secret_field(key)
        if isinstance(value, str) and (secret or key.casefold() in _ASKED):
            for mention in search.mentions(value, secrets=with_secrets):
                found[mention.path] = found.get(mention.path, True) and secret
    return found.items()


def _fields(campaign: Campaign, path: str, with_secrets: bool) -> dict[str, Value]:
    try:
        fields = campaign.document(path).fields
    except CampaignError:  # changed since it was listed; it has no say just now
        return {}
    return fields if with_secrets else secrets.open_fields(fields)

"""The graph in four forms: Mermaid for Markdown, DOT for Graphviz, JSON, and one HTML page that needs nothing else.

Names come from files and may hold anything; each form escapes by its own rules, named where they are applied.
"""

from __future__ import annotations

import html as markup
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.campaign.text import clean_line, json_text
from rolecall.play.graph import LINK, Edge, Graph, Node

LONGEST = 80  # characters of a name or label in a drawing
# What Mermaid draws unless its host page raises the limits (`maxEdges`, `maxTextSize` in its configuration schema).
MERMAID_EDGES, MERMAID_CHARS = 500, 50_000


@dataclass(frozen=True, slots=True)
class Look:
    """How a kind is drawn: its colour on light and on dark, Mermaid's brackets, and Graphviz' shape."""

    light: str
    dark: str
    brackets: tuple[str, str]
    dot: str


LOOKS = {
    "character": Look("#b4472f", "#f0907a", ("(", ")"), "ellipse"),
    "location": Look("#2b7a57", "#6fcf9f", ("[", "]"), "box"),
    "organization": Look("#3559a6", "#8db0ff", ("{{", "}}"), "hexagon"),
    "item": Look("#96690a", "#e6bd5a", ("[/", "/]"), "diamond"),
    "power": Look("#7a45a8", "#c39df2", ("([", "])"), "star"),
    "creature": Look("#66731b", "#bccb62", ("[\\", "\\]"), "triangle"),
    "culture": Look("#a0457b", "#ee9dcb", ("[[", "]]"), "pentagon"),
    "rule": Look("#59626f", "#aab5c5", ("[[", "]]"), "note"),
    "event": Look("#1b7787", "#6acfe0", ("[/", "\\]"), "octagon"),
    "threat": Look("#b3123a", "#ff7089", ("[\\", "/]"), "invtriangle"),
    "lore": Look("#77624c", "#cbb499", ("[", "]"), "folder"),
    "arc": Look("#c25e00", "#ffab5e", (">", "]"), "cds"),
    "quest": Look("#4f7f00", "#a6de5a", (">", "]"), "cds"),
}
_HYPHEN = re.compile(r"\w-\w")
_PLAIN = LOOKS["lore"]
_ORDER = {kind: at for at, kind in enumerate((*ENTRY_KINDS, "arc", "quest"))}


def as_json(graph: Graph) -> dict:
    """`{nodes[{id, name, kind}], edges[{from, to, type}]}`; an edge that says more than its type also has `label`."""
    return {
        "nodes": [{"id": node.id, "name": node.name, "kind": node.kind} for node in graph.nodes],
        "edges": [
            {"from": edge.source, "to": edge.target, "type": edge.type} | ({"label": edge.label} if edge.label else {})
            for edge in graph.edges
        ],
    }


# -- Mermaid ----------------------------------------------------------------------------------------------------------


def mermaid(graph: Graph) -> str:
    """A Mermaid flowchart; edges between the same two are one arrow, and a bare link gives way to what says more."""
    number = {node.id: f"n{at}" for at, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    for node in graph.nodes:
        opening, closing = LOOKS.get(node.kind, _PLAIN).brackets
        lines.append(f'  {number[node.id]}{opening}"{_mermaid_text(node.name)}"{closing}:::{node.kind}')
    for source, target, words in _arrows(graph.edges):
        arrow = f'-->|"{_mermaid_text(words)}"|' if words else "-.->"
        lines.append(f"  {number[source]} {arrow} {number[target]}")
    for kind in _kinds(graph.nodes):
        lines.append(f"  classDef {kind} fill:{LOOKS.get(kind, _PLAIN).light},stroke:#ffffff,color:#ffffff")
    return "\n".join(lines) + "\n"


def fenced(text: str) -> str:
    """A Mermaid drawing as a block of a Markdown file."""
    return f"```mermaid\n{text}```\n"


def mermaid_is_large(graph: Graph, text: str) -> bool:
    """Whether Mermaid would refuse it with the limits it comes with."""
    return len(_arrows(graph.edges)) > MERMAID_EDGES or len(text) > MERMAID_CHARS


def _mermaid_text(text: str) -> str:
    """Text inside Mermaid's double quotes: all but letters, digits and spaces as entities by number (`#34;`).

    Entities are the one escape Mermaid has. Spelling every sign that way leaves nothing that its grammar, its
    Markdown labels, its directives (`%%{`) or the HTML it makes could take for their own. Commas, apostrophes and
    hyphens within words are harmless and stay.
    """
    line = clean_line(text, LONGEST) or "?"
    return "".join(
        char if char.isalnum() or char in " ,'" or _joins(char) or _HYPHEN.match(line, at - 1) else f"#{ord(char)};"
        for at, char in enumerate(line)
    )


def _joins(char: str) -> bool:
    """Whether a character is part of the one before it in its script: an accent, a vowel sign, a joiner."""
    return unicodedata.category(char) in ("Mn", "Mc") or char in "\u200c\u200d"


def _arrows(edges: tuple[Edge, ...]) -> list[tuple[str, str, str]]:
    """(source, target, words) once for each ordered pair."""
    said: dict[tuple[str, str], list[str]] = {}
    for edge in edges:
        words = said.setdefault((edge.source, edge.target), [])
        if edge.type != LINK:
            words.append((edge.label or edge.type).replace("_", " "))
    return [(source, target, ", ".join(dict.fromkeys(words))) for (source, target), words in said.items()]


def _kinds(nodes: tuple[Node, ...]) -> list[str]:
    return sorted({node.kind for node in nodes}, key=lambda kind: (_ORDER.get(kind, 99), kind))


# -- DOT --------------------------------------------------------------------------------------------------------------


def dot(graph: Graph) -> str:
    """A Graphviz digraph. Node ids are numbers; the path stands in the tooltip."""
    number = {node.id: f"n{at}" for at, node in enumerate(graph.nodes)}
    lines = [
        f'digraph "{_dot_text(graph.title)}" {{',
        '  graph [overlap=prism, splines=true, bgcolor="transparent"];',
        '  node [style=filled, fontname="sans-serif", fontcolor=white, color=white];',
        '  edge [fontname="sans-serif", fontsize=10, color="#8a8578"];',
    ]
    for node in graph.nodes:
        look = LOOKS.get(node.kind, _PLAIN)
        lines.append(
            f'  {number[node.id]} [label="{_dot_text(node.name)}", shape={look.dot}, fillcolor="{look.light}", '
            f'tooltip="{_dot_text(node.id)}"];'
        )
    for source, target, words in _arrows(graph.edges):
        more = f'label="{_dot_text(words)}"' if words else "style=dotted"
        lines.append(f"  {number[source]} -> {number[target]} [{more}];")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_text(text: str) -> str:
    """Text inside DOT's double quotes: quotes and backslashes escaped, and ampersands, as labels decode entities."""
    line = clean_line(text, LONGEST)
    return line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


# -- HTML -------------------------------------------------------------------------------------------------------------


def html(graph: Graph) -> str:
    """One page: style, script and data inside, no request to anywhere."""
    page = Path(__file__).with_name("graph.html").read_text(encoding="utf-8")
    title = markup.escape(clean_line(graph.title, LONGEST))
    head, rest = page.split("@@TITLE@@", 1)
    middle, tail = rest.split("@@DATA@@", 1)
    return "".join((head, title, middle, _script_json(_page_data(graph)), tail))


def _page_data(graph: Graph) -> dict:
    at = {node.id: index for index, node in enumerate(graph.nodes)}
    looks = {kind: LOOKS.get(kind, _PLAIN) for kind in _kinds(graph.nodes)}
    return {
        "title": clean_line(graph.title, LONGEST),
        "kinds": [{"kind": kind, "light": look.light, "dark": look.dark} for kind, look in looks.items()],
        "nodes": [[node.id, node.name, node.kind, int(node.secret)] for node in graph.nodes],
        "edges": [[at[e.source], at[e.target], e.type, e.label, int(e.secret)] for e in graph.edges],
    }


def _script_json(data: object) -> str:
    """JSON that is inert inside a `<script>` element: no `<`, `>` or `&` that could end it or open a comment."""
    text = json_text(data, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text

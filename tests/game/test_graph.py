"""The graph's promises: every tie is in it, no secret is, and any name survives every format."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecall.campaign.text import clean_line
from rolecall.play import drawings
from rolecall.play.graph import Edge, Graph, Node
from tests.game.test_secrets import leaks, put_canaries

HOSTILE = [
    'A"]', "B --> C", "</script><b>bold</b>", "`back`ticks```", "%%{init: {}}%%", "1. list", "- dash", "style a:x #quot;",
    "end", "Ünïcödé", "Мария", "李小龙", "สมชาย น้อย", "عائشة", "C:\\new\\N\\", "{curly|pipe}", "&amp; & &lt;", "#35;", "<!--",
    "[x](y)", "click n0 href", "**bold** _it_", "n0;", "🐉", "@@DATA@@", "@@TITLE@@", "half \\\"", "\u2028 \u2029",
]  # fmt: skip


def write(root: Path, path: str, text: str) -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


@pytest.fixture
def tale(tmp_path: Path) -> Path:
    """Five entries and an arc: what is tied how stands in the test's own words."""
    root = tmp_path / "tale"
    write(root, "rolecall.yaml", "format: 1\nname: The Tale\nlanguage: en\ngit: off\n")
    write(root, "campaign-state.md", "---\nname: Campaign State\nlocation: The Inn\n---\n[[Marta]]\n\n## Journal\n")
    write(
        root, "characters/marta.md",
        "---\nname: Marta\naliases: [the landlady]\nlocation: The Inn\nrelationships:\n"
        "  - {with: '[[Sera]]', nature: godmother}\n  - {with: Sera, nature: owes her money}\n  - {with: Crane, nature: afraid}\n"
        "secret: She fears [[The Guild]].\n---\nShe reads [[The Ledger|an old book]].\n\n## Secrets\n\nShe knows [[Sera]].\n",
    )  # fmt: skip
    write(
        root,
        "characters/sera.md",
        "---\nname: Sera\n---\nKnows [[characters/marta.md]]. Nobody is called [[Nobody]].\n",
    )
    write(root, "characters/crane.md", "---\nname: Crane\nvisibility: secret\nlocation: The Inn\n---\n")
    write(
        root,
        "locations/inn.md",
        "---\nname: The Inn\nowner: the landlady\nconnections:\n  - {to: Guild House, way: a tunnel}\n---\n",
    )
    write(root, "locations/house.md", "---\nname: Guild House\nwithin: The Inn\n---\n")
    write(root, "items/ledger.md", "---\nname: The Ledger\nholder: Marta\n---\n")
    write(
        root,
        "organizations/guild.md",
        "---\nname: The Guild\nleader: Sera\nmembers: [Sera, Marta]\nforgotten: ''\n---\n",
    )
    write(root, "arcs/who.md", "---\nname: Who lied\nquestion: Did Marta lie?\nstatus: open\ntruth: Sera lied.\n---\n")
    write(root, "lore/old.md", "---\nname: Old News\nforgotten: T0003 no longer true\n---\n[[Marta]]\n")
    return root


def told(rolecall, root: Path, *more: str) -> dict:
    ran = rolecall("-C", root, "graph", "--json", *more)
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def edges(document: dict) -> set[tuple]:
    names = {node["id"]: node["name"] for node in document["nodes"]}
    return {(names[e["from"]], e["type"], names[e["to"]], e.get("label", "")) for e in document["edges"]}


OPEN = {
    ("Marta", "location", "The Inn", ""), ("Marta", "relationships", "Sera", "godmother"),
    ("Marta", "relationships", "Sera", "owes her money"), ("Marta", "link", "The Ledger", ""), ("Sera", "link", "Marta", ""),
    ("The Inn", "owner", "Marta", ""), ("The Inn", "connections", "Guild House", "a tunnel"),
    ("Guild House", "within", "The Inn", ""), ("The Ledger", "holder", "Marta", ""), ("The Guild", "leader", "Sera", ""),
    ("The Guild", "members", "Sera", ""), ("The Guild", "members", "Marta", ""), ("Who lied", "mentions", "Marta", ""),
}  # fmt: skip


def test_every_field_that_names_an_entry_and_every_link_is_an_edge(rolecall, tale):
    document = told(rolecall, tale)
    assert edges(document) == OPEN
    assert set(document) == {"nodes", "edges"}
    assert {"id": "items/ledger.md", "name": "The Ledger", "kind": "item"} in document["nodes"]
    assert {node["kind"] for node in document["nodes"]} == {"character", "location", "item", "organization", "arc"}


def test_secret_entries_fields_and_sections_make_edges_for_the_writer_only(rolecall, tale):
    more = edges(told(rolecall, tale, "--secrets")) - OPEN
    assert more == {
        ("Marta", "relationships", "Crane", "afraid"),
        ("Marta", "secret", "The Guild", ""),
        ("Marta", "link", "Sera", ""),
        ("Crane", "location", "The Inn", ""),
        ("Who lied", "mentions", "Sera", ""),
    }


@pytest.mark.parametrize("format_", ["mermaid", "dot", "json", "html"])
def test_no_format_shows_the_player_a_secret(rolecall, campaign, format_):
    put_canaries(campaign)
    ran = rolecall("-C", campaign, "graph", "--format", format_)
    assert ran.code == 0 and leaks(ran.out + ran.err) == []
    assert "Hidden Quill" not in ran.out
    assert "Hidden Quill" in rolecall("-C", campaign, "graph", "--format", format_, "--secrets").out


def test_around_takes_in_what_is_within_so_many_steps_either_way(rolecall, tale):
    near = {node["name"] for node in told(rolecall, tale, "--around", "the landlady")["nodes"]}
    assert near == {"Marta", "Sera", "The Inn", "The Ledger", "The Guild", "Who lied"}
    assert {node["name"] for node in told(rolecall, tale, "--around", "Marta", "--depth", "2")["nodes"]} == near | {
        "Guild House"
    }
    ran = rolecall("-C", tale, "graph", "--around", "Crane")
    assert ran.code == 1 and ran.err.startswith("Error: no entry is named 'Crane'")
    assert rolecall("-C", tale, "graph", "--around", "Campaign State").code == 1


def test_the_same_files_give_the_same_bytes(rolecall, example):
    for format_ in drawings_formats():
        once, again = (rolecall("-C", example, "graph", "--format", format_).out for _ in range(2))
        assert once == again and len(once) > 1000


def drawings_formats() -> tuple[str, ...]:
    from rolecall.cli.graph import FORMATS

    return FORMATS


def test_usage_that_contradicts_itself_is_refused(rolecall, tale):
    assert rolecall("-C", tale, "graph", "--json", "--format", "html").code == 2
    assert rolecall("-C", tale, "graph", "--depth", "2").code == 2
    assert rolecall("-C", tale, "graph", "--format", "png").code == 2


# -- into a file ------------------------------------------------------------------------------------------------------


def test_a_file_is_written_whole_and_mermaid_is_fenced_in_markdown(rolecall, tale, tmp_path):
    plain, fenced = tmp_path / "a.mmd", tmp_path / "a.md"
    ran = rolecall("-C", tale, "graph", "-o", plain)
    assert (ran.code, ran.out) == (0, "") and "7 entries" in ran.err
    assert rolecall("-C", tale, "graph", "-o", fenced).code == 0
    assert plain.read_text("utf-8") == rolecall("-C", tale, "graph").out
    assert fenced.read_text("utf-8") == f"```mermaid\n{plain.read_text('utf-8')}```\n"


def test_a_drawing_never_takes_the_place_of_a_file_of_the_campaign(rolecall, tale):
    before = (tale / "characters/marta.md").read_bytes()
    for path in ("characters/marta.md", "campaign-state.md", "rolecall.yaml"):
        ran = rolecall("-C", tale, "graph", "-o", tale / path)
        assert ran.code == 1 and "file of the campaign" in ran.err and ran.err.count("\n") == 1
    assert (tale / "characters/marta.md").read_bytes() == before
    drawing = tale / "map.md"
    assert [rolecall("-C", tale, "graph", "-o", drawing).code for _ in range(2)] == [0, 0]  # its own may be drawn again
    assert sorted(path.name for path in tale.iterdir() if path.is_file()) == [
        "campaign-state.md",
        "map.md",
        "rolecall.yaml",
    ]


def test_a_place_that_cannot_be_written_is_one_line(rolecall, tale, tmp_path):
    ran = rolecall("-C", tale, "graph", "-o", tmp_path / "nowhere/graph.html", "--format", "html")
    assert ran.code == 1 and ran.err.count("\n") == 1 and "Traceback" not in ran.err


def test_a_graph_too_large_for_mermaid_is_drawn_with_a_word_about_it(rolecall, tale):
    for number in range(80):
        links = " ".join(f"[[Place {other}]]" for other in range(number + 1, number + 9))
        write(tale, f"locations/p{number}.md", f"---\nname: Place {number}\n---\n{links}\n")
    ran = rolecall("-C", tale, "graph")
    assert ran.code == 0 and "--around" in ran.err and ran.out.count("-.->") > 500


# -- names that are not kind ------------------------------------------------------------------------------------------


def hostile(names: list[str]) -> Graph:
    """Each name an entry, each tied to the next by a relationship whose nature is that name too."""
    nodes = tuple(Node(f"lore/{i}.md", clean_line(name, 200) or "?", "lore") for i, name in enumerate(names))
    ties = tuple(Edge(nodes[i - 1].id, nodes[i].id, "relationships", nodes[i].name) for i in range(1, len(nodes)))
    return Graph(names[0], nodes, ties)


def expected(name: str) -> str:
    return clean_line(name, drawings.LONGEST) or "?"


def mermaid_names(text: str) -> tuple[list[str], list[str]]:
    """Names and labels as Mermaid reads them; every line must be one of the four shapes of line there are."""
    quoted = r'"((?:[^"#;:`<>&%{}\[\]|\\*_$]|#\d+;)*)"'
    shapes = "|".join(
        re.escape(a) + quoted + re.escape(b) for a, b in {look.brackets for look in drawings.LOOKS.values()}
    )
    node, edge = re.compile(rf"  n\d+(?:{shapes}):::\w+"), re.compile(rf"  n\d+ (?:-->\|{quoted}\||-\.->) n\d+")
    names, labels = [], []
    head, *lines = text.removesuffix("\n").split("\n")
    assert head == "flowchart LR"
    for line in lines:
        if found := node.fullmatch(line):
            names.append(next(group for group in found.groups() if group is not None))
        elif found := edge.fullmatch(line):
            labels += [found[1]] if found[1] is not None else []
        else:
            assert re.fullmatch(r"  classDef \w+ fill:#\w{6},stroke:#\w{6},color:#\w{6}", line), line
    decode = lambda said: re.sub(r"#(\d+);", lambda entity: chr(int(entity[1])), said)  # noqa: E731
    return [decode(name) for name in names], [decode(label) for label in labels]


def dot_names(text: str) -> list[str]:
    """The labels of nodes and edges as Graphviz reads them."""
    quoted = r'"((?:[^"\\]|\\\\|\\")*)"'
    lines = text.removesuffix("\n").split("\n")
    assert re.fullmatch(rf"digraph {quoted} \{{", lines[0]) and lines[-1] == "}"
    found = []
    for line in lines[4:-1]:
        match = re.fullmatch(
            rf"  n\d+(?: -> n\d+)? \[label={quoted}(?:, shape=\w+, fillcolor={quoted}, tooltip={quoted})?\];", line
        )
        assert match, line
        found.append(re.sub(r"\\(.)", r"\1", match[1]).replace("&amp;", "&"))
    return found


class Page(HTMLParser):
    """An HTML page taken apart: tags with attributes, the title, the scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.texts: dict[str, list[str]] = {"title": [], "script": []}
        self._in = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag):
        self._in = ""

    def handle_data(self, data):
        if self._in in self.texts:
            self.texts[self._in][-1] += data


def check_all_formats(names: list[str]) -> None:
    graph = hostile(names)
    wanted = [expected(node.name) for node in graph.nodes]
    labels = [expected(edge.label.replace("_", " ")) for edge in graph.edges]
    assert mermaid_names(drawings.mermaid(graph)) == (wanted, labels)
    assert dot_names(drawings.dot(graph)) == wanted + labels
    page = Page(drawings.html(graph))
    assert [tag for tag, _ in page.tags if tag in ("script", "b", "img", "iframe")] == ["script", "script"]
    assert [row[1] for row in json.loads(page.texts["script"][0])["nodes"]] == [node.name for node in graph.nodes]
    assert page.texts["title"][0].startswith(clean_line(names[0], drawings.LONGEST))
    assert len(page.texts["script"][1]) > 10_000


def test_hostile_names_survive_every_format():
    check_all_formats(HOSTILE)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=90).filter(lambda text: clean_line(text)), min_size=1, max_size=5))
def test_any_name_survives_every_format(names):
    check_all_formats(names)


def test_hostile_names_survive_on_their_way_from_files(rolecall, tale):
    for number, name in enumerate(HOSTILE):
        said = json.dumps(name, ensure_ascii=False)
        write(
            tale, f"lore/h{number}.md", f"---\nname: {said}\nrelationships:\n  - {{with: Marta, nature: {said}}}\n---\n"
        )
    names, labels = mermaid_names(rolecall("-C", tale, "graph").out)
    wanted = {expected(name) for name in HOSTILE} - {"?"}
    assert wanted <= set(names) and {expected(name.replace("_", " ")) for name in wanted} <= set(labels)


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_reads_the_names_as_they_are():
    ran = subprocess.run(
        ["dot", "-Tplain"], input=drawings.dot(hostile(HOSTILE)), capture_output=True, text=True, encoding="utf-8"
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert sum(line.startswith("node ") for line in ran.stdout.splitlines()) == len(HOSTILE)


# -- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_asks_nobody_for_anything(rolecall, example):
    text = rolecall("-C", example, "graph", "--format", "html").out
    page = Page(text)
    assert [
        name for _, attributes in page.tags for name in attributes if name in ("src", "href", "srcset", "data")
    ] == []
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", text)
    assert re.findall(r"https?://[^\s\"'`]+", text) == ["http://www.w3.org/2000/svg"]
    policy = next(
        a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'")
    data = json.loads(page.texts["script"][0])
    assert data["title"] == "The Broken Anchor" and len(data["nodes"]) > 30
    assert {row[2] for row in data["nodes"]} == {kind["kind"] for kind in data["kinds"]}
    assert "prefers-color-scheme: dark" in text


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
def test_a_browser_draws_every_entry_without_a_complaint(tmp_path):
    graph, place = hostile(HOSTILE * 5), tmp_path / "graph.html"
    place.write_text(drawings.html(graph), encoding="utf-8")
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-sync "
        "--disable-component-update --enable-logging=stderr --dump-dom --virtual-time-budget=20000"
    )
    command = [CHROMIUM, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", place.as_uri()]
    ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert "CONSOLE" not in ran.stderr
    page = Page(ran.stdout)
    assert page.tags[0] == ("html", {"lang": "en", "data-ready": "yes"})
    drawn = [
        attributes for tag, attributes in page.tags if tag == "g" and attributes.get("class", "").startswith("node")
    ]
    assert len(drawn) == len(graph.nodes)
    assert [attributes["aria-label"].rsplit(", lore", 1)[0] for attributes in drawn] == [
        node.name for node in graph.nodes
    ]
    places = {attributes["transform"] for attributes in drawn}
    assert len(places) == len(graph.nodes) and not any("NaN" in place for place in places)

"""The story as a book: an EPUB that holds to the standard whatever the prose is, and Markdown that reads by itself."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.exchange import epub, storybook
from rolecall.exchange.storybook import Chapter, Storybook
from tests.campaign.writing import bounded

OPF, DC, XHTML = (
    "{http://www.idpf.org/2007/opf}",
    "{http://purl.org/dc/elements/1.1/}",
    "{http://www.w3.org/1999/xhtml}",
)
OPS, NCX = "{http://www.idpf.org/2007/ops}", "{http://www.daisy.org/z3986/2005/ncx/}"
WHEN = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
# What XHTML of a book may hold here, by the EPUB 3.3 content documents our Markdown leads to.
HEADINGS = {f"h{level}" for level in range(1, 7)}
ELEMENTS = HEADINGS | {"html", "head", "meta", "title", "link", "body", "nav", "ol", "ul", "li", "a", "p", "blockquote", "hr", "br", "em", "strong", "code", "pre"}  # fmt: skip
EMPTY = {"br", "hr", "meta", "link"}


def sound(data: bytes) -> dict[str, ET.Element]:
    """Every page of an EPUB by name, after a strict look at all of it."""
    assert data[30:58] == b"mimetypeapplication/epub+zip"  # at the very beginning, unpacked (OCF 3.3, 4.3)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        members = archive.infolist()
        names = [member.filename for member in members]
        assert (
            members[0].filename == "mimetype"
            and members[0].compress_type == zipfile.ZIP_STORED
            and not members[0].extra
        )
        assert len(set(map(str.casefold, names))) == len(names)
        held = {name: archive.read(name) for name in names[1:]}
    container = ET.fromstring(held.pop("META-INF/container.xml"))
    (root,) = container.iter("{urn:oasis:names:tc:opendocument:xmlns:container}rootfile")
    assert root.attrib == {"full-path": "EPUB/book.opf", "media-type": "application/oebps-package+xml"}
    package = ET.fromstring(held.pop("EPUB/book.opf"))
    assert package.get("version") == "3.0"
    (identifier,) = package.iter(f"{DC}identifier")
    assert identifier.get("id") == package.get("unique-identifier") and identifier.text.startswith("urn:uuid:")
    (title,), (language,) = package.iter(f"{DC}title"), package.iter(f"{DC}language")
    assert title.text and re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", language.text)
    (modified,) = (m for m in package.iter(f"{OPF}meta") if m.get("property") == "dcterms:modified")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", modified.text)
    items = {item.get("id"): item for item in package.iter(f"{OPF}item")}
    assert len(items) == len(list(package.iter(f"{OPF}item")))
    assert {f"EPUB/{item.get('href')}" for item in items.values()} == set(held)
    assert [item.get("href") for item in items.values() if item.get("properties") == "nav"] == ["nav.xhtml"]
    (spine,) = package.iter(f"{OPF}spine")
    order = [items[ref.get("idref")].get("href") for ref in spine]
    assert items[spine.get("toc")].get("media-type") == "application/x-dtbncx+xml"
    pages = {}
    for item in items.values():
        if item.get("media-type") == "application/xhtml+xml":
            pages[item.get("href")] = page(held[f"EPUB/{item.get('href')}"], language.text, set(held))
    assert set(order) | {"nav.xhtml"} == set(pages) and order[0] == "title.xhtml"
    (nav,) = pages["nav.xhtml"].iter(f"{XHTML}nav")
    links = list(nav.iter(f"{XHTML}a"))
    assert (
        nav.get(f"{OPS}type") == "toc"
        and [a.get("href") for a in links] == order[1:]
        and all(a.text.strip() for a in links)
    )
    ncx = ET.fromstring(held["EPUB/toc.ncx"])
    assert [content.get("src") for content in ncx.iter(f"{NCX}content")] == order[1:]
    assert next(iter(ncx.iter(f"{NCX}meta"))).get("content") == identifier.text
    return pages


def page(data: bytes, language: str, names: set[str]) -> ET.Element:
    root = ET.fromstring(data)
    assert root.get("lang") == root.get("{http://www.w3.org/XML/1998/namespace}lang") == language
    assert root.find(f"{XHTML}head/{XHTML}title").text.strip()
    for element in root.iter():
        name = element.tag.removeprefix(XHTML)
        assert name in ELEMENTS and not any(key.startswith("on") or key in ("src", "style") for key in element.attrib)
        assert name not in EMPTY or (len(element) == 0 and not (element.text or "").strip())
        if href := element.get("href"):
            assert f"EPUB/{href}" in names or href.casefold().startswith(("http://", "https://", "mailto:"))
    return root


def text_of(root: ET.Element) -> str:
    return "".join(root.find(f"{XHTML}body").itertext())


HOSTILE = """> I say <b>stop</b> & wait.

<script>alert(1)</script> <img src=x onerror=y> AT&T &nbsp; ]]> &#0; &bogus;

![the *map*](map.png "t") [Sera](../characters/sera.md) [here](https://example.org/?a=1&b=2) [x](javascript:alert(1)) [![in](a.png)](b.md)

***Bold* and odd** `a<b` <!-- said to nobody -->

```html" onload="x
<i>
```

- one
  1. two

* * *

\ud800\x00\x1b[31m\ufffe end"""


def test_hostile_prose_makes_a_sound_book():
    book = Storybook('<T> & "co"', "en", (Chapter(1, "One & <two>", storybook.plain(HOSTILE)), Chapter(2, "2", "x")))
    pages = sound(epub.made(book, WHEN))
    said = text_of(pages["chapter-001.xhtml"])
    assert "I say <b>stop</b> & wait." in said and "<script>alert(1)</script>" in said and "said to nobody" not in said
    assert "the map" in said and "Sera" in said and "AT&T" in said and said.rstrip().endswith("end")
    links = [a.get("href") for a in pages["chapter-001.xhtml"].iter(f"{XHTML}a")]
    assert links == ["https://example.org/?a=1&b=2"]


@bounded
@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text(max_size=80)), min_size=1, max_size=3),
    st.text(max_size=8),
)
def test_any_text_in_any_language_makes_a_sound_book(chapters, language):
    told = tuple(
        Chapter(n, storybook.plain(title).strip() or "x", storybook.plain(text))
        for n, (title, text) in enumerate(chapters, 1)
    )
    sound(epub.made(Storybook("T", language, told), WHEN))


@bounded
@given(st.lists(st.sampled_from(["<", ">", "&", "[a](", ")", "!", "[", "]", "*", "_", "`", "\n", "\n\n", "> ", "- ", "#", "<b>", "x", "&lt;", "\\"]), max_size=30))  # fmt: skip
def test_any_markdown_makes_a_sound_book(parts):
    sound(epub.made(Storybook("T", "en", (Chapter(1, "x", storybook.plain("".join(parts))),)), WHEN))


@pytest.mark.parametrize(
    ("language", "told", "way"), [("he", "he", "rtl"), ("pt-BR", "pt-BR", None), ("no such", "und", None)]
)
def test_the_language_and_its_direction_are_said(language, told, way):
    pages = sound(epub.made(Storybook("T", language, (Chapter(1, "x", "y"),)), WHEN))
    assert (pages["chapter-001.xhtml"].get("lang"), pages["chapter-001.xhtml"].get("dir")) == (told, way)


def test_the_example_is_a_book_by_chapters_with_every_word_of_its_story(rolecall, example, tmp_path):
    for name in ("a.epub", "b.epub"):
        assert rolecall("-C", example, "export", "epub", "-o", tmp_path / name).code == 0
    data = (tmp_path / "a.epub").read_bytes()
    assert data == (tmp_path / "b.epub").read_bytes()  # the same story, the same bytes
    pages = sound(data)
    assert rolecall("-C", example, "export", "markdown", "-o", tmp_path / "a.md").code == 0
    plain = (tmp_path / "a.md").read_text()
    titles = re.findall(r"^## (.+)$", plain, re.M)
    assert titles == ["Iron in the Water", "The Blind Penny", "What the Anchor Kept"] and len(pages) == 5
    told = " ".join(" ".join(text_of(pages[f"chapter-{n:03d}.xhtml"]) for n in (1, 2, 3)).split())
    count = 0
    for chapter in sorted((example / "story").iterdir()):
        body = re.sub(r"(?s)\A---.*?\n---\n", "", chapter.read_text())
        for line in body.splitlines():
            words = " ".join(line.removeprefix("> ").split())
            if words and not line.startswith("## T"):
                assert words in " ".join(plain.split())
                assert re.sub(r"[*_`]", "", words) in re.sub(r"[*_`]", "", told)
                count += 1
    assert count > 100 and not re.search(r"\bT00\d\d\b", plain) and plain.count("* * *") == 40 - 3


def test_links_headings_and_prologues_are_the_readers(rolecall, campaign, tmp_path):
    (campaign / "story").mkdir(exist_ok=True)
    (campaign / "story/001-a.md").write_text(
        "---\nname: A\nkind: story\n---\nOnce.\n\n## T0001\n\n> I go.\n> Far.\n\n[[sera|The smuggler]] nods to [[Kit]].\n\n### Later\n\nRain.\n"
        "\n## T0002\n\nMore.\n"
    )
    assert rolecall("-C", campaign, "export", "markdown", "-o", tmp_path / "a.md").code == 0
    assert (tmp_path / "a.md").read_text() == (
        "# The Tale\n\n## A\n\nOnce.\n\n> I go.\n> Far.\n\nThe smuggler nods to Kit.\n\n### Later\n\nRain.\n\n* * *\n\nMore.\n"
    )


def test_a_campaign_without_a_story_says_so(rolecall, campaign, tmp_path):
    for format_ in ("markdown", "epub"):
        ran = rolecall("-C", campaign, "export", format_, "-o", tmp_path / "x")
        assert ran.code == 1 and "there is no story yet" in ran.err and not Path(tmp_path / "x").exists()

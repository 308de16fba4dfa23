"""The story as an EPUB 3 (W3C EPUB 3.3), with the NCX that older readers want. Pure: the bytes of the file.

Markdown is rendered by markdown-it with raw HTML escaped, so every page is well-formed XHTML. Pictures become their words, and
only links to the web stay links: a book holds nothing that lies elsewhere. The same story gives the same bytes.
"""

from __future__ import annotations

import io
import re
import uuid
import zipfile
from collections.abc import Iterator
from datetime import datetime
from html import escape

from rolecall.exchange.storybook import Chapter, Storybook

MIME = b"application/epub+zip"
_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_RIGHT_TO_LEFT = {"ar", "fa", "he", "iw", "ur", "yi", "ps", "sd", "ug", "dv", "ckb"}
_OUTSIDE = ("http://", "https://", "mailto:")
_CSS = """body { margin: 5%; line-height: 1.5; }
h1 { text-align: center; margin: 3em 0 2em; }
blockquote { margin: 1.5em 0; font-style: italic; border-inline-start: 0.2em solid #888; padding-inline-start: 1em; }
hr { border: 0; margin: 2em auto; width: 30%; border-top: 1px solid #888; }
.title { margin-top: 30%; }
"""
_CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles><rootfile full-path="EPUB/book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""


def made(book: Storybook, modified: datetime) -> bytes:
    """The EPUB of a story; `modified` (UTC) is when it was changed last."""
    language = book.language if _TAG.fullmatch(book.language) else "und"
    first = "\0".join((book.title, book.chapters[0].text))
    name = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, first.encode('utf-8', 'replace').hex())}"
    pages = [("title.xhtml", book.title, f'<h1 class="title">{escape(book.title)}</h1>')]
    pages += [(_file(one), one.title, f"<h1>{escape(one.title)}</h1>\n{_rendered(one)}") for one in book.chapters]
    members = {
        "META-INF/container.xml": _CONTAINER,
        "EPUB/book.opf": _package(book, language, name, modified),
        "EPUB/nav.xhtml": _page(book.title, _nav(book), language, ' xmlns:epub="http://www.idpf.org/2007/ops"'),
        "EPUB/toc.ncx": _ncx(book, name),
        "EPUB/book.css": _CSS,
        **{f"EPUB/{file}": _page(title, body, language) for file, title, body in pages},
    }
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr(_member("mimetype", zipfile.ZIP_STORED), MIME)  # first and stored: so it is recognised
        for path, text in members.items():
            archive.writestr(_member(path, zipfile.ZIP_DEFLATED), text.encode())
    return place.getvalue()


def _member(path: str, method: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path)
    info.compress_type = method
    info.external_attr = 0o644 << 16
    return info


def _file(chapter: Chapter) -> str:
    return f"chapter-{chapter.number:03d}.xhtml"


def _rendered(chapter: Chapter) -> str:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": True})
    tokens = parser.parse(chapter.text)
    for token in tokens:
        if token.children:
            token.children = list(_within(token.children))
    return _XML_FORBIDS.sub("", parser.renderer.render(tokens, parser.options, {}))


_XML_FORBIDS = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, `Char`


def _within(tokens: list) -> Iterator:
    """The inline parts of a paragraph: a picture as its words, a link to anywhere but the web as its words."""
    kept: list[bool] = []
    for token in tokens:
        if token.type == "image":
            token.type, token.tag, token.content, token.children = "text", "", _words(token.children), None
            yield token
        elif token.type == "link_open":
            kept.append(str(token.attrs.get("href", "")).casefold().startswith(_OUTSIDE))
            if kept[-1]:
                yield token
        elif token.type == "link_close":
            if kept.pop():
                yield token
        else:
            yield token


def _words(tokens: list | None) -> str:
    """What the words of a picture say, without their marks."""
    return "".join(
        _words(token.children) or token.content or " " * (token.type == "softbreak") for token in tokens or ()
    )


def _page(title: str, body: str, language: str, more: str = "") -> str:
    way = ' dir="rtl"' if _is_right_to_left(language) else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n'
        f'<html xmlns="http://www.w3.org/1999/xhtml"{more} lang="{language}" xml:lang="{language}"{way}>\n'
        f'<head>\n<meta charset="utf-8"/>\n<title>{escape(title)}</title>\n'
        f'<link rel="stylesheet" type="text/css" href="book.css"/>\n</head>\n<body>\n{body}\n</body>\n</html>\n'
    )


def _nav(book: Storybook) -> str:
    rows = "\n".join(f'<li><a href="{_file(one)}">{escape(one.title)}</a></li>' for one in book.chapters)
    return f'<nav epub:type="toc" id="toc">\n<h1>{escape(book.title)}</h1>\n<ol>\n{rows}\n</ol>\n</nav>'


def _package(book: Storybook, language: str, name: str, modified: datetime) -> str:
    files = [("title", "title.xhtml"), *((f"c{one.number}", _file(one)) for one in book.chapters)]
    items = "\n".join(f'<item id="{id_}" href="{file}" media-type="application/xhtml+xml"/>' for id_, file in files)
    spine = "\n".join(f'<itemref idref="{id_}"/>' for id_, _ in files)
    way = ' page-progression-direction="rtl"' if _is_right_to_left(language) else ""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="{language}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">{name}</dc:identifier>
<dc:title>{escape(book.title)}</dc:title>
<dc:language>{language}</dc:language>
<meta property="dcterms:modified">{modified.strftime("%Y-%m-%dT%H:%M:%SZ")}</meta>
</metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="css" href="book.css" media-type="text/css"/>
{items}
</manifest>
<spine toc="ncx"{way}>
{spine}
</spine>
</package>
"""


def _ncx(book: Storybook, name: str) -> str:
    points = "\n".join(
        f'<navPoint id="p{one.number}" playOrder="{one.number}"><navLabel><text>{escape(one.title)}</text></navLabel>'
        f'<content src="{_file(one)}"/></navPoint>'
        for one in book.chapters
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">
<head><meta name="dtb:uid" content="{name}"/></head>
<docTitle><text>{escape(book.title)}</text></docTitle>
<navMap>
{points}
</navMap>
</ncx>
"""


def _is_right_to_left(language: str) -> bool:
    return language.split("-")[0].casefold() in _RIGHT_TO_LEFT

"""The full-text index: the one module that knows whoosh.

Why whoosh3 3.54.0 of the three published lines: whoosh 2.7.4 (2016) warns on import from Python 3.12 on and takes 50
times as long to delete; whoosh-reloaded 2.7.5 imports half as fast and is no longer maintained. whoosh3 keeps their
file format and API, is quick at both, gives the write lock back when a commit fails, and reports damaged postings as one
kind of error. Little of it is used here, so that another line, or another engine, is a change of this file.

What is indexed are weights, not text: a passage arrives as terms with the part that frequency and length play in its
BM25F score worked out (`weights.py`), so a query adds up stored numbers, term by term. No positions, no field lengths,
no parser. Secret passages have a field of their own, which a search without secrets never opens.

The table of contents is a pickle: open only folders this program made (`cabinet.py` sees to that). Segments are read into
memory, not mapped, so that a file cut short by someone else is an error and not the end of the process.
"""

from __future__ import annotations

import heapq
import itertools
import math
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from whoosh import fields, formats, lang, versionstring
from whoosh.codec.whoosh3 import W3PostingsWriter
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import BufferFile
from whoosh.index import TOC, FileIndex
from whoosh.reading import IndexReader, SegmentReader, TermNotFound
from whoosh.writing import SegmentWriter

from rolecall.search.weights import Doc, Found, mark_passage, mark_path

VERSION = versionstring()
COMMON = 0.5  # the share of the passages from which on a word counts only if there is no rarer one (in larger indexes)
RAREST = 12  # terms of a query that are scored: the rarest in the index
BLOCK = 128  # postings a block, as many as whoosh itself takes
SMALL = 1000  # passages: segments below are merged by `tidy`
MANY = 40  # segments: past these an update merges the small ones itself
STALE = 0.3  # the share of deleted passages from which `tidy` rewrites a small or middling segment
_MIDDLING = 8000  # passages
MARKS_KEPT = 512  # sets of documents that bear a mark, of all segments

# Question and filler words that whoosh's English list leaves out.
_ENGLISH = frozenset(
    {"would", "could", "might", "shall", "tell", "please", "yes", "us", "let", "dont", "didnt", "doesnt"}
)


def language_tools(code: str) -> tuple[Callable[[str], str] | None, frozenset[str]]:
    """The stemmer (None if there is none) and stop words of a language, by its two-letter code or English name."""
    code = lang.two_letter_code(code.casefold().split("-")[0].split("_")[0]) or ""
    try:
        stops = frozenset(lang.stopwords_for_language(code))
    except lang.NoStopWords:
        stops = frozenset()
    if code == "en":
        return lang.stemmer_for_language("en_porter"), stops | _ENGLISH
    try:
        return lang.stemmer_for_language(code), stops
    except lang.NoStemmer:
        return None, stops


class _Weights(fields.FieldType):
    """A field of terms with weights: nothing is stored beside them."""

    def __init__(self) -> None:
        super().__init__(format=formats.Existence(), analyzer=None, scorable=False, stored=False)


class _Pool:
    """Postings held by term in compact arrays until the segment is written."""

    def __init__(self) -> None:
        self.fieldnames: set[str] = set()
        self.held: dict[str, dict[bytes, tuple[array, array]]] = {}

    def put(self, name: str, terms: dict[str, float], doc: int) -> None:
        """The weights of one document's terms."""
        held = self.held.setdefault(name, {})
        for term, weight in terms.items():
            key = term.encode()
            pair = held.get(key)
            if pair is None:
                pair = held[key] = (array("I"), array("f"))
            pair[0].append(doc)
            pair[1].append(weight)

    def add(self, item: tuple[str, bytes, int, float, bytes]) -> None:
        """One posting; whoosh calls this when it merges segments."""
        pair = self.held.setdefault(item[0], {}).setdefault(item[1], (array("I"), array("f")))
        pair[0].append(item[2])
        pair[1].append(item[3])

    def cleanup(self) -> None:
        """Whoosh calls this when the segment is closed."""
        self.held.clear()


class _Writer(SegmentWriter):
    """A segment writer that takes term weights as they are and writes postings a block at a time.

    whoosh's own way costs three times as much: it goes through field types, a sorted pool of tuples, and a call for each posting.
    """

    def __init__(self, index: FileIndex) -> None:
        super().__init__(index)
        self.pool = _Pool()

    def put(self, doc: Doc) -> None:
        """Add a passage."""
        number = self.docnum
        at = (doc.path, doc.order, doc.digest, doc.turn)
        self.perdocwriter.start_doc(number)
        self.perdocwriter.add_field("at", self.schema["at"], at, 0)
        self.perdocwriter.finish_doc()
        marks = (*doc.marks, mark_path(doc.path), mark_passage(doc.path, doc.order))
        self.pool.put("marks", dict.fromkeys(marks, 1.0), number)
        self.pool.put("secret" if doc.secret else "open", doc.terms, number)
        self._added = True
        self.docnum += 1

    def _flush_segment(self) -> None:
        self.perdocwriter.close()
        writer = self.fieldwriter
        for name in sorted(self.pool.held):
            writer.start_field(name, self.schema[name])
            for term, (docs, weights) in sorted(self.pool.held[name].items()):
                writer.start_term(term)
                _write_blocks(writer._postwriter, docs, weights)
                writer.finish_term()
            writer.finish_field()
        writer.close()


def _write_blocks(writer: W3PostingsWriter, docs: array, weights: array) -> None:
    """Every block but the last, which whoosh writes itself when the term is finished. Merging keeps documents in order."""
    for start in range(0, len(docs), BLOCK):
        if start:
            writer._write_block()
        writer._ids, writer._weights = docs[start : start + BLOCK], weights[start : start + BLOCK]
        writer._maxweight = max(writer._weights)


class _Storage(FileStorage):
    """Files read whole into memory; writes go to the folder as usual."""

    def open_file(self, name: str, **_: object) -> BufferFile:
        return BufferFile(Path(self._fpath(name)).read_bytes(), name=name)


def _schema() -> fields.Schema:
    return fields.Schema(open=_Weights(), secret=_Weights(), marks=_Weights(), at=fields.STORED())


def create(folder: Path) -> Index:
    """An empty index in an empty folder."""
    storage = _Storage(str(folder))
    TOC.create(storage, _schema(), "MAIN")
    return Index(storage)


def open_index(folder: Path) -> Index:
    """The index in a folder this program made; any exception means that it is damaged.

    A state once searched is held in memory whole, and stays whatever becomes of the files.
    """
    return Index(_Storage(str(folder)))


class Index:
    """An opened index. Not safe for two threads at once; a reader sees the state of the moment it was opened."""

    def __init__(self, storage: _Storage) -> None:
        self._index = FileIndex(storage, schema=_schema())
        self._reader: IndexReader | None = None
        self._leaves: list[tuple[SegmentReader, frozenset[int]]] = []

    # -- reading

    def _open(self) -> None:
        if self._reader is None:
            self._reader = self._index.reader()
            leaves = [leaf for leaf, _ in self._reader.leaf_readers() if isinstance(leaf, SegmentReader)]
            self._leaves = [(leaf, leaf.deleted_docs_set) for leaf in leaves]

    def close(self) -> None:
        """Drop the reader; the next search opens the newest state."""
        if self._reader is not None:
            self._reader.close()
        self._reader, self._leaves = None, []

    def size(self) -> tuple[int, int]:
        """(passages, segments)."""
        self._open()
        return self._reader.doc_count(), len(self._leaves)

    def search(
        self,
        terms: Iterable[str],
        *,
        secrets: bool = False,
        need: Iterable[Iterable[str]] = (),
        without: Iterable[str] = (),
        limit: int = 100,
    ) -> list[Found]:
        """The passages that hold any of the rarest terms, best first.

        `need` are groups of marks: a passage must bear one of each; it must bear none of `without`. Ties go to the later
        turn, then to the path and order, whatever order the files were indexed in.
        """
        self._open()
        names = ("open", "secret") if secrets else ("open",)
        weighed = self._weigh(terms, names)
        need, without = [tuple(group) for group in need], tuple(without)
        best: list[tuple[float, SegmentReader, int]] = []
        for leaf, deleted in self._leaves:
            scores: dict[int, float] = {}
            for term, idf in weighed:
                for name in names:
                    _add_scores(leaf, name, term, idf, scores)
            allowed = _allowed(leaf, need)
            barred = deleted.union(*(_bearing(leaf, mark) for mark in without))
            kept = [d for d in scores if d not in barred and (allowed is None or d in allowed)]
            best += [(scores[doc], leaf, doc) for doc in _top(kept, scores, limit)]
        found = [Found(*leaf.stored_fields(doc)["at"], score) for score, leaf, doc in best]
        found.sort(key=lambda f: (-round(f.score, 9), -(f.turn or 0), f.path, f.order))
        return found[:limit]

    def _weigh(self, terms: Iterable[str], names: tuple[str, ...]) -> list[tuple[bytes, float]]:
        """The rarest terms with their inverse document frequency (Robertson and Walker's, never negative)."""
        total = self._reader.doc_count_all()
        counted = []
        for term in dict.fromkeys(terms):
            encoded = term.encode()
            df = sum(leaf.doc_frequency(name, encoded) for leaf, _ in self._leaves for name in names)
            if df:
                counted.append((df, encoded))
        counted.sort()
        common = COMMON * total if total >= SMALL else total
        telling = [pair for pair in counted[:RAREST] if pair[0] <= common] or counted[:1]
        return [(term, math.log(1 + (total - df + 0.5) / (df + 0.5))) for df, term in telling]

    # -- writing

    def apply(self, gone: Iterable[str], docs: Iterable[Doc]) -> bool:
        """Add `docs`, take out every older passage that bears one of the marks `gone`, and commit both as one step.

        `gone` is read after the last of `docs` and may grow until then. False when there was nothing to do. Small segments
        are merged only when there are more than `MANY`.
        """
        docs = iter(docs)
        first = next(docs, None)
        if first is None and not any(True for _ in gone):
            return False
        writer = self._writer()
        try:
            for doc in itertools.chain([first] if first else [], docs):
                writer.put(doc)
            _delete(writer, gone)
        except BaseException:
            writer.cancel()
            raise
        writer.commit(mergetype=_merge_small if len(writer.segments) > MANY else _drop_empty)
        self.close()
        return True

    def tidy(self) -> bool:
        """Merge the small segments and rewrite those with many deleted passages; False when there was nothing to do."""
        segments = self._index._read_toc().segments
        if sum(s.doc_count() < SMALL for s in segments) < 4 and not any(map(_is_stale, segments)):
            return False
        self._writer().commit(mergetype=_merge_small)
        self.close()
        return True

    def _writer(self) -> _Writer:
        self.close()
        return _Writer(self._index)


def _delete(writer: SegmentWriter, marks: Iterable[str]) -> None:
    marks = list(marks)
    if not marks or not writer.segments:
        return
    reader = writer.reader()
    try:
        for leaf, offset in reader.leaf_readers():
            for mark in marks:
                for doc in _docs(leaf, mark):
                    writer.delete_document(doc + offset)
    finally:
        reader.close()


def _is_stale(segment: object) -> bool:
    return segment.doc_count_all() <= _MIDDLING and segment.deleted_count() > STALE * segment.doc_count_all() > 50


def _drop_empty(writer: SegmentWriter, segments: list) -> list:
    return [s for s in segments if s.doc_count()]


def _merge_small(writer: SegmentWriter, segments: list) -> list:
    """A whoosh merge policy: small and stale segments go into the new one, the others stay."""
    kept = []
    for segment in _drop_empty(writer, segments):
        if segment.doc_count() < SMALL or _is_stale(segment):
            reader = SegmentReader(writer.storage, writer.schema, segment)
            writer.add_reader(reader)
            reader.close()
        else:
            kept.append(segment)
    return kept


# -- postings ---------------------------------------------------------------------------------------------------------


def _blocks(leaf: SegmentReader, name: str, term: bytes) -> Iterator[tuple[Iterable[int], Iterable[float]]]:
    """(documents, weights) of a term's postings, a block at a time; deleted documents are among them."""
    try:
        matcher = leaf.postings(name, term)
    except TermNotFound:
        return
    matcher = getattr(matcher, "child", matcher)  # the wrapper that hides deleted documents steps one by one
    while matcher.is_active():
        matcher.id(), matcher.weight()  # load the block
        yield matcher._ids, matcher._weights
        matcher._next_block()


def _add_scores(leaf: SegmentReader, name: str, term: bytes, idf: float, scores: dict[int, float]) -> None:
    get = scores.get
    for docs, weights in _blocks(leaf, name, term):
        for doc, weight in zip(docs, weights, strict=True):
            scores[doc] = get(doc, 0.0) + weight * idf


def _docs(leaf: SegmentReader, mark: str) -> list[int]:
    """The documents that bear a mark."""
    return [doc for docs, _ in _blocks(leaf, "marks", mark.encode()) for doc in docs]


def _bearing(leaf: SegmentReader, mark: str) -> frozenset[int]:
    """The same for a mark that many searches ask for: a segment is written once and has a name of its own."""
    key = (leaf.segment().segment_id(), mark)
    found = _BEARING.get(key)
    if found is None:
        if len(_BEARING) >= MARKS_KEPT:
            _BEARING.clear()
        found = _BEARING[key] = frozenset(_docs(leaf, mark))
    return found


_BEARING: dict[tuple[str, str], frozenset[int]] = {}


def _allowed(leaf: SegmentReader, need: list[tuple[str, ...]]) -> frozenset[int] | None:
    """The documents that bear a mark of every group; None when there is no group."""
    groups = [frozenset().union(*(_bearing(leaf, mark) for mark in group)) for group in need]
    return frozenset.intersection(*groups) if groups else None


def _top(docs: list[int], scores: dict[int, float], limit: int) -> list[int]:
    """The best documents, with those that tie with the last of them (up to as many again)."""
    if len(docs) <= limit:
        return docs
    least = heapq.nlargest(limit, (scores[doc] for doc in docs))[-1] - 1e-9
    return heapq.nlargest(2 * limit, (doc for doc in docs if scores[doc] >= least), key=scores.__getitem__)

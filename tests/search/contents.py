"""What an index really holds, for comparing one that grew by edits with one built from nothing."""

from __future__ import annotations

from pathlib import Path

from rolecall.search import index as engine
from rolecall.search.searcher import Search


def folder_of(search: Search) -> Path:
    """The folder of the index a search uses."""
    return next(path for path in search._keeper._cabinet.folder.glob("index-*"))


def contents(search: Search) -> dict[tuple[str, int], dict[str, object]]:
    """For each live passage its place: the fingerprint, and for each field the terms with their weights."""
    index = engine.open_index(folder_of(search))
    index.size()
    held: dict[tuple[str, int], dict[str, object]] = {}
    for leaf, deleted in index._leaves:
        places = {}
        for doc in range(leaf.doc_count_all()):
            if doc not in deleted:
                path, order, digest, turn = leaf.stored_fields(doc)["at"]
                assert (path, order) not in held, "a passage is indexed twice"
                places[doc] = held[path, order] = {"digest": digest, "turn": turn}
        for name, term in leaf.all_terms():
            for docs, weights in engine._blocks(leaf, name, term):
                for doc, weight in zip(docs, weights, strict=True):
                    if doc in places:
                        places[doc][f"{name}:{term.decode()}"] = round(weight, 5)
    return held


def same_as_new(search: Search, fresh: Search) -> bool:
    """Whether an index equals one that was just built from the same files."""
    return contents(search) == contents(fresh)

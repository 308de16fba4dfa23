"""Searching a whole campaign: what must come first, and what must never come."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import threading
import time
import unicodedata
from pathlib import Path

import pytest

from rolecall.search.searcher import Search
from tests.search import world
from tests.search.contents import folder_of, same_as_new
from tests.search.folders import Folder

PLANTED = {
    "characters/valen.md": "---\nname: Valen Marrowick\naliases: [The Lantern Thief]\nlocation: Saltmere\n---\nA quiet man.\n",
    "locations/saltmere.md": "---\nname: Saltmere\nkind: location\n---\nA harbour of salt and gulls. Saltmere, Saltmere.\n",
    "events/the-poisoning.md": (
        "---\nname: A bad thaw\nkind: event\n---\nIn the thaw Captain Varr poisoned the well of Saltmere with iron dust, "
        "for the Guild.\n"
    ),
    "lore/obscure.md": "---\nname: Of small things\n---\nA xylothurible was hung beside the quernbeetle.\n",
    "characters/vera.md": "---\nname: Вера Соколова\naliases: [Сова]\n---\nОна держит таверну у реки.\n",
    "characters/wang.md": "---\nname: 王小明\n---\n酒馆的老板，认识瓦伦。\n",
    "characters/kaeru.md": "---\nname: カエル丸\n---\n古い剣を持つ旅人。\n",
    "characters/somchai.md": "---\nname: สมชาย\n---\nเขาเป็นคนเฝ้าประตู\n",
    "characters/eowyn.md": unicodedata.normalize("NFD", "---\nname: Éowyn Dernhélm\n---\nRides north.\n"),
    "characters/kael.md": "---\nname: Ka’el\n---\nSharpens blades.\n",
    "dm/plan.md": "---\nname: Plan\n---\nThe canarywort king returns.\n",
    "arcs/well.md": "---\nname: The wasting of the mill\nquestion: Who spoils the grain?\ntruth: canarywort did it\n---\n\n## Trail\n- T0001 Iron.\n",
    "lore/hidden.md": "---\nname: The Canarywort Vault\nvisibility: secret\n---\nUnder the mill.\n",
    "lore/forgotten.md": "---\nname: Old Mirefen\nforgotten: T0042 retold\n---\nquaggmire\n",
    "lore/broken.md": "---\nname: [Brokenwort\n---\nsplintermoss\n",
    "lore/nul.md": b"---\nname: Nul\n---\nbefore\x00nulwort after\n",
    "lore/bom.md": b"\xef\xbb\xbf---\r\nname: Bomfield\r\n---\r\nbomwort\r\n",
    "lore/latin1.md": "Grüße aus latinwort".encode("latin-1"),
    "lore/long.md": "Start.\n\n" + "filler text of no note.\n\n" * 4300 + "lastwort\n",
    "lore/dangling.md": "See [[Nobody At All]] for danglewort.\n",
}


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A campaign of 1,000 files, among them the planted ones."""
    folder = Folder(tmp_path_factory.mktemp("big"))
    world.campaign(folder.root, 1000 - len(PLANTED) - 6, 300)
    for path, text in PLANTED.items():
        folder.write(path, text)
    assert len(folder.refreshed().catalogue) == 1000
    return folder


@pytest.fixture(scope="module")
def search(big: Folder) -> Search:
    return big.refreshed()


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Valen Marrowick", "characters/valen.md"),
        ("valen marrowick", "characters/valen.md"),
        ("the lantern thief", "characters/valen.md"),
        ("who is The Lantern Thief?", "characters/valen.md"),
        ("Saltmere", "locations/saltmere.md"),
        ("xylothurible quernbeetle", "lore/obscure.md"),
        ("Who poisoned the well at Saltmere with iron dust?", "events/the-poisoning.md"),
        ("Вера Соколова", "characters/vera.md"),
        ("Сова", "characters/vera.md"),
        ("таверну у реки", "characters/vera.md"),
        ("王小明", "characters/wang.md"),
        ("酒馆的老板是谁", "characters/wang.md"),
        ("カエル丸", "characters/kaeru.md"),
        ("สมชาย", "characters/somchai.md"),
        ("Éowyn Dernhélm", "characters/eowyn.md"),
        (unicodedata.normalize("NFD", "Éowyn Dernhélm"), "characters/eowyn.md"),
        ("eowyn dernhelm", "characters/eowyn.md"),
        ("Ka'el", "characters/kael.md"),
        ("kael", "characters/kael.md"),
        ("nulwort", "lore/nul.md"),
        ("bomfield", "lore/bom.md"),
        ("latinwort", "lore/latin1.md"),
        ("lastwort", "lore/long.md"),
        ("danglewort", "lore/dangling.md"),
    ],
)
def test_the_right_passage_comes_first(search: Search, query: str, path: str) -> None:
    assert search.find(query)[0].path == path
    assert not search.partial


def test_every_entry_is_first_by_its_own_name(search: Search) -> None:
    things = [e for e in search.catalogue.values() if e.path.split("/")[0] in ("characters", "items", "locations")]
    wrong = [e.path for e in things[::9] if search.find(e.name)[0].path not in search.ties.named(e.name)]
    assert wrong == []


def test_a_unique_word_at_character_100_000_is_found_with_its_line(search: Search) -> None:
    assert PLANTED["lore/long.md"].index("lastwort") > 100_000
    hit = search.find("lastwort")[0]
    line = next(n for n, text in enumerate(PLANTED["lore/long.md"].split("\n"), 1) if "lastwort" in text)
    assert hit.line <= line and "lastwort" in hit.text and "lastwort" in hit.excerpt


@pytest.mark.parametrize("query", ["canarywort", "the canarywort vault", "Who poisoned the well canarywort", "plan"])
def test_nothing_secret_is_found_without_asking_for_secrets(search: Search, query: str) -> None:
    hits = search.find(query, limit=200)
    assert not any(hit.secret for hit in hits)
    assert "canarywort" not in json.dumps([[h.text, h.excerpt, h.heading, h.name] for h in hits]).casefold()
    assert not any("canarywort" in m.name.casefold() for m in search.mentions(query))


def test_a_secret_chapter_lends_no_word_to_the_open_turns_beside_it(folder: Folder) -> None:
    folder.write("story/001-a.md", "## T0001\n\nThe gannet came.\n")
    folder.write("story/002-b.md", "---\nvisibility: secret\n---\n## T0002\n\nThe canary sang.\n")
    folder.write("story/003-c.md", "## T0003\n\nThe marrow grew.\n")
    search = folder.refreshed()
    assert search.find("canary") == []
    assert [h.turn for h in search.find("canary", secrets=True)] == [2]
    assert {h.turn for h in search.find("gannet")} == {1, 3}


def test_secrets_are_found_when_asked_for(search: Search) -> None:
    found = {hit.path for hit in search.find("canarywort", secrets=True)}
    assert found == {"dm/plan.md", "arcs/well.md", "lore/hidden.md"}
    assert search.find("The Canarywort Vault", secrets=True)[0].path == "lore/hidden.md"


def test_withheld_files_are_found_by_the_writer_only(search: Search) -> None:
    assert search.find("quaggmire") == [] and search.find("splintermoss", secrets=True) == []
    assert search.find("quaggmire", withheld=True)[0].path == "lore/forgotten.md"
    assert search.find("splintermoss", withheld=True) == []
    assert search.find("splintermoss", secrets=True, withheld=True)[0].path == "lore/broken.md"
    assert search.mentions("Old Mirefen") == []


def test_kinds_and_folders_narrow_a_search(search: Search) -> None:
    kinds = {hit.kind for hit in search.find("well Saltmere harbour", kinds=["location", "event"], limit=50)}
    assert kinds == {"location", "event"}
    assert search.find("Saltmere", kinds=[]) == []
    assert {hit.path.split("/")[0] for hit in search.find("Saltmere well", under="events/")} == {"events"}
    assert search.find("Saltmere", under="event") == []


def test_the_story_is_found_by_turn(search: Search, big: Folder) -> None:
    text = (big.root / "story/003-chapter.md").read_text()
    section = text.split("\n## T0120")[1].split("\n## ")[0]
    query = " ".join(section.split()[10:40])
    hit = search.find(query)[0]
    assert (hit.path, hit.turn, hit.heading) == ("story/003-chapter.md", 120, "T0120")
    assert text.split("\n")[hit.line - 1] == "## T0120"


def test_the_same_question_has_the_same_answer_from_an_index_built_anew(search: Search, big: Folder, tmp_path) -> None:
    from rolecall.campaign.folder import open_campaign

    other = Search(open_campaign(big.root), cache=tmp_path)
    other.refresh()
    for query in ("salt harbour", "the lantern thief", "who poisoned the well", "a quiet man of iron"):
        assert search.find(query) == other.find(query)


def test_neighbours_come_from_fields_both_ways(search: Search) -> None:
    assert search.neighbours("characters/valen.md")[0] == "locations/saltmere.md"
    assert "characters/valen.md" in search.neighbours("locations/saltmere.md")


@pytest.mark.parametrize(
    "query", ["", "  ", "?!", "\0", "the of and", "'", "*", "a:b AND (", '"unclosed', "x" * 100_000]
)
def test_odd_questions_are_answered_without_an_error(search: Search, query: str) -> None:
    assert len(search.find(query)) <= 10
    assert not search.partial


def test_trigger_words_name_their_entries(folder: Folder) -> None:
    folder.write("lore/mill.md", "---\nname: The Mill\nkeys: [millstone, 石臼]\n---\nx\n")
    folder.write("lore/hidden.md", "---\nname: Hidden\nkeys: [millstone]\nvisibility: secret\n---\nx\n")
    folder.write("lore/gone.md", "---\nname: Gone\nkeys: [millstone]\nforgotten: T0001 so\n---\nx\n")
    search = folder.refreshed()
    assert [m.path for m in search.keyed("The Millstone’s crack")] == ["lore/mill.md"]
    assert [m.path for m in search.keyed("古い石臼を")] == ["lore/mill.md"]
    assert {m.path for m in search.keyed("millstone", secrets=True)} == {"lore/mill.md", "lore/hidden.md"}
    assert search.keyed("the mill") == []


def test_a_wrong_name_gets_suggestions(search: Search) -> None:
    assert search.suggestions("Valen Marowick")[0] == "Valen Marrowick"
    assert "The Canarywort Vault" not in search.suggestions("Canarywort Vault")
    assert "The Canarywort Vault" in search.suggestions("Canarywort Vault", secrets=True)


def test_an_edit_between_index_and_answer_never_shows_what_became_secret(folder: Folder) -> None:
    folder.write("lore/mill.md", "Under the mill lies gannet gold.\n")
    search = folder.refreshed()
    folder.write("lore/mill.md", "---\nvisibility: secret\n---\nUnder the mill lies gannet gold.\n")
    assert search.find("gannet") == []
    folder.write("lore/mill.md", "## Secret\nUnder the mill lies gannet gold.\n")
    assert search.find("gannet") == []


def test_a_passage_that_moved_down_its_file_is_cited_where_it_stands_now(folder: Folder) -> None:
    body = "\n\n".join(f"## Part {n}\n\n" + "filler words here " * 40 for n in range(3)) + "\n\n## End\n\ngannet gold\n"
    folder.write("lore/mill.md", body)
    search = folder.refreshed()
    first = search.find("gannet")[0].line
    folder.write("lore/mill.md", "\n\n\n" + body)
    assert search.find("gannet")[0].line == first + 3


def test_a_checkout_of_2000_changed_files_leaves_the_index_right(folder: Folder, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        base = ["git", "-c", "user.name=w", "-c", "user.email=w@x", "-c", "core.autocrlf=false", "-C", str(folder.root)]
        subprocess.run([*base, *arguments], check=True, capture_output=True)

    for number in range(2000):
        folder.write(f"lore/{number:04}.md", f"---\nname: Entry {number}\n---\nThe mainword {number % 7}.\n")
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "other")
    for number in range(2000):
        folder.write(f"lore/{number:04}.md", f"---\nname: Entry {number}\n---\nThe otherword {number % 7}.\n")
    (folder.root / "lore/1999.md").unlink()
    folder.write("lore/new.md", "otherword")
    git("add", "-A")
    git("commit", "-qm", "two")
    search = folder.refreshed()
    assert search.find("otherword") and not search.find("mainword")
    git("checkout", "-q", "main")
    search.refresh()
    assert search.find("mainword") and not search.find("otherword")
    assert len(search.catalogue) == 2000 and "lore/new.md" not in search.catalogue
    other = Folder(tmp_path / "fresh")
    for path in folder.root.glob("lore/*.md"):
        other.write(f"lore/{path.name}", path.read_bytes())
    assert same_as_new(search, other.refreshed())


def test_searching_while_files_change_never_fails_and_never_rebuilds(folder: Folder) -> None:
    for number in range(60):
        folder.write(f"lore/{number}.md", f"gannet {number}")
    search = folder.refreshed()
    search.find("gannet")
    home = folder_of(search)
    failures: list[BaseException] = []
    done = threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                assert len(search.find("gannet", limit=100)) >= 55
                assert not search.partial
        except BaseException as error:
            failures.append(error)

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    for number in range(25):
        folder.write(f"lore/{number}.md", f"gannet again {number}")
        search.refresh()
    done.set()
    for asker in askers:
        asker.join()
    assert failures == []
    assert folder_of(search) == home


def test_an_index_that_another_changes_while_it_is_opened_is_opened_again(folder: Folder, monkeypatch) -> None:
    folder.write("lore/bird.md", "gannet")
    search, other = folder.refreshed(), folder.refreshed()
    home, open_it, opened = folder_of(search), search._keeper._open, []

    def open_late(shelf: object) -> object:
        opened.append(shelf)
        if len(opened) == 1:
            folder.write("lore/fish.md", "herring")
            other.refresh()
            raise FileNotFoundError(2, "No such file or directory", "_MAIN_1.toc")
        return open_it(shelf)

    monkeypatch.setattr(search._keeper, "_open", open_late)
    assert [hit.path for hit in search.find("gannet")] == ["lore/bird.md"]
    assert folder_of(search) == home and len(opened) == 2 and not search.partial and not search.trouble


def _edit_and_refresh(root: str, cache: str, first: int) -> None:
    from rolecall.campaign.folder import open_campaign

    search = Search(open_campaign(Path(root)), cache=Path(cache), wait=60)
    for number in range(12):
        (Path(root) / f"lore/{first}-{number}.md").write_text(f"gannet {first} {number}")
        search.refresh()
        assert search.find(f"gannet {number}") and not search.partial


def test_processes_that_write_at_the_same_time_end_with_one_right_index(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet")
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_edit_and_refresh, args=(str(folder.root), str(folder.cache), n)) for n in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    search = folder.refreshed()
    assert len(search.find("gannet", limit=100)) == 37
    other = Folder(folder.root.parent / "fresh")
    for path in folder.root.glob("lore/*.md"):
        other.write(f"lore/{path.name}", path.read_bytes())
    assert same_as_new(search, other.refreshed())


def test_while_another_process_builds_the_files_are_searched_and_the_answer_is_marked(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet of the mill\n\n## Secret\n\ncanary\n")
    folder.write("characters/valen.md", "---\nname: Valen\n---\nledger\n")
    search = folder.search(wait=0.05)
    with search._keeper._cabinet.lock(1) as held:
        assert held
        other = folder.search(wait=0.05)
        assert other.refresh() is True
        assert other.partial and "another process" in other.trouble
        assert [h.path for h in other.find("gannet")] == ["lore/mill.md"]
        assert other.find("valen")[0].path == "characters/valen.md"
        assert other.find("canary") == [] and other.find("canary", secrets=True)
    other.refresh()
    assert not other.partial and not other.trouble and other.find("gannet")


def test_an_index_that_cannot_be_read_while_another_process_writes_is_left_to_that_process(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet")
    search = folder.refreshed(wait=0.05)
    home = folder_of(search)
    with folder.search()._keeper._cabinet.lock(1) as held:
        assert held
        next(home.glob("*.toc")).rename(home / "_MAIN_77.toc")  # as in the middle of a commit
        assert [h.path for h in search.find("gannet")] == ["lore/mill.md"]
        assert search.partial
        assert (home.parent / "catalogue").exists(), "nothing of the other's is thrown away"
    search.refresh()
    assert search.find("gannet") and not search.partial


def test_a_search_without_a_refresh_reconciles_by_itself(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet")
    assert folder.search().find("gannet")
    assert [m.name for m in folder.search().mentions("the mill")] == ["mill"]


CRASH = """
import os, sys
from pathlib import Path
from rolecall.campaign.folder import open_campaign
from rolecall.search import cabinet, index
from rolecall.search.searcher import Search
root, cache, where = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
search = Search(open_campaign(root), cache=cache)
if where == "before the catalogue":
    cabinet.Cabinet.save = lambda *_: os._exit(9)
elif where == "within the index":
    index.Index.close = lambda self, close=index.Index.close: os._exit(9) if self._reader is None and ran else ran.append(1)
    ran = []
elif where == "before the rename":
    os.replace = lambda *_: os._exit(9)
elif where == "within a document":
    taken = []
    put = index._Writer.put
    index._Writer.put = lambda self, doc: (taken.append(1), os._exit(9) if len(taken) > 1 else put(self, doc))[1]
search.refresh()
print("not reached")
"""


@pytest.mark.parametrize(
    "where", ["before the catalogue", "within the index", "before the rename", "within a document"]
)
@pytest.mark.parametrize("first", [True, False], ids=["first build", "update"])
def test_a_crash_at_any_step_costs_nothing_but_a_look(folder: Folder, where: str, first: bool) -> None:
    folder.write("lore/mill.md", "gannet")
    folder.write("lore/barn.md", "gannet barn")
    if not first:
        folder.refreshed()
        folder.write("lore/mill.md", "gannet again")
        folder.write("lore/barn.md", "gannet barn again")
        folder.write("lore/new.md", "ledger")
    ran = subprocess.run(
        [sys.executable, "-c", CRASH, str(folder.root), str(folder.cache), where], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout) == (9, ""), ran.stderr
    search = folder.refreshed()
    assert {h.path for h in search.find("gannet")} == {"lore/mill.md", "lore/barn.md"}
    assert bool(search.find("ledger again")) is not first
    assert not search.partial
    assert len(list(folder.cache.glob("*/index-*"))) == 1
    assert not list(folder.cache.glob("*/*.tmp"))


def test_an_interrupt_while_indexing_leaves_no_lock(folder: Folder) -> None:
    for number in range(20):
        folder.write(f"lore/{number}.md", "gannet")
    search = folder.search(wait=1)

    def interrupt(done: int, total: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search.refresh(interrupt)
    started = time.monotonic()
    assert len(search.find("gannet", limit=50)) == 20 and not search.partial
    assert len(folder.refreshed(wait=1).find("gannet", limit=50)) == 20
    assert time.monotonic() - started < 60


def test_nothing_changed_loads_neither_the_engine_nor_the_lock(folder: Folder) -> None:
    folder.write("lore/mill.md", "gannet")
    folder.refreshed()
    code = (
        "import sys; from pathlib import Path\n"
        "from rolecall.campaign.folder import open_campaign; from rolecall.search.searcher import Search\n"
        f"s = Search(open_campaign(Path({str(folder.root)!r})), cache=Path({str(folder.cache)!r}))\n"
        "assert s.refresh() is True and len(s.catalogue) == 1\n"
        "print(sorted({'whoosh', 'filelock', 'watchdog', 'rapidfuzz', 'yaml'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() in ("[]", "['yaml']")

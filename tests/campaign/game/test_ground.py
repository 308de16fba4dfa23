"""The index as the game's ground: it finds what the folder itself would, and looks only at what changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.campaign.folder import open_campaign
from rolecall.campaign.game import resolving
from rolecall.campaign.game.directives import merge, read
from rolecall.search.ground import ground
from rolecall.search.searcher import Search
from tests.campaign.game import whole
from tests.campaign.game.saltmarsh import FILES
from tests.campaign.game.test_taken_back import FULL


@pytest.fixture
def search(tmp_path: Path) -> Search:
    (tmp_path / "rolecall.yaml").write_text("format: 1\nname: Saltmarsh\ngit: off\n")
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    found = Search(open_campaign(tmp_path))
    found.refresh()
    return found


@pytest.mark.parametrize("layer", ["narrator", "dm"])
def test_the_index_and_the_folder_give_the_same_resolution(search, layer):
    asked = {
        **FULL,
        "combat": {"damage": [{"who": name, "amount": 1} for name in ("Valen the Shadow", "Varr", "Hob", "Nobody")]},
    }
    merged = merge([read(asked, layer, 42)[0]], 42)
    by_index = resolving.resolve(merged, ground(search, 42, seed="s"))
    by_folder = resolving.resolve(merged, whole.of_folder(search.campaign, 42, seed="s"))
    assert by_index == by_folder
    assert len(by_index.effects) > 20


def test_a_calendar_an_event_and_a_rule_written_since_are_seen_after_a_refresh(search):
    assert ground(search, 42).calendar().weekdays == ("Moonday", "Towerday", "Starday")
    assert ground(search, 42).scheduled() == ("events/fair.md",)
    assert ground(search, 42).rules().hit_points_lowest == 0
    root = search.campaign.root
    (root / "rules/blood.md").write_text("---\nname: Blood\nkind: rule\nhit_points_lowest: -5\n---\n")
    (root / "rules/reckoning.md").write_text("---\nname: The reckoning\nkind: rule\nmonths: [Onlymoon 300]\n---\n")
    (root / "events/fair.md").unlink()
    search.refresh()
    assert ground(search, 42).calendar().months == (("Onlymoon", 300),)
    assert ground(search, 42).scheduled() == ()
    assert ground(search, 42).rules().hit_points_lowest == -5


def test_what_the_turn_has_on_the_table_is_laid_over_the_files(search):
    first = merge(
        [read({"calendar": {"schedule": [{"event": "Duel", "date": "3 Frostmoon 1492"}]}}, "narrator", 42)[0]], 42
    )
    effects = resolving.resolve(first, ground(search, 42), ticks=False).effects
    laid = ground(search, 42, effects=effects)
    assert laid.scheduled() == ("events/duel.md", "events/fair.md")
    assert resolving.resolve(merge([], 42), laid).said == ("Today: Duel.",)

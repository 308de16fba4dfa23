"""A campaign as a folder: what counts as its material, what a file is, how one is made, and names as other programs leave them."""

from __future__ import annotations

import contextlib
import os
import unicodedata
from pathlib import Path

import pytest

from rolecall.campaign import checks, chronicles, files, kinds, story, template
from rolecall.campaign.folder import CONFLICT_COPY, counts, find_root, is_junk, open_campaign
from rolecall.campaign.instructions import instructions, prose_modules, template_folder
from rolecall.errors import CampaignError, NoCampaign, SettingsError, StorageError


def campaign_in(place: Path, **notes: str):
    place.mkdir(parents=True, exist_ok=True)
    (place / "rolecall.yaml").write_text("format: 1\n")
    for path, text in notes.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    return open_campaign(place)


def test_markdown_of_any_folder_counts_and_what_is_not_of_the_world_does_not(tmp_path):
    campaign = campaign_in(tmp_path / "c", **dict.fromkeys((
            "README.md", "campaign-state.md", "characters/a.md", "anything/deep/b.MD", "lore/readme.md", "instructions/i.md", "prose/p.md",
            "imports/o.md", ".obsidian/x.md", ".rolecall/y.md", "node_modules/z.md", "lore/a.txt", "lore/~a.md~", "lore/.hidden.md",
            "lore/.rolecall-1-2.tmp", "lore/a.md.swp", "lore/a (Ann's conflicted copy 2026-01-01).md", "lore/#a.md#",
    ), "x"))  # fmt: skip
    assert sorted(campaign.stat()) == ["anything/deep/b.MD", "campaign-state.md", "characters/a.md", "lore/readme.md"]


def test_a_campaign_below_a_hidden_folder_is_a_campaign(tmp_path):
    campaign = campaign_in(tmp_path / ".local" / "x", **{"lore/a.md": "x"})
    assert list(campaign.stat()) == ["lore/a.md"]


@pytest.mark.parametrize(
    "name",
    ["a.sync-conflict-20260101-120000-ABC.md", "a (Ann's conflicted copy 2026-01-01).md", "a (conflicted copy 2026-01-01 101010).md",
     "a (CONFLICT 2023-12-25T12:00).md", "a (Case Conflict 1).md", "a (Selective Sync Conflict).md", "a.orig.md", "a.rej.md"],
)  # fmt: skip
def test_the_copies_synchronisers_make_are_known(name):
    assert CONFLICT_COPY.search(name) and not counts(f"lore/{name}")


@pytest.mark.parametrize(
    "name",
    [
        "Sera (in conflict with Varr).md",
        "The conflict.md",
        "War (conflict of 1403).md",
        "Original.md",
        "a 2.md",
        "rejected.md",
    ],
)
def test_a_note_about_a_conflict_is_no_copy(name):
    assert counts(f"lore/{name}") and not is_junk(name)


@pytest.mark.parametrize(
    "name",
    [
        "Éowyn.md",
        "E\u0301owyn.md",
        "日本.md",
        "ไทย.md",
        "🐉.md",
        "#hash.md",
        "a&b.md",
        "what? no: yes.md",
        "-x.md",
        'a\'b "c".md',
    ],
)
def test_a_note_of_any_name_is_found_under_the_very_name_it_has(tmp_path, name):
    campaign = campaign_in(tmp_path / "c", **{f"lore/{name}": "Text."})
    assert list(campaign.stat()) == [f"lore/{name}"]
    document = campaign.document(f"lore/{name}")
    assert kinds.name_of(document.path, document.fields) == name.removesuffix(".md")


def test_a_name_that_is_not_utf_8_a_loop_and_a_link_to_the_outside_are_passed_over(tmp_path):
    campaign = campaign_in(tmp_path / "c", **{"lore/a.md": "x"})
    (tmp_path / "outside.md").write_text("secret of another folder")
    with contextlib.suppress(OSError):  # a file system that takes only UTF-8
        os.close(os.open(os.fsencode(campaign.root / "lore") + b"/caf\xe9.md", os.O_CREAT | os.O_WRONLY))
    (campaign.root / "lore" / "loop").symlink_to(".")
    (campaign.root / "lore" / "self.md").symlink_to("self.md")
    (campaign.root / "lore" / "out.md").symlink_to(tmp_path / "outside.md")
    (campaign.root / "lore" / "in.md").symlink_to(campaign.root / "lore" / "a.md")
    assert list(campaign.stat()) == ["lore/a.md", "lore/in.md"]
    with pytest.raises(StorageError):
        campaign.read("lore/out.md")
    with pytest.raises(StorageError):
        campaign.read("../outside.md")


class Unasked:
    """A folder's entry that tells its name and kind, as a listing does, and may not be asked for its stamp."""

    def __init__(self, entry: os.DirEntry) -> None:
        self._entry = entry
        self.name, self.path = entry.name, entry.path

    def is_dir(self, *, follow_symlinks: bool) -> bool:
        return self._entry.is_dir(follow_symlinks=follow_symlinks)

    def is_file(self, *, follow_symlinks: bool) -> bool:
        return self._entry.is_file(follow_symlinks=follow_symlinks)

    def is_symlink(self) -> bool:
        return self._entry.is_symlink()

    def stat(self) -> os.stat_result:
        raise AssertionError(f"{self.name} was asked for its stamp")


def test_chapters_and_chronicles_are_numbered_by_their_names_alone(tmp_path, monkeypatch):
    campaign = campaign_in(tmp_path / "c", **dict.fromkeys((
            "story/002-two.md", "story/001-one.md", "story/010-ten.MD", "story/part/003-three.md", "story/notes.md", "story/004.txt",
            "story/005-a (conflicted copy 2026-01-01).md", "story/.006-hidden.md", "story/007-a.md.swp", "story/#008.md#", "lore/9-nine.md",
    ), "x"))  # fmt: skip
    (campaign.root / "story" / "011-in.md").symlink_to(campaign.root / "lore" / "9-nine.md")
    (campaign.root / "story" / "012-out.md").symlink_to(tmp_path)
    (campaign.root / "story" / "013-folder.md").mkdir()
    walked = [path for path, _ in campaign.walk()]
    listing = os.scandir
    monkeypatch.setattr(os, "scandir", lambda place: contextlib.nullcontext([*map(Unasked, listing(place))]))
    assert campaign.names() == walked
    assert story.chapters(campaign) == [
        (1, "story/001-one.md"), (2, "story/002-two.md"), (3, "story/part/003-three.md"), (10, "story/010-ten.MD"), (11, "story/011-in.md"),
    ]  # fmt: skip
    assert chronicles.paths(campaign) == []
    with pytest.raises(AssertionError, match="asked for its stamp"):
        campaign.walk()


def test_a_folder_that_cannot_be_listed_is_an_error_and_not_empty(tmp_path, monkeypatch):
    campaign = campaign_in(tmp_path / "c", **{"lore/a.md": "x"})
    listing = os.scandir

    def denied(place):
        if str(place).endswith("lore"):
            raise PermissionError(13, "Permission denied")
        return listing(place)

    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(StorageError, match="lore: permission denied"):
        campaign.stat()


@pytest.mark.parametrize(
    ("path", "said", "kind"),
    [
        ("campaign-state.md", "character", "state"), ("characters/a.md", "", "character"), ("Characters/a.md", "", "character"),
        ("anywhere/a.md", "", "lore"), ("a.md", "", "lore"), ("anywhere/a.md", "Threat", "threat"), ("characters/a.md", "location", "location"),
        ("characters/a.md", "nonsense", "character"), ("arcs/a.md", "quest", "quest"), ("chronicles/1.md", "lore", "chronicle"),
        ("dm/a.md", "character", "dm"), ("story/1.md", "arc", "story"), ("lore/deep/characters/a.md", "", "lore"),
    ],
)  # fmt: skip
def test_a_kind_is_what_the_note_says_else_what_its_folder_is(path, said, kind):
    assert kinds.kind_of(path, {"kind": said} if said else {}) == kind


def test_names_lists_and_flags_are_read_as_writers_write_them():
    assert kinds.name_of("lore/the-well.md", {"title": "  The   Well "}) == "The Well"
    assert kinds.names_in({"aliases": "Val, Valen the Shadow"}, "aliases") == ("Val", "Valen the Shadow")
    assert kinds.names_in({"aliases": ["Val", "", "[[Sera]]"]}, "aliases") == ("Val", "[[Sera]]")
    assert kinds.names_in({}, "aliases") == ()
    assert [kinds.flag({"pinned": v}, "pinned") for v in ("true", "Yes", "no", "", ["true"])] == [
        True,
        True,
        False,
        False,
        False,
    ]


# -- finding and making ------------------------------------------------------------------------------------------------


def test_the_campaign_is_the_nearest_parent_with_settings(tmp_path):
    campaign = campaign_in(tmp_path / "c", **{"lore/a.md": "x"})
    assert find_root(campaign.root / "lore") == campaign.root
    with pytest.raises(NoCampaign, match="rolecall new"):
        find_root(tmp_path)


def test_settings_are_read_again_at_every_opening(tmp_path):
    campaign = campaign_in(tmp_path / "c")
    (campaign.root / "rolecall.yaml").write_text("format: 1\nname: Changed\n")
    assert open_campaign(campaign.root).settings.name == "Changed"
    (campaign.root / "rolecall.yaml").write_text("format: 9\n")
    with pytest.raises(SettingsError):
        open_campaign(campaign.root)


@pytest.mark.parametrize(
    "name",
    [
        "The Anchor",
        "KB: Something",
        "12:30",
        "# no",
        'say "it\'s"',
        "back\\slash \\1",
        "Zwei\nZeilen",
        "half \udce9",
        "🐉",
    ],
)
def test_a_new_campaign_has_the_name_it_was_given(tmp_path, name):
    campaign = template.new(tmp_path / "c", name)
    assert campaign.settings.name == " ".join(name.replace("\udce9", "").split())
    assert checks.check(campaign) == []


def test_a_folder_that_holds_something_else_is_refused_and_kept(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CampaignError, match=r"holds notes\.txt"):
        template.new(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_a_campaign_half_made_by_a_crash_can_be_made_again(tmp_path):
    template.new(tmp_path / "whole")
    half = template.new(tmp_path / "half").root
    for path in ("rolecall.yaml", "campaign-state.md"):
        (half / path).unlink()
    (half / "README.md").write_text("the writer's own")
    assert checks.check(template.new(half)) == []
    assert (half / "README.md").read_text() == "the writer's own"
    with pytest.raises(CampaignError, match="is a campaign already"):
        template.new(half)


def test_adopting_changes_no_file(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_bytes(b"\xef\xbb\xbfText\r\n")
    (tmp_path / "campaign-state.md").write_bytes(b"my own state")
    campaign = template.adopt(tmp_path, "A: B")
    assert (tmp_path / "notes" / "a.md").read_bytes() == b"\xef\xbb\xbfText\r\n"
    assert (tmp_path / "campaign-state.md").read_bytes() == b"my own state"
    assert (campaign.settings.name, campaign.settings.git) == ("A: B", "off")
    with pytest.raises(CampaignError, match="already"):
        template.adopt(tmp_path)


# -- instructions ---------------------------------------------------------------------------------------------------------


def test_the_campaigns_own_instruction_stands_in_for_the_packaged_one(tmp_path):
    campaign = template.new(tmp_path / "c")
    first = instructions(campaign, "narrator")[0]
    (campaign.root / first.path).write_text("---\nlayer: narrator\nwhen: always\n---\nMine.\n")
    assert instructions(campaign, "narrator")[0].text == "Mine."
    (campaign.root / first.path).write_text("---\nlayer: narrator\nwhen: always\n---\n")
    assert first.name not in [i.name for i in instructions(campaign, "narrator")]  # emptied: it says nothing
    (campaign.root / first.path).write_text("---\nlayer: a: b\n---\nBroken.\n")
    again = instructions(campaign, "narrator")[0]
    assert (again.text, again.path.startswith("packaged: ")) == (first.text, True)


def test_a_conflict_copy_of_an_instruction_is_not_told_twice(tmp_path):
    campaign = template.new(tmp_path / "c")
    before = len(instructions(campaign, "narrator"))
    one = campaign.root / instructions(campaign, "narrator")[0].path
    one.with_name(one.stem + ".sync-conflict-20260101-120000-ABC.md").write_bytes(one.read_bytes())
    assert len(instructions(campaign, "narrator")) == before


def test_without_its_own_files_a_campaign_has_the_packaged_ones(tmp_path):
    campaign = campaign_in(tmp_path / "c")
    assert [p.name for p in prose_modules(campaign)] == [p.name for p in prose_modules(template.new(tmp_path / "d"))]
    assert all(i.path.startswith("packaged: ") and i.text for i in instructions(campaign, "narrator"))
    assert template_folder().is_dir() and files.exists(template_folder(), "rolecall.yaml")
    assert unicodedata.is_normalized("NFC", "".join(i.text for i in instructions(campaign, "narrator")))

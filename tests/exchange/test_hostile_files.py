"""Files that want to do harm: one clear line, in little memory, and nothing is touched."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from rolecall.campaign import checks, records
from rolecall.campaign.folder import open_campaign
from tests.conftest import REPOSITORY
from tests.exchange import foreign
from tests.exchange.conftest import tree

LIMIT = 1 << 30  # bytes a command may ask for


@pytest.mark.parametrize("name", foreign.HOSTILE)
def test_a_hostile_file_is_one_clear_line_and_touches_nothing(name, rolecall, campaign, tmp_path):
    make, words = foreign.HOSTILE[name]
    place, before = foreign.write(tmp_path / name, make()), tree(campaign)
    ran = rolecall("-C", campaign, "import", place)
    assert ran.code == 1 and ran.out == ""
    assert ran.err.startswith("Error: ") and ran.err.count("\n") == 1 and words in ran.err
    assert name in ran.err and "Traceback" not in ran.err and "made a mistake" not in ran.err
    assert tree(campaign) == before and records.others(campaign) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no such limits there")
@pytest.mark.parametrize(
    "name",
    [
        "bomb.png",
        "bomb.charx",
        "lying.charx",
        "a-hundred-megabytes.json",
        "a-million-arrays.json",
        "ten-million-values.json",
    ],
)
def test_the_greedy_ones_stay_below_one_gibibyte(name, campaign, tmp_path):
    place = foreign.write(tmp_path / name, foreign.HOSTILE[name][0]())
    command = [sys.executable, "-m", "rolecall", "-C", str(campaign), "import", str(place)]
    ran = subprocess.run(
        command,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
    )
    assert ran.returncode == 1 and foreign.HOSTILE[name][1] in ran.stderr and ran.stderr.count("\n") == 1


NAMES = [
    "../../../etc/passwd", "/etc/passwd", "..\\..\\evil", "C:\\evil.exe", "CON", "nul.md", "a\0b", "\x1b[2Jcleared", "…", "   ",
    ".", "..", "~", "-rf", "name: {{evil}}", "--- \nkind: rule", "[[Sera]]", "# heading", "a" * 5000, "日本語の名前", "\u202egnp",
    "yes", "12:30", "null", "&anchor", "*alias", "!tag", "a: b", "'", '"', "`", "|", ">", "%", "@", "\ud800", "x\u2028y",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_never_a_path_and_never_breaks_front_matter(name, take, campaign, tmp_path):
    outside = sorted(p.name for p in tmp_path.iterdir())
    receipt = take(foreign.world({"comment": name, "content": "Some text.", "key": [name]}), "names.json")
    (row,) = receipt["made"]
    path = Path(row["path"])
    assert path.parts[0] in ("lore", "rules", "characters") and len(path.parts) == 2 and ".." not in path.stem
    assert (campaign / path).read_bytes().decode().endswith("---\nSome text.\n")
    assert checks.check(open_campaign(campaign)) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*outside, "names.json"])


def test_text_is_cleaned_of_what_no_file_should_hold_and_that_is_said(take, made, campaign):
    text = "Red\x1b[31m ink\x00, a lone \ud83d half, and \u202eturned.\r\nNext."
    receipt = take(foreign.world({"comment": "Ink", "content": text, "key": ["a\ud800b"]}))
    assert made(receipt, "Ink").body == b"Red ink, a lone  half, and turned.\nNext.\n"
    assert any("terminal escapes" in note and "lone surrogates" in note for note in receipt["notes"])
    kept = json.loads((campaign / receipt["folder"] / "entries.json").read_bytes())
    assert kept["made"][0]["keys"] == ["a\ud800b"]


@pytest.mark.parametrize("key", ["/(a+)+$/", "/((a*)*)*b/i", "(x+x+)+y", "/[/", "/(?<=/", "/" + "(" * 5000 + "/"])
def test_a_regular_expression_is_kept_and_never_run(key, take, made, rolecall, campaign):
    receipt = take(foreign.world({"comment": "Trap", "content": "a" * 5000, "key": [key]}))
    kept = json.loads((campaign / receipt["folder"] / "entries.json").read_bytes())
    assert kept["made"][0]["keys"] == [key]
    assert rolecall("-C", campaign, "search", "a" * 50).code == 0


def test_scripts_and_html_stay_text(take, made):
    text = "<script>alert(1)</script> {{user}} <img src=x onerror=y> `rm -rf /` {{// note}}"
    assert made(take(foreign.world({"comment": "Page", "content": text})), "Page").body.decode() == text + "\n"


def test_one_broken_entry_fails_alone(take):
    broken = [
        3,
        None,
        "text",
        [],
        {"content": 5, "key": []},
        {"comment": "Blank", "content": "  "},
        {"key": ["no text"]},
    ]
    rows = {str(n): row for n, row in enumerate([{"comment": "Good", "content": "Here."}, *broken])}
    receipt = take({"entries": rows})
    assert [row["name"] for row in receipt["made"]] == ["Good", "5"]
    assert len(receipt["set_aside"]) == 6 and all(row["why"] for row in receipt["set_aside"])


def test_an_entry_with_a_key_twice_is_set_aside_and_the_others_come(take):
    data = b'{"entries":{"0":{"comment":"Bad","content":"x","content":"y"},"1":{"comment":"Good","content":"z"}}}'
    receipt = take(data)
    assert [row["name"] for row in receipt["made"]] == ["Good"]
    assert [(row["at"], row["name"]) for row in receipt["set_aside"]] == [("entries/0", "Bad")]
    assert "`content` stands there twice" in receipt["set_aside"][0]["why"]


def test_a_vault_with_bombs_links_and_pipes_gives_what_is_sound(rolecall, campaign, tmp_path):
    vault = tmp_path / "vault"
    (vault / "deep").mkdir(parents=True)
    bomb = "a: &a [x, x]\n" + "".join(f"{c}: &{c} [*{p}, *{p}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True))
    notes = {
        "good.md": b"Good.\n",
        "bomb.md": f"---\n{bomb}---\nBoom.\n".encode(),
        "merge.md": b"---\na: &a {x: 1}\nb:\n  <<: [*a, *a]\n---\nMerged.\n",
        "brackets.md": b"---\nx: " + b"[" * 10_000 + b"]" * 10_000 + b"\n---\nDeep.\n",
        "python.md": b"---\nx: !!python/object/apply:os.system ['touch /tmp/evil']\n---\nRun.\n",
        "twice.md": b"---\na: 1\na: 2\n---\nTwice.\n",
        "date.md": b"---\ndate: 1492-13-41\nconstant: yes\n---\nDated.\n",
        "nul.md": b"a\0b\xff\xfe\n",
        "open.md": b"---\nname: never closed\n",
        "deep/note.md": b"Deep down.\n",
    }
    for name, data in notes.items():
        (vault / name).write_bytes(data)
    (vault / "passwd.md").symlink_to("/etc/passwd")
    (vault / "around").symlink_to(vault)
    os.mkfifo(vault / "pipe.md")
    ran = rolecall("-C", campaign, "import", vault, "--json")
    assert ran.code == 0, ran.err
    receipt = json.loads(ran.out)["imports"][0]
    assert {row["at"] for row in receipt["made"]} == set(notes)
    assert {row["at"] for row in receipt["set_aside"]} == {"passwd.md", "around", "pipe.md"}
    for row in receipt["made"]:
        data = (campaign / row["path"]).read_bytes()
        kept = row["at"].replace("nul.md", "nul-1.md")  # no system may be given a file of that name
        assert (campaign / receipt["folder"] / "files" / kept).read_bytes() == notes[row["at"]]
        assert data == notes[row["at"]].replace(b"constant: yes\n", b"constant: yes\npinned: true\n")


def test_a_folder_that_is_or_holds_the_campaign_is_refused(rolecall, campaign):
    for place in (campaign, campaign / "characters", campaign.parent):
        ran = rolecall("-C", campaign, "import", place)
        assert ran.code == 1 and "part of the campaign" in ran.err


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_file(place, rolecall, campaign):
    ran = rolecall("-C", campaign, "import", place)
    assert ran.code == 1 and "not a plain file" in ran.err

"""`rolecall ingest` killed at random moments: the campaign is in the end as one run makes it, and no chunk is paid for twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from rolecall.campaign import checks, records, template
from rolecall.campaign.folder import open_campaign
from tests.conftest import REPOSITORY
from tests.game import chats
from tests.loopback.server import Loopback
from tests.turn.kills import words_of_body, words_of_request

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")

MESSAGES, KILLS = 600, 20


def start(root: Path, chat: Path, server: Loopback, cache: Path) -> subprocess.Popen:
    """The command as a process of its own."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(cache),
        "XDG_CACHE_HOME": str(cache),
        "OPENAI_BASE_URL": f"http://127.0.0.1:{server.port}/v1",
        "OPENAI_API_KEY": "sk-loopback",
    }
    command = [sys.executable, "-m", "rolecall", "-C", str(root), "ingest", str(chat), "--model", "openai/loopback-1"]
    return subprocess.Popen(
        command, cwd=REPOSITORY, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def paid(root: Path) -> list[str]:
    """The words of every request whose whole answer is on record."""
    place = root / ".rolecall/ingest"
    kept = place.iterdir() if place.is_dir() else ()
    calls = [call for folder in kept for call in records.calls(root, f".rolecall/ingest/{folder.name}")]
    return [words_of_request(call.request) for call in calls if call.complete]


def test_killed_at_twenty_moments_it_ends_as_one_run_and_asks_no_answered_chunk_again(tmp_path: Path) -> None:
    chat = tmp_path / "coast.jsonl"
    chats.write(chat, MESSAGES)
    with Loopback(chats.reply) as server:
        once = template.new(tmp_path / "once", "The Tale").root
        begun = time.monotonic()
        out, err = (process := start(once, chat, server, tmp_path)).communicate()
        length = time.monotonic() - begun
        assert process.returncode == 0, err
        wanted, calls = chats.files(once), len(server.requests)
        assert calls >= 30 and "→ T0001-T0300" in out
        assert not checks.check(open_campaign(once))

        dice, kills, number = random.Random(5), 0, 0
        while kills < KILLS:
            number += 1
            root = template.new(tmp_path / f"killed-{number}", "The Tale").root
            server.requests.clear()
            asked_then: dict[str, int] = {}
            while True:
                process = start(root, chat, server, tmp_path)
                after = dice.uniform(0.2, length)
                try:
                    process.wait(after)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    kills += 1
                out, err = process.communicate()
                asked = Counter(words_of_body(seen.body) for seen in server.requests if seen.path.startswith("POST"))
                for words in paid(root):
                    asked_then.setdefault(words, asked[words])
                if process.returncode == 0:
                    break
                assert process.returncode == -signal.SIGKILL or "was brought in before" in err, f"kill {kills}: {err}"
                if process.returncode != -signal.SIGKILL:
                    break  # killed behind its last write: the next command finished it
            assert {w: asked[w] for w in asked_then} == asked_then, f"{kills} kills: an answered chunk was asked again"
            assert chats.files(root) == wanted, f"{kills} kills: the campaign differs"
        assert kills >= KILLS


def test_stopped_by_the_user_it_says_so_changes_nothing_and_asks_only_the_rest_afterwards(tmp_path: Path) -> None:
    chat = tmp_path / "coast.jsonl"
    chats.write(chat, 120)
    root = template.new(tmp_path / "tale", "The Tale").root
    before = chats.files(root)
    with Loopback(chats.reply) as server:
        process = start(root, chat, server, tmp_path)
        while len(server.bodies) < 4:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 130 and "goes on where it stopped" in err
        assert chats.files(root) == before
        answered, asked = len(paid(root)), len(server.bodies)
        assert answered >= 3
        process = start(root, chat, server, tmp_path)
        out, err = process.communicate()
        assert process.returncode == 0 and "T0001-T0060" in out, err
        assert len(server.bodies) - asked == len(paid(root)) - answered

"""Git keeps the story: the writer's edits as theirs, each turn as one commit, and nothing that stops a turn."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rolecall.campaign import git as git_program
from rolecall.campaign import template
from tests.game.repositories import NEEDS_GIT, WRITER, Table, line, script, settle_settings, table, wrapped_git

pytestmark = [
    NEEDS_GIT,
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins for git are shell scripts"),
]
STORY = "story/001-dusk-on-the-quay-as-the-sea-goes-out-and-a-bell.md"
TURN = ["campaign-state.md", STORY]


@pytest.fixture
def tale(tmp_path, monkeypatch, clean_environment) -> Table:
    return table(tmp_path, monkeypatch)


def author(tale: Table, commit: str = "HEAD") -> str:
    return tale.git("log", "-1", "--format=%an <%ae>", commit)


def test_twenty_turns_are_twenty_commits_that_read_as_the_journal(tale):
    first = tale.git("rev-parse", "HEAD")
    game = tale.game()
    for n in range(1, 21):
        assert game.tell(f"I wait, {n}.", tale.listener).degraded == ()
    assert tale.subjects("--reverse", f"{first}..") == [f"T{n:04d} {line(n)}" for n in range(1, 21)]
    journal = tale.read("campaign-state.md").partition("## Journal\n")[2]
    assert [f"- {subject}" for subject in tale.subjects("--reverse", f"{first}..")] == journal.split("\n")[1:-1]
    for n in range(20):
        assert tale.files_of(f"HEAD~{n}") == TURN
        assert author(tale, f"HEAD~{n}") == "RoleCall <rolecall@localhost>"
    assert tale.git("show", "--format=", "--numstat", "HEAD").split() == ["1", "0", TURN[0], "6", "0", STORY]
    assert (
        tale.git("fsck", "--strict", "--no-dangling") == ""
        and tale.git("status", "--porcelain") == ""
        and tale.notes == []
    )


def test_a_turn_commit_names_turn_models_and_tokens(tale):
    tale.tell()
    shown = tale.git("log", "-1", "--format=%(trailers)").splitlines()
    assert shown[:2] == ["Rolecall-Turn: T0001", "Rolecall-Models: narrator=scripted:script.yaml"]
    assert shown[2].startswith("Rolecall-Tokens: fresh ") and str(tale.root.parent) not in "".join(shown)
    assert len(shown) == 3  # no price is known
    settings = tale.read("rolecall.yaml")
    tale.write("rolecall.yaml", settings + f'currency: EUR\nprices: {{"{tale.model}": {{fresh: 10, out: 100}}}}\n')
    tale.tell()
    shown = tale.git("log", "-1", "--format=%(trailers)").splitlines()
    fresh, out = (int(part.split()[1]) for part in shown[2].partition(": ")[2].split(", ")[::2])
    assert shown[3] == f"Rolecall-Cost: {(fresh * 10 + out * 100) / 1e6:.4f} EUR"


def test_the_writers_pending_edits_become_a_commit_of_theirs_before_the_turn(tale):
    tale.replace("characters/old-pasco.md", "\n---\n", "\nhat: red\n---\n")
    tale.write("lore/tides.md", "The ebb is long.\n")
    (tale.root / "items/the-unsigned-letter.md").unlink()
    tale.tell()
    assert tale.subjects()[0] == f"T0001 {line(1)}"
    assert tale.subjects()[1].startswith(
        "By hand before T0001: characters/old-pasco.md, items/the-unsigned-letter.md and 1"
    )
    assert tale.files_of("HEAD~1") == ["characters/old-pasco.md", "items/the-unsigned-letter.md", "lore/tides.md"]
    assert author(tale, "HEAD~1") == WRITER and tale.files_of() == TURN


def test_a_writer_without_a_name_needs_none_and_no_settings_are_touched(tmp_path, monkeypatch, clean_environment):
    tale = table(tmp_path, monkeypatch, settings="[user]\n\tuseConfigOnly = true\n")
    before = (tale.root / ".git/config").read_bytes(), (tmp_path / "gitconfig").read_bytes()
    tale.write("lore/tides.md", "The ebb is long.\n")
    assert tale.tell().degraded == ()
    assert [author(tale, "HEAD~1"), author(tale)] == ["RoleCall <rolecall@localhost>"] * 2
    assert "Edits of the writer's" in tale.git("log", "-1", "--format=%b", "HEAD~1")
    assert ((tale.root / ".git/config").read_bytes(), (tmp_path / "gitconfig").read_bytes()) == before


def test_undo_swipe_switch_and_fold_are_commits_of_their_own_and_nothing_is_rewritten(tale, tmp_path):
    for n in range(8):
        tale.tell(f"I wait, {n}.")
    told = tale.git("rev-list", "HEAD").splitlines()
    tale.game(script(tmp_path, " in the rain")).swipe(tale.listener)
    tale.game().switch(1, tale.listener)
    tale.game().undo(tale.listener, count=2)
    folded = tale.game().fold(listener=tale.listener)
    assert folded is None  # six lines are kept
    tale.tell()
    folded = tale.game().fold(listener=tale.listener)
    assert tale.subjects()[:6] == [
        f"Fold T0001-T0001 into {folded.path}",
        f"T0007 {line(7)}",
        f"Undo T0007: {line(7)}",
        f"Undo T0008: {line(8)}",
        f"Swipe T0008: {line(8)}",
        f"Swipe T0008: {line(8, ' in the rain')}",
    ]
    assert tale.git("rev-list", "HEAD").splitlines()[6:] == told
    assert tale.files_of() == ["campaign-state.md", folded.path]
    assert tale.git("log", "-2", "--skip=4", "--format=%(trailers:key=Rolecall-Swipe,valueonly)").split() == ["1", "2"]
    assert tale.git("status", "--porcelain") == "" and tale.notes == []


# -- what the writer has staged


def test_what_the_writer_has_staged_elsewhere_stays_staged_exactly(tale):
    tale.replace("characters/old-pasco.md", "\n---\n", "\nhat: red\n---\n")
    tale.write("lore/tides.md", "The ebb is long.\n")
    tale.git("add", "characters/old-pasco.md", "lore/tides.md")
    tale.replace("characters/old-pasco.md", "hat: red", "hat: blue")
    staged, edited = tale.git("diff", "--cached"), tale.git("diff")
    assert tale.tell().degraded == ()
    assert (tale.git("diff", "--cached"), tale.git("diff")) == (staged, edited)
    assert tale.subjects()[:2] == [f"T0001 {line(1)}", "The Tale: a new campaign"]


def test_a_turn_in_a_file_with_staged_changes_commits_the_turn_alone(tale):
    for n in range(3):
        tale.tell(f"I wait, {n}.")
    tale.replace("campaign-state.md", "name: Campaign State", "name: Where We Are")
    tale.git("add", "campaign-state.md")
    tale.replace("campaign-state.md", "## Party", "The gulls are loud.\n\n## Party")
    assert tale.tell().degraded == ()
    assert tale.git("show", "--format=", "--numstat").split("\n")[0] == "1\t0\tcampaign-state.md"
    changed = [row for row in tale.git("diff", "--cached").splitlines() if row[:1] in "+-" and row[1:2] not in "+-"]
    assert changed == ["-name: Campaign State", "+name: Where We Are"]
    changed = [row for row in tale.git("diff").splitlines() if row[:1] in "+-" and row[1:2] not in "+-"]
    assert changed == ["+The gulls are loud."]


def test_where_staged_lines_are_the_turns_own_it_waits_and_is_committed_later_as_the_turns(tale):
    tale.tell()
    tale.write("campaign-state.md", tale.read("campaign-state.md").rstrip("\n") + " He lies.\n")
    tale.git("add", "campaign-state.md")
    staged = tale.git("diff", "--cached")
    result = tale.tell()
    assert [d.layer for d in result.degraded] == ["git"] and "campaign-state.md" in result.degraded[0].reason
    assert tale.git("diff", "--cached") == staged and tale.files_of() == [STORY]
    tale.git("commit", "-qm", "He lies, I say")
    assert tale.tell().degraded == ()
    assert tale.subjects()[:3] == [f"T0003 {line(3)}", f"T0002 {line(2)}", "He lies, I say"]
    assert tale.files_of("HEAD~1") == ["campaign-state.md"] and tale.git("status", "--porcelain") == ""


# -- what does not belong in a commit


def test_what_is_ignored_or_no_campaign_file_is_never_committed(tale):
    tale.write(".gitignore", ".rolecall/\ndm/\nlore/private/\n")
    tale.git("rm", "-rq", "--cached", "dm")
    tale.git("commit", "-qam", "The plan is nobody's business")
    tale.write("lore/private/plan.md", "Secret.\n")
    tale.write(".env", "ANTHROPIC_API_KEY=sk-none\n")
    tale.write("map.png", "no picture")
    tale.write(".obsidian/app.json", "{}")
    tale.write("notes.md~", "an editor's own")
    tale.write("lore/tides (conflicted copy 2026-01-01).md", "A copy.\n")
    tale.write("lore/tides.md", "The ebb is long.\n")
    tale.tell()
    assert tale.files_of("HEAD~1") == ["lore/tides.md"] and tale.files_of() == TURN


@pytest.mark.parametrize(
    "name", ["-rf.md", "*.md", "a b\t'c'.md", "Éowyn 東京.md", "two\nlines.md", 'say "no".md', ":(top)x.md"]
)
def test_any_name_the_disk_can_hold_is_committed_as_it_is(tale, name):
    tale.write(f"lore/{name}", "A note.\n")
    tale.tell()
    assert tale.files_of("HEAD~1") == [f"lore/{name}"] and tale.files_of() == TURN
    assert tale.git("status", "--porcelain") == ""


def test_with_autocrlf_every_byte_stays_on_disk_and_in_the_repository(tmp_path, monkeypatch, clean_environment):
    tale = table(tmp_path, monkeypatch, settings="[core]\n\tautocrlf = true\n\tsafecrlf = true\n")
    tale.write("lore/tides.md", "The ebb\r\nis long.\nMixed.\r\n")
    assert tale.tell().degraded == ()
    assert tale.read("lore/tides.md") == "The ebb\r\nis long.\nMixed.\r\n"
    kept = subprocess.run(["git", "cat-file", "blob", "HEAD:lore/tides.md"], cwd=tale.root, capture_output=True).stdout
    assert kept == b"The ebb\r\nis long.\nMixed.\r\n"


@pytest.mark.parametrize("whose", ["the writer's settings", "a repository they trust", "any repository"])
def test_the_writers_filters_are_honoured(tale, whose):
    scope = ("--global",) if whose == "the writer's settings" else ()
    for way in ("clean", "smudge"):
        tale.git("config", *scope, f"filter.veil.{way}", "tr a-z n-za-m")
    if not scope:
        tale.git("config", "--global", "rolecall.trusted", "*" if whose == "any repository" else str(tale.root))
    tale.write(".gitattributes", "* -text\nstory/* filter=veil\n")
    assert tale.tell().degraded == ()
    assert "Old Pasco" in tale.read(STORY)
    assert "Old Pasco" not in tale.git("cat-file", "blob", f"HEAD:{STORY}") and tale.git("status", "--porcelain") == ""


# -- a campaign from a stranger, its `.git` with it

NAMES_A_PROGRAM = (
    "core.fsmonitor", "core.hooksPath", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.alternateRefsCommand",
    "diff.external", "diff.x.textconv", "diff.x.command", "merge.x.driver", "gpg.program", "gpg.ssh.program", "credential.helper",
    "gc.recentObjectsHook", "sequence.editor", "interactive.diffFilter", "pager.log", "pager.blame", "alias.status", "alias.blame",
)  # fmt: skip
FILTERS = ("filter.x.clean", "filter.x.smudge", "filter.x.process")


def trap(tale: Table, keys: tuple[str, ...], *scope: str) -> Path:
    """Let the repository's settings name a program wherever they can; what it leaves when it is started."""
    ran = tale.root.parent / "ran"
    traps = tale.root / ".git/traps"
    traps.mkdir()
    for name in (*keys, "pre-commit", "reference-transaction", "post-checkout", "post-index-change", "pre-auto-gc"):
        (traps / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\ncat\n")
        (traps / name).chmod(0o755)
    for key in keys:
        value = f"!{traps / key}" if key.startswith("alias") else str(traps / key)
        tale.git("config", *scope, key, str(traps) if key == "core.hooksPath" else value)
    for key in ("log.showSignature", "commit.gpgSign", "submodule.recurse"):
        tale.git("config", key, "true")
    tale.git("config", "gc.auto", "1")
    (tale.root / ".git/info").mkdir(exist_ok=True)
    (tale.root / ".git/info/attributes").write_text("* filter=x diff=x merge=x\n")
    ran.unlink(missing_ok=True)
    return ran


def ask_everything(tale: Table, rolecall) -> dict[str, str]:
    """Run the commands that ask git, those that only read among them; what each said on stderr."""
    said = {}
    shutil.rmtree(tale.root / ".rolecall/turns", ignore_errors=True)  # else `why` need not ask
    tale.write("lore/tides.md", f"The ebb is long{len(tale.notes)}.\n")
    for command in (
        ("why", "campaign-state.md"), ("why", f"{STORY}:1"), ("timeline",), ("check",), ("status",), ("turn", "I wait.", "--model", tale.model),
        ("branch", "elsewhere"), ("timeline", "main"), ("undo",), ("rename", "Old Pasco", "Older Pasco", "--yes"), ("fold",),
    ):  # fmt: skip
        ran = rolecall("-C", tale.root, *command)
        said[command[0]] = said.get(command[0], "") + ran.err
    return said


def test_no_program_that_a_repository_names_is_started(tale, rolecall, monkeypatch):
    monkeypatch.setattr("rolecall.campaign.commits.TIDY_EVERY", 1)
    assert tale.tell().degraded == ()
    ran = trap(tale, NAMES_A_PROGRAM)
    ask_everything(tale, rolecall)
    assert not ran.exists(), ran.read_text()
    assert any(subject.startswith("T0002") for subject in tale.subjects("--all", "--no-show-signature"))


@pytest.mark.parametrize(
    ("key", "by"),
    [*((key, "config") for key in FILTERS), (FILTERS[0], "an included file"), (FILTERS[2], "the work tree's config")],
)
def test_a_filter_that_the_repository_itself_names_is_not_started_and_nothing_is_committed_past_it(
    tale, rolecall, key, by
):
    assert tale.tell().degraded == ()
    head, scope = tale.git("rev-parse", "HEAD"), ()
    if by == "an included file":
        tale.git("config", "include.path", "more")
        scope = ("--file", ".git/more")
    elif by == "the work tree's config":
        tale.git("config", "extensions.worktreeConfig", "true")
        scope = ("--worktree",)
    ran = trap(tale, (key,), *scope)
    tale.git("config", "rolecall.trusted", "*")  # it cannot vouch for itself
    ran.unlink(missing_ok=True)
    said = ask_everything(tale, rolecall)
    assert not ran.exists() and tale.git("rev-parse", "HEAD") == head and "Error" not in said["turn"]
    for command in ("turn", "timeline", "branch"):
        assert f"settings name a program that git would start, `{key}`" in said[command]
        assert f"git config --global --add rolecall.trusted {tale.root}" in said[command]


def test_a_git_folder_that_is_another_projects_is_not_committed_to(tale, tmp_path):
    work = tmp_path / "work"
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    (work / "thesis.md").write_text("Not yours.\n")
    subprocess.run(["git", "add", "-A"], cwd=work, check=True)
    subprocess.run(["git", "commit", "-qm", "Mine"], cwd=work, check=True)
    shutil.rmtree(tale.root / ".git")
    for kind in ("file", "link"):
        if kind == "file":
            (tale.root / ".git").write_text("gitdir: ../work/.git\n")
        else:
            (tale.root / ".git").unlink()
            (tale.root / ".git").symlink_to("../work/.git")
        (degraded,) = tale.tell().degraded
        assert "its .git is that of another folder" in degraded.reason
    assert subprocess.run(["git", "log", "--format=%s"], cwd=work, capture_output=True, text=True).stdout == "Mine\n"


def test_a_campaign_whose_own_files_look_like_a_repository_is_not_taken_for_one(
    tmp_path, rolecall, monkeypatch, script
):
    settle_settings(tmp_path, monkeypatch)
    subprocess.run(["git", "init", "-q", str(tmp_path / "work")], check=True)
    root = template.new(tmp_path / "work" / "tale", "The Tale").root
    (root / "rolecall.yaml").write_text((root / "rolecall.yaml").read_text().replace("git: off", "git: auto"))
    ran = tmp_path / "ran"
    program = root / "program"
    program.write_text(f"#!/bin/sh\necho $0 >> {ran}\ncat\n")
    program.chmod(0o755)
    for folder in ("objects", "refs/heads"):
        (root / folder).mkdir(parents=True)
    (root / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {root}\n\tfsmonitor = {program}\n"
        f'[filter "x"]\n\tclean = {program}\n'
    )
    (root / ".gitattributes").write_text("* filter=x\n")
    said = rolecall("-C", root, "turn", "I wait.", "--model", script("- text: A scene.\n"))
    assert said.code == 0 and "git: " in said.err and not ran.exists()
    assert rolecall("-C", root, "why", "campaign-state.md").code == 0 and not ran.exists()


# -- what the writer's machine is like


def test_hooks_and_signatures_neither_run_nor_stop_a_turn(tale):
    ran = tale.root.parent / "ran"
    for hook in (
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
    ):
        place = tale.root / ".git/hooks" / hook
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\necho {hook} >> {ran}\nexit 1\n")
        place.chmod(0o755)
    tale.git("config", "commit.gpgSign", "true")
    tale.git("config", "gpg.program", "/bin/false")
    tale.git("config", "core.fsmonitor", "/bin/false")
    tale.write("lore/tides.md", "The ebb is long.\n")
    assert tale.tell().degraded == () and len(tale.subjects()) == 3 and not ran.exists()


def test_the_environment_of_a_shell_or_a_hook_changes_nothing(tale, tmp_path, monkeypatch):
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    for name in ("GIT_DIR", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    monkeypatch.setenv("GIT_TRACE", "1")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert tale.tell().degraded == ()
    for name in [name for name in os.environ if name.startswith("GIT_") and "CONFIG" not in name]:
        monkeypatch.delenv(name)
    assert tale.subjects()[0] == f"T0001 {line(1)}" and author(tale) == "RoleCall <rolecall@localhost>"
    assert not (other / "index").exists()


def test_in_a_repository_above_only_the_campaigns_paths_are_committed(tmp_path, monkeypatch, clean_environment):
    settle_settings(tmp_path, monkeypatch)
    subprocess.run(["git", "init", "-q", str(tmp_path / "work")], check=True)
    root = template.new(tmp_path / "work" / "games" / "tale", "The Tale", repository=True).root
    tale = Table(root, script(tmp_path), [])
    assert "\ngit: off" in tale.read("rolecall.yaml") and not (root / ".git").exists()
    tale.replace("rolecall.yaml", "git: off", "git: auto")
    (tmp_path / "work" / "thesis.md").write_text("Not yours.\n")
    (tmp_path / "work" / "staged.md").write_text("Staged.\n")
    subprocess.run(["git", "add", "staged.md"], cwd=tmp_path / "work", check=True)
    assert tale.tell().degraded == () and tale.tell().degraded == ()
    assert tale.files_of() == [f"games/tale/{path}" for path in TURN]
    assert all(
        path.startswith("games/tale/")
        for path in tale.git("ls-tree", "-r", "--name-only", "--full-tree", "HEAD").split("\n")
    )
    assert tale.git("status", "--porcelain", "-uall", str(tmp_path / "work")) == "A  staged.md\n?? thesis.md"


def test_a_submodule_is_left_to_the_writer(tale, tmp_path):
    shared = tmp_path / "shared"
    subprocess.run(["git", "init", "-q", str(shared)], check=True)
    (shared / "tides.md").write_text("The ebb is long.\n")
    subprocess.run(["git", "add", "-A"], cwd=shared, check=True)
    subprocess.run(["git", "commit", "-qm", "Tides"], cwd=shared, check=True)
    tale.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(shared), "lore/shared")
    tale.git("commit", "-qm", "Shared lore")
    tale.write("lore/shared/tides.md", "The ebb is short.\n")
    assert tale.tell().degraded == () and tale.subjects()[:2] == [f"T0001 {line(1)}", "Shared lore"]
    assert tale.git("status", "--porcelain") == " M lore/shared"


def test_a_campaign_in_a_linked_work_tree_commits_to_its_own_branch(tale):
    tale.tell()
    tale.git("worktree", "add", "-q", "-b", "side", "../side")
    side = Table(tale.root.parent / "side", tale.model, [])
    assert side.tell().degraded == ()
    assert side.subjects()[0] == f"T0002 {line(2)}" and tale.subjects("main")[0] == f"T0001 {line(1)}"


def test_without_git_new_says_so_and_plays_all_the_same(rolecall, tmp_path, monkeypatch, script):
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = rolecall("new", tmp_path / "tale")
    assert ran.code == 0 and "Without git: git is not installed" in ran.err
    assert "\ngit: off" in (tmp_path / "tale/rolecall.yaml").read_text()
    ran = rolecall("-C", tmp_path / "tale", "turn", "I wait.", "--model", script("- text: A scene.\n"))
    assert ran.code == 0 and "git" not in ran.err


def test_new_makes_a_repository_and_adopt_does_not(rolecall, tmp_path, monkeypatch):
    settle_settings(tmp_path, monkeypatch)
    ran = rolecall("new", tmp_path / "tale")
    assert ran.code == 0 and "Each turn becomes a commit" in ran.err and (tmp_path / "tale/.git").is_dir()
    assert rolecall("new", tmp_path / "plain", "--no-git").code == 0 and not (tmp_path / "plain/.git").exists()
    (tmp_path / "vault").mkdir()
    assert rolecall("new", "--adopt", tmp_path / "vault").code == 0 and not (tmp_path / "vault/.git").exists()
    assert "git: off" in (tmp_path / "vault/rolecall.yaml").read_text()


def test_adopt_in_a_repository_says_that_git_is_left_to_the_writer(rolecall, tmp_path, monkeypatch):
    settle_settings(tmp_path, monkeypatch)
    for name, below in (("notes", True), ("vault", False)):
        (tmp_path / name).mkdir()
        if below:
            subprocess.run(["git", "init", "-q", tmp_path / name], check=True)
        ran = rolecall("new", "--adopt", tmp_path / name)
        assert ran.code == 0 and ("Git is left to you (`git: off`" in ran.err) is below


def test_new_in_a_folder_that_the_repository_above_ignores_makes_one_of_its_own(rolecall, tmp_path, monkeypatch):
    settle_settings(tmp_path, monkeypatch)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("/my*\n")
    ran = rolecall("new", tmp_path / "my [tale]")
    assert ran.code == 0 and "Each turn becomes a commit" in ran.err and (tmp_path / "my [tale]/.git").is_dir()
    ran = rolecall("new", tmp_path / "other")
    assert ran.code == 0 and "Without git" in ran.err and not (tmp_path / "other/.git").exists()


# -- when git says no: the turn is told, one line says why, and the next commit has it


def refuse(tale: Table, kind: str) -> None:
    if kind == "lock":
        (tale.root / ".git/index.lock").write_bytes(b"")
    elif kind == "detached":
        tale.git("checkout", "-q", "--detach")
    elif kind == "rebase":
        tale.git("rebase", "-q", "--exec", "false", "HEAD~1", ok=False)
    elif kind == "merge":
        tale.git("checkout", "-qb", "other")
        tale.write("lore/tides.md", "The ebb is short.\n")
        tale.git("add", "lore/tides.md")
        tale.git("commit", "-qm", "Short")
        tale.git("checkout", "-q", "main")
        tale.write("lore/tides.md", "The ebb is long.\n")
        tale.git("add", "lore/tides.md")
        tale.git("commit", "-qm", "Long")
        tale.git("merge", "other", ok=False)
    elif kind == "ref":
        (tale.root / ".git/refs/heads/main.lock").write_bytes(b"")


def permit(tale: Table, kind: str) -> None:
    if kind == "lock":
        (tale.root / ".git/index.lock").unlink()
    elif kind == "detached":
        tale.git("checkout", "-q", "main")
    elif kind == "merge":
        tale.git("checkout", "-q", "--ours", "lore/tides.md")
        tale.git("add", "lore/tides.md")
        tale.git("commit", "-qm", "Merged")
    elif kind == "rebase":
        tale.git("rebase", "--quit")
        tale.git("checkout", "-q", "main")
    elif kind == "ref":
        (tale.root / ".git/refs/heads/main.lock").unlink()


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("lock", "index.lock"),
        ("detached", "HEAD is on no branch"),
        ("merge", "a merge is not finished"),
        ("rebase", "a rebase is under way"),
        ("ref", "main.lock"),
    ],
)
def test_while_git_is_busy_turns_are_told_and_committed_when_it_is_free(tale, monkeypatch, kind, why):
    monkeypatch.setattr(git_program, "PATIENCE", 0.1)
    tale.tell()
    refuse(tale, kind)
    head = tale.git("rev-parse", "HEAD")
    for _ in range(2):
        result = tale.tell()
        assert [(d.layer, d.fallback) for d in result.degraded] == [("git", "committed with the next turn")]
        assert why in result.degraded[0].reason
    assert tale.git("rev-parse", "HEAD") == head and "T0003" in tale.read("campaign-state.md")
    if kind == "lock":
        assert (tale.root / ".git/index.lock").exists()  # never taken away
    permit(tale, kind)
    assert tale.tell().degraded == ()
    assert tale.subjects()[:2] == [f"T0004 {line(4)}", f"T0003 {line(3)}"]
    assert tale.git("log", "-1", "--skip=1", "--format=%(trailers:key=Rolecall-Turn,valueonly)").split() == [
        "T0002",
        "T0003",
    ]
    assert author(tale, "HEAD~1") == "RoleCall <rolecall@localhost>" and tale.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('[ "$SUB" = status ] && { echo "usage: git status [options]" >&2; exit 129; }', "too old"),
        ('[ "$SUB" = status ] && sleep 30', "longer than"),
        ('[ "$SUB" = commit-tree ] && { echo "fatal: \033[31mdisk\033[0m full" >&2; exit 128; }', "disk full"),
        ('[ "$SUB" = write-tree ] && exit 1', "write-tree failed"),
        ("export GIT_TEST_ASSUME_DIFFERENT_OWNER=1", "belongs to somebody else"),
    ],
)
def test_a_git_that_fails_hangs_or_refuses_costs_no_turn(tale, tmp_path, monkeypatch, body, why):
    monkeypatch.setattr(git_program, "LIMIT", 0.5)
    with monkeypatch.context() as patched:
        wrapped_git(tmp_path, patched, body)
        result = tale.tell()
    assert [d.layer for d in result.degraded] == ["git"] and why in result.degraded[0].reason
    assert "\033" not in result.degraded[0].reason and "T0001" in tale.read("campaign-state.md")
    monkeypatch.setattr(git_program, "LIMIT", 20.0)
    assert tale.tell().degraded == ()
    assert tale.subjects()[:2] == [f"T0002 {line(2)}", f"T0001 {line(1)}"] and tale.git("status", "--porcelain") == ""


def test_without_the_program_or_the_repository_the_turn_says_so_once(tale, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(tmp_path))
        assert [d.reason for d in tale.tell().degraded] == ["git is not installed"]
    (tale.root / ".git").rename(tmp_path / "gone")
    assert [d.reason for d in tale.tell().degraded] == ["there is no repository here (`git init` makes one)"]


KILLED = """
if [ "$SUB" = "$KILL_AT" ]; then
  if [ "$KILL_WHEN" = after ]; then "$GIT" "$@"; fi
  kill -9 $PPID
  exit 1
fi"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", ["status", "read-tree", "update-index", "write-tree", "commit-tree", "update-ref"])
def test_a_command_killed_around_any_git_leaves_one_commit_a_turn(tale, tmp_path, monkeypatch, at, when):
    tale.tell()
    tale.write("lore/tides.md", "The ebb is long.\n")
    with monkeypatch.context() as patched:
        wrapped_git(tmp_path, patched, KILLED)
        patched.setenv("KILL_AT", at)
        patched.setenv("KILL_WHEN", when)
        command = [sys.executable, "-m", "rolecall", "-C", str(tale.root), "turn", "I go.", "--model", tale.model]
        ran = subprocess.run(command, capture_output=True)
        assert ran.returncode == -9
    time.sleep(0.05)
    assert tale.tell().degraded == ()
    turns = [subject for subject in tale.subjects() if not subject.startswith(("By hand", "The Tale"))]
    last = len(turns)
    assert turns == [f"T{n:04d} {line(n)}" for n in range(last, 0, -1)]
    assert tale.subjects().count("By hand before T0002: lore/tides.md") == 1
    assert tale.git("status", "--porcelain") == "" and tale.git("fsck", "--strict", "--no-dangling") == ""


def test_a_killed_turn_after_its_commit_was_begun_is_committed_as_that_turn(tale, tmp_path, monkeypatch):
    tale.tell()
    with monkeypatch.context() as patched:
        wrapped_git(tmp_path, patched, KILLED)
        patched.setenv("KILL_AT", "commit-tree")
        patched.setenv("KILL_WHEN", "before")
        command = [sys.executable, "-m", "rolecall", "-C", str(tale.root), "turn", "I go.", "--model", tale.model]
        assert subprocess.run(command, capture_output=True).returncode == -9
    assert "T0002" in tale.read("campaign-state.md") and tale.subjects()[0] == f"T0001 {line(1)}"
    tale.write("lore/tides.md", "The ebb is long.\n")
    tale.tell()
    assert tale.subjects()[:3] == [f"T0003 {line(3)}", "By hand before T0003: lore/tides.md", f"T0002 {line(2)}"]


def test_git_off_starts_no_git_and_makes_no_commit(tale, tmp_path, monkeypatch):
    tale.replace("rolecall.yaml", "git: auto", "git: off")
    wrapped_git(tmp_path, monkeypatch, f'echo "$SUB" >> {tmp_path}/called')
    assert tale.tell().degraded == ()
    assert not Path(tmp_path, "called").exists() and not (tale.root / ".rolecall/uncommitted.jsonl").exists()


# -- why


def test_why_falls_back_to_git_where_the_record_is_gone(tale, rolecall, tmp_path):
    tale.tell()
    tale.write("lore/tides.md", "The ebb is long.\n")
    tale.tell()
    tale.replace("campaign-state.md", "- T0002", "- T0002 Or so they say:")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(tale.root), str(clone)], check=True)
    rows = tale.read("campaign-state.md").split("\n")
    at = next(number for number, row in enumerate(rows, 1) if row.startswith("- T0001"))

    def why(root: Path, path: str) -> dict:
        return json.loads(rolecall("-C", root, "why", path, "--json").out)[0]

    here, there = why(tale.root, f"campaign-state.md:{at}"), why(clone, f"campaign-state.md:{at}")
    assert (here["turn"], here["op"], here["by"]) == ("T0001", "journal", tale.model)
    assert (there["turn"], there["op"], there["by"]) == ("T0001", "commit", "narrator=scripted:script.yaml")
    assert there["reason"] == f"commit {tale.git('rev-parse', '--short=10', 'HEAD~2')}: T0001 {line(1)}"
    assert why(tale.root, f"campaign-state.md:{at + 1}")["by"] == "written by hand"  # not committed yet
    assert why(clone, "lore/tides.md:1")["by"] == "written by hand"
    assert why(clone, "rules/the-long-ebb.md:2")["by"] == "the template"  # of no turn

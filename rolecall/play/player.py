"""The player: streamed prose, a prompt, and a few commands that begin with a slash."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress

import click

from rolecall.campaign import records
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.text import clean
from rolecall.errors import ModelError, RoleCallError
from rolecall.play import views
from rolecall.play.stream import Stream
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from rolecall.turn.result import Result

_HELP = """What you type is what your character does or says. Beside that:
  /status          where the story stands
  /show NAME       an entry
  /search WORDS    what the campaign knows
  /swipe           another answer to the last turn
  /undo            take the last turn back
  /again           try the action again that could not be told
  /help            this
  /quit            leave (or Ctrl-D)
Ctrl-C stops the narrator and keeps what was said."""


class Player:
    """One session of play, in a terminal or in a pipe (one action a line, until the end of the file)."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.terminal = sys.stdin.isatty()
        if self.terminal:
            with suppress(ImportError):
                import readline  # noqa: F401 - arrow keys and a history for `input`
        self.failed = False
        self._commands: dict[str, Callable[[str], None]] = {
            "/status": lambda _: self._say(views.status_lines(self._campaign(), self._search())),
            "/show": self._show,
            "/search": self._find,
            "/again": self._again,
            "/swipe": self._swipe,
            "/undo": self._undo,
            "/help": lambda _: click.echo(_HELP, err=True),
        }

    def run(self) -> int:
        """Play until the player leaves; the exit code: 1 when a turn failed in a pipe."""
        campaign = self._campaign()
        self._welcome(campaign)
        while True:
            line = self._read()
            if line is None or line in ("/quit", "/exit", "/q"):
                break
            if line:
                self._guarded(line)
        return 1 if self.failed and not self.terminal else 0

    def _welcome(self, campaign: Campaign) -> None:
        self._quiet(f"{campaign.settings.name or campaign.root.name} · {self._model(campaign)}")
        if not self.terminal:
            return
        stream = Stream(sys.stdout)
        stream.write(views.opening_text(campaign))
        stream.end()
        if kept := records.draft(campaign.root):
            self._quiet(f"An action could not be told last time: {kept[1]!r}. /again tries it.")
        self._quiet("Type what you do. /help for the rest.")

    def _model(self, campaign: Campaign) -> str:
        """Which model the narrator takes, in words."""
        try:
            chain = self.game.chains(campaign)["narrator"]
        except ModelError as error:
            return str(error)
        profile = chain.profile() if chain else None
        return f"narrated by {profile.spec}" if profile else "no narrator; `rolecall models` says what is missing"

    def _read(self) -> str | None:
        if not self.terminal:
            line = sys.stdin.readline()
            return line.strip() if line else None
        try:
            return input(click.style("\n> ", bold=True)).strip()
        except EOFError:
            click.echo(err=True)
            return None
        except KeyboardInterrupt:
            click.echo(err=True)
            return ""

    def _guarded(self, line: str) -> None:
        try:
            self._do(line)
        except KeyboardInterrupt:
            self._quiet("Stopped before a word was said; the action is kept. /again tries it.")
            self.failed = True
        except RoleCallError as error:
            self.failed = True
            click.secho("Error: ", fg="red", err=True, nl=False)
            click.echo(clean(str(error)), err=True)
            if error.hint:
                click.echo(f"Hint: {clean(error.hint)}", err=True)

    def _do(self, line: str) -> None:
        if not line.startswith("/"):
            self._tell(line)
            return
        name, _, rest = line.partition(" ")
        command = self._commands.get(name)
        if command is None:
            from difflib import get_close_matches

            near = get_close_matches(name, [*self._commands, "/quit"], 1)
            self._quiet(
                f"There is no {name}." + (f" Did you mean {near[0]}?" if near else " /help lists what there is.")
            )
            return
        command(rest.strip())

    def _tell(self, action: str) -> None:
        self._told(lambda listener: self.game.tell(action, listener))

    def _told(self, tell: Callable[[Listener], Result]) -> None:
        stream = Stream(sys.stdout)
        if self.terminal:
            click.echo()
        try:
            result = tell(Listener(text=stream.write, note=self._quiet))
        finally:
            stream.end()
        if not self.terminal:
            click.echo()
        self.game.keep_current()
        if self.terminal and result.pulse:
            self._quiet(f"TV: {result.pulse}")
        for degraded in result.degraded:
            self._quiet(f"{degraded.layer}: {degraded.reason} → {degraded.fallback}")

    def _swipe(self, _: str) -> None:
        self._told(self.game.swipe)

    def _undo(self, _: str) -> None:
        for undone in self.game.undo(Listener(note=self._quiet)):
            self._quiet(
                f"{turn_id(undone.turn)} is taken back: {undone.action.splitlines()[0] if undone.action else ''}"
            )
            for path, clash in undone.clashes:
                self._quiet(f"{path}:{clash.line}: you changed this too; your words stay.")

    def _again(self, _: str) -> None:
        kept = records.draft(self.game.root)
        if kept is None:
            self._quiet("There is no action that waits.")
            return
        self._tell(kept[1])

    def _show(self, name: str) -> None:
        if not name:
            self._quiet("Say what to show: /show NAME")
            return
        self._say([views.entry_text(self._campaign(), self._search(), name)])

    def _find(self, query: str) -> None:
        if not query:
            self._quiet("Say what to look for: /search WORDS")
            return
        self._say(views.hit_lines(self._search().find(query)) or ["Nothing found."])

    def _campaign(self) -> Campaign:
        return self.game.campaign()

    def _search(self):  # -> Search
        search = self.game.search(self._campaign())
        search.refresh()
        return search

    def _say(self, lines: list[str]) -> None:
        for line in lines:
            click.echo(clean(line))

    def _quiet(self, text: str) -> None:
        click.secho(clean(text), dim=True, err=True)

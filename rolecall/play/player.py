"""The player: streamed prose, a prompt, and a few commands that begin with a slash."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import click

from rolecall.campaign import records
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.text import clean
from rolecall.errors import ModelError, RoleCallError
from rolecall.play import page, views
from rolecall.play.columns import columns_of, folded
from rolecall.play.prompt import Prompt, quiet_keys
from rolecall.play.stream import Stream
from rolecall.play.waiting import Waiting
from rolecall.turn import afterwards
from rolecall.turn.aside import Rest
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from rolecall.turn.result import Result

_HELP = """What you type is what your character does or says. Beside that:
  /status          where the story stands
  /show NAME       an entry
  /search WORDS    what the campaign knows
  /swipe           another answer to the last turn; /swipe --reroll with new dice
  /undo            take the last turn back
  /again           try the action again that could not be told; /again N one of several
  /cost            what this turn, this session and the campaign used
  /help            this
  /quit            leave (or Ctrl-D)"""
_KEYS = "A number alone takes that suggestion. Ctrl-C stops the narrator and keeps what was said."

SOON = 0.4  # seconds in which the afterwork may end before the player is asked for the next action


class Player:
    """One session of play, in a terminal or in a pipe (one action a line, until the end of the file)."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.terminal = sys.stdin.isatty()
        self.prompt = Prompt() if self.terminal else None
        self.failed = False
        self.offered: tuple[str, ...] = ()  # the suggestions that the player has before them
        self._rest: Rest | None = None  # the last turn's afterwork, while it is under way
        self._once = threading.Lock()  # what it came to is shown once, by whoever is first
        self._commands: dict[str, Callable[[str], None]] = {
            "/status": lambda _: self._say(views.status_lines(self._campaign(), self._search())),
            "/show": self._entry,
            "/search": self._find,
            "/again": self._again,
            "/swipe": self._swipe,
            "/undo": self._undo,
            "/cost": lambda _: self._say(views.cost_lines(self._campaign(), self.game.purse(self._campaign()))),
            "/help": lambda _: click.echo(f"{_HELP}\n{_KEYS}" if self.terminal else _HELP, err=True),
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
        self._leave()
        return 1 if self.failed and not self.terminal else 0

    def _welcome(self, campaign: Campaign) -> None:
        self._quiet(f"{campaign.settings.name or campaign.root.name} · {self._model(campaign)}")
        if not self.terminal:
            return
        self.prompt.warm()
        stream = Stream(sys.stdout)
        stream.write(views.opening_text(campaign))
        stream.end()
        self._offer_drafts(records.drafts(campaign.root))
        self._offer(afterwards.offered(campaign))
        self._quiet("Type what you do" + (", or a number." if self.offered else ".") + " /help for the rest.")

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
            return self.prompt.ask().strip()
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
            self._told_error(error)

    def _told_error(self, error: RoleCallError) -> None:
        self.failed = True
        click.echo(click.style("Error: ", fg="red") + clean(str(error)), err=True)
        if error.hint:
            click.echo(f"Hint: {clean(error.hint)}", err=True)

    def _do(self, line: str) -> None:
        if not line.startswith("/"):
            self._act(line)
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

    def _act(self, line: str) -> None:
        """An action, or the number of a suggestion the player has before them. In a pipe nothing is suggested."""
        offered = self.offered
        if not self._caught_up():
            return
        number = int(line) if self.terminal and len(line) == 1 and line in "123456789" else 0
        if number and not offered and self.offered:
            self._quiet("The suggestions have only just come. Choose one of them now.")
        elif number and not 1 <= number <= len(self.offered):
            self._quiet(f"There is no suggestion {number}.")
        elif number:
            self._quiet(f"> {self.offered[number - 1]}")
            self._tell(self.offered[number - 1])
        else:
            self._tell(line)

    def _tell(self, action: str) -> None:
        self._play(partial(self.game.begin, action))

    def _play(self, begin: Callable[[Listener], Rest]) -> None:
        """Have a turn told; the prompt is back at its last word, what the afterwork comes to is shown when it is there."""
        self.offered = ()
        with self._listening() as listener:
            rest = begin(listener)
        if not self.terminal:
            click.echo()
            self._show(rest.result())
            self.game.keep_current()
            return
        self._rest = rest
        rest.aside()
        try:
            soon = rest.done(SOON)
        except KeyboardInterrupt:  # there is nothing left to stop
            soon = False
        if soon:
            self._show_rest()
        else:
            threading.Thread(target=self._watch, args=(rest,), name="suggestions", daemon=True).start()

    def _watch(self, rest: Rest) -> None:
        rest.settle()
        self._show_rest()

    def _show_rest(self, *, offer: bool = True) -> None:
        """What the afterwork came to, once; above the line the player is typing, if they are."""
        with self._once:
            rest, self._rest = self._rest, None
            if rest is None:
                return
            try:
                self._show(rest.result(), offer=offer)
            except RoleCallError as error:
                self._told_error(error)

    def _caught_up(self) -> bool:
        """Wait for the last turn's afterwork; False when the player would not wait, and nothing was begun."""
        rest = self._rest
        try:
            if rest is not None and not rest.done(SOON):
                self._quiet("The last turn is still being written down; yours follows.")
                while not rest.done(0.25):
                    pass
        except KeyboardInterrupt:
            self._quiet("Not begun yet. Arrow up brings your action back.")
            return False
        self._show_rest()
        return True

    def _leave(self) -> None:
        """The last turn is written down to its end before the program ends, unless the player will not wait.

        Nobody writes to the terminal behind this: a thread that does while Python ends has it abort.
        """
        try:
            rest = self._rest
            if rest is not None and not rest.done(SOON):
                self._quiet("Writing the last turn down …")
                while not rest.done(0.25):
                    pass
            self._show_rest(offer=False)
        except KeyboardInterrupt:
            self._quiet("The next turn finishes it.")
            rest.leave()
            rest.settle()
            with self._once:
                self._rest = None

    @contextmanager
    def _listening(self) -> Iterator[Listener]:
        """Who hears a turn: prose to the terminal or pipe as it comes, quiet lines beside it, a sign until the first word."""
        if self.terminal:
            click.echo()
        stream = Stream(sys.stdout)
        try:
            with quiet_keys(), Waiting(sys.stdout) as waiting:
                yield waiting.before(stream.write, self._quiet)
        finally:
            stream.end()

    def _show(self, result: Result, *, offer: bool = True) -> None:
        if self.terminal and result.pulse:
            self._quiet(f"Lore: {result.pulse}")
        for degraded in result.degraded:
            self._quiet(f"{degraded.layer}: {degraded.reason} → {degraded.fallback}")
        if self.terminal:
            if result.music:
                self._quiet(f"Music: {result.music}")
            self._offer(result.suggestions if offer else ())

    def _offer(self, suggestions: tuple[str, ...]) -> None:
        self.offered = suggestions
        if suggestions:
            click.echo(err=True)
        for number, suggestion in enumerate(suggestions, 1):
            self._quiet(f"  {number}  {suggestion}")

    def _swipe(self, how: str) -> None:
        if how not in ("", "reroll", "--reroll"):
            self._quiet("/swipe is another answer, /swipe --reroll one with new dice.")
        elif self._caught_up():
            self._play(partial(self.game.begin_swipe, reroll=bool(how)))

    def _undo(self, _: str) -> None:
        if not self._caught_up():
            return
        self.offered = ()
        for undone in self.game.undo(Listener(note=self._quiet)):
            asked = undone.action.splitlines()[0] if undone.action else ""
            self._quiet(f"{turn_id(undone.turn)} is taken back: {asked}")
            for path, clash in undone.clashes:
                self._quiet(f"{path}:{clash.line}: you changed this too; your words stay.")

    def _again(self, which: str) -> None:
        if not self._caught_up():
            return
        kept = records.drafts(self.game.root)
        number = int(which) if which.isdecimal() and len(which) < 4 else 0 if which else len(kept)
        if not kept:
            self._quiet("There is no action that waits.")
        elif not 1 <= number <= len(kept):
            self._quiet(f"There is no action {which} that waits; there are {len(kept)}.")
        else:
            self._tell(kept[number - 1][1])

    def _offer_drafts(self, kept: list[tuple[str, str]]) -> None:
        if len(kept) == 1:
            self._quiet(f"An action could not be told last time: {kept[0][1]!r}. /again tries it.")
        elif kept:
            self._quiet(f"{len(kept)} actions could not be told last time. /again N tries one, /again the last:")
            for number, (_, action) in enumerate(kept, 1):
                self._quiet(f"  {number}  {action}")

    def _entry(self, name: str) -> None:
        if not name:
            self._quiet("Say what to show: /show NAME")
            return
        page.show(clean(views.entry_text(self._campaign(), self._search(), name)))

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
            click.echo(folded(clean(line), columns_of(sys.stdout)))

    def _quiet(self, text: str) -> None:
        click.secho(folded(clean(text), columns_of(sys.stderr)), dim=True, err=True)

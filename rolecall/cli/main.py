"""The `rolecall` command: a group that loads a command's module only when that command runs.

`rolecall --help` must stay cheap, so the one-line helps stand here and nothing else of RoleCall is imported.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from pathlib import Path

import click

from rolecall import __version__

# command: (module below rolecall.cli, its line in `--help`), in the order in which they are shown
COMMANDS = {
    "new": ("create", "Make a campaign: from the template, or of a folder of Markdown."),
    "play": ("turns", "Play, line by line."),
    "turn": ("turns", "Tell one turn."),
    "swipe": ("taking_back", "Another answer to the last turn, or an earlier one."),
    "undo": ("taking_back", "Take turns back."),
    "status": ("reading", "Where the story stands."),
    "show": ("reading", "Read an entry."),
    "list": ("reading", "List entries."),
    "proposals": ("proposals", "What the models would change in entries you locked."),
    "search": ("finding", "Find passages."),
    "context": ("finding", "Show the prompt a turn would send, and what each part costs."),
    "graph": ("graph", "Draw who is tied to whom."),
    "snapshot": ("graph", "The game master's digest: threats, arcs, promises, who is where."),
    "why": ("history", "Where a line comes from."),
    "activity": ("history", "What the helpers did, and why."),
    "import": ("exchange", "Take in lorebooks, character cards, scenarios, a vault."),
    "export": ("exporting", "Take out lorebooks, cards, the story as a book, a player's copy."),
    "fold": ("upkeep", "Close the Journal's oldest lines into a Chronicle."),
    "check": ("upkeep", "Look for problems."),
    "rename": ("renaming", "Call an entry by another name, everywhere."),
    "index": ("upkeep", "Bring the search index up to date."),
    "watch": ("upkeep", "Keep the search index current while you edit."),
    "ingest": ("ingesting", "Bring in a chat from another program."),
    "branch": ("timelines", "Begin another timeline of the story."),
    "timeline": ("timelines", "The timelines; go to one of them."),
    "join": ("timelines", "Join two timelines' files; git calls it in a merge."),
    "models": ("models", "Which models play which role; fetch the embedded one."),
}


def folder_of(ctx: click.Context, _: click.Parameter, value: str | None) -> Path | None:
    """A folder that was named; an empty name (an unset variable of a shell) is no folder."""
    if value is not None and (not value.strip() or "\0" in value):
        raise click.BadParameter("name a folder.", ctx=ctx)
    return Path(value) if value is not None else None


class Commands(click.Group):
    """The group: commands by name, help without imports, a suggestion for a mistyped one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order in which they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command, its module imported now."""
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"rolecall.cli.{COMMANDS[name][0]}")
        return getattr(module, f"{name}_command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple:
        """The command that was asked for; an unknown one is a usage error with a suggestion."""
        name = args[0] if args else ""
        if name and name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, 1, 0.5)
            hint = f" Did you mean `{near[0]}`?" if near else " `rolecall --help` lists them."
            ctx.fail(f"There is no command `{name}`.{hint}")
        return super().resolve_command(ctx, args)


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`rolecall COMMAND --help` tells more about each.",
)
@click.option(
    "-C",
    "folder",
    metavar="DIR",
    callback=folder_of,
    help="The campaign; else the nearest one at or above here.",
)
@click.version_option(__version__, "--version", message="rolecall %(version)s")
@click.pass_context
def cli(ctx: click.Context, folder: Path | None) -> None:
    """An AI game master that runs a roleplay campaign out of a folder of Markdown files.

    \b
    Begin:    rolecall new my-campaign
    Play:     rolecall -C my-campaign play
    """
    ctx.obj = folder


def main() -> None:
    """Run the command; whatever goes wrong is one line on stderr and an exit code: 1 failed, 2 usage, 130 stopped."""
    # A command makes far more than it drops: looking for cycles every 700 objects took a tenth of its time.
    gc.set_threshold(50_000, 20, 20)
    _text_streams()
    code = _run()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # a full disk behind a redirection, or a reader that has gone
            code = code or 1
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)


def _run() -> int:
    if _is_key_among(sys.argv[1:]):
        remedy = "say it without, nothing was done; keys come from the environment only (ANTHROPIC_API_KEY, OPENAI_API_KEY, ...)"
        return _fail(f"an argument holds what looks like a key of yours; {remedy}", 1)
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        code = _fail("stopped", 130)
    except KeyboardInterrupt:
        code = _fail("stopped", 130)
    except click.ClickException as error:
        from rolecall.campaign.text import clean

        error.message = clean(error.message)  # it may quote what was typed or pasted
        error.show()
        code = error.exit_code
    except BrokenPipeError:
        code = 1  # the reader has gone; nothing more to say to it
    except Exception as error:
        code = _explain(error)
    return code if isinstance(code, int) else 0


def _is_key_among(arguments: list[str]) -> bool:
    """Whether one of these holds a key: asked before anything is kept, sent or said, for all of that might repeat it."""
    keys = [text for name, text in os.environ.items() if name.endswith(("_API_KEY", "_AUTH_TOKEN")) and len(text) >= 8]
    if any(key.strip() in argument for key in keys for argument in arguments):
        return True
    shaped = [argument for argument in arguments if "sk-" in argument or "AIza" in argument]
    if not shaped:
        return False
    from rolecall.campaign.text import key_at

    return any(key_at(argument) >= 0 and not os.path.exists(argument) for argument in shaped)


def _explain(error: Exception) -> int:
    from rolecall.errors import RoleCallError

    if isinstance(error, RoleCallError):
        return _fail(str(error), 1, error.hint)
    if isinstance(error, OSError):
        from rolecall.campaign.files import refused

        return _fail(str(refused(error, error.filename)), 1)
    if os.environ.get("ROLECALL_DEBUG"):
        raise error
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return _fail(f"RoleCall made a mistake ({what})", 1, "Please report it; ROLECALL_DEBUG=1 shows where.")


def _fail(what: str, code: int, hint: str | None = None) -> int:
    from rolecall.campaign.text import clean

    try:
        click.secho("Error: ", fg="red", err=True, nl=False)
        click.echo(clean(what), err=True)
        if hint:
            click.echo(f"Hint: {clean(hint)}", err=True)
    except OSError:
        pass  # nobody can be told
    return code


def _text_streams() -> None:
    """UTF-8 in and out, whatever the locale: a name in any script must get through a pipe."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if hasattr(sys.stdin, "reconfigure") and not sys.stdin.isatty():
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")  # some shells begin a pipe with a byte order mark

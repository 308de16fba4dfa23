"""A model that reads its answers from a file: `scripted:PATH`. No network, the same every time.

The file is YAML: a list of answers, or a mapping with the list under `answers`.

    - turn: T0036               # only in the turn of that number; the request says `Turn: T0036` in a line of its own
      role: narrator            # only for that role (turn_dm, dm, sidecar; afterwork for that one call of the sidecar)
      when: the ledger          # only if this text occurs in the request
      text: |
        The lantern gutters. Marta does not look up.
      tools:
        - name: append_journal
          arguments: {text: Marta hid the ledger}
      stop: end                 # any of the neutral stop reasons; without it `tool_use` after tools, else `end`
      chunk: 12                 # characters a piece, 24 if not said
      delay: 0.05               # seconds before each piece
    - error: 429                # refused, 429, 500, timeout or blank, in place of an answer
    - text: The rest is lost
      cut-after: 8              # the stream breaks after so many characters

**Which answer is next.** Answers with a `turn` are chosen by the request alone: the first whose conditions hold answers
the turn's first round, the second the round after the first tool results, and so on (rounds are the assistant's
messages after the line `Turn:`). So a script goes on rightly in another process. Their errors happen once a process,
before the answer that follows them. Answers without `turn` are given in order, each once a process; `when` takes the
first unused one that fits. When nothing fits, the model is unavailable: "the script has no further answer".
"""

from __future__ import annotations

import json
import os
import re
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.errors import ModelSettings

from . import tokens
from .events import REASONS, Event, Stopped, TextDelta, ToolCalled, Used
from .faults import unavailable
from .messages import Message, Request, Text, ToolCall, ToolResult
from .provider import Limits, Profile, Ready, Stop, timed
from .specs import Spec
from .usage import Usage

AFTERWORK = "afterwork"
ERRORS = ("refused", "429", "500", "timeout", "blank")
KEYS = ("turn", "role", "when", "text", "tools", "stop", "chunk", "delay", "error", "cut-after")
LARGEST = 8 << 20  # bytes of a script; a long evening is some hundred kilobytes
_MOST = 1_000_000  # characters, or seconds
_TURN_LINE = re.compile(r"^Turn:[ \t]*(T\d+)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Line:
    """One answer of a script; `number` is its place in the file, `line` the line it begins on."""

    number: int
    line: int
    turn: str = ""
    role: str = ""
    when: str = ""
    text: str = ""
    tools: tuple[tuple[str, dict[str, Any]], ...] = ()
    stop: str = ""
    chunk: int = 24
    delay: float = 0.0
    error: str = ""
    cut_after: int | None = None

    def fits(self, role: str, turn: str, text: str) -> bool:
        """Whether this answer may be given to that role, in that turn, to a request with this text."""
        of_role = self.role == role if role == AFTERWORK else self.role in ("", role)
        return of_role and self.turn in ("", turn) and self.when in text


class Script:
    """A script's answers, and which of them this process has used."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines = read(Path(path))
        self._used: set[int] = set()
        self._lock = threading.Lock()

    def take(self, request: Request, role: str) -> Line | None:
        """The answer to this request, or None when the script has none left."""
        turn, rounds = place(request)
        text = _all_text(request)
        with self._lock:
            fitting = [line for line in self.lines if line.fits(role, turn, text)]
            line = self._keyed([line for line in fitting if line.turn], rounds)
            if line is None:
                line = next((line for line in fitting if not line.turn and line.number not in self._used), None)
            if line is not None and (line.error or not line.turn):
                self._used.add(line.number)
            return line

    def _keyed(self, lines: list[Line], rounds: int) -> Line | None:
        answered = 0
        for line in lines:
            if line.error:
                if answered == rounds and line.number not in self._used:
                    return line
            elif answered == rounds:
                return line
            else:
                answered += 1
        return None


_scripts: dict[str, Script] = {}
_scripts_lock = threading.Lock()


class Scripted(Ready):
    """The provider for `scripted:PATH`. All roles of a process share one reading of the file."""

    def __init__(self, spec: Spec, role: str = "") -> None:
        self._spec, self._role = spec, role
        path = str(Path(spec.name).expanduser().absolute())
        with _scripts_lock:
            if path not in _scripts:
                _scripts[path] = Script(path)
            self._script = _scripts[path]
        # A script speaks for the helpers it names and for no others: those do without it, by choice.
        named = {line.role for line in self._script.lines} - {"", "narrator"}
        if role in ("", "narrator"):
            helps = bool(named) or not self._script.lines
        else:
            helps = role in named or (not self._script.lines and role != AFTERWORK)
        self.profile = Profile(str(spec), free=True, helpers=helps)

    def stream(self, request: Request, limits: Limits) -> Iterator[Event]:
        """The next answer of the script, at its pace, within the limits."""
        return timed(str(self._spec), lambda stop: self._events(request, stop), limits)

    def _events(self, request: Request, stop: Stop) -> Iterator[Event]:
        line = self._script.take(request, self._role)
        if line is None:
            raise unavailable(self._spec, "the script has no further answer")
        if line.error:
            self._fail(line, stop)
        shown = line.text if line.cut_after is None else line.text[: line.cut_after]
        for start in range(0, len(shown), line.chunk):
            if line.delay and stop.wait(line.delay):
                return
            yield TextDelta(shown[start : start + line.chunk])
        if line.cut_after is not None:
            raise unavailable(self._spec, "broke off, as scripted")
        for index, (name, arguments) in enumerate(line.tools):
            yield ToolCalled(ToolCall(f"call_{line.number}_{index}", name, dict(arguments)))
        out = tokens.estimate(line.text) + sum(tokens.estimate(str(arguments)) for _, arguments in line.tools)
        yield Used(Usage(fresh=tokens.estimate_request(request), out=out, model=self._script.path, estimated=True))
        yield Stopped(line.stop or ("tool_use" if line.tools else "end"), line.stop)  # type: ignore[arg-type]

    def _fail(self, line: Line, stop: Stop) -> None:
        if line.error == "timeout":
            while not stop.wait(3600):
                pass
        what = {
            "refused": "refused the connection, as scripted",
            "429": "has too many requests (429), as scripted",
            "500": "failed (500), as scripted",
        }
        if line.error in what:
            raise unavailable(self._spec, what[line.error])


def place(request: Request) -> tuple[str, int]:
    """The turn's number in this request (`T0036`, or nothing), and how often the assistant has spoken since."""
    for index in range(len(request.messages) - 1, -1, -1):
        message = request.messages[index]
        if message.role == "user" and (found := _TURN_LINE.findall(message.text)):
            return found[-1], sum(later.role == "assistant" for later in request.messages[index:])
    return "", 0


def read(path: Path) -> tuple[Line, ...]:
    """The answers of a script file. Raises `ModelSettings` with the line of what cannot be read."""
    import yaml

    loader = None
    try:
        loader = yaml.SafeLoader(_text_of(path))
        node = loader.get_single_node()
        data = loader.construct_document(node) if node is not None else []
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be parsed"
        raise ModelSettings(f"not YAML: {what}", path=path, line=mark.line + 1 if mark else None) from error
    except RecursionError as error:
        line = loader.line + 1 if loader else None
        raise ModelSettings("not a script: it is nested too deeply", path=path, line=line) from error
    except ValueError as error:  # a date or number that is none
        raise ModelSettings(f"not a script: {error}", path=path, line=1) from error
    finally:
        if loader is not None:
            loader.dispose()
    if isinstance(data, dict) and isinstance(node, yaml.MappingNode):
        node = next((value for key, value in node.value if key.value == "answers"), None)
        data = data.get("answers")
    if not isinstance(data, list):
        raise ModelSettings("a script is a list of answers", path=path, line=1)
    starts = [item.start_mark.line + 1 for item in node.value] if isinstance(node, yaml.SequenceNode) else []
    return tuple(_line(path, starts[number], number, item) for number, item in enumerate(data))


def _text_of(path: Path) -> str:
    """The file's text. Only a regular file is read, and no more of it than `LARGEST`: a pipe or device has no end."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(file, "rb") as opened:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError(0, "it is not a regular file")
            data = opened.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise OSError(0, f"it is larger than {LARGEST >> 20} MiB")
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ModelSettings(f"the script cannot be read: {what}", path=path, remedy="check the path") from error


def _line(path: Path, line: int, number: int, item: Any) -> Line:
    def fault(what: str) -> ModelSettings:
        return ModelSettings(f"answer {number + 1}: {what}", path=path, line=line)

    if not isinstance(item, dict):
        raise fault("an answer is a mapping with text, tools or error")
    unknown = [str(key) for key in item if key not in KEYS]
    if unknown:
        raise fault(f"{unknown[0]!r} is unknown; an answer has {', '.join(KEYS)}")
    error = str(item.get("error", ""))
    if error and error not in ERRORS:
        raise fault(f"error {error!r} is unknown; it is one of {', '.join(ERRORS)}")
    stop = str(item.get("stop", ""))
    if stop and stop not in REASONS:
        raise fault(f"stop {stop!r} is unknown; it is one of {', '.join(REASONS)}")
    if not (error or "text" in item or "tools" in item):
        raise fault("it has neither text nor tools nor error")
    tools = item.get("tools") or ()
    if not isinstance(tools, list | tuple):
        raise fault("tools is no list")
    return Line(
        number=number,
        line=line,
        turn=str(item.get("turn", "")),
        role=str(item.get("role", "")),
        when=str(item.get("when", "")),
        text=str(item.get("text", "")),
        tools=tuple(_tool(tool, fault) for tool in tools),
        stop=stop,
        chunk=int(_number(item, "chunk", 24, 1, fault)),
        delay=_number(item, "delay", 0.0, 0, fault),
        error=error,
        cut_after=int(_number(item, "cut-after", 0, 0, fault)) if "cut-after" in item else None,
    )


def _tool(item: Any, fault: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise fault("a tool is {name: …, arguments: {…}}")
    arguments = item.get("arguments") or {}
    if not isinstance(arguments, dict):
        raise fault(f"the arguments of {item['name']} are no mapping")
    try:
        json.dumps(arguments, default=str)
    except (TypeError, ValueError, RecursionError) as error:  # an anchor within itself, a key that is no word
        raise fault(f"the arguments of {item['name']} cannot be said in JSON") from error
    return item["name"], arguments


def _number(item: dict[str, Any], key: str, default: float, least: float, fault: Any) -> float:
    value = item.get(key, default)
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= _MOST:
        raise fault(f"{key} is no number from {least} up to {_MOST}")
    return value


def _all_text(request: Request) -> str:
    parts: list[str] = [part.text for part in request.system]
    for message in request.messages:
        parts.extend(_words(message))
    return "\n".join(parts)


def _words(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, Text | ToolResult):
            yield part.text

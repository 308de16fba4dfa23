"""The `rolecall` command as a process that can be killed, forked off one in which the interpreter and the SDKs are loaded.

A kill hits the same code as in a terminal; only the start, in which nothing is written, is over in milliseconds. As a program it
reads a JSON object a line (`argv`, `environ`, `out`, `err`) and answers with the process id, then with the exit code.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Forker:
    """The process that all commands of a run are forked off, one after the other.

    `prepare` names a function (`module:function`) that is called in it once.
    """

    def __init__(self, place: Path, environ: dict[str, str], prepare: str = "") -> None:
        place.mkdir(parents=True, exist_ok=True)
        self.out, self.err, self.environ = place / "stdout", place / "stderr", environ
        pipe, named = subprocess.PIPE, [prepare] if prepare else []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.turn.forked", *named],
            cwd=ROOT,
            env=environ,
            stdin=pipe,
            stdout=pipe,
            bufsize=0,
        )

    def start(self, *arguments: str) -> Command:
        """A command under way."""
        asked = {"argv": ["rolecall", *arguments], "environ": self.environ, "out": str(self.out), "err": str(self.err)}
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        return Command(self, int(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> Forker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Command:
    """A command under way: as much of `subprocess.Popen` as killing it takes."""

    def __init__(self, forker: Forker, pid: int) -> None:
        self.pid, self.returncode, self._forker = pid, None, forker

    def poll(self, seconds: float = 0.0) -> int | None:
        """Its exit code, negative for a signal; None while it runs. Waits up to `seconds` for it."""
        pipe = self._forker._process.stdout
        if self.returncode is None and select.select([pipe], [], [], max(seconds, 0.0))[0]:
            self.returncode = int(pipe.readline())
        return self.returncode

    def kill(self) -> bool:
        """SIGKILL; whether it hit a living process. The forker reaps only when it is asked, so the number is nobody else's."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
        return self.finish()[0] == -signal.SIGKILL

    def finish(self) -> tuple[int, str, str]:
        """Wait for its end: (exit code, what it printed, what it said on stderr)."""
        while self.poll(60.0) is None:
            pass
        return self.returncode, self._forker.out.read_text("utf-8"), self._forker.err.read_text("utf-8")


def _load() -> None:
    """Import what any command may import."""
    import rolecall

    for module in pkgutil.walk_packages(rolecall.__path__, "rolecall."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in ("openai", "openai.resources.chat.completions", "whoosh.index", "yaml"):
        importlib.import_module(name)


def _serve() -> None:
    _load()
    for named in sys.argv[1:]:
        module, _, function = named.partition(":")
        getattr(importlib.import_module(module), function)()
    assert threading.active_count() == 1, "a thread does not come along"
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if not pid:
            _become(**asked)  # and the interpreter ends as that of any command
        print(pid, flush=True)
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # its number stays its own until it is reaped
        print(ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status, flush=True)
        os.waitpid(pid, 0)


def _become(argv: Sequence[str], environ: dict[str, str], out: str, err: str) -> None:
    """Be the command: its own arguments, environment and streams."""
    from rolecall.cli.main import main

    os.environ.clear()
    os.environ.update(environ)
    sys.argv = list(argv)
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, (path, flags) in enumerate(((os.devnull, os.O_RDONLY), (out, write), (err, write))):
        os.dup2(os.open(path, flags), number)
    sys.stdin = open(os.devnull)  # noqa: SIM115
    try:
        main()
    except SystemExit as ended:
        threading._shutdown()  # what the interpreter does, but for taking all modules down one by one
        atexit._run_exitfuncs()
        os._exit(ended.code or 0)


if __name__ == "__main__":
    _serve()

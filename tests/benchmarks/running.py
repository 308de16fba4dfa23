"""The `rolecall` command run inside this process, as its entry point runs it: a thousand questions would wait for imports."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout, suppress
from unittest.mock import patch

from rolecall.cli.main import main


def run(*arguments: object) -> str:
    """What a command prints; AssertionError when it fails."""
    out, code = io.StringIO(), 0
    with patch.object(sys, "argv", ["rolecall", *map(str, arguments)]), redirect_stdout(out):
        try:
            with suppress(AttributeError):
                main()
        except SystemExit as ended:
            code = ended.code or 0
    assert code == 0, f"{arguments} ended with {code}"
    return out.getvalue()

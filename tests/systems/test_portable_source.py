"""The product's source: no call that one system lacks stands without its guard, and no file is opened in a locale's encoding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.conftest import REPOSITORY

# What Python has on some systems only ("Availability" in its documentation), as far as anybody would use it here.
ELSEWHERE = {
    "os": """chflags chown chroot ctermid fchdir fchmod fchown fork forkpty getegid geteuid getgid getgroups getlogin getpgid
        getpgrp getpriority getresgid getresuid getsid getuid getxattr initgroups killpg lchflags lchmod lchown listxattr lockf
        major makedev memfd_create minor mkfifo mknod nice openpty pathconf posix_fadvise posix_fallocate posix_spawn pread pwrite
        readv removexattr sched_getaffinity sched_setaffinity sendfile setegid seteuid setgid setgroups setpgid setpriority
        setsid setuid setxattr splice statvfs fstatvfs sync sysconf tcgetpgrp tcsetpgrp ttyname uname wait wait3 wait4 waitid
        WIFEXITED WIFSIGNALED WEXITSTATUS WTERMSIG WNOHANG startfile add_dll_directory confstr copy_file_range fdatasync
        O_CLOEXEC O_NONBLOCK O_NOFOLLOW O_DIRECTORY O_SYNC O_DSYNC O_RSYNC O_NDELAY O_NOCTTY O_SHLOCK O_EXLOCK O_ASYNC O_DIRECT
        O_NOATIME O_PATH O_TMPFILE O_BINARY O_NOINHERIT O_SHORT_LIVED O_TEMPORARY O_RANDOM O_SEQUENTIAL O_TEXT""",
    "signal": """SIGHUP SIGALRM SIGCHLD SIGCONT SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGUSR1 SIGUSR2 SIGWINCH
        CTRL_C_EVENT CTRL_BREAK_EVENT SIGBREAK alarm pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending
        sigtimedwait sigwait sigwaitinfo""",
    "time": "tzset clock_gettime clock_settime clock_getres CLOCK_BOOTTIME CLOCK_MONOTONIC_RAW",
    "socket": "AF_UNIX AF_NETLINK AF_PACKET socketpair",
    "subprocess": "CREATE_NEW_PROCESS_GROUP CREATE_NO_WINDOW STARTUPINFO DETACHED_PROCESS",
    "sys": "getwindowsversion winver abiflags",
    "errno": "EDQUOTA ENOATTR ENODATA ENOLINK ENOTNAM EUCLEAN ENOMEDIUM ENOKEY",
}
MODULES = {
    *("fcntl", "pwd", "grp", "termios", "tty", "pty", "resource", "syslog", "readline", "curses", "posix"),
    *("msvcrt", "winreg", "winsound", "_winapi", "nt"),
}
NO_TEXT = ("os", "fs", "self", "self.fs", "archive", "opener")  # whose `open` gives a descriptor, bytes or a document
GUARDS = ("hasattr", "getattr", "sys.platform", "os.name")


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((REPOSITORY / "rolecall").rglob("*.py")):
        yield path.relative_to(REPOSITORY).as_posix(), ast.parse(path.read_text("utf-8"))


def parents(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def is_guarded(node: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    """Whether it runs only where it is there: below a test for it or for the system, or with an answer to its being missing."""
    child = node
    while (node := above.get(child)) is not None:
        if isinstance(node, (ast.If, ast.IfExp)) and child is not node.test and is_test(node.test):
            return True
        if isinstance(node, ast.BoolOp) and any(map(is_test, node.values[: node.values.index(child)])):
            return True
        if isinstance(node, ast.Try) and child in node.body and any(map(catches, node.handlers)):
            return True
        if isinstance(node, ast.FunctionDef) and any(leaves_early(one) for one in node.body[: _at(node.body, child)]):
            return True
        child = node
    return False


def _at(body: list[ast.stmt], child: ast.AST) -> int:
    return body.index(child) if child in body else 0


def is_test(test: ast.expr) -> bool:
    return any(guard in ast.unparse(test) for guard in GUARDS)


def catches(handler: ast.ExceptHandler) -> bool:
    said = ast.unparse(handler.type) if handler.type else ""
    return any(name in said for name in ("ImportError", "AttributeError"))


def leaves_early(statement: ast.stmt) -> bool:
    left = (ast.Return, ast.Raise)
    return isinstance(statement, ast.If) and is_test(statement.test) and isinstance(statement.body[-1], left)


def loose(tree: ast.Module) -> Iterator[str]:
    """What stands in a module without a guard and is not there on every system."""
    above = parents(tree)
    missing = {f"{module}.{name}" for module, names in ELSEWHERE.items() for name in names.split()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found = [ast.unparse(node)] if ast.unparse(node) in missing else []
        elif isinstance(node, ast.Import):
            found = [one.name for one in node.names if one.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = node.module or ""
            names = [f"{module}.{one.name}" for one in node.names]
            found = [module] if module.split(".")[0] in MODULES else [name for name in names if name in missing]
        else:
            continue
        if found and not is_guarded(node, above):
            yield from (f"{node.lineno}: {one}" for one in found)


def test_nothing_that_a_system_lacks_is_used_without_a_guard():
    assert [f"{path}:{one}" for path, tree in sources() for one in loose(tree)] == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("os.getuid()", ["1: os.getuid"]),
        ("import fcntl", ["1: fcntl"]),
        ("from signal import SIGHUP", ["1: signal.SIGHUP"]),
        ("if x: os.fork()", ["1: os.fork"]),
        ("if hasattr(os, 'getuid'): os.getuid()", []),
        ("not hasattr(os, 'getuid') or os.getuid()", []),
        ("os.getuid() or hasattr(os, 'getuid')", ["1: os.getuid"]),
        ("try:\n    import termios\nexcept ImportError: pass", []),
        ("try:\n    import termios\nexcept OSError: pass", ["2: termios"]),
        ("def f():\n    if sys.platform == 'win32': return\n    os.fork()", []),
        ("def f():\n    os.fork()\n    if sys.platform == 'win32': return", ["2: os.fork"]),
        ("getattr(os, 'O_NONBLOCK', 0)", []),
    ],
)
def test_what_counts_as_a_guard(code: str, found: list[str]):
    assert list(loose(ast.parse(code))) == found


def unnamed(tree: ast.Module) -> Iterator[str]:
    """Calls that read or write text without saying in which encoding."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        named = {one.arg for one in node.keywords}
        given = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if (name == "read_text" and not node.args and "encoding" not in named) or (
            name == "write_text" and len(node.args) < 2 and "encoding" not in named
        ):
            yield f"{node.lineno}: {name}"
        elif name in ("open", "fdopen") and "encoding" not in named:
            owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            if node.args and not any("b" in one for one in given) and owner not in NO_TEXT:
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif (
            name in ("Popen", "run", "check_output")
            and named & {"text", "universal_newlines"}
            and "encoding" not in named
        ):
            yield f"{node.lineno}: {name} as text"


def test_every_text_names_its_encoding():
    found = {path: list(unnamed(tree)) for path, tree in sources()}
    assert {path: calls for path, calls in found.items() if calls} == {}


def test_only_posix_paths_are_written_down():
    """A path that goes into a record, a fold or JSON is made by joining with `/` or by `as_posix`, never by `str`."""
    wrong = []
    for path, tree in sources():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"):
                continue
            said = ast.unparse(node)
            if (
                ".relative_to(" in said
                or "os.path.relpath(" in said
                or (".relative" in said and "PurePosix" not in said)
            ):
                wrong.append(f"{path}:{node.lineno}: {said}")
    assert wrong == []

"""The laws of the house: imports point down, help is cheap, the shipped campaigns are sound, the README tells the truth."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rolecall.campaign.checks import check
from rolecall.campaign.folder import open_campaign
from tests.conftest import REPOSITORY

HEAVY = (
    "anthropic",
    "openai",
    "httpx",
    "httpx2",
    "whoosh",
    "watchdog",
    "yaml",
    "rich",
    "xllamacpp",
    "filelock",
    "platformdirs",
    "rapidfuzz",
    "markdown_it",
)


def test_imports_point_down_the_rooms():
    from importlinter.cli import lint_imports

    assert lint_imports(config_filename=str(REPOSITORY / "pyproject.toml"), cache_dir=None) == 0


def test_only_the_file_layer_writes_in_a_campaign():
    writing = re.compile(
        r"\.write_(?:text|bytes)\(|open\([^)]*['\"][wax]|os\.(?:replace|rename|unlink|remove|mkdir|link)\(|shutil\.(?:copy|move|rmtree)"
    )
    found = []
    for path in (REPOSITORY / "rolecall").rglob("*.py"):
        room = path.relative_to(REPOSITORY / "rolecall").as_posix()
        if room == "campaign/filesystem.py" or room.startswith(
            ("models/", "search/")
        ):  # the user's data and cache folders
            continue
        found += [f"{room}: {line.strip()}" for line in path.read_text().splitlines() if writing.search(line)]
    assert [line for line in found if "os.devnull" not in line] == []


def test_what_is_printed_is_cleaned_where_it_is_printed():
    """A name, a value or an error that is echoed goes through one of these, so that no escape in it reaches a terminal."""
    cleaning = {"clean", "clean_line", "printable", "fitting", "folded", "json_text"}
    drawn = "cli/graph.py"  # a drawing escapes by its own rules
    found = []
    for path in [path for room in ("cli", "play") for path in (REPOSITORY / "rolecall" / room).glob("*.py")]:
        name = f"{path.parent.name}/{path.name}"
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef) and name != drawn:
                calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
                said = [call for call in calls if ast.unparse(call.func) in ("click.echo", "click.secho", "print")]
                if not {ast.unparse(call.func).split(".")[-1] for call in calls} & cleaning:
                    found += [f"{name}:{call.lineno}" for call in said if call.args and not _is_constant(call.args[0])]
    assert found == []


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_constant(node.body) and _is_constant(node.orelse)
    if isinstance(node, ast.JoinedStr):
        return all(_is_constant(part.value if isinstance(part, ast.FormattedValue) else part) for part in node.values)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments):
    code = (
        "import sys; from rolecall.cli.main import main; sys.argv = ['rolecall', *sys.argv[1:]]\n"
        "try: main()\nexcept SystemExit: pass\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=REPOSITORY)
    assert ran.stderr.strip() == "[]"


def test_every_command_has_help_that_says_what_it_does(rolecall):
    from rolecall.cli.main import COMMANDS

    listed = rolecall("--help").out
    for name, (_, text) in COMMANDS.items():
        assert name in listed and text in " ".join(listed.split())
        ran = rolecall(name, "--help")
        assert ran.code == 0 and len(ran.out) > 80


@pytest.mark.parametrize("folder", ["workspace_template", "examples/the-broken-anchor"])
def test_what_ships_has_no_problems(folder):
    assert [str(p) for p in check(open_campaign(REPOSITORY / folder))] == []


def test_modules_are_of_a_size_that_can_be_read():
    long = {}
    for path in (REPOSITORY / "rolecall").rglob("*.py"):
        lines = path.read_text().count("\n")
        if lines > 420:
            long[path.name] = lines
    assert long == {}


def test_every_dependency_has_its_line_in_the_readme():
    project = (REPOSITORY / "pyproject.toml").read_text()
    readme = (REPOSITORY / "README.md").read_text()
    block = project[project.index("dependencies = [") : project.index("[project.scripts]")]
    names = re.findall(r'^\s*"?([a-z][a-z0-9-]+)[>=<]', block.replace('= ["', '\n"').replace(', "', '\n"'), re.M)
    assert len(names) >= 15
    assert [name for name in names if f"`{name}`" not in readme] == []


def test_the_readme_names_every_command():
    from rolecall.cli.main import COMMANDS

    readme = Path(REPOSITORY / "README.md").read_text()
    assert [name for name in COMMANDS if f"rolecall {name}" not in readme and f"`{name}" not in readme] == []

"""`rolecall.yaml`: the settings of a campaign, each with a default, a type and a line for its errors."""

from __future__ import annotations

from dataclasses import dataclass, field

from rolecall.campaign import frontmatter
from rolecall.campaign.text import clean_line, key_at
from rolecall.errors import SettingsError

SETTINGS_FILE = "rolecall.yaml"
FORMAT = 1
ROLES = ("default", "narrator", "turn_dm", "dm", "sidecar")

# name: (default, smallest, largest); seconds, characters, lines, turns and tokens
_NUMBERS = {
    "timeouts": {"turn_dm": (5, 0.1, 600), "dm": (8, 0.1, 600), "sidecar": (8, 0.1, 600), "narrator": (60, 0.1, 3600)},
    "memory": {
        "fold_at": (3500, 200, 100_000),
        "journal_limit": (9000, 500, 200_000),
        "keep_lines": (6, 1, 100),
        "historian_every": (20, 1, 10_000),
        "historian_lookback": (30, 1, 10_000),
        "recent_turns": (5, 2, 50),
    },
    "context": {"budget": (8000, 1000, 1_000_000)},
}
_CHOICES = {"git": ("auto", "off"), "continuity": ("report", "repair"), "music": ("off", "on")}
_WHOLE = {"memory", "context"}
_PRICE = ("fresh", "cached", "written", "out")  # a model's price has these, each per million tokens
_CEILING = ("turn", "session", "turn_tokens", "session_tokens")


@dataclass(frozen=True, slots=True)
class Settings:
    """What `rolecall.yaml` says, defaults filled in. Times in seconds, lengths in characters, budgets in tokens."""

    name: str = ""
    language: str = "en"
    models: dict[str, object] = field(default_factory=dict)  # role -> spec, list of specs or "off"
    timeouts: dict[str, float] = field(default_factory=lambda: _defaults("timeouts"))
    memory: dict[str, int] = field(default_factory=lambda: _defaults("memory"))
    context: dict[str, int] = field(default_factory=lambda: _defaults("context"))
    git: str = "off"
    continuity: str = "report"
    music: str = "off"
    currency: str = ""  # a word or sign that is shown beside money
    prices: dict[str, dict[str, float]] = field(default_factory=dict)  # spec -> {fresh, cached, written, out}
    ceiling: dict[str, float] = field(default_factory=dict)  # turn, session in money; turn_tokens, session_tokens
    unknown: tuple[tuple[str, int], ...] = ()  # keys nobody knows, with their lines: for `check`
    lines: dict[str, int] = field(default_factory=dict, compare=False)  # `models.narrator`, `prices.SPEC` -> line


# Every setting there is; a number as `memory.fold_at`.
KNOWN = (
    *("format", "name", "language", "models", "currency", "prices", "ceiling", *_NUMBERS, *_CHOICES),
    *(f"{group}.{name}" for group, names in _NUMBERS.items() for name in names),
)


def _defaults(group: str) -> dict[str, float]:
    return {name: numbers[0] for name, numbers in _NUMBERS[group].items()}


def read_settings(data: bytes) -> Settings:
    """The settings in the bytes of `rolecall.yaml`; SettingsError with line and remedy when they cannot be meant."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SettingsError("the file is not UTF-8", path=SETTINGS_FILE, line=1, remedy="save it as UTF-8") from None
    if (at := key_at(text)) >= 0:  # also in a comment: the file goes into git, and to whoever is given the campaign
        remedy = "take it out, and set it in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, ...)"
        what = "this looks like a key, and none may stand here"
        raise SettingsError(what, path=SETTINGS_FILE, line=text.count("\n", 0, at) + 1, remedy=remedy)
    try:
        root = frontmatter.parse(text)
    except frontmatter.Fault as fault:
        raise SettingsError(fault.told(1), path=SETTINGS_FILE, line=fault.line + 1, remedy=fault.remedy) from None
    if root is None:
        raise SettingsError("the file is empty", path=SETTINGS_FILE, line=1, remedy="write at least `format: 1`")
    nodes = {key.value: node for key, node in root.value}
    lines = {key.value: key.line + 1 for key, _ in root.value}
    _check_format(nodes, lines)
    groups = {group: _numbers(group, nodes.get(group)) for group in _NUMBERS}
    return Settings(
        name=_text(nodes, "name"),
        language=_text(nodes, "language") or "en",
        models=_models(nodes.get("models")),
        git=_choice("git", nodes, "off"),
        continuity=_choice("continuity", nodes, "report"),
        music=_choice("music", nodes, "off"),
        currency=_text(nodes, "currency"),
        prices=_prices(nodes.get("prices")),
        ceiling=_amounts("ceiling", nodes.get("ceiling"), _CEILING),
        lines={f"{group}.{key}": line for group in ("models", "prices") for key, line in _lines(nodes.get(group))},
        unknown=(*((key, lines[key]) for key in nodes if key not in KNOWN), *_strange_numbers(nodes)),
        **groups,
    )


def _lines(node: frontmatter.Node | None) -> list[tuple[str, int]]:
    return [(key.value, key.line + 1) for key, _ in node.value] if node is not None and node.kind == "map" else []


def _meant(said: str, known: tuple[str, ...]) -> str:
    """The beginning of a remedy: the known word that this one is a slip away from, if there is one."""
    from difflib import get_close_matches

    near = get_close_matches(said, known, 1)
    return f"did you mean `{near[0]}`? " if near else ""


def _check_format(nodes: dict, lines: dict) -> None:
    said = _text(nodes, "format")
    if said != str(FORMAT):
        line = lines.get("format", 1)
        what = f"`format: {said}` is not a format this version reads" if said else "`format:` is missing"
        raise SettingsError(what, path=SETTINGS_FILE, line=line, remedy=f"write `format: {FORMAT}`, or update RoleCall")


def _text(nodes: dict, key: str) -> str:
    node = nodes.get(key)
    if node is None:
        return ""
    if node.kind != "scalar":
        raise SettingsError(
            f"`{key}` is not one value", path=SETTINGS_FILE, line=node.line + 1, remedy=f"write `{key}: ...`"
        )
    return clean_line(node.value)  # it is shown in a terminal


def _choice(key: str, nodes: dict, default: str) -> str:
    said = _text(nodes, key) or default
    if said not in _CHOICES[key]:
        choices = " or ".join(f"`{c}`" for c in _CHOICES[key])
        line, meant = nodes[key].line + 1, _meant(said, _CHOICES[key])
        raise SettingsError(
            f"`{key}: {said}` is not a choice", path=SETTINGS_FILE, line=line, remedy=f"{meant}write {choices}"
        )
    return said


def _numbers(group: str, node: frontmatter.Node | None) -> dict[str, float]:
    numbers = _defaults(group)
    if node is None or (node.kind == "scalar" and not node.value):
        return numbers
    if node.kind != "map":
        raise SettingsError(
            f"`{group}` is not a mapping", path=SETTINGS_FILE, line=node.line + 1, remedy="write `name: number` pairs"
        )
    for key, value in node.value:
        bounds = _NUMBERS[group].get(key.value)
        if bounds is None:
            continue  # an older or newer version's number
        try:
            number = float(value.value) if value.kind == "scalar" else None
        except ValueError:
            number = None
        if number is None or not bounds[1] <= number <= bounds[2] or (group in _WHOLE and number != int(number)):
            what = f"`{group}.{key.value}` is not a number from {bounds[1]} to {bounds[2]}"
            raise SettingsError(what, path=SETTINGS_FILE, line=key.line + 1, remedy=f"the default is {bounds[0]}")
        numbers[key.value] = int(number) if group in _WHOLE else number
    return numbers


def _strange_numbers(nodes: dict) -> list[tuple[str, int]]:
    """Numbers that an older or newer version knows, or that are spelt wrong, with their lines."""
    groups = [(group, nodes[group]) for group in _NUMBERS if group in nodes and nodes[group].kind == "map"]
    named = [(f"{group}.{key.value}", key.line + 1) for group, node in groups for key, _ in node.value]
    return [(name, line) for name, line in named if name not in KNOWN]


def _prices(node: frontmatter.Node | None) -> dict[str, dict[str, float]]:
    """The price table: per spec what a million tokens cost. `fresh` and `out` must be there."""
    if node is None or (node.kind == "scalar" and not node.value):
        return {}
    remedy = "write e.g. `openai/NAME: {fresh: 2.5, cached: 0.25, out: 10}`, each per million tokens"
    if node.kind != "map":
        raise SettingsError("`prices` is not a mapping", path=SETTINGS_FILE, line=node.line + 1, remedy=remedy)
    found = {}
    for key, value in node.value:
        price = _amounts(f"prices.{key.value}", value, _PRICE)
        if "fresh" not in price or "out" not in price:
            what = f"`prices.{key.value}` needs `fresh` and `out`"
            raise SettingsError(what, path=SETTINGS_FILE, line=key.line + 1, remedy=remedy)
        found[key.value] = price
    return found


def _amounts(name: str, node: frontmatter.Node | None, known: tuple[str, ...]) -> dict[str, float]:
    """A mapping of names to amounts from 0 up; a name that is not known is refused, for it would be money unwatched."""
    if node is None or (node.kind == "scalar" and not node.value):
        return {}
    remedy = f"write `{{{known[0]}: NUMBER, ...}}` with {', '.join(known)}"
    if node.kind != "map":
        raise SettingsError(f"`{name}` is not a mapping", path=SETTINGS_FILE, line=node.line + 1, remedy=remedy)
    found = {}
    for key, value in node.value:
        try:
            amount = float(value.value) if value.kind == "scalar" else -1.0
        except ValueError:
            amount = -1.0
        if key.value not in known or not 0 <= amount <= 10**12:
            what = f"`{name}.{key.value}` is not " + ("an amount from 0 up" if key.value in known else "known")
            meant = "" if key.value in known else _meant(key.value, known)
            raise SettingsError(what, path=SETTINGS_FILE, line=key.line + 1, remedy=meant + remedy)
        found[key.value] = amount
    return found


def _models(node: frontmatter.Node | None) -> dict[str, object]:
    if node is None or (node.kind == "scalar" and not node.value):
        return {}
    if node.kind != "map":
        raise SettingsError(
            "`models` is not a mapping", path=SETTINGS_FILE, line=node.line + 1, remedy="write `narrator: SPEC`"
        )
    models: dict[str, object] = {}
    for key, value in node.value:
        if key.value not in ROLES:
            remedy = f"{_meant(key.value, ROLES)}roles are {', '.join(ROLES)}"
            raise SettingsError(f"`{key.value}` is not a role", path=SETTINGS_FILE, line=key.line + 1, remedy=remedy)
        plain = value.plain()
        if isinstance(plain, dict) or (isinstance(plain, list) and not all(isinstance(s, str) and s for s in plain)):
            what = f"`models.{key.value}` is not a model, a list of models or `off`"
            raise SettingsError(what, path=SETTINGS_FILE, line=key.line + 1, remedy="write e.g. `anthropic/NAME`")
        if plain:
            models[key.value] = plain
    return models

"""What every door is tried with: texts nobody should write, bytes cut and doubled, JSON with parts of another shape in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from rolecall.campaign.text import clean_line
from tests.campaign.game.test_directives import anything
from tests.campaign.writing import values

LONG_DATA = 20_000  # bytes
LONG_NUMBER = "9" * 5_000  # more digits than Python turns into a number
ODD = [
    "\ud800", "\0", "---\n", "\n- T0001 x", "\u2028", "\x1b[31m", "[[", "]]", "../x", "CON", "1e999", "-1", "{", "\ufeff", "\r", "&a", "*a",
    LONG_NUMBER, "٣", "²", "```\n", "## Secret\n", "T0001", "T99999999999", "\n\n", "a: b", "{}", "[]", "null", "\\", "%s", "{0}", "(?<=a+)", "x" * 400,
]  # fmt: skip
texts = st.sampled_from(ODD) | st.text(max_size=20) | values
cleaned = texts.map(clean_line)  # as every layer hands it on
numbers = st.sampled_from([0, -1, 10**400, 2**63, 1e308, 0.5, float("inf"), float("nan")])
pieces = anything | texts | numbers
junk = st.sampled_from([one.encode("utf-8", "surrogatepass") for one in ODD]) | st.binary(max_size=12)


@st.composite
def torn(draw, whole: st.SearchStrategy[bytes]) -> bytes:
    """Bytes with up to four cuts, doublings and insertions."""
    data = draw(whole)
    for _ in range(draw(st.integers(0, 4))):
        at, to = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        change = draw(st.sampled_from(("cut", "double", "insert")))
        middle = {"cut": b"", "double": data[at:to] * 2}.get(change)
        data = data[:at] + (draw(junk) + data[at:to] if middle is None else middle) + data[to:]
    return data[:LONG_DATA]


SHAPES = (None, True, 0, 5, -1.5, "", "x", [], [5], ["x"], [[]], [{}], [None], {}, {"a": 1}, {"name": ["x"]})
GONE = object()


def _places(value: object, here: tuple = ()) -> Iterator[tuple]:
    """The way to each part of a value, itself among them."""
    yield here
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(one, (*here, key))


def _at(value: object, place: tuple) -> object:
    for key in place:
        value = value[key]
    return value


def _with(value: object, place: tuple, new: object) -> object:
    """The value with another part at a place, or none there."""
    if not place:
        return new
    key, *rest = place
    inner = _with(value[key], tuple(rest), new)
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    kept = {k: inner if k == key else one for k, one in pairs if k != key or inner is not GONE}
    return kept if isinstance(value, dict) else list(kept.values())


@st.composite
def bent(draw, seeds: Sequence[object], most: int = 3) -> object:
    """One of these JSON values with up to `most` of its parts gone, in another's place, or of another shape."""
    value = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, most))):
        places = list(_places(value))
        place = draw(st.sampled_from(places))
        how = draw(st.sampled_from(("shape", "shape", "text", "gone", "moved")))
        if how == "gone" and not place:
            continue
        drawn = {"shape": st.sampled_from(SHAPES), "text": pieces, "gone": st.just(GONE)}
        value = _with(value, place, _at(value, draw(st.sampled_from(places))) if how == "moved" else draw(drawn[how]))
    return value


def dumped(value: object) -> bytes:
    """JSON as other programs write it, with what is no JSON and no Unicode in it as they would write that."""
    return json.dumps(value).encode("utf-8", "surrogatepass")


def of_schema(shape: dict, said: st.SearchStrategy[str] = texts) -> st.SearchStrategy:
    """Values that a JSON Schema allows; its texts are those of `said` that fit."""
    for choice in ("anyOf", "oneOf"):
        if choice in shape:
            return st.one_of([of_schema(one, said) for one in shape[choice]])
    kind = shape.get("type")
    if isinstance(kind, list):
        return st.one_of([of_schema({**shape, "type": one}, said) for one in kind])
    if "enum" in shape:
        return st.sampled_from(shape["enum"])
    if kind == "null":
        return st.none()
    if kind == "array":
        most = min(shape.get("maxItems", 3), 3)
        return st.lists(of_schema(shape.get("items", {}), said), min_size=shape.get("minItems", 0), max_size=most)
    if kind == "object":
        inner = {key: of_schema(one, said) for key, one in shape.get("properties", {}).items()}
        needed = {key: one for key, one in inner.items() if key in shape.get("required", ())}
        return st.fixed_dictionaries(needed, optional={k: v for k, v in inner.items() if k not in needed})
    if kind == "integer":
        near = st.integers(max(shape.get("minimum", -9), -9), min(shape.get("maximum", 30), 30))
        return near | st.integers(shape.get("minimum"), shape.get("maximum"))
    if kind == "number":
        return st.floats(shape.get("minimum", -9), shape.get("maximum", 30))
    if kind == "boolean":
        return st.booleans()
    return said.filter(lambda text: shape.get("minLength", 0) <= len(text) <= shape.get("maxLength", 300))

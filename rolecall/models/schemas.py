"""JSON Schemas in the strict form that structured answers take.

Both vendors want every object closed (`additionalProperties: false`); OpenAI also wants every property required, so
what was optional becomes "this or null". `prune` takes those nulls out of the answer again. Keywords of a size or a
pattern are left out of what is sent: not all endpoints know them, and the answer is checked against the whole schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

_KEPT = ("type", "description", "enum", "const", "items", "properties", "required", "anyOf", "$ref", "$defs")


def strict(schema: dict[str, Any], *, all_required: bool) -> dict[str, Any]:
    """The schema in strict form, as a new value. With `all_required` optional properties become nullable."""
    result = {key: schema[key] for key in _KEPT if key in schema}
    for key in ("oneOf", "allOf"):
        if key in schema:
            result["anyOf"] = schema[key]
    for key in ("anyOf",):
        if key in result:
            result[key] = [strict(each, all_required=all_required) for each in result[key]]
    if isinstance(result.get("items"), dict):
        result["items"] = strict(result["items"], all_required=all_required)
    if "$defs" in result:
        result["$defs"] = {name: strict(each, all_required=all_required) for name, each in result["$defs"].items()}
    if "properties" in schema or schema.get("type") == "object":
        required = set(schema.get("required", ()))
        properties = {}
        for name, each in schema.get("properties", {}).items():
            inner = strict(each, all_required=all_required)
            properties[name] = inner if name in required or not all_required else _nullable(inner)
        result["properties"] = properties
        result["required"] = list(properties) if all_required else [name for name in properties if name in required]
        result["additionalProperties"] = False
    return result


def object_in(text: str) -> dict[str, Any] | None:
    """The JSON object in this text: the text itself, or the first one between other words or in a fence."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):  # the latter: nested deeper than anybody means it
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def prune(value: Any, schema: dict[str, Any]) -> Any:
    """The value without the nulls that stand for an optional property left out."""
    if isinstance(value, dict) and "properties" in schema:
        required = set(schema.get("required", ()))
        kept = {}
        for name, each in value.items():
            inner = schema["properties"].get(name, {})
            if each is None and name not in required and not _takes_null(inner):
                continue
            kept[name] = prune(each, inner)
        return kept
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [prune(each, schema["items"]) for each in value]
    return value


def wrong(value: Any, schema: dict[str, Any]) -> str:
    """What is wrong with this value by this schema, in one line; nothing if it is right."""
    import fastjsonschema

    try:
        _checker(json.dumps(schema, sort_keys=True))(value)
    except fastjsonschema.JsonSchemaValueException as error:
        return error.message
    return ""


@lru_cache(maxsize=32)
def _checker(schema: str) -> Callable[[Any], Any]:
    import fastjsonschema

    return fastjsonschema.compile(json.loads(schema))


def instruction(schema: dict[str, Any]) -> str:
    """What to tell a model whose endpoint cannot be given a schema."""
    shape = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else: no words before or after it. Its JSON Schema is:\n{shape}"


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if _takes_null(schema):
        return schema
    if isinstance(schema.get("type"), str) and "enum" not in schema and "const" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _takes_null(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    if "enum" in schema:
        return None in schema["enum"]
    return any(_takes_null(each) for each in schema.get("anyOf", ()))

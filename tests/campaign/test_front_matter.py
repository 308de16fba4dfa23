"""What people and programs have done to front matter, case by case: read as typed, or refused with line and remedy."""

from __future__ import annotations

import pytest

from rolecall.campaign import documents, kinds
from rolecall.errors import Malformed, Unclear

PATH = "lore/note.md"


def fields(block: str, body: str = "Body.\n") -> dict:
    return documents.parse(f"---\n{block}\n---\n{body}".encode(), PATH).fields


def refusal(data: bytes | str) -> Malformed:
    raw = data if isinstance(data, bytes) else data.encode()
    with pytest.raises(Malformed) as refused:
        documents.parse(raw, PATH)
    for edit in (
        lambda: documents.set_field(raw, PATH, "name", "x"),
        lambda: documents.append_to_section(raw, PATH, "History", "- x", create=2),
    ):
        with pytest.raises(Malformed):  # and no edit prepends a second block, or appends to what cannot be read
            edit()
    assert refused.value.path == PATH and refused.value.remedy
    assert str(refused.value).startswith(f"{PATH}:{refused.value.line}: ")
    return refused.value


# -- values stay what the writer typed --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed",
    ["1492-13-01", "2025-10-24", "0000-00-00", "12:30", "1:05:00", "no", "yes", "on", "0755", "1_000", "0x1F", "1e3", ".inf", "null",
     "None", "~", "true", "=", "Éowyn", "E\u0301owyn", "🐉 of the north", "2025-10-24 18:00", "a|b", "x & y", "-5"],
)  # fmt: skip
def test_a_plain_value_is_the_string_that_was_typed(typed):
    assert fields(f"date: {typed}") == {"date": typed}
    assert documents.set_field(f"---\ndate: {typed}\n---\n".encode(), PATH, "date", typed).count(typed.encode()) == 1


@pytest.mark.parametrize(
    "key", ["content", "handler", "1", "on", "no", "null", "metadata", "🐉", "имя", "two words", "a.b", "2025-01-01"]
)
def test_any_plain_word_is_a_key(key):
    data = f"---\n{key}: old\n---\nBody.\n".encode()
    assert documents.parse(data, PATH).fields == {key: "old"}
    assert documents.set_field(data, PATH, key, "new") == data.replace(b"old", b"new")


@pytest.mark.parametrize(
    ("shown", "name"), [("", "note"), (" ''", "note"), ("   ", "note"), (" null", "null"), (" None", "None")]
)
def test_an_empty_title_is_no_title_and_the_word_none_is_a_word(shown, name):
    document = documents.parse(f"---\ntitle:{shown}\n---\n".encode(), PATH)
    assert kinds.name_of(PATH, document.fields) == name


def test_no_key_is_invented_and_none_is_moved():
    data = b"---\nzeta: 1\nalpha: 2\n---\nBody.\n"
    assert documents.set_field(data, PATH, "zeta", "3") == b"---\nzeta: 3\nalpha: 2\n---\nBody.\n"
    assert documents.set_field(data, PATH, "mid", "x") == b"---\nzeta: 1\nalpha: 2\nmid: x\n---\nBody.\n"


def test_a_tag_is_added_to_a_flow_list_without_rewriting_the_block():
    data = b"---\n# mine\ndate: 2025-10-24\ntags: [a, b]  # keep\nempty:\n---\nBody.\n"
    assert documents.add_item(data, PATH, "tags", "c") == data.replace(b"[a, b]", b"[a, b, c]")


@pytest.mark.parametrize(
    "value",
    [
        "KB: Something",
        "a: b: c",
        "x #y",
        "- z",
        "&a",
        "*a",
        "!t",
        "{{date}}",
        "[x",
        "it's",
        "@x",
        "100%",
        "%x",
        "`x`",
        "|",
        ">",
    ],
)
def test_a_value_that_yaml_would_misread_is_quoted_when_written(value):
    new = documents.set_field(b"---\ntitle: old # kept\n---\n", PATH, "title", value)
    assert documents.parse(new, PATH).fields == {"title": value}
    assert new.endswith(b" # kept\n---\n")


def test_a_byte_order_mark_hides_no_front_matter_and_stays():
    data = b"\xef\xbb\xbf---\r\nname: A\r\n---\r\nBody.\r\n"
    assert documents.parse(data, PATH).fields == {"name": "A"}
    assert documents.set_field(data, PATH, "name", "B") == data.replace(b"A", b"B")
    assert documents.set_field(b"\xef\xbb\xbfBody.", PATH, "name", "B") == b"\xef\xbb\xbf---\nname: B\n---\nBody."


def test_an_odd_line_end_inside_a_value_is_a_part_of_it_and_lines_are_counted_as_editors_do():
    data = "---\na: 'x\u0085 y'\nb: \"p\\u2028q\"\nc: z\n---\n".encode()
    document = documents.parse(data, PATH)
    assert document.fields["b"] == "p\u2028q"
    assert document.block.line_of("c") == 4
    assert documents.set_field(data, PATH, "c", "w") == data.replace(b"c: z", b"c: w")
    assert refusal("---\na: 'x\u2028 y'\nb: 1\nb: 2\n---\n").line == 4


def test_the_block_ends_at_the_first_closing_fence():
    data = b"---\nname: A\n---\nBody\n---\nother: B\n---\n"
    assert documents.parse(data, PATH).fields == {"name": "A"}
    assert documents.set_field(data, PATH, "name", "C") == data.replace(b"A", b"C", 1)
    assert documents.parse(b"---\nname: A\n...\nBody\n", PATH).body == b"Body\n"


@pytest.mark.parametrize(
    "opening", ["----\nname: A\n----\n", " ---\nname: A\n---\n", "text\n---\nname: A\n---\n", "--- # x\na: 1\n---\n"]
)
def test_what_only_looks_like_a_fence_is_text(opening):
    assert documents.parse(opening.encode(), PATH).block is None


def test_four_dashes_close_nothing():
    assert refusal("---\nname: A\n----\nBody: text\n").line == 1


def test_an_indented_mapping_gets_its_new_field_at_its_own_indentation():
    assert documents.set_field(b"---\n  a: 1\n---\n", PATH, "b", "x") == b"---\n  a: 1\n  b: x\n---\n"


def test_a_wikilink_without_quotes_stays_without():
    data = b"---\nlocation: [[The Anchor]] # inn\nparty:\n  - [[Sera]]\n---\n"
    assert documents.parse(data, PATH).fields == {"location": "[[The Anchor]]", "party": ["[[Sera]]"]}
    assert documents.set_field(data, PATH, "location", "[[Saltholm|the town]]") == data.replace(
        b"[[The Anchor]]", b"[[Saltholm|the town]]"
    )


# -- malformed: refused, and no byte changed ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "line", "words"),
    [
        ("title: KB: Something", 2, "a colon inside an unquoted value"),
        ("a: 1\ntitle: {{date}}", 3, "not a word"),
        ("a: 1\nb: 2\na: 3", 4, "first on line 2"),
        ("m:\n  x: 1\n  x: 2", 4, "first on line 3"),
        ("a: &x [1]\nb: *x", 2, "anchors and aliases"),
        ("a: !!python/object/apply:os.system [ls]", 2, "tags (!)"),
        ("a: 1\n<<: {b: 2}", 3, "merge keys"),
        ("a:\n\tb: 1", 3, "a tab"),
        ("a:\tb", 2, "a tab"),
        ("- a\n- b", 2, "not a list of `key: value`"),
        ("just words", 2, "not a list of `key: value`"),
        ("a: 'open", None, "broken YAML"),
        ("a: [1, 2", None, "broken YAML"),
        ("a: 1\nstray\nb: 2", 3, "a line without `key:`"),
        ("a: x\x00y", 2, "U+0000"),
        ("a: 1\nb: x\x1b[31m", 3, "U+001B"),
        ("a: 1\nb: \x7f", 3, "U+007F"),
        ("a: \ufffe", 2, "U+FFFE"),
        ("? [a, b]\n: c", 2, "not a word"),
        ("%YAML 1.1", None, ""),
        ("a: @home", 2, "broken YAML"),
        ("a: {b:}", 2, "broken YAML"),  # these two only one of PyYAML's parsers accepts
        ("a: [b#:]", 2, "broken YAML"),
        ("a: `x`", 2, "broken YAML"),
        ("a: " + "[" * 50_000, 2, "nested too deep"),
        ("\n".join(" " * n + "k:" for n in range(40)), 14, "nested too deep"),
    ],
)  # fmt: skip
def test_a_broken_block_is_refused_with_its_line_and_a_remedy(block, line, words):
    error = refusal(f"---\n{block}\n---\nBody.\n")
    assert words in error.what
    if line is not None:
        assert error.line == line


def test_aliases_that_multiply_are_refused_before_they_are_expanded():
    laughs = "a0: &a0 [x, x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))
    assert "anchors and aliases" in refusal(f"---\n{laughs}\n---\n").what


def test_a_block_of_more_than_256_kib_is_refused():
    assert "256 KiB" in refusal(b"---\na: " + b"x" * 300_000 + b"\n---\n").what


@pytest.mark.parametrize(
    "start", ["---\ntitle: A\n\nText.\n", "---\nимя: A\n", "---\n'quoted': A\n", "---\n1: A\n", "\ufeff---\ntitle:\n"]
)
def test_a_block_that_is_never_closed_is_refused(start):
    assert refusal(start).what == "the front matter is never closed"


def test_a_block_below_blank_lines_is_refused():
    assert refusal("\n\n---\ntitle: A\n---\nBody\n").what == "the front matter does not begin on the first line"


@pytest.mark.parametrize(
    "prose",
    ["---\nJust a story.\n", "---\n\nHe said: no.\n", "\n---\nHe said: no.\n", "---\n# A comment or a heading\nx\n"],
)
def test_a_rule_above_prose_is_no_front_matter_and_nothing_is_put_above_it(prose):
    assert documents.parse(prose.encode(), PATH).block is None
    if prose.startswith("---"):
        with pytest.raises(Unclear, match="begins with a rule"):
            documents.set_field(prose.encode(), PATH, "name", "x")


def test_a_block_that_is_not_utf_8_is_refused_with_its_line():
    assert refusal(b"---\na: 1\nb: caf\xe9\n---\nBody.\n").line == 3


def test_bytes_that_are_not_utf_8_in_the_body_survive_every_edit():
    data = b"---\na: 1\n---\n## History\ncaf\xe9 \x00\n"
    assert documents.set_field(data, PATH, "a", "2") == data.replace(b"1", b"2")
    assert documents.append_to_section(data, PATH, "History", "- x") == data + b"- x\n"


@pytest.mark.parametrize(
    "block", ["{a: 1, b: }", "a: # why - not\n", "a: |\nb: 1", "a:\n  - # x-y\n    z\nb: 1", "? a\nb: 1"]
)
def test_an_awkward_but_legal_block_is_changed_exactly_or_refused_as_unclear(block):
    data = f"---\n{block}\n---\n".encode()
    before = documents.parse(data, PATH).fields
    for key in before:
        for edit in (documents.set_field, documents.add_item):
            try:
                after = documents.parse(edit(data, PATH, key, "new"), PATH).fields
            except Unclear as error:
                assert error.path == PATH and error.line and error.remedy
            else:
                assert {k: v for k, v in after.items() if k != key} == {k: v for k, v in before.items() if k != key}

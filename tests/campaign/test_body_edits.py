"""Promises of what grows in a note's body: lines are added whole, on lines of their own, and nothing else moves."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rolecall.campaign import documents, records
from rolecall.errors import DocumentError, Unclear
from tests.campaign.writing import bounded, notes, one_line, words

PATH = "lore/a.md"
HEADINGS = ("Trail", "History", "Nested", "Under lined", "Top")


def inserted(old: bytes, new: bytes) -> bytes:
    """What was put into `old` in one place to make `new`."""
    added = len(new) - len(old)
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
    for start in range(at, -1, -1):
        if old[start:] == new[start + added :]:
            return new[start : start + added]
    raise AssertionError("more than one place changed")


def lines(data: bytes) -> list[bytes]:
    return [line.removesuffix(b"\r") for line in data.split(b"\n")]


def clear_of_structure(line: str) -> bool:
    return not line.startswith(("#", "```", "~~~", "=", "--", "...")) and line not in ("-", "=")


@bounded
@given(notes(), one_line.filter(clear_of_structure), st.sampled_from(HEADINGS))
def test_a_line_appended_to_a_section_is_one_line_more_at_its_end(note, text, heading):
    document = documents.parse(note.data, PATH)
    section = document.section(heading)
    line = f"- {text}"
    new = documents.append_to_section(note.data, PATH, heading, line, create=2)
    added = inserted(note.data, new)
    assert line.encode() in lines(new)
    assert sorted([*lines(note.data), *lines(added)]).count(line.encode()) == lines(new).count(line.encode())
    after = documents.parse(new, PATH)
    assert after.fields == document.fields
    assert line in after.lines(heading)
    assert records.unsplice(new, {"path": PATH, **records.splice(note.data, new)}) == note.data
    if section is not None:
        assert [s.heading for s in after.sections] == [s.heading for s in document.sections]
        assert [text for text in after.lines(heading) if text.strip()][-1] == line


@bounded
@given(notes(), words)
def test_appending_to_a_file_never_glues_two_lines(note, text):
    added = documents.append(note.data, f"- {text}", note.newline)
    new = note.data + added
    assert new.endswith(f"- {text}{note.newline}".encode())
    before = [line for line in lines(note.data) if line]
    assert [line for line in lines(new) if line] == [*before, f"- {text}".encode()]


@bounded
@given(notes(), words, st.sampled_from(HEADINGS))
def test_a_line_put_on_top_is_the_first_item_of_its_section(note, text, heading):
    document = documents.parse(note.data, PATH)
    new = documents.insert_on_top(note.data, PATH, heading, f"- {text}", create=2)
    inserted(note.data, new)
    items = [line for line in documents.parse(new, PATH).lines(heading) if line.startswith("- ")]
    before = [line for line in document.lines(heading) if line.startswith("- ")]
    assert items == [f"- {text}", *before]


@bounded
@given(notes(), words)
def test_replacing_a_line_leaves_every_other_byte(note, text):
    document = documents.parse(note.data, PATH)
    assume(document.section("Trail") is not None)
    new = documents.replace_line(note.data, PATH, "Trail", "- T0002 second", f"- T0002 {text}")
    before, _, behind = note.data.partition(b"- T0002 second")
    assert new == before + f"- T0002 {text}".encode() + behind
    assert documents.replace_line(new, PATH, "Trail", f"- T0002 {text}", "- T0002 second") == note.data


@bounded
@given(notes())
def test_lines_cut_out_are_the_only_bytes_gone(note):
    at = note.data.find(b"- T0001 first")
    assume(at >= 0)
    end = note.data.find(b"\n", at) + 1 or len(note.data)
    assert documents.cut(note.data, PATH, [(at, end)]) == note.data[:at] + note.data[end:]


@bounded
@given(
    st.binary(max_size=80),
    st.sampled_from([b"", b"---\n", b"\xef\xbb\xbf---\r\n", b"---\na: "]),
    st.binary(max_size=60),
)
def test_any_bytes_are_read_or_refused_with_file_and_remedy(front, fence, rest):
    data = fence + front + b"\n---\n" + rest
    for attempt in (
        lambda: documents.parse(data, PATH).sections,
        lambda: documents.set_field(data, PATH, "name", "x"),
        lambda: documents.add_item(data, PATH, "keys", "x"),
        lambda: documents.remove_field(data, PATH, "a"),
        lambda: documents.append_to_section(data, PATH, "History", "- x", create=2),
    ):
        try:
            attempt()
        except DocumentError as error:
            assert error.path == PATH and error.remedy and "\n" not in str(error)


YAMLISH = st.text(st.sampled_from("ab: \n-[]{}'\"#|>&*!,?%@`\\\t0é\u0085\u2028😀"), max_size=40)


@bounded
@given(YAMLISH, st.sampled_from("ab"), st.one_of(words, YAMLISH))
def test_a_field_of_any_block_is_set_exactly_or_refused(text, key, value):
    data = f"---\n{text}\nz: 1\n---\nBody: text\n".encode()
    try:
        old = documents.parse(data, PATH)
        new = documents.parse(documents.set_field(data, PATH, key, value), PATH)
    except DocumentError as error:
        assert error.path == PATH and error.remedy
        return
    assert new.fields == {**old.fields, key: value}
    assert new.body == old.body


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        (lambda d: documents.append_to_section(d, PATH, "Nowhere", "- x"), None),
        (lambda d: documents.append_to_section(d, PATH, "Twice", "- x"), 9),
        (lambda d: documents.append_to_section(d, PATH, "Once", "## smuggled"), None),
        (lambda d: documents.append_to_section(d, PATH, "Plain", "==="), None),
        (lambda d: documents.append_to_section(d, PATH, "Once", "half \ud800"), None),
        (lambda d: documents.replace_line(d, PATH, "Once", "- not there", "- x"), 5),
        (lambda d: documents.replace_line(d, PATH, "Once", "- same", "- x"), 5),
        (lambda d: documents.set_field(d, PATH, "list", "x"), 3),
        (lambda d: documents.set_field(d, PATH, "name", "half \ud800"), None),
        (lambda d: documents.add_item(d, PATH, "name", "x"), 2),
        (lambda d: documents.set_item(d, PATH, "list", 7, "x"), 3),
        (lambda d: documents.remove_item(d, PATH, "list", 7), 3),
        (lambda d: documents.cut(d, PATH, [(d.index(b"## Once"), d.index(b"- same"))]), None),
    ],
)  # fmt: skip
def test_an_unclear_change_is_refused_and_the_file_keeps_its_bytes(tmp_path, edit, line):
    data = b"---\nname: A\nlist: [a, b]\n---\n## Once\n- same\n- same\n## Twice\n## Twice\n## Plain\ntext\n"
    (tmp_path / "lore").mkdir()
    (tmp_path / PATH).write_bytes(data)
    record = records.begin(tmp_path, 1, "act")
    with pytest.raises(Unclear) as refused:
        record.write(PATH, "test", edit)
    assert (refused.value.path, refused.value.line) == (PATH, line)
    assert refused.value.remedy
    assert (tmp_path / PATH).read_bytes() == data
    assert [kept["do"] for kept in records.lines(tmp_path, record.folder)] == ["begin"]

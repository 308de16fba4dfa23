"""What is secret: fields, sections, files and folders; and that a view without secrets holds none of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.campaign import documents, secrets, views
from tests.campaign.writing import bodies, bounded

CANARY = "CANARY"


def shown(text: str, path: str = "characters/a.md", **options: bool) -> str:
    return views.text(documents.parse(text.encode(), path), **options)


@pytest.mark.parametrize(
    "heading",
    ["## Secret", "# Secrets", "## GM only", "## GM-only", "## gm  ONLY:", "## **Secret:**", "### _Secrets_", "## Secret ##", "## 🤫 Secret",
     "## [[Secret]]", "## `Secret`", "##\tSecret\t", "   ## Secret", "Secret\n---", "Secret\n===", "**Secret**\n---", "Secret\n-", "#Secret\n---",
     "## Secret\r"],
)  # fmt: skip
def test_a_secret_section_is_hidden_however_its_heading_is_decorated(heading):
    text = f"---\nname: A\n---\nOpen.\n\n{heading}\n{CANARY}\n"
    assert CANARY not in shown(text)
    assert "Open." in shown(text)
    assert CANARY in shown(text, with_secrets=True)


@pytest.mark.parametrize(
    "heading", ["## Secret door", "## The secret", "## Secretary", "##Secret", "\\## Secret", "    ## Secret"]
)
def test_a_heading_that_is_not_one_of_the_three_is_open(heading):
    assert CANARY in shown(f"{heading}\n{CANARY}\n")


def test_what_is_nested_under_a_secret_is_secret_to_the_next_heading_of_its_level():
    text = f"## Secret\n### Deeper\n{CANARY}\n#### Deeper still\n{CANARY}\n## Open\nseen\n### Secret\n{CANARY}\n### Open too\nseen too\n"
    assert shown(text).count("seen") == 2
    assert CANARY not in shown(text)
    assert shown(text, with_secrets=True).count(CANARY) == 3


def test_a_stray_fence_does_not_open_a_secret():
    assert CANARY not in shown(f"```\nstray\n\n## Secret\n{CANARY}\n")


@pytest.mark.parametrize("key", ["truth", "secret", "Secret", "TRUTH", "' secret '"])
def test_secret_fields_are_hidden_at_any_depth(key):
    text = f"---\nname: A\n{key}: {CANARY}\nrelationships:\n  - {{with: Sera, {key}: {CANARY}}}\nm:\n  n:\n    {key}: {CANARY}\n---\n"
    assert CANARY not in shown(text)
    assert shown(text, with_secrets=True).count(CANARY) == 3


@pytest.mark.parametrize(
    ("path", "front"),
    [
        ("dm/plan.md", ""),
        ("DM/plan.md", ""),
        ("dm/deep/plan.md", ""),
        ("lore/a.md", "visibility: secret"),
        ("lore/a.md", "Visibility: ' Secret '"),
    ],
)
def test_a_secret_file_is_hidden_whole(path, front):
    text = f"---\nname: A\n{front}\n---\n{CANARY}\n"
    assert shown(text, path) == ""
    assert CANARY in shown(text, path, with_secrets=True)


@pytest.mark.parametrize("path", ["admin/dm.md", "dm.md", "lore/dm/x.md"])
def test_only_the_folder_dm_at_the_top_is_the_dms(path):
    assert CANARY in shown(CANARY, path)


HEADINGS = st.tuples(st.integers(1, 6), st.sampled_from(["Secret", "GM only", "Secrets", "Open", "Trail", ""]))


@bounded
@given(
    st.lists(
        st.one_of(
            HEADINGS.map(lambda h: f"{'#' * h[0]} {h[1]}"), st.just("seen"), st.just("```"), st.just("Secret\n---")
        )
    )
)
def test_the_open_sections_are_those_that_are_open_one_by_one(lines):
    document = documents.parse("\n".join(lines).encode(), "lore/a.md")
    sections = document.sections
    secret = [s for s in sections if s.level and secrets.is_secret_heading(s.heading)]
    apart = tuple(s for s in sections if not any(at.start <= s.start < at.end for at in secret))
    assert secrets.open_sections(document) == apart
    assert tuple(s for s in sections if secrets.is_open(s, sections)) == apart


@bounded
@given(bodies(), st.sampled_from(["## Secret", "# GM only", "### Secrets", "Secret\n=="]), bodies())
def test_no_body_around_it_lets_a_secret_out(before, heading, after):
    closed = before if before.count(b"```") % 2 == 0 and b"~~~" not in before else b""
    data = (
        closed
        + b"\n\n"
        + heading.encode()
        + b"\n\n"
        + CANARY.encode()
        + b"\n\n"
        + after.replace(b"```", b"").replace(b"~~~", b"")
    )
    document = documents.parse(data, "lore/a.md")
    assert CANARY not in views.text(document)
    assert CANARY not in "".join(s.text for s in secrets.open_sections(document))
    assert CANARY in views.text(document, with_secrets=True)


def test_a_view_shows_names_fields_and_open_sections():
    text = "---\nname: Valen\nkind: character\ntags: [x]\nrole: Rogue\nrelationships:\n  - {with: Sera, nature: friend}\n---\nText.\n\n## History\n- T0001 a\n"
    assert shown(text) == (
        "# Valen (character)\nrole: Rogue\nrelationships: with: Sera, nature: friend\n\nText.\n\n## History\n\n- T0001 a"
    )

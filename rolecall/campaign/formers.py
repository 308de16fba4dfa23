"""Instructions and prose modules as they once shipped: the first 16 digits of the SHA-256 of each former text.

A campaign's file with one of these digests is an unchanged copy of an older one. Made by `python -m tests.formers`.
"""

FORMER: dict[str, frozenset[str]] = {
    "instructions/after-the-prose-write-the-journal-line.md": frozenset({"a015587fe081834b"}),
    "instructions/always-narrate.md": frozenset({"d504ff92c0a1c419"}),
    "instructions/always-say-what-never-why.md": frozenset({"537b6303e2e5a1e8"}),
    "instructions/always-take-files-as-story.md": frozenset({"e9d7f6cb6ee3d3c8"}),
    "instructions/before-a-turn-pick-what-the-scene-needs.md": frozenset({"20a51f3ee9efc6e9"}),
    "instructions/before-inventing-a-name-place-or-fact.md": frozenset({"7718a42ffbea0002"}),
    "instructions/before-the-narrator-speaks-choose-what-to-read.md": frozenset({"90b67b6bd2b67e4d"}),
    "instructions/when-a-chapter-runs-long.md": frozenset({"91b40832563a51d0"}),
    "instructions/when-a-chat-is-brought-in-keep-what-it-establishes.md": frozenset({"728025b7c25fbc42"}),
    "instructions/when-a-promise-is-made-or-kept.md": frozenset({"26be6e48c09f3aa3"}),
    "instructions/when-a-seed-has-waited-long.md": frozenset({"27dd0da225d6f6d1"}),
    "instructions/when-a-stretch-of-journal-is-retold.md": frozenset({"b1c638f262b7189b"}),
    "instructions/when-an-answer-was-cut.md": frozenset({"86f4754735ed9581"}),
    "instructions/when-an-arc-moves.md": frozenset({"56386f5d0ef6e65d"}),
    "instructions/when-nothing-is-planned-yet.md": frozenset({"1b1efb378c18d9c9"}),
    "instructions/when-something-becomes-true-of-an-entry.md": frozenset({"57b48017f60df680"}),
    "instructions/when-the-journal-passes-its-fold-line.md": frozenset({"a4c794d27bc7555a"}),
    "instructions/when-the-model-is-small.md": frozenset({"88acf92a1ba53b89", "8c2f40c708944de7"}),
    "instructions/when-the-story-opens.md": frozenset({"377f5c031007c085"}),
    "prose/danger.md": frozenset({"4b7d760dbff1c9f9"}),
    "prose/dialogue.md": frozenset({"f3499b41e2fd7a15"}),
    "prose/plain-and-close.md": frozenset({"bdc64c8a96b44adf"}),
    "prose/quiet-closing.md": frozenset({"9db94cad5ec44d91"}),
    "prose/wonder.md": frozenset({"3341d61475136d1d"}),
}

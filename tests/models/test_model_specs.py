"""Specs as a writer types them, and the chain taken when none was typed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rolecall.errors import ModelSettings
from rolecall.models import specs
from rolecall.models.specs import Spec, default_chain, default_name, ollama_url, parse
from tests.loopback.server import Loopback

NOWHERE = {"OLLAMA_HOST": "127.0.0.1:9"}
LOCAL = ["local/smollm2"] if find_spec("xllamacpp") else []


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("anthropic/claude-opus-5-5", Spec("anthropic", "claude-opus-5-5")),
        ("OpenAI/gpt-x", Spec("openai", "gpt-x")),
        ("openrouter/meta/llama-4:free", Spec("openrouter", "meta/llama-4:free")),
        ("ollama/qwen3:8b", Spec("ollama", "qwen3:8b")),
        (" local/smollm2 ", Spec("local", "smollm2")),
        ("gguf:~/models/a b.gguf", Spec("gguf", "~/models/a b.gguf")),
        ("gguf:C:/models/a.gguf", Spec("gguf", "C:/models/a.gguf")),
        ("scripted:examples/last five.yaml", Spec("scripted", "examples/last five.yaml")),
    ],
)
def test_a_spec_is_read_and_written_back(text: str, spec: Spec) -> None:
    assert parse(text) == spec
    assert parse(str(spec)) == spec


def test_a_remote_provider_without_a_name_takes_its_default() -> None:
    assert str(parse("openai")) == str(parse("openai/")) == f"openai/{default_name('openai')}"
    assert str(parse("anthropic")) == f"anthropic/{default_name('anthropic')}"
    assert str(parse("local")) == "local/smollm2"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("antropic/claude", "did you mean anthropic/NAME?"),
        ("open-ai/gpt", "did you mean openai/NAME?"),
        ("olama/qwen", "did you mean ollama/NAME?"),
        ("script:file", "did you mean scripted:PATH?"),
        ("gpt-5", "a model is one of anthropic/NAME"),
        ("", "a model is one of"),
        ("local/llama", "there is local/smollm2"),
        ("gguf:", "write gguf:PATH"),
        ("ollama/", "write ollama/NAME"),
    ],
)
def test_an_unknown_spec_is_answered_with_what_was_meant(text: str, hint: str) -> None:
    with pytest.raises(ModelSettings) as caught:
        parse(text)
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_default_names_stand_in_the_installed_sdks_own_lists() -> None:
    for package, file, provider in (
        ("anthropic", "types/model_param.py", "anthropic"),
        ("openai", "types/shared/chat_model.py", "openai"),
    ):
        found = find_spec(package)
        assert found and found.origin
        names = re.findall(r'"([\w.-]+)"', (Path(found.origin).parent / file).read_text("utf-8"))
        assert default_name(provider) in names
        assert specs.ENDPOINTS[provider].default in names


def test_reading_a_default_name_imports_no_sdk() -> None:
    code = (
        "import sys; from rolecall.models.specs import parse; parse('openai'); parse('anthropic');"
        "print(sorted({'openai', 'anthropic', 'httpx2', 'yaml', 'rich', 'xllamacpp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_with_nothing_there_the_chain_is_the_embedded_model_alone() -> None:
    assert default_chain(NOWHERE) == LOCAL


@pytest.mark.parametrize(
    ("environ", "providers"),
    [
        ({"OPENAI_API_KEY": "a"}, ["openai"]),
        ({"GOOGLE_API_KEY": "a"}, ["gemini"]),
        ({"GEMINI_API_KEY": "a", "ANTHROPIC_API_KEY": "b"}, ["anthropic", "gemini"]),
        (
            {"GEMINI_API_KEY": "a", "OPENROUTER_API_KEY": "b", "OPENAI_API_KEY": "c", "ANTHROPIC_API_KEY": "d"},
            ["anthropic", "openai", "openrouter", "gemini"],
        ),
        ({"OPENAI_API_KEY": "  "}, []),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1234/v1"}, ["openai"]),
        ({"OPENAI_BASE_URL": "https://api.openai.com/v1/"}, []),
    ],
)
def test_the_chain_is_whatever_is_there_in_its_order(environ: dict[str, str], providers: list[str]) -> None:
    chain = default_chain({**NOWHERE, **environ})
    assert [spec.partition("/")[0] for spec in chain] == [*providers, *(["local"] if LOCAL else [])]
    assert [str(parse(spec)) for spec in chain] == chain


def test_a_running_ollama_comes_after_the_keys_with_a_model_that_can_write(loopback: Loopback) -> None:
    environ = {"OLLAMA_HOST": f"127.0.0.1:{loopback.port}", "GEMINI_API_KEY": "a"}
    assert default_chain(environ) == ["gemini/gemini-flash-latest", "ollama/tiny:latest", *LOCAL]


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("8080", "http://127.0.0.1:8080/v1"),
        ("box.lan", "http://box.lan:11434/v1"),
        ("https://box.lan", "https://box.lan:443/v1"),
        ("http://box.lan:8080/ollama/", "http://box.lan:8080/ollama/v1"),
        ("[::1]:11434", "http://[::1]:11434/v1"),
    ],
)
def test_ollamas_host_is_read_as_ollama_reads_it(host: str, url: str) -> None:
    assert ollama_url(host) == url


@pytest.mark.parametrize("spec", ["scripted:a\0b", "gguf:\0", "openai/a\0", "\0", "openai/a\nb"])
def test_a_name_with_a_control_character_is_no_model(spec: str) -> None:
    with pytest.raises(ModelSettings, match="is no model") as caught:
        parse(spec)
    assert "\0" not in str(caught.value) and "\n" not in str(caught.value)

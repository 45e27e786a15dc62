"""The documents are true: their examples run, their links lead somewhere, the symbols they name exist."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import girdlebook
from girdlebook.messages import Message, Reply
from girdlebook.testing.chat_server import ChatServer

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    (page, number, code) for page in PAGES for number, code in enumerate(BLOCK.findall(page.read_text("utf-8")))
]


@pytest.mark.parametrize(
    ("page", "code"), [pytest.param(p, c, id=f"{p.relative_to(ROOT)}-{n}") for p, n, c in EXAMPLES]
)
def test_an_example_runs_as_it_stands(page, code, tmp_path):
    answers = [Reply(Message("assistant", f"answer {n}")) for n in range(2)]
    with ChatServer(*answers) as server:
        env = os.environ | {
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "none",
            "GIRDLE_HOME": str(tmp_path / "home"),
            "PYTHONUTF8": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            input="hello\n你好\n\n",
            capture_output=True,
            text=True,
            env=env,
            timeout=60,
            encoding="utf-8",
        )
    assert done.returncode == 0, done.stderr
    if "OpenAI()" in code:
        assert "answer 1" in done.stdout


def test_the_loop_of_the_readme_is_short():
    loop = next(code for page, _, code in EXAMPLES if page.name == "README.md" and "OpenAI()" in code)
    assert len(loop.strip().splitlines()) <= 15


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_inside_the_project_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_every_symbol_of_the_article_map_exists():
    text = (ROOT / "docs/reference/article-map.md").read_text("utf-8")
    named = re.findall(r"`(girdlebook(?:\.\w+)+)(?::([\w.]+))?`", text)
    assert len(named) > 40
    for module, symbol in named:
        found = importlib.import_module(module)
        for part in filter(None, symbol.split(".")):
            assert hasattr(found, part) or part in getattr(found, "__annotations__", {}), f"{module}:{symbol}"
            found = getattr(found, part, None)


def test_the_typed_names_are_the_loaded_ones():
    stub = Path(girdlebook.__file__).with_suffix(".pyi").read_text("utf-8")
    assert sorted(re.findall(r"import \w+ as (\w+)", stub)) == sorted(girdlebook.__all__)
    for name in girdlebook.__all__:
        assert getattr(girdlebook, name) is not None


def test_the_project_speaks_of_itself_alone():
    files = [*PAGES, *(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py"), ROOT / "Makefile"]
    for file in files:
        assert not re.search(r"/work/|\.\./shared", file.read_text("utf-8")), file

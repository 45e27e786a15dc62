"""What starting loads: `import girdlebook` and `girdle --version` are cheap because they load next to nothing.

How cheap in CPU time is measured by `python -m benchmarks.startup`, never by a test.
"""

import subprocess
import sys

HEAVY = {"pydantic", "openai", "httpx2", "rich", "ruamel", "sqlite3", "filelock", "snowballstemmer"}
ALLOWED_BY_VERSION = {"girdlebook", "girdlebook._version", "girdlebook.errors"}


def loaded_by(program: str) -> set[str]:
    """The modules that a program has loaded at its end."""
    script = f"{program}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.splitlines()[-1].split())


def packages(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def test_importing_the_package_loads_nothing_else() -> None:
    modules = loaded_by("import girdlebook")
    assert not packages(modules) & (HEAVY | {"typer"})
    assert {module for module in modules if module.startswith("girdlebook")} == {"girdlebook", "girdlebook._version"}


def test_asking_for_the_version_loads_no_layer_and_no_heavy_library() -> None:
    modules = loaded_by(
        "import sys; sys.argv = ['girdle', '--version']\n"
        "from girdlebook.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass"
    )
    assert not packages(modules) & HEAVY
    own = {module for module in modules if module.startswith("girdlebook") and "girdlebook.cli" not in module}
    assert own == ALLOWED_BY_VERSION
    assert "girdlebook.cli.chat" not in modules


def test_the_memory_of_a_home_loads_no_sdk() -> None:
    modules = loaded_by("import girdlebook; girdlebook.Memory, girdlebook.Agent")
    assert not packages(modules) & {"openai", "httpx2", "rich", "typer"}

"""What starting costs, in CPU time beside a yardstick: `python -m benchmarks.startup [--json] [--runs N]`.

`import_ratio` is `import girdlebook` over `import sqlite3, json`; `version_ratio` is `girdle --version` over
`import typer`.  Each is the least of N runs in a fresh process each, user and system time together.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass

IMPORT_LIMIT = 3.0
VERSION_LIMIT = 2.0

PROGRAMS = {
    "import girdlebook": "import girdlebook",
    "import sqlite3, json": "import sqlite3, json",
    # What the installed script holds.
    "girdle --version": "import sys; sys.argv = ['girdle', '--version']; from girdlebook.cli import main; main()",
    "import typer": "import typer",
}


@dataclass(frozen=True, slots=True)
class Startup:
    """The figures: the two ratios, the least CPU seconds of each program, and how they were taken."""

    import_ratio: float
    version_ratio: float
    cpu_seconds: dict[str, float]
    runs: int
    machine: str


def main() -> None:
    """Measure and print; the exit code is 1 where a ratio is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--runs", type=int, default=15, help="processes for each figure")
    arguments = parser.parse_args()
    startup = measure(arguments.runs)
    print(json.dumps(asdict(startup), indent=2) if arguments.json else as_text(startup))
    sys.exit(startup.import_ratio > IMPORT_LIMIT or startup.version_ratio > VERSION_LIMIT)


def measure(runs: int) -> Startup:
    """Run each program `runs` times, in turns, so that a slow moment of the machine meets all of them."""
    rounds = [{name: cpu_seconds(program) for name, program in PROGRAMS.items()} for _ in range(runs)]
    least = {name: min(seconds[name] for seconds in rounds) for name in PROGRAMS}
    return Startup(
        import_ratio=round(least["import girdlebook"] / least["import sqlite3, json"], 2),
        version_ratio=round(least["girdle --version"] / least["import typer"], 2),
        cpu_seconds={name: round(seconds, 4) for name, seconds in least.items()},
        runs=runs,
        machine=f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}",
    )


def as_text(startup: Startup) -> str:
    """The figures for people."""
    lines = [f"{name:<22} {seconds * 1000:6.1f} ms" for name, seconds in startup.cpu_seconds.items()]
    ratios = [
        f"import_ratio  {startup.import_ratio:.2f} (at most {IMPORT_LIMIT:g})",
        f"version_ratio {startup.version_ratio:.2f} (at most {VERSION_LIMIT:g})",
    ]
    return "\n".join([*lines, *ratios, f"CPU time, least of {startup.runs} runs, {startup.machine}"])


def cpu_seconds(program: str) -> float:
    """User and system time of a Python process that runs a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()

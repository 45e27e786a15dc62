"""Commands run inside the test process: the same code as the real one, without the cost of starting it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from girdlebook.cli.app import run


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def girdle(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run a command line; gives exit code, stdout and stderr."""

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = run(arguments)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call

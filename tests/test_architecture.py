"""The shape of the source.  Import directions are import-linter's contracts in pyproject.toml (`make lint`)."""

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "girdlebook"
FILES = sorted(SOURCE.rglob("*.py"))
TREES = {file.relative_to(SOURCE).as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in FILES}

BROAD_EXCEPT_ALLOWED = {"tools.py"}  # the user's own functions may raise anything
LONGEST_FUNCTION = 40
MEDIAN_FUNCTION = 8
FORBIDDEN_NAMES = {"utils", "util", "helpers", "common", "misc"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    for place, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{place}:{node.lineno} {node.name}", node


def code_lines(function: Function) -> int:
    """Lines of a function's own code: without its head and docstring, and without functions inside it."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    inner = [node for statement in body for node in ast.walk(statement) if isinstance(node, Function)]
    return sum(map(_lines, body)) - sum(map(_lines, inner))


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_functions_are_short() -> None:
    lengths = {name: code_lines(function) for name, function in functions()}
    assert [f"{name}: {length}" for name, length in lengths.items() if length > LONGEST_FUNCTION] == []
    assert statistics.median(lengths.values()) <= MEDIAN_FUNCTION


def test_nothing_catches_everything_but_the_toolbox() -> None:
    found = [
        f"{place}:{node.lineno}"
        for place, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and _is_broad(node) and place not in BROAD_EXCEPT_ALLOWED
    ]
    assert found == []


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException") for kind in caught)


def test_imports_stand_at_the_top() -> None:
    found = [
        f"{name}:{inner.lineno}"
        for name, function in functions()
        for inner in ast.walk(function)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]
    assert found == []


def test_no_function_passes_keywords_through() -> None:
    """Keywords that fill a text are no pass-through: `.format(**values)`."""
    passing = [
        name
        for name, function in functions()
        if function.args.kwarg is not None
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and not (isinstance(call.func, ast.Attribute) and call.func.attr == "format")
        if any(keyword.arg is None for keyword in call.keywords)
    ]
    assert passing == []


def test_no_module_is_a_drawer_for_everything() -> None:
    assert [place for place in TREES if Path(place).stem in FORBIDDEN_NAMES] == []


def test_no_function_changes_a_global() -> None:
    found = [
        f"{name}:{inner.lineno}"
        for name, function in functions()
        for inner in ast.walk(function)
        if isinstance(inner, ast.Global)
    ]
    assert found == []


def test_what_others_may_use_has_a_docstring() -> None:
    """Modules, public classes and public functions; methods of protocols and short properties speak for themselves."""
    found = [
        f"{place}:{getattr(node, 'lineno', 1)} {getattr(node, 'name', '')}"
        for place, tree in TREES.items()
        for node in [tree, *tree.body]
        if isinstance(node, ast.Module | ast.ClassDef | Function)
        and not getattr(node, "name", "").startswith("_")
        and ast.get_docstring(node) is None
        and tree.body
    ]
    assert found == []


def test_L1_39_no_module_needs_a_library_of_one_system() -> None:
    of_one_system = {"fcntl", "msvcrt", "pwd", "grp", "termios", "resource", "readline", "winreg"}
    found = [
        f"{place}: {alias}"
        for place, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in ([node.module] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names])
        if alias in of_one_system
    ]
    assert found == []

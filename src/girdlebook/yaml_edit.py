"""Changing one value in a YAML file and no other character of it (pure).

A round trip through a parser moves and loses comments; here the parser only says where a value stands.
"""

import io
from collections.abc import Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode


def set_in(text: str, steps: Sequence[str], value: Any) -> str:
    """The text with a value put at a place, which is made where it does not exist.

    Parameters:
        steps: the sections' names and the key's.
    """
    path = _path(text, steps)
    flow = _outermost_flow(text, path)
    if flow is not None:
        depth, braces = flow
        start, end = braces.start_mark.index, braces.end_mark.index
        return text[:start] + _flow(_put(_load(text[start:end]), steps[depth:], value)) + text[end:]
    if len(path) == len(steps):
        start, end = _span(path[-1][1], text, path[-1][0])
        return text[:start] + (" " if text[start - 1] == ":" else "") + _flow(value) + text[end:]
    if not path:
        return _insert(text, len(text), _block(steps, value, 0))
    key, node = path[-1]
    if isinstance(node, MappingNode) and node.value:
        (first, _), (last, ending) = node.value[0], node.value[-1]
        indent, after = first.start_mark.column, _end_of_line(text, _end(ending, last))
    else:
        # What stands for nothing (`~`, `null`) goes.
        text = text[: node.start_mark.index] + text[node.end_mark.index :]
        indent, after = key.start_mark.column + 2, _end_of_line(text, key.end_mark.index)
    return _insert(text, after, _block(steps[len(path) :], value, indent))


def remove_from(text: str, steps: Sequence[str]) -> str:
    """The text without a key and its value; a place that does not exist changes nothing."""
    path = _path(text, steps)
    if len(path) < len(steps):
        return text
    flow = _outermost_flow(text, path[:-1])
    if flow is not None:
        depth, braces = flow
        begin, end = braces.start_mark.index, braces.end_mark.index
        return text[:begin] + _flow(_less(_load(text[begin:end]), steps[depth:])) + text[end:]
    key, node = path[-1]
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    end = _end_of_line(text, _end(node, key))
    return text[:start] + text[min(len(text), end + 1) :]


def _path(text: str, steps: Sequence[str]) -> list[tuple[Node, Node]]:
    """The key and value nodes along the steps, as far as they exist."""
    node, path = YAML(pure=True).compose(text), list[tuple[Node, Node]]()
    for step in steps:
        pairs = node.value if isinstance(node, MappingNode) else ()
        found = next(((key, value) for key, value in pairs if key.value == step), None)
        if found is None:
            break
        path.append(found)
        node = found[1]
    return path


def _outermost_flow(text: str, path: Sequence[tuple[Node, Node]]) -> tuple[int, MappingNode] | None:
    """The first mapping on the way that is written in braces, and how many steps lead to it."""
    nodes = [YAML(pure=True).compose(text), *(value for _, value in path)]
    for depth, node in enumerate(nodes):
        if isinstance(node, MappingNode) and node.flow_style:
            return depth, node
    return None


def _span(node: Node, text: str, key: Node) -> tuple[int, int]:
    """Where a value stands; one that is absent or begins on the next line stands behind its key's colon."""
    colon = text.index(":", key.end_mark.index) + 1
    if isinstance(node, ScalarNode) and node.start_mark.index == node.end_mark.index:
        return colon, colon
    is_block = isinstance(node, CollectionNode) and not node.flow_style
    return colon if is_block else node.start_mark.index, _end(node, key)


def _end(node: Node, key: Node) -> int:
    """The last character of a value; the marks of blocks lie behind comments that follow them."""
    if isinstance(node, ScalarNode):
        return int(node.end_mark.index if node.style else max(node.end_mark.index, key.end_mark.index))
    if not isinstance(node, CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1], last[0]) if isinstance(node, MappingNode) else _end(last, key)


def _end_of_line(text: str, index: int) -> int:
    found = text.find("\n", index)
    return len(text) if found < 0 else found


def _insert(text: str, at: int, lines: str) -> str:
    before = text[:at]
    joint = "\n" if before and not before.endswith("\n") else ""
    rest = text[at:]
    return (
        before + joint + lines + (rest if rest.startswith("\n") or not rest else "\n" + rest) + ("" if rest else "\n")
    )


def _block(steps: Sequence[str], value: Any, indent: int) -> str:
    lines = [f"{' ' * (indent + 2 * depth)}{step}:" for depth, step in enumerate(steps)]
    return "\n".join(lines) + " " + _flow(value)


def _flow(value: Any) -> str:
    """A value on one line."""
    yaml, written = YAML(typ="safe", pure=True), io.StringIO()
    yaml.default_flow_style, yaml.width, yaml.allow_unicode = True, 1_000_000, True
    yaml.representer.sort_base_mapping_type_on_output = False
    # In a list a mapping of one key would lose its braces.
    yaml.dump({"v": value}, written)
    return written.getvalue().strip().removeprefix("{v:").removesuffix("}").strip()


def _load(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def _less(values: Any, steps: Sequence[str]) -> Any:
    first, *rest = steps
    if rest:
        return {**values, first: _less(values[first], rest)}
    return {name: value for name, value in values.items() if name != first}


def _put(values: Any, steps: Sequence[str], value: Any) -> Any:
    first, *rest = steps
    known = values or {}
    return {**known, first: _put(known.get(first), rest, value) if rest else value}

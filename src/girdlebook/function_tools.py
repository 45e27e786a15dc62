"""Plain typed functions as tools: the signature becomes the schema, the docstring the description."""

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from girdlebook.errors import ToolError
from girdlebook.tools import Tool, ToolSpec, Trust


def tool_from_function(function: Callable[..., object], *, trust: Trust = "local") -> Tool:
    """A tool that calls `function` with checked arguments.

    Parameters:
        function: every parameter has a type hint; the docstring says when to use it.
        trust: `untrusted` where its results hold text written by strangers.

    Raises:
        TypeError: there is no docstring, a parameter has no type hint or is `*args` or `**kwargs`.
    """
    arguments = _arguments_model(function)
    schema = arguments.model_json_schema()
    spec = ToolSpec(function.__name__, _description(function), _without_titles(schema), trust)

    def handler(given: dict[str, Any]) -> object:
        try:
            checked = arguments.model_validate(given)
        except ValidationError as error:
            raise ToolError(_explain(spec.name, error)) from error
        return function(**{name: getattr(checked, name) for name in arguments.model_fields})

    return Tool(spec, handler)


def _description(function: Callable[..., object]) -> str:
    text = inspect.getdoc(function)
    if not text:
        raise TypeError(f"{function.__name__} needs a docstring: it tells the model when to use the tool")
    return text


def _arguments_model(function: Callable[..., object]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{function.__name__}: {parameter} cannot be offered to a model; name each parameter")
        if name not in hints:
            raise TypeError(f"{function.__name__}: {name!r} has no type hint")
        fields[name] = (hints[name], ... if parameter.default is parameter.empty else parameter.default)
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def _explain(name: str, error: ValidationError) -> str:
    problems = "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}" for problem in error.errors()
    )
    return f"{name} was called with wrong arguments: {problems}"


def _without_titles(schema: Any) -> Any:
    """The schema without pydantic's titles, which cost tokens and say nothing new."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_titles(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)
    }

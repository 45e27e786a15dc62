"""Plain typed functions as tools."""

import json
from typing import Literal

import pytest

from girdlebook.function_tools import tool_from_function
from girdlebook.messages import ToolCall
from girdlebook.tools import Toolbox


def weather(city: str, unit: Literal["C", "F"] = "C", days: int = 1) -> str:
    """The forecast for a city."""
    return f"{city} {unit} {days}"


def test_signature_and_docstring_become_the_spec():
    spec = tool_from_function(weather).spec
    assert (spec.name, spec.description, spec.trust) == ("weather", "The forecast for a city.", "local")
    assert spec.parameters["required"] == ["city"]
    assert spec.parameters["properties"]["unit"]["enum"] == ["C", "F"]
    assert "title" not in json.dumps(spec.parameters)


def test_a_parameter_called_title_is_kept():
    def name(title: str) -> str:
        """Give a name."""
        return title

    assert list(tool_from_function(name).spec.parameters["properties"]) == ["title"]


def test_checked_arguments_reach_the_function():
    box = Toolbox([tool_from_function(weather)])
    assert box.run(ToolCall("1", "weather", '{"city": "厦门", "days": "3"}')).content == "厦门 C 3"


@pytest.mark.parametrize("arguments", ["{}", '{"city": 1}', '{"city": "x", "unit": "K"}', '{"city": "x", "sky": 1}'])
def test_wrong_arguments_are_answered_with_the_parameter_that_is_wrong(arguments):
    result = Toolbox([tool_from_function(weather)]).run(ToolCall("1", "weather", arguments))
    assert result.is_error
    assert any(name in json.loads(result.content)["error"] for name in ("city", "unit", "sky"))


def test_untrusted_results_are_marked():
    assert tool_from_function(weather, trust="untrusted").spec.trust == "untrusted"


def no_docstring(a: str) -> str:
    return a


def no_hint(a):
    """Has no hint."""
    return a


def star(*a: str) -> str:
    """Takes anything."""
    return str(a)


@pytest.mark.parametrize("function", [no_docstring, no_hint, star])
def test_a_function_that_tells_the_model_too_little_is_refused(function):
    with pytest.raises(TypeError, match=function.__name__):
        tool_from_function(function)

"""Real implementations for tests, public so that users of the package can test their own agents with them."""

from girdlebook.models.scripted import ScriptedModel
from girdlebook.testing.prefix import assert_prefix_stable

__all__ = ["ScriptedModel", "assert_prefix_stable"]

"""The loop around a session."""

from girdlebook.agent.agent import Agent
from girdlebook.agent.loop import TurnResult, run_turn

__all__ = ["Agent", "TurnResult", "run_turn"]

"""What girdlebook asks of a language model."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from girdlebook.context import Context
from girdlebook.messages import Reply

OnText = Callable[[str], None]


class ChatModel(Protocol):
    """Anything that answers a context.

    `name` identifies the model in records and is equal for every call of a session.
    """

    @property
    def name(self) -> str: ...

    def reply(self, context: Context, on_text: OnText | None = None) -> Reply:
        """Answer the context.

        Parameters:
            context: what the model sees.
            on_text: called with each piece of text as it arrives; a model that cannot stream calls it once.

        Raises:
            ModelError: the model could not be asked, or its answer could not be understood.
        """
        ...


@runtime_checkable
class KnowsItsWindow(Protocol):
    """A model that can tell how long a request may be."""

    def context_length(self) -> int | None:
        """Tokens of the model's window; None where it is not known."""
        ...


def window_of(model: ChatModel) -> int | None:
    """The model's window in tokens, where it knows it."""
    return model.context_length() if isinstance(model, KnowsItsWindow) else None


def is_language_model(model: ChatModel) -> bool:
    """Whether it can be asked for summaries and flushes; the embedded responder, which only quotes, says no."""
    return bool(getattr(model, "summarises", True))

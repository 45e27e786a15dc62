"""What girdlebook asks of a language model."""

from collections.abc import Callable
from typing import Protocol

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

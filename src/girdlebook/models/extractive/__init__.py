"""The embedded default: an honest extractive responder, no language model."""

from girdlebook.models.extractive.responder import ExtractiveModel

__all__ = ["ExtractiveModel"]

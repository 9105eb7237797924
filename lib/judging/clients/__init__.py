"""Clients: one prompt and one schema in, one completion out, whatever serves the model."""

from lib.judging.clients.base import (
    CallFailed,
    Client,
    Completion,
    ContextOverflow,
    Decoding,
    ModelMissing,
    Retry,
    TokenLogprob,
    TransportError,
)
from lib.judging.clients.openai import OpenAIClient

__all__ = [
    "CallFailed",
    "Client",
    "Completion",
    "ContextOverflow",
    "Decoding",
    "ModelMissing",
    "OpenAIClient",
    "Retry",
    "TokenLogprob",
    "TransportError",
]

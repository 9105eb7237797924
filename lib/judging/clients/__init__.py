"""Clients: one prompt and one schema in, one completion out, whatever serves the model."""

from lib.judging.clients.base import Client, Completion, Decoding, Target, TokenLogprob, connect
from lib.judging.clients.failures import (
    CallFailed,
    ContextOverflow,
    ModelMissing,
    RateLimited,
    Refused,
    RequestRefused,
    TransportError,
)

__all__ = [
    "CallFailed",
    "Client",
    "Completion",
    "ContextOverflow",
    "Decoding",
    "ModelMissing",
    "RateLimited",
    "Refused",
    "RequestRefused",
    "Target",
    "TokenLogprob",
    "TransportError",
    "connect",
]

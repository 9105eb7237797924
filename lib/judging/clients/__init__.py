"""Clients: one prompt and one schema in, one completion out, whatever serves the model."""

from lib.judging.clients.base import Client, Completion, Decoding, Retry, TokenLogprob
from lib.judging.clients.failures import CallFailed, ContextOverflow, ModelMissing, TransportError
from lib.judging.clients.ollama import OllamaClient
from lib.judging.clients.openai import OpenAIClient

__all__ = [
    "CallFailed",
    "Client",
    "Completion",
    "ContextOverflow",
    "Decoding",
    "ModelMissing",
    "OllamaClient",
    "OpenAIClient",
    "Retry",
    "TokenLogprob",
    "TransportError",
]

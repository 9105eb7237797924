"""Bounds on a response's body: a client's time-out holds for each read, so an answer that trickles would never end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from lib.judging.clients.failures import TransportError

MOST_BYTES = 64 << 20  # many times a reply of the largest context with its log-probabilities


def bound_body(where: Callable[[], str]) -> Callable[[Any], None]:
    """Response hook for an httpx client: the body may take as long as the request's time-out, and 64 MiB.

    Beyond that, reading it raises ``TransportError``, which names ``where()``.
    """

    def hook(response: Any) -> None:
        # The two official clients use different generations of httpx, each of which reads only streams of its own.
        kind = type("Bounded", (_Bounded, type(response.stream)), {})
        response.stream = kind(response.stream, response.request.extensions["timeout"]["read"], where())

    return hook


class _Bounded:
    def __init__(self, body: Any, seconds: float, where: str) -> None:
        self.body, self.end, self.where = body, time.monotonic() + seconds, where

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self.body:
            size += len(chunk)
            if time.monotonic() > self.end:
                raise TransportError(f"{self.where}: no end of the answer in time")
            if size > MOST_BYTES:
                raise TransportError(f"{self.where}: an answer of more than {MOST_BYTES} bytes")
            yield chunk

    def close(self) -> None:
        self.body.close()

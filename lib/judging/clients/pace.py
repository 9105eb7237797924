"""When to ask: again after a passing trouble, and no faster than the server allows, for all threads of a client."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable
from heapq import heappop, heappush
from typing import TypeVar

from lib.errors import UserError
from lib.judging.clients.failures import RateLimited, TransportError

log = logging.getLogger(__name__)
T = TypeVar("T")

A_MINUTE = 60.0  # what rates are counted by: who is refused after it, alone, is not refused for asking too fast
LONGEST_PAUSE = 900.0  # seconds that a server may ask for; who wants more has a limit of a day
REMEDY = "with fewer --workers or --requests-per-minute"


class Pace:
    """Repeats calls, and holds all of a client's calls back while the server limits their rate.

    Args:
        attempts: calls made before a passing trouble is a failure. Waiting for a rate limit is none of them.
        first_wait: seconds before the second attempt; they double with each further one.
        per_minute: most requests sent in a minute.
    """

    def __init__(self, attempts: int = 4, first_wait: float = 1.0, per_minute: float | None = None) -> None:
        self.attempts, self.first_wait = attempts, first_wait
        self._spacing = 60.0 / per_minute if per_minute else 0.0
        self._changed = threading.Condition()
        self._tickets = itertools.count()
        self._queue: list[int] = []
        self._free_at = 0.0  # when the next request may be sent
        self._limited = False
        self._trying = False  # the one request after a pause is on its way; all others wait for its answer
        self._over: UserError | None = None

    def run(self, call: Callable[[], T]) -> T:
        """The call's result, or its ``TransportError`` after all attempts. Raises UserError when waiting is no use."""
        failed, limited_at = 0, None
        while True:
            alone = self._enter()
            try:
                result = call()
            except RateLimited as limited:
                limited_at = limited_at or time.monotonic()
                waited = time.monotonic() - limited_at
                self._pause(limited, waited)
                if alone and waited >= A_MINUTE:
                    text = f"{limited} (after a wait of {waited:.0f} s; run the same command again later, {REMEDY})"
                    raise TransportError(text, attempts=failed + 1) from None
            except TransportError as error:
                self._go_on(limited=self._limited)
                failed += 1
                if failed == self.attempts:
                    raise TransportError(f"{error} (after {failed} attempts)", attempts=failed) from None
                time.sleep(min(max(self.first_wait * 2 ** (failed - 1), error.retry_after or 0.0), A_MINUTE))
            except BaseException:
                self._go_on(limited=self._limited)
                raise
            else:
                self._go_on(limited=False)
                return result

    def _enter(self) -> bool:
        """Wait for one's turn, in order of arrival; whether the request goes alone, to see if the pause is over."""
        with self._changed:
            ticket = next(self._tickets)
            heappush(self._queue, ticket)
            while not self._over:
                wait = None if self._trying or self._queue[0] != ticket else self._free_at - time.monotonic()
                if wait is not None and wait <= 0:
                    break
                self._changed.wait(wait)
            if self._over:
                raise self._over
            heappop(self._queue)
            self._free_at = time.monotonic() + self._spacing
            self._trying = self._limited
            self._changed.notify_all()
            return self._trying

    def _go_on(self, *, limited: bool) -> None:
        with self._changed:
            self._limited, self._trying = limited, False
            self._changed.notify_all()

    def _pause(self, limited: RateLimited, waited: float) -> None:
        """Nobody sends for as long as the server asks; where it does not say, for as long again as this call waited."""
        asked = limited.retry_after or 0.0
        wait = asked if asked >= self.first_wait else min(max(self.first_wait, waited), A_MINUTE)
        with self._changed:
            now = time.monotonic()
            if wait > LONGEST_PAUSE:
                self._over = UserError(f"{limited}. Everything collected is kept; run the same command then, {REMEDY}.")
            elif now >= self._free_at:
                log.warning("Waiting %.3g s for the server's limit of requests (%s)", wait, limited)
            self._free_at = max(self._free_at, now + wait)
            self._limited, self._trying = True, False
            self._changed.notify_all()
            if self._over:
                raise self._over

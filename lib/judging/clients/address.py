"""Whether an address can be called at all, told before the first call."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx


def check_address(url: str) -> None:
    """Raises ValueError for a URL that is not http(s), names no host, or whose host or port cannot exist.

    httpx itself finds out about some of these only as it connects, in errors of other libraries.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it names no host, or is not http(s)")
    _ = parts.port  # raises for a port that is no number up to 65535
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(str(error)) from error
    _ = parsed.host  # raises for a name in broken Punycode
    parsed.raw_host.decode("ascii").encode("idna")  # as the look-up of the name will: raises for a part too long

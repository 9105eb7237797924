"""What must not leave: keys, passwords and header values, replaced wherever a server or a library repeats them."""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from lib.errors import UserError

HIDDEN = "[hidden]"
SHORTEST = 6  # characters: a shorter value is a common word, and nothing that would stay secret
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


class Secrets:
    """Replaces values in texts, as they are and in the forms in which JSON, a URL or a page writes them."""

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values if len(value) >= SHORTEST for form in _forms(value)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._found = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if forms else None

    def hide(self, text: str) -> str:
        return self._found.sub(HIDDEN, text) if self._found else text

    def hide_in(self, value: Any) -> Any:
        """The same for every text in a JSON value, keys included."""
        if self._found is None:
            return value
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, list):
            return [self.hide_in(item) for item in value]
        if isinstance(value, dict):
            return {self.hide(key): self.hide_in(item) for key, item in value.items()}
        return value


def _forms(value: str) -> list[str]:
    return [value, quote(value, safe=""), json.dumps(value)[1:-1], html.escape(value), repr(value)[1:-1]]


def sendable(value: str, told_by: str) -> str:
    """A header's value without blanks and line ends around it; raises UserError where it cannot be sent."""
    value = value.strip()
    odd = next((position for position, letter in enumerate(value, 1) if not " " <= letter <= "~"), None)
    if odd:
        raise UserError(
            f"{told_by}: character {odd} is none that can be sent (a curly quote, a line end?). Set it again, plainly."
        )
    return value


def key_of(variable: str) -> str:
    """The key in an environment variable, ready to be sent; empty where there is none."""
    return sendable(os.environ.get(variable, ""), variable)


def header(given: str) -> tuple[str, str]:
    """Name and value of ``NAME: VALUE``; a value such as ``$TEAM_KEY`` is read from that environment variable."""
    name, colon, value = given.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
        raise UserError("--header takes 'NAME: VALUE'; the value may be the name of an environment variable: $NAME.")
    if not value.startswith("$"):
        return name, sendable(value, f"--header {name}")
    if value[1:] not in os.environ:
        raise UserError(f"--header {name} names the environment variable {value[1:]}, which is not set.")
    return name, key_of(value[1:])


def basic(user: str, password: str) -> str:
    """User and password as the ``Authorization`` header takes them (RFC 7617)."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def in_address(url: str) -> list[str]:
    """What is secret in an address: password, its header's form, and the values of its query but the API's version."""
    parts = urlsplit(url)
    values = [pair.partition("=")[2] for pair in parts.query.split("&") if not pair.startswith("api-version=")]
    if parts.username or parts.password:
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        values += [password, f"{user}:{password}", basic(user, password).split()[1]]
    return [form for value in values for form in (value, unquote(value))]


def in_proxies() -> list[str]:
    """What is secret in the addresses of the proxies that the environment names."""
    found: list[str] = []
    for name in PROXIES:
        for variable in (name, name.lower()):
            try:
                found += in_address(os.environ.get(variable, ""))
            except ValueError:  # no address; said so where the proxy is to be used
                found.append(os.environ[variable])
    return found

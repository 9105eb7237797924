"""JSON over HTTP to one server: its address, what is sent along, and bounds on what comes back."""

from __future__ import annotations

import http.client
import io
import json
import logging
import os
import threading
import time
import urllib.request
from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast
from urllib.parse import SplitResult, unquote, urlsplit

import certifi
import urllib3
from urllib3.exceptions import HTTPError, LocationValueError
from urllib3.exceptions import TimeoutError as TimedOut

from lib.errors import UserError
from lib.judging.clients import failures, secrets
from lib.judging.clients.failures import TransportError

MOST_BYTES = 64 << 20  # many times a reply of the largest context with its log-probabilities
MOST_CONNECTIONS = 1_000
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_call = threading.local()
logging.getLogger("urllib3.connectionpool").setLevel(logging.WARNING)  # what it says below tells an address' query


class Server:
    """Where a model is served. Credentials of the address, the key and further headers go along with every request.

    Args:
        address: an http(s) URL; told_by: the option or variable it was given in.
        key: the environment variable that holds the key.
        headers: ``NAME: VALUE`` each; these go before what the key or the address would send.

    Attributes:
        endpoint: the address, fit to be shown.
        answered: whether a request has been answered well.
    """

    def __init__(self, address: str, told_by: str, key: str, headers: Sequence[str] = ()) -> None:
        self._parts = checked(address, told_by)
        self._key, self.answered = key, False
        self.endpoint = public(address)
        secret, given = secrets.key_of(key), [secrets.header(text) for text in headers]
        self._headers = {"Content-Type": "application/json"} | self._credentials(secret) | dict(given)
        hidden = [secret, *(value for _, value in given), *secrets.in_address(address), *secrets.in_proxies()]
        self._secrets = secrets.Secrets(hidden)

    def _credentials(self, key: str) -> dict[str, str]:
        parts = self._parts
        if parts.username or parts.password:
            return {"Authorization": secrets.basic(unquote(parts.username or ""), unquote(parts.password or ""))}
        if not key:
            return {}
        is_azure = (parts.hostname or "").endswith(".azure.com")
        return {"api-key": key} if is_azure else {"Authorization": f"Bearer {key}"}

    def post(self, path: str, body: bytes, timeout: float, model: str) -> dict[str, Any]:
        """The JSON object that a request is answered with. Raises what ``failures.failure`` makes of anything else."""
        status, headers, content = self._request("POST", self.url(path), body, timeout)
        answer = self._decoded(content)
        is_good = isinstance(answer, dict) and 200 <= status < 300
        if is_good and not answer.get("error"):
            self.answered = True
            return cast(dict[str, Any], answer)
        said = failures.said_in(answer if isinstance(answer, dict) else self._start(content))
        if is_good:
            status = int(said.code) if said.code in ("400", "401", "402", "403", "404", "413", "422", "429") else 502
        if status < 400:
            raise self._no_answer(status, headers, said.words)
        raise failures.failure(self.endpoint, status, said, headers, model=model, key=self._key, answered=self.answered)

    def get(self, url: str, timeout: float) -> dict[str, Any]:
        """A page's JSON object; empty where the server has no such page. Raises TransportError, UserError."""
        status, headers, content = self._request("GET", url, None, timeout)
        answer = self._decoded(content)
        if status in (401, 429) or status >= 500:
            said = failures.said_in(answer if isinstance(answer, dict) else self._start(content))
            raise failures.failure(self.endpoint, status, said, headers, model="", key=self._key, answered=False)
        return answer if isinstance(answer, dict) and status < 300 else {}

    def url(self, path: str) -> str:
        """The address of a page below this one; the address' own query stays."""
        return f"{self.endpoint}{path}" + (f"?{self._parts.query}" if self._parts.query else "")

    def _request(self, method: str, url: str, body: bytes | None, timeout: float) -> tuple[int, Any, bytes]:
        _call.end = time.monotonic() + timeout
        try:
            response = self._pool.request(
                method,
                url,
                body=body,
                headers=self._headers,
                timeout=urllib3.Timeout(timeout),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            try:
                return response.status, response.headers, self._bounded(response)
            finally:
                response.release_conn()
        except (TimedOut, TimeoutError):
            raise TransportError(f"{self.endpoint}: no answer in time") from None
        except (HTTPError, OSError) as error:
            # The cause may quote the request, so it is not kept.
            words = self._secrets.hide(str(error).rpartition(": ")[2] or type(error).__name__)
            through = f" (through the proxy that {self._proxy[0]} names)" if self._proxy else ""
            raise TransportError(f"{self.endpoint}: {type(error).__name__}: {words}{through}") from None

    def _bounded(self, response: urllib3.BaseHTTPResponse) -> bytes:
        content = response.read(MOST_BYTES + 1, decode_content=True)
        if len(content) > MOST_BYTES:
            response.close()
            raise TransportError(f"{self.endpoint}: an answer of more than {MOST_BYTES} bytes")
        return content

    def _decoded(self, content: bytes) -> Any:
        """The JSON value, without secrets; None for what is none. Lone surrogates and NaN are read as they stand."""
        try:
            return self._secrets.hide_in(json.loads(content.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            return None

    def _start(self, content: bytes) -> str:
        return self._secrets.hide(content[:10_000].decode("utf-8", "replace"))

    def _no_answer(self, status: int, headers: Any, words: str) -> Exception:
        if place := headers.get("location"):
            shown = self._secrets.hide(public(place))
            return UserError(f"{self.endpoint}: {status}: moved to {shown}; give the new address with --base-url")
        return TransportError(f"{self.endpoint}: {status}: not the answer asked for: {words}")

    @cached_property
    def _proxy(self) -> tuple[str, str] | None:
        """The variable that names a proxy for this address, and the proxy. This machine needs none."""
        host = self._parts.hostname or ""
        if host in ("localhost", "::1", "0.0.0.0") or host.startswith("127.") or urllib.request.proxy_bypass(host):
            return None
        for name in (f"{self._parts.scheme}_proxy", "all_proxy"):
            for variable in (name, name.upper()):
                if os.environ.get(variable):
                    return variable, os.environ[variable]
        return None

    @cached_property
    def _pool(self) -> urllib3.PoolManager:
        options: dict[str, Any] = {"maxsize": MOST_CONNECTIONS}
        if self._parts.scheme == "https":
            options["ca_certs"] = _certificates()
        made = _through(*self._proxy, options) if self._proxy else urllib3.PoolManager(**options)
        made.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool} | (
            {} if type(made) in (urllib3.PoolManager, urllib3.ProxyManager) else made.pool_classes_by_scheme
        )
        return made


def _certificates() -> str | None:
    """The authorities' certificates; None where the environment names some, which OpenSSL then reads itself."""
    named = {variable: os.environ[variable] for variable in CERTIFICATES if os.environ.get(variable)}
    for variable, place in named.items():
        if not os.path.exists(place):
            raise UserError(f"{variable} names {place!r}, which does not exist: correct it, or unset it.")
    return None if named else certifi.where()


def _through(variable: str, proxy: str, options: dict[str, Any]) -> urllib3.PoolManager:
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        credentials = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}" if parts.username else None
        if parts.scheme.startswith("socks"):
            from urllib3.contrib.socks import SOCKSProxyManager

            return SOCKSProxyManager(parts.geturl(), **options)
        headers = urllib3.make_headers(proxy_basic_auth=credentials) if credentials else None
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        return urllib3.ProxyManager(bare, proxy_headers=headers, **options)
    except ImportError:
        raise UserError(
            f"{variable} names a SOCKS proxy: `pip install pysocks`, unset it, or add to NO_PROXY."
        ) from None
    except (ValueError, HTTPError):
        raise UserError(f"{variable} names no proxy that can be used: correct it, or unset it.") from None


class _Timed(http.client.HTTPResponse):
    """A response whose reads, headers included, all end at the call's end: a socket's time-out is one read's."""

    def __init__(self, sock: Any, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_Reads(self.fp.detach(), sock))


class _Reads(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, sock: Any) -> None:
        self._raw, self._sock = raw, sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = _call.end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Connection(urllib3.connection.HTTPConnection):
    response_class = _Timed


class _TLSConnection(urllib3.connection.HTTPSConnection):
    response_class = _Timed


class _Pool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


def checked(url: str, told_by: str) -> SplitResult:
    """The parts of an address that can be called. Raises UserError, without what may be a password."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("it names no host, or is not http(s)")
        _ = parts.port  # raises for a port that is no number up to 65535
        parts.hostname.encode("idna").decode("idna")  # as the look-up of the name will: raises for a part too long
        urllib3.util.parse_url(url)
    except (ValueError, LocationValueError) as error:
        shown = url.rpartition("@")[2].partition("?")[0]
        why = str(error) if isinstance(error, UnicodeError) or "://" not in str(error) else "it cannot be read"
        raise UserError(f"{told_by} {shown!r} is no address ({why}); give it as http://host:port/v1") from None
    return parts


def public(url: str) -> str:
    """A URL as it may be shown and stored: no user, password, query or fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl().rstrip("/")

"""The HTTP transport of requests to providers: it enforces deadline, destination and size.

httpx restarts its timeout with each read, so a server that drips never exceeds it. Here the
exchange's deadline limits connecting, every read and every write. A redirect is an error, since it
would carry texts and the key to an address that nobody configured.
"""

import ipaddress
import os
import re
import ssl
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from kinmem.llm.deadline import Deadline, Exchange, current
from kinmem.llm.providers import is_here

IDLE_SECONDS = 60.0
# A boolean as an item of a list.
BOOLEAN = re.compile(rb"[\[,]\s*(?:true|false)\s*[,\]]")


class GuardedTransport(httpx.BaseTransport):
    """A transport for the client of any library, with the limits of the calling thread's exchange.

    HTTPS_PROXY, HTTP_PROXY and NO_PROXY are followed, except for addresses of this machine. Outside
    of an exchange only the size is limited.
    """

    def __init__(self) -> None:
        self._pools: dict[str | None, httpcore.ConnectionPool] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        exchange = current.get() or Exchange(Deadline(None))
        exchange.sent = True
        try:
            _refuse_metadata(request.url.host, exchange)
            _refuse_foreign_key(request, exchange)
            answer = self._pool(request.url).handle_request(_plain(request))
            return _checked(answer, request, exchange)
        except httpcore.TimeoutException as error:
            exchange.failure = "out of time"
            raise httpx.ReadTimeout(exchange.failure, request=request) from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
            exchange.failure = str(error) or type(error).__name__
            raise httpx.NetworkError(exchange.failure, request=request) from error

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()

    def _pool(self, url: httpx.URL) -> httpcore.ConnectionPool:
        direct = is_here(url.host) or proxy_bypass(url.host)
        proxy = None if direct else getproxies().get(url.scheme)
        if proxy not in self._pools:
            self._pools[proxy] = _opened(proxy)
        return self._pools[proxy]


def _opened(proxy: str | None) -> httpcore.ConnectionPool:
    options: dict[str, Any] = {
        "ssl_context": httpx.create_ssl_context(),
        "max_connections": None,  # the deadline would not limit waiting for a free connection
        "max_keepalive_connections": 10,
        "keepalive_expiry": IDLE_SECONDS,
        "network_backend": _TimedBackend(),
    }
    if proxy is None:
        return httpcore.ConnectionPool(**options)
    return httpcore.HTTPProxy(proxy, **options)


def _plain(request: httpx.Request) -> httpcore.Request:
    url = request.url
    target = httpcore.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )
    # The sending library's timeouts are dropped: the deadline is the only one.
    return httpcore.Request(
        request.method, target, headers=request.headers.raw, content=request.stream
    )


def _checked(
    answer: httpcore.Response, request: httpx.Request, exchange: Exchange
) -> httpx.Response:
    response = httpx.Response(
        answer.status,
        headers=answer.headers,
        stream=_Bounded(answer, exchange),
        extensions=answer.extensions,
    )
    exchange.status = response.status_code
    exchange.retry_after = _seconds(response.headers.get("retry-after"))
    if response.has_redirect_location:
        answer.close()
        exchange.problem = "it redirects to another address, which is not followed"
        raise httpx.NetworkError(exchange.problem, request=request)
    return response


def _refuse_metadata(host: str, exchange: Exchange) -> None:
    """Refuse link-local addresses, which hand out the credentials of cloud machines and serve no
    models."""
    try:
        link_local = ipaddress.ip_address(host).is_link_local
    except ValueError:
        link_local = False
    if link_local or host == "fd00:ec2::254":
        exchange.problem = f"its address {host} is not one where models are served"
        raise httpcore.NetworkError(exchange.problem)


def _refuse_foreign_key(request: httpx.Request, exchange: Exchange) -> None:
    """Refuse to send OPENAI_API_KEY elsewhere: OpenAI's client uses it for any address if it has no
    other."""
    key = os.environ.get("OPENAI_API_KEY")
    sent = request.headers.get("authorization", "")
    if key and exchange.key is None and key in sent and request.url.host != "api.openai.com":
        exchange.problem = "its own key is not set, and OPENAI_API_KEY is not for it"
        raise httpcore.NetworkError(exchange.problem)


def refuse_booleans(response: httpx.Response) -> None:
    """Refuse booleans among numbers, since OpenAI's client reads true as 1.0.

    For a client's event hook.
    """
    exchange = current.get()
    if exchange is not None and exchange.of_numbers and BOOLEAN.search(response.read()):
        exchange.problem = "it answered with true or false among the numbers of a vector"
        raise httpx.DecodingError(exchange.problem, request=response.request)


def _seconds(header: str | None) -> float | None:
    """Parse Retry-After, which is a number of seconds or a date; None if it is neither."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (moment - datetime.now(moment.tzinfo and UTC)).total_seconds())


class _Bounded(httpx.SyncByteStream):
    """A body that is read up to the exchange's size limit."""

    def __init__(self, answer: httpcore.Response, exchange: Exchange) -> None:
        self._answer = answer
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._answer.iter_stream():
            size += len(part)
            if size > self._exchange.largest:
                most = self._exchange.largest
                self._exchange.problem = f"it answered with more than {most:,} bytes"
                raise httpx.ReadError(self._exchange.problem)
            yield part

    def close(self) -> None:
        self._answer.close()


class _TimedBackend(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._inner.connect_tcp(host, port, _left(), local_address, socket_options)
        return _TimedStream(stream)


class _TimedStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        return _TimedStream(self._inner.start_tls(ssl_context, server_hostname, _left()))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left() -> float | None:
    """Return the seconds left to this thread's exchange; raise if there are none."""
    exchange = current.get()
    if exchange is None:
        return None
    if not exchange.deadline.left:
        raise httpcore.ReadTimeout
    return exchange.deadline.left

"""From requests to httpx and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from ._effects import Answer, Request, Unreachable
from ._identity import Identity
from ._values import Json

CONNECTIONS_MAX = 200
CONNECTIONS_KEPT_S = 6.0
"""The server closes a connection that is idle for 8 s: we are first, so that no request meets a closing one."""

LIMITS = httpx.Limits(max_connections=CONNECTIONS_MAX, keepalive_expiry=CONNECTIONS_KEPT_S)


def arguments(identity: Identity, request: Request, timeout_s: float) -> Mapping[str, Any]:
    """The request as httpx takes it. What waits at the server is given that time on top."""
    return {
        "method": request.method,
        "url": identity.endpoint + request.path,
        "params": _params(request.query) if request.query else None,
        "content": request.body,
        "headers": identity.headers(request),
        "timeout": httpx.Timeout(timeout_s, read=timeout_s + request.wait_s) if request.wait_s else timeout_s,
    }


def _params(query: Mapping[str, Json]) -> dict[str, Json]:
    def plain(value: Json) -> Json:
        if isinstance(value, bool):
            return "true" if value else "false"
        return list(value) if isinstance(value, (tuple, set)) else value

    return {name: plain(value) for name, value in query.items()}


def answer(response: httpx.Response) -> Answer:
    """What the server said."""
    is_json = "json" in response.headers.get("content-type", "")
    document = _document(response) if is_json else None
    return Answer(response.status_code, response.headers, document, "" if is_json and document else response.text)


def _document(response: httpx.Response) -> Json:
    try:
        return response.json()
    except ValueError:
        return None


def unreachable(error: httpx.HTTPError, identity: Identity) -> Unreachable:
    """Why there is no answer."""
    where = f"{identity.endpoint} ({type(error).__name__}: {error})"
    if isinstance(error, (httpx.ReadTimeout, httpx.WriteTimeout)):
        said = f"no answer in time from {where}: it is not known whether it was done; repeat with the same idempotency_key"
        return Unreachable(said, timed_out=True)
    return Unreachable(f"cannot reach {where}: check that the server runs and the endpoint is right")

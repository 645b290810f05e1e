"""Values as they are written: seconds, moments, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any, TypeAlias

Json: TypeAlias = Any
Document: TypeAlias = Mapping[str, Any]
Duration: TypeAlias = "float | timedelta"
Moment: TypeAlias = "str | datetime"

NO_REASON = "no reason given"
"""What is on record where a reason is asked for and the caller has none."""


def seconds(duration: Duration) -> float:
    """The duration in seconds."""
    return duration.total_seconds() if isinstance(duration, timedelta) else float(duration)


def written(moment: Moment) -> str:
    """The moment as RFC 3339; one without a time zone is local time, as everywhere in Python."""
    if isinstance(moment, str):
        return moment
    utc = moment.astimezone(timezone.utc)
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(text: str | None) -> datetime | None:
    """The moment that RFC 3339 writes."""
    if text is None:
        return None
    # Python 3.10 reads three or six digits of a second, and no Z.
    whole, dot, rest = text.upper().replace("Z", "+00:00").partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    return datetime.fromisoformat(f"{whole}.{digits[:6]:0<6}{rest[len(digits) :]}" if dot else whole)


def encoded(body: Json) -> bytes:
    """The body as JSON; moments and durations may stand in it."""
    return json.dumps(body, default=_encodable, ensure_ascii=False, separators=(",", ":")).encode()


def _encodable(value: object) -> Json:
    if isinstance(value, datetime):
        return written(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is no JSON: turn it into text, numbers, lists and dicts first")


def given(**fields: Json) -> dict[str, Json]:
    """The fields that were given: those that are not None."""
    return {name: value for name, value in fields.items() if value is not None}

"""Operations on channels and publications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._effects import Operation, ask, at, get, post, write
from ._handoffs import envelope_id, handed_on
from ._records import ChannelRecord, ClientRecord, HandoffRecord, PublicationRecord
from ._sending import WAIT_S_MAX
from ._values import Duration, Json, given, seconds


def subscribe(channel: ChannelRecord, agent: str, *, idempotency_key: str | None = None) -> Operation[None]:
    """From now on the agent gets what is published without naming receivers.

    Example: ``spine.get_channel("oauth-migration").subscribe("doc-writer")``
    """
    yield from ask(write("PUT", at("channels", channel.name, "subscribers", agent), key=idempotency_key))


def unsubscribe(channel: ChannelRecord, agent: str, *, idempotency_key: str | None = None) -> Operation[None]:
    """The agent no longer gets what is published without naming receivers.

    Example: ``channel.unsubscribe("doc-writer")``
    """
    yield from ask(write("DELETE", at("channels", channel.name, "subscribers", agent), key=idempotency_key))


def subscribers(channel: ChannelRecord) -> Operation[list[str]]:
    """Who gets what is published without naming receivers.

    Example: ``channel.subscribers()``
    """
    document = yield from ask(get(at("channels", channel.name)))
    return list(document["subscribers"])


def publish(
    channel: ChannelRecord,
    envelope: HandoffRecord | str,
    receivers: Sequence[str] | None = None,
    delivery: Literal["at-least-once"] = "at-least-once",
    join: Mapping[str, Any] | None = None,
    *,
    idempotency_key: str | None = None,
) -> Operation[PublicationRecord]:
    """Sends an envelope to the receivers named, or to all subscribers: one delivery each, independent of the others.

    ``join`` is one more handoff, made when all are done (or ``need`` of them, or after ``timeout``): the arguments of
    ``agent_handoff``, ``need`` and ``timeout``.

    Example::

        channel.publish(handoff, receivers=["writer", "tester"],
                        join={"target_agent": "reviewer", "task_summary": "Review both.", "timeout": 3600})
    """
    if delivery != "at-least-once":
        raise ValueError(f"{delivery!r} is no way to publish: every delivery is 'at-least-once'")
    body = given(
        envelope_id=envelope_id(envelope),
        receivers=None if receivers is None else list(receivers),
        join=None if join is None else _join_body(join),
    )
    document = yield from ask(post(at("channels", channel.name, "publish"), body, key=idempotency_key))
    return PublicationRecord.read(channel.owner, document)


def _join_body(join: Mapping[str, Any]) -> dict[str, Json]:
    options = dict(join)
    need, timeout = options.pop("need", None), options.pop("timeout", None)
    handoff, send = handed_on("join", options)
    return given(handoff=handoff, need=need, timeout_s=None if timeout is None else seconds(timeout), send=send or None)


def refresh(publication: PublicationRecord) -> Operation[PublicationRecord]:
    """The publication as it stands now.

    Example: ``publication.refresh().status``
    """
    return _read(publication, 0.0)


def wait(publication: PublicationRecord, timeout: Duration = 15) -> Operation[PublicationRecord]:
    """The publication when all its deliveries have ended, or as it stands when the time is up: see ``.settled``.

    Example: ``publication.wait(60).status``
    """
    left_s = seconds(timeout)
    while True:
        part_s = min(left_s, WAIT_S_MAX)
        publication = yield from _read(publication, part_s)
        left_s -= part_s
        if publication.settled or left_s <= 0:
            return publication


def results(publication: PublicationRecord) -> Operation[dict[str, Json]]:
    """The results there are by now, by receiver.

    Example: ``publication.wait(60).results()["tester"]``
    """
    now = yield from _read(publication, 0.0)
    return {one["target"]: one.get("result") for one in now.deliveries if one["state"] == "done"}


def _read(publication: PublicationRecord, wait_s: float) -> Operation[PublicationRecord]:
    request = get(at("publications", publication.id), given(wait_s=wait_s or None), wait_s=wait_s)
    document = yield from ask(request)
    return PublicationRecord.read(publication.owner, document)


def set_pipeline(
    client: ClientRecord, name: str, steps: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
) -> Operation[Json]:
    """Sets who follows whom: a receiver that completes its work then hands on by itself.

    Example: ``spine.set_pipeline("release", [{"agent": "writer", "next": [{"to": "tester"}]}, {"agent": "tester"}])``
    """
    body = {"steps": list(steps)}
    return (yield from ask(write("PUT", at("pipelines", name), body, key=idempotency_key)))

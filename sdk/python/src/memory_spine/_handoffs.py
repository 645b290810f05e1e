"""Operations on handoffs: making them, reading them, going on from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, cast

from ._context import CURRENT, Current, current_delivery
from ._effects import Operation, Request, ask, at, call, get, post
from ._flat import checked_versions, in_versions
from ._memories import get_many, get_one
from ._messages import Messages, as_messages
from ._records import ClientRecord, HandoffRecord
from ._values import Document, Json, Moment, given
from .models import Gap, Memory, Recovery, Trimmed

if TYPE_CHECKING:
    from typing_extensions import Unpack

DELIVERY_HEADER = "Memory-Spine-Delivery"

Parent: TypeAlias = "HandoffRecord | str | Current | None"
Constraints: TypeAlias = "Mapping[str, Json] | Sequence[Mapping[str, Json]]"
Waivers: TypeAlias = "Mapping[str, str] | Sequence[Mapping[str, Json]]"
Style: TypeAlias = Literal["openai", "anthropic"]


_SAID_ELSEWHERE = ("parent", "parents", "order_key", "emit")


class HandoffOptions(TypedDict, total=False):
    """What can be said about a handoff beside its target and its summary; see ``agent_handoff``.

    Example: ``spine.send_handoff("tester", "Test it.", strategy="lazy", max_tokens=8000)``
    """

    intent: str | None
    include_recent: int
    include_pins: bool
    constraints: Constraints | None
    execution_history: Sequence[Mapping[str, Json]] | None
    expected_output: Mapping[str, Json] | None
    state: Mapping[str, Json] | None
    memory_refs: Sequence[str] | None
    strategy: str
    max_tokens: int | None
    tokenizer: str | None
    format: str | None
    subject: str | None
    thread: str | None
    parent: Parent
    parents: Sequence[HandoffRecord | str]
    new_task: bool
    waive: Waivers | None
    max_hops: int | None
    priority: str
    order_key: str | None
    expires_at: Moment | None
    emit: Sequence[str] | None


def agent_handoff(
    client: ClientRecord,
    target_agent: str,
    task_summary: str,
    *,
    intent: str | None = None,
    include_recent: int = 20,
    include_pins: bool = True,
    constraints: Constraints | None = None,
    execution_history: Sequence[Mapping[str, Json]] | None = None,
    expected_output: Mapping[str, Json] | None = None,
    state: Mapping[str, Json] | None = None,
    memory_refs: Sequence[str] | None = None,
    strategy: str = "priority",
    max_tokens: int | None = None,
    tokenizer: str | None = None,
    format: str | None = None,
    subject: str | None = None,
    thread: str | None = None,
    parent: Parent = CURRENT,
    new_task: bool = False,
    waive: Waivers | None = None,
    max_hops: int | None = None,
    priority: str = "normal",
    order_key: str | None = None,
    expires_at: Moment | None = None,
    emit: Sequence[str] | None = None,
    idempotency_key: str | None = None,
) -> Operation[HandoffRecord]:
    """Assembles a handoff and stores it; sends nothing.

    Inside a delivery the new handoff follows from that delivery by itself. ``max_tokens`` among the constraints is the budget,
    the same as the argument: the server knows both places, and refuses two different values. ``emit=["1", "2"]`` gives both forms
    in ``handoff.emitted``, for a fleet that is half migrated; a delivery comes in whichever version its receiver accepts.

    Example: ``spine.agent_handoff("code-generator", "Write the client as in ms-1.", constraints={"language": "python"})``
    """
    options = HandoffOptions(
        intent=intent,
        include_recent=include_recent,
        include_pins=include_pins,
        constraints=constraints,
        execution_history=execution_history,
        expected_output=expected_output,
        state=state,
        memory_refs=memory_refs,
        strategy=strategy,
        max_tokens=max_tokens,
        tokenizer=tokenizer,
        format=format,
        subject=subject,
        thread=thread,
        parent=parent,
        new_task=new_task,
        waive=waive,
        max_hops=max_hops,
        priority=priority,
        order_key=order_key,
        expires_at=expires_at,
        emit=emit,
    )
    return (yield from _assemble(client, target_agent, task_summary, options, idempotency_key))


def _assemble(
    client: ClientRecord, target_agent: str, task_summary: str, options: HandoffOptions, key: str | None
) -> Operation[HandoffRecord]:
    versions = checked_versions(options.get("emit") or ())
    body = handoff_body(target_agent, task_summary, options)
    document = yield from ask(following(client, post("/v1/envelopes", body, key=key)))
    emitted = in_versions(document["envelope"], versions)
    return made_handoff(client, document, options.get("order_key"), emitted)


def next_handoff(
    handoff: HandoffRecord,
    target_agent: str,
    task_summary: str,
    *,
    idempotency_key: str | None = None,
    **options: Unpack[HandoffOptions],
) -> Operation[HandoffRecord]:
    """The handoff that follows from this one: its intent, constraints and history go along.

    Example: ``handoff.next("tester", "Test the client.", constraints={"coverage": 0.9})``
    """
    options.setdefault("parent", handoff)
    return _assemble(handoff.owner, target_agent, task_summary, options, idempotency_key)


def join_handoffs(
    client: ClientRecord,
    handoffs: Sequence[HandoffRecord | str],
    target_agent: str,
    task_summary: str,
    *,
    idempotency_key: str | None = None,
    **options: Unpack[HandoffOptions],
) -> Operation[HandoffRecord]:
    """One handoff that follows from several of the same task.

    Example: ``Handoff.join([written, tested], "reviewer", "Review both.")``
    """
    options["parents"] = handoffs
    return (yield from _assemble(client, target_agent, task_summary, options, idempotency_key))


def handoff_body(target_agent: str, task_summary: str, options: HandoffOptions) -> dict[str, Json]:
    """The handoff as it is assembled. What is said of the sending (``order_key``) and of reading it (``emit``) is not in it."""
    said = {name: value for name, value in options.items() if value is not None and name not in _SAID_ELSEWHERE}
    if not said.get("new_task", True):
        del said["new_task"]
    parent, parents = options.get("parent", CURRENT), options.get("parents")
    return given(
        target_agent=target_agent,
        task_summary=task_summary,
        **said,
        parent=None if parent is None or isinstance(parent, Current) else envelope_id(parent),
        parents=[envelope_id(one) for one in parents] if parents else None,
    )


def handed_on(argument: str, options: Mapping[str, Any]) -> tuple[dict[str, Json], dict[str, Json]]:
    """What ``next`` or ``join`` says: the handoff, and how it is sent."""
    if not isinstance(options, Mapping) or not {"target_agent", "task_summary"} <= options.keys():
        raise TypeError(f"{argument}= takes the arguments of agent_handoff as a dict, with target_agent and task_summary")
    said = dict(options)
    target, summary, send = said.pop("target_agent"), said.pop("task_summary"), said.pop("send", None)
    sending = {**(send or {}), **given(order_key=said.get("order_key"))}
    return handoff_body(target, summary, cast("HandoffOptions", said)), sending


def following(client: ClientRecord, request: Request) -> Request:
    """The request, with the delivery that is being handled."""
    handled = current_delivery()
    is_ours = handled is not None and handled.is_of(client.identity)
    return request.with_header(DELIVERY_HEADER, handled.id if handled is not None and is_ours else None)


def envelope_id(envelope: HandoffRecord | str) -> str:
    """The id of a handoff, or the id itself."""
    return envelope if isinstance(envelope, str) else envelope.id


def render(handoff: HandoffRecord, format: str | None = None) -> Operation[str]:
    """The handoff as a model reads it: ``markdown``, ``xml`` or ``json``; the form it was counted in, if not said.

    Example: ``prompt = handoff.render("markdown")``
    """
    answer = yield from call(get(at("envelopes", handoff.id, "render"), given(format=format)))
    return answer.text


def messages(handoff: HandoffRecord, style: Style = "openai") -> Operation[Messages]:
    """The rendering as chat messages: the rules apart from the memories, which are data from elsewhere.

    In the style of ``openai`` the rules are a ``system`` message. Anthropic's API takes them beside the messages: they are in
    ``.system`` of what this gives.

    Example: ``client.chat.completions.create(model="gpt-4o", messages=handoff.messages())``
    """
    text = yield from render(handoff, "markdown")
    return as_messages(text, style)


def fetch(handoff: HandoffRecord, id: str) -> Operation[Memory]:
    """A memory in its newest version; ``.changed`` says whether that is another one than the handoff carries.

    Example: ``handoff.fetch("ms-4821").content``
    """
    memory = yield from get_one(handoff.owner, id)
    packed = {packed["id"]: packed.get("version") for packed in handoff.envelope.get("memories", [])}
    return replace(memory, packed_version=packed.get(id))


def recover(handoff: HandoffRecord) -> Operation[Recovery]:
    """What the handoff lacks, looked up again. What is still missing stays a gap.

    Example: ``for memory in handoff.recover().memories: print(memory.content)``
    """
    if handoff.delivery_id is not None:
        document = yield from ask(post(at("deliveries", handoff.delivery_id, "recover"), {}))
        memories = [Memory.read(memory) for memory in document["memories"]]
        return Recovery(memories, Gap.read_all(document["gaps"]), document["completeness"])
    found = yield from get_many(handoff.owner, [gap.ref for gap in handoff.gaps if gap.ref.startswith("ms-")])
    here = {memory.id for memory in found}
    gaps = [gap for gap in handoff.gaps if gap.ref not in here]
    return Recovery(found, gaps, _completeness(handoff, len(found)))


def made_handoff(
    owner: Any, document: Document, order_key: str | None = None, emitted: Mapping[str, Document] | None = None
) -> HandoffRecord:
    """From the document of an envelope that was made."""
    trimmed = document["trimmed"]
    return HandoffRecord(
        owner=owner,
        id=document["id"],
        envelope_version=document["envelope_version"],
        hop=document["hop"],
        token_count=document["token_count"],
        memory_refs=document["memory_refs"],
        completeness=document["completeness"],
        gaps=Gap.read_all(document["gaps"]),
        trimmed=Trimmed(trimmed["count"], tuple(trimmed["items"])),
        envelope=document["envelope"],
        degraded=tuple(document["degraded"]),
        order_key=order_key,
        emitted=emitted or {},
    )


def _completeness(handoff: HandoffRecord, recovered: int) -> float:
    counted = handoff.envelope.get("completeness", {})
    requested = counted.get("requested", 0)
    return min(1.0, (counted["included"] + recovered) / requested) if requested else 1.0

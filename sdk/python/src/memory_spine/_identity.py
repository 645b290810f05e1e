"""Who asks, and whom."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from ._context import current_delivery
from ._effects import Request

ENDPOINT_DEFAULT = "http://127.0.0.1:8788"
WORKSPACE_DEFAULT = "default"
AGENT_UNNAMED = "anonymous"
"""The sender of a program that gives itself no name. A key may name its agent, so with a key nothing is claimed."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What every request of a client has."""

    endpoint: str
    api_key: str | None = field(repr=False)
    workspace: str
    agent: str | None

    @classmethod
    def given(cls, endpoint: str | None, api_key: str | None, workspace: str | None, agent: str | None) -> Identity:
        """What was given, else what the environment says, else the default."""
        return cls(
            endpoint=(endpoint or _variable("ENDPOINT") or ENDPOINT_DEFAULT).rstrip("/"),
            api_key=api_key or _variable("API_KEY"),
            workspace=workspace or _variable("WORKSPACE") or WORKSPACE_DEFAULT,
            agent=agent or _variable("AGENT"),
        )

    def headers(self, request: Request) -> Mapping[str, str]:
        """The headers of a request of this client."""
        headers = {"Memory-Spine-Workspace": self.workspace, **request.headers}
        agent = self.speaker(request.acts_as)
        if agent is not None:
            headers["Memory-Spine-Agent"] = agent
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        return headers

    def speaker(self, acts_as: str | None = None) -> str | None:
        """In whose name a request is made: whoever handles a delivery speaks as the agent that received it."""
        handling = current_delivery()
        handler = handling.agent if handling is not None and handling.is_of(self) else None
        unnamed = AGENT_UNNAMED if self.api_key is None else None
        return acts_as or handler or self.agent or unnamed


def _variable(name: str) -> str | None:
    return os.environ.get(f"MEMORY_SPINE_{name}") or None

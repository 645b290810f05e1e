"""Puts the server's binary into the wheel, as a script: `pip install` then gives `memory-spine serve`.

`MEMORY_SPINE_WHEEL_BINARY` names the binary; without it the wheel is pure Python and finds a server elsewhere. The wheel is for
the platform of this machine, or for the one that `MEMORY_SPINE_WHEEL_PLATFORM` names.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelWithServer(BuildHookInterface[Any]):
    """The hook that hatchling calls."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the binary and says for which platform the wheel is then."""
        named = os.environ.get("MEMORY_SPINE_WHEEL_BINARY")
        if not named or version == "editable":
            return
        binary = Path(named).resolve()
        if not binary.is_file():
            raise FileNotFoundError(f"{binary} is not there: build it with `cargo build --release -p memory-spine`")
        platform = os.environ.get("MEMORY_SPINE_WHEEL_PLATFORM") or _this_platform()
        build_data["shared_scripts"] = {str(binary): "memory-spine"}
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"


def _this_platform() -> str:
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")

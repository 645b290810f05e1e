"""A private server, from the binary that came with this package."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .errors import UnavailableError

__all__ = ["LocalServer", "server_binary"]

BINARY = "memory-spine.exe" if sys.platform == "win32" else "memory-spine"
BINARY_VARIABLE = "MEMORY_SPINE_BINARY"
STOP_S_MAX = 15
LOG_CHARACTERS_SHOWN = 2_000

# However this process ends, its end of the pipe closes: then the shell ends the server. The shell lets go of the output, so that
# its end is the server's.
_LEASHED = '"$@" </dev/null & server=$!; exec >&-; read -r _; kill -TERM "$server" 2>/dev/null; wait "$server"'


def server_binary() -> Path:
    """Where the server's binary is: as the environment says, beside this Python, or on the path.

    Example: ``MEMORY_SPINE_BINARY=target/debug/memory-spine python program.py``
    """
    named = os.environ.get(BINARY_VARIABLE)
    if named:
        return Path(named)
    for scheme in (sysconfig.get_default_scheme(), f"{os.name}_user"):
        folder = Path(sysconfig.get_path("scripts", scheme))
        if (folder / BINARY).is_file():
            return folder / BINARY
    on_path = shutil.which(BINARY)
    if on_path is None:
        said = f"there is no {BINARY} here: install a wheel that carries it, or name it in {BINARY_VARIABLE}"
        raise UnavailableError(said)
    return Path(on_path)


@dataclass(slots=True)
class LocalServer:
    """A server of this process; it ends with it.

    Example::

        server = LocalServer.start()
        spine = MemorySpine(server.endpoint)
    """

    endpoint: str
    data: Path
    _process: subprocess.Popen[str]
    _temporary: tempfile.TemporaryDirectory[str] | None = None
    _log: Path = field(default_factory=Path)
    _test_clock: bool = False

    @classmethod
    def start(cls, data: str | Path | None = None, binary: str | Path | None = None, *, test_clock: bool = False) -> LocalServer:
        """Starts a server on any free port, with its data in the folder given or in one that goes away.

        With ``test_clock`` its time can be moved by ``memory_spine.testing.Clock``; it begins at the machine's at each start.

        Example: ``LocalServer.start("./spine-data")``
        """
        temporary = tempfile.TemporaryDirectory(prefix="memory-spine-") if data is None else None
        folder = Path(temporary.name if temporary else str(data)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / "server.log"
        process = _spawn(Path(binary) if binary else server_binary(), folder, log, test_clock)
        server = cls(_announced(process, log), folder, process, temporary, log, test_clock)
        atexit.register(server.stop)
        return server

    def stop(self) -> None:
        """Ends the server, and removes its data if they were temporary.

        Example: ``server.stop()``
        """
        atexit.unregister(self.stop)
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def restart(self) -> LocalServer:
        """The same data, served anew at another port; for tests.

        Example: ``server = server.restart()``
        """
        temporary, self._temporary = self._temporary, None
        self.stop()
        again = LocalServer.start(self.data, test_clock=self._test_clock)
        again._temporary = temporary
        return again


def _spawn(binary: Path, folder: Path, log: Path, test_clock: bool) -> subprocess.Popen[str]:
    command = [str(binary), "--data", str(folder), "serve", "--listen", "127.0.0.1:0", *(["--test-clock"] if test_clock else [])]
    with log.open("a") as log_file:
        return subprocess.Popen(
            ["/bin/sh", "-c", _LEASHED, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log_file,
            cwd=folder,
            text=True,
            start_new_session=True,
        )


def _announced(process: subprocess.Popen[str], log: Path) -> str:
    """The address, from the one line that the server prints when it is ready."""
    line = process.stdout.readline() if process.stdout is not None else ""
    word, _, endpoint = line.strip().partition(" ")
    if word == "ready":
        return endpoint
    if process.stdin is not None:
        process.stdin.close()
    process.wait()
    said = log.read_text(errors="replace")[-LOG_CHARACTERS_SHOWN:]
    raise UnavailableError(f"the server did not start: {said or line or 'it said nothing'}")

"""Start a solver server as a child process on a free loopback port, and end it with its owner."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Literal, Self

import msgspec

from game2048.errors import SolverError

log = logging.getLogger(__name__)

_KEPT_LINES = 20
_BAD_USAGE = 2  # exit code; click prints the usage first, and the error in the last line
_LONGEST_LINE = 4096


class _LogLine(msgspec.Struct):
    """A line of the server's log (``--log-json``)."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
    message: str
    traceback: str = ""


class _Listening(msgspec.Struct):
    """The line that the server prints when it listens (``--port 0``)."""

    url: str


_log_lines = msgspec.json.Decoder(_LogLine)
_listening_lines = msgspec.json.Decoder(_Listening)


class OwnServer:
    """Start ``python -m solver_server serve`` for an ``async with`` block, and end it after the block.

    The server watches its standard input, so it ends by itself when this process dies for any reason. This
    module's logger passes the server's log on. Give `ensure_running` to a `SolverClient`: if the server dies
    during a game, the client starts it again and the game continues.

    Args:
        arguments: more arguments for ``serve``.
        start_timeout: seconds that the server may take until it listens.
        stop_timeout: seconds that the server may take to stop by itself; after that it is killed.
    """

    def __init__(
        self, arguments: Sequence[str] = (), *, start_timeout: float = 60.0, stop_timeout: float = 8.0
    ) -> None:
        self._arguments = tuple(arguments)
        self._start_timeout = start_timeout
        self._stop_timeout = stop_timeout
        self._process: asyncio.subprocess.Process | None = None
        self._url = ""
        self._failure = ""
        self._last_lines: collections.deque[str] = collections.deque(maxlen=_KEPT_LINES)
        self._readers: list[asyncio.Task[None]] = []
        self._turn = asyncio.Lock()

    @property
    def url(self) -> str:
        """The address of the server. The port changes with each restart."""
        return self._url

    @property
    def pid(self) -> int | None:
        """The process id; ``None`` before the first start."""
        return None if self._process is None else self._process.pid

    async def __aenter__(self) -> Self:
        await self.ensure_running()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        async with self._turn:
            await self._end()

    async def ensure_running(self) -> str:
        """Return the address of the running server; start it first if it does not run.

        Raises:
            SolverError: the server does not start. The message holds the last lines that it wrote.
        """
        async with self._turn:
            process = self._process
            if process is not None and process.returncode is None:
                return self._url
            if process is not None:
                await self._end()
                said = self._last_lines[-1] if self._last_lines else "it wrote nothing"
                log.warning("the solver server ended (%s: %s); starting it again", _ending(process), said)
            try:
                await self._start()
            except BaseException:
                await self._end()
                raise
            return self._url

    async def _start(self) -> None:
        self._last_lines.clear()
        self._failure = ""
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *_command(self._arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(),
                # Ctrl-C in a terminal goes to every process of the group: the owner ends the server itself.
                start_new_session=True,
            )
        except OSError as error:
            raise SolverError(f"cannot start a solver server with {sys.executable!r}: {error}") from error
        assert process.stdout is not None
        assert process.stderr is not None
        self._readers = [asyncio.create_task(self._read_stderr(process.stderr))]
        try:
            async with asyncio.timeout(self._start_timeout):
                url = await _listening_url(process.stdout)
        except TimeoutError:
            url, why = None, f"did not listen within {self._start_timeout:g} s"
        else:
            why = "ended before it listened"
        self._readers.append(asyncio.create_task(_drain(process.stdout)))
        if url is None:
            await self._end()
            raise SolverError(
                f"the solver server {why} ({_ending(process)}): {self._last_words(process.returncode)}"
            )
        self._url = url
        log.info("started a solver server on %s", url)

    def _last_words(self, exit_code: int | None) -> str:
        if self._failure:
            return self._failure
        lines = list(self._last_lines) or ["it wrote nothing; try to start it with `bot2048 serve`"]
        if exit_code == _BAD_USAGE:
            return lines[-1]
        return "\n".join(["its last lines are:", *lines])

    async def _read_stderr(self, stream: asyncio.StreamReader) -> None:
        async for line in _lines(stream):
            try:
                told = _log_lines.decode(line)
            except msgspec.MsgspecError:  # not a line of the log, for example a crash of the interpreter
                self._last_lines.append(line)
                log.debug("solver server: %s", line)
                continue
            message = "\n".join(filter(None, (told.message, told.traceback)))
            self._last_lines.append(message)
            if told.level == "CRITICAL":  # the server ends with this error; `_start` raises it
                self._failure = message
            else:
                log.log(logging.getLevelNamesMapping()[told.level], "solver server: %s", message)

    async def _end(self) -> None:
        """End the process: close its input, then send SIGTERM, then SIGKILL."""
        process = self._process
        if process is None:
            return
        assert process.stdin is not None
        try:
            process.stdin.close()
            for patience, force in ((self._stop_timeout, process.terminate), (2.0, process.kill)):
                if await _ends_within(process, patience):
                    break
                log.warning("the solver server does not stop; ending it by force")
                force()
        finally:
            if process.returncode is None:
                process.kill()
        await process.wait()
        await asyncio.gather(*self._readers)
        self._process = None


def _command(arguments: Sequence[str]) -> list[str]:
    if not sys.executable:
        raise SolverError("cannot start a solver server: Python does not know the path of its executable")
    # -P: modules in the current folder must not replace the program's modules.
    serve = [sys.executable, "-P", "-m", "solver_server", "serve"]
    return [*serve, "--host", "127.0.0.1", "--port", "0", "--log-json", "--stop-with-stdin", *arguments]


def _environment() -> dict[str, str]:
    """Return this process's environment without BOT2048_TOKEN, which belongs to another server."""
    return {name: value for name, value in os.environ.items() if name != "BOT2048_TOKEN"}


def _ending(process: asyncio.subprocess.Process) -> str:
    code = process.returncode
    if code is None:
        return "still running"
    return f"signal {-code}" if code < 0 else f"exit code {code}"


async def _ends_within(process: asyncio.subprocess.Process, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True


async def _listening_url(stdout: asyncio.StreamReader) -> str | None:
    """Return the address that the server prints; ``None`` if its output ends first."""
    while line := await stdout.readline():
        with contextlib.suppress(msgspec.MsgspecError):
            return _listening_lines.decode(line).url
    return None


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.read(4096):
        pass


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """Yield the lines of a stream, and cut long ones (`StreamReader.readline` would raise)."""
    rest = b""
    while chunk := await stream.read(_LONGEST_LINE):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line[:_LONGEST_LINE].decode("utf-8", "replace").rstrip("\r")
        rest = rest[:_LONGEST_LINE]
    if rest:
        yield rest.decode("utf-8", "replace")

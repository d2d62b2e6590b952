"""Our own commands as processes that the dashboard starts, watches and stops."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from logging import getLogger
from typing import Literal

from bot.dashboard.faults import DashboardError
from bot.dashboard.jobs import job_guard

logger = getLogger(__name__)

JobState = Literal["running", "stopping", "finished", "stopped", "failed"]

MAX_RUNNING = 8
MAX_KEPT = 50
KEPT_LINES = 200

_LONGEST_LINE = 4096
_ENDS = re.compile(rb"[\r\n]+")
_BAD_ENDS = {"failed", "stopped"}


@dataclass(slots=True, eq=False)
class Job:
    """One command that runs or ran.

    Attributes:
        number: counted from 1.
        kind: what it does, in a word.
        title: what it does, in a line.
        arguments: of ``bot2048``.
        state: ``stopping`` after a wish to stop, until it has ended.
        lines: what it wrote to standard error at last.
        begun: when it began, in seconds since 1970.
        seconds: how long it ran; ``None`` while it runs.
    """

    number: int
    kind: str
    title: str
    arguments: tuple[str, ...]
    state: JobState = "running"
    lines: collections.deque[str] = field(default_factory=lambda: collections.deque(maxlen=KEPT_LINES))
    begun: float = field(default_factory=time.time)
    seconds: float | None = None
    process: asyncio.subprocess.Process | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        """Whether its process has ended."""
        return self.state in {"finished", *_BAD_ENDS}

    @property
    def last_words(self) -> str:
        """The last line that the job wrote, or an empty text before the first line."""
        return self.lines[-1] if self.lines else ""


class JobBook:
    """All jobs of this dashboard, the latest first."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self._numbers = itertools.count(1)
        self._watchers: set[asyncio.Task[None]] = set()

    async def start(
        self, kind: str, title: str, arguments: Sequence[str], on_line: Callable[[bytes], None] | None = None
    ) -> Job:
        """Start ``bot2048 ARGUMENTS`` without a shell.

        Args:
            kind: what it does, in a word.
            title: what it does, in a line.
            arguments: one word each.
            on_line: called with each line of its standard output.

        Raises:
            DashboardError: too many jobs run already, or the process does not start.
        """
        running = sum(not job.is_over for job in self.jobs)
        if running >= MAX_RUNNING:
            raise DashboardError(
                f"{running} jobs run already; expected fewer than {MAX_RUNNING}; stop one of them"
            )
        job = Job(next(self._numbers), kind, title, tuple(arguments))
        self._remember(job)
        try:
            job.process = await _started(arguments)
        except OSError as error:
            job.state = "failed"
            job.ended.set()
            raise DashboardError(
                f"the command does not start: {error.strerror or error}", status=500
            ) from error
        task = asyncio.create_task(_watch(job, on_line))
        self._watchers.add(task)
        task.add_done_callback(self._watchers.discard)
        return job

    def job(self, number: int) -> Job | None:
        """Return the job of that number, if it is remembered."""
        return next((job for job in self.jobs if job.number == number), None)

    def stop(self, job: Job) -> None:
        """End a job as Ctrl-C does; do not wait for its end."""
        if job.is_over or job.process is None or job.process.stdin is None:
            return
        job.state = "stopping"
        job.process.stdin.close()

    async def stop_all(self) -> None:
        """End all jobs, and wait for their end."""
        running = [job for job in self.jobs if not job.is_over]
        for job in running:
            self.stop(job)
        if running:
            logger.warning("stopping %d jobs; they save their work first", len(running))
        for job in running:
            try:
                async with asyncio.timeout(job_guard.PATIENCE + 5):
                    await job.ended.wait()
            except TimeoutError:
                if job.process is not None:
                    job.process.kill()
        await asyncio.gather(*self._watchers)

    def _remember(self, job: Job) -> None:
        self.jobs.insert(0, job)
        over = [each for each in self.jobs if each.is_over]
        for old in over[MAX_KEPT:]:
            self.jobs.remove(old)


async def run_briefly(arguments: Sequence[str], seconds: float) -> tuple[int, str, str]:
    """Run ``bot2048 ARGUMENTS`` to its end.

    Args:
        arguments: one word each.
        seconds: after which it is stopped.

    Returns:
        Its exit code, its standard output, and its standard error.

    Raises:
        DashboardError: it took too long, or did not start.
    """
    try:
        process = await _started(arguments)
    except OSError as error:
        raise DashboardError(f"the command does not start: {error.strerror or error}", status=500) from error
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdin is not None
    try:
        async with asyncio.timeout(seconds):
            out, err = await asyncio.gather(process.stdout.read(1 << 20), process.stderr.read(1 << 20))
            code = await process.wait()
    except TimeoutError:
        raise DashboardError(
            f"`bot2048 {arguments[0]}` did not end within {seconds:g} s", status=500
        ) from None
    finally:
        process.stdin.close()
        await process.wait()
    return code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


async def _started(arguments: Sequence[str]) -> asyncio.subprocess.Process:
    # -P: modules of the current folder, whatever it is, must not shadow the program's own.
    python = [sys.executable, "-P", "-m"]
    environment = {name: value for name, value in os.environ.items() if name != "BOT2048_DASHBOARD_TOKEN"}
    return await asyncio.create_subprocess_exec(
        *python,
        "bot.dashboard.jobs.job_guard",
        *python,
        "bot.cli.main",
        *arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment | {"PYTHONUNBUFFERED": "1"},
        # Ctrl-C in a terminal goes to every process of the group: the dashboard ends its jobs itself.
        start_new_session=True,
    )


async def _watch(job: Job, on_line: Callable[[bytes], None] | None) -> None:
    process = job.process
    assert process is not None
    assert process.stdout is not None
    assert process.stderr is not None

    async def read_output(stream: asyncio.StreamReader) -> None:
        async for line in _lines(stream):
            if on_line is None:
                job.lines.append(line.decode("utf-8", "replace"))
            else:
                on_line(line)

    async def read_errors(stream: asyncio.StreamReader) -> None:
        async for line in _lines(stream):
            job.lines.append(line.decode("utf-8", "replace"))

    await asyncio.gather(read_output(process.stdout), read_errors(process.stderr))
    code = await process.wait()
    if job.state == "stopping":
        job.state = "stopped"
    else:
        job.state = "finished" if code == 0 else "failed"
    job.seconds = time.time() - job.begun
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    job.ended.set()


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines of a stream, including the lines of a progress bar that end with a carriage return."""
    rest = b""
    while chunk := await stream.read(_LONGEST_LINE):
        *lines, rest = _ENDS.split(rest + chunk)
        for line in filter(bytes.strip, lines):
            yield line[:_LONGEST_LINE]
        rest = rest[:_LONGEST_LINE]
    if rest.strip():
        yield rest

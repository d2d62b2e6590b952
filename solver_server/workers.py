"""Run long tasks in this process, in processes of this machine, or on an existing Dask cluster.

All workers call the same functions with the same arguments, so the results do not depend on the kind of
worker. If a worker dies, another one does its task again.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, parent_process
from types import TracebackType
from typing import Any, Protocol, Self

from game2048.errors import Error2048, SolverError

Function = Callable[..., bytes]
Task = tuple[Any, ...]

_ATTEMPTS = 3
_CONNECT_SECONDS = 15


class Crew(Protocol):
    """Workers that call one function. Results come in any order, so each result must name its task.

    Attributes:
        size: how many tasks run at a time.
    """

    size: int

    def submit(self, *task: Any) -> None:
        """Add a task: the arguments for one call, which are plain numbers, texts and bytes."""
        ...

    def result(self) -> bytes:
        """Wait for the next result and return it.

        Raises:
            Error2048: the function raised it, or several workers died during the same task.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop all workers, at once."""
        ...


class _Context:
    def close(self) -> None:
        """Stop all workers, at once."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Inline(_Context):
    """Runs each task in this process, when its result is asked for."""

    size = 1

    def __init__(self, function: Function) -> None:
        self._function = function
        self._tasks: deque[Task] = deque()

    def submit(self, *task: Any) -> None:
        """See `Crew.submit`."""
        self._tasks.append(task)

    def result(self) -> bytes:
        """See `Crew.result`."""
        return self._function(*self._tasks.popleft())


# -- processes ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    task: Task | None = None


class Processes(_Context):
    """Runs tasks in processes of this machine.

    Args:
        function: the function; workers import it by name.
        workers: number of processes.
    """

    def __init__(self, function: Function, workers: int) -> None:
        self.size = workers
        self._function = function
        self._waiting: deque[Task] = deque()
        self._deaths: dict[Task, int] = {}
        self._workers: list[_Worker] = []
        for _ in range(workers):
            self._workers.append(self._start())

    def _start(self) -> _Worker:
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of other threads
        mine, theirs = context.Pipe()
        process = context.Process(target=_work, args=(self._function, theirs), daemon=True)
        with _interrupts_ignored():
            process.start()
        theirs.close()
        return _Worker(process, mine)

    @property
    def processes(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.process.pid or 0 for worker in self._workers]

    def submit(self, *task: Any) -> None:
        """See `Crew.submit`."""
        self._waiting.append(task)
        self._hand_out()

    def _hand_out(self) -> None:
        for worker in self._workers:
            if worker.task is None and self._waiting:
                worker.task = self._waiting.popleft()
                with contextlib.suppress(OSError):  # the worker is dead; `result` replaces it
                    worker.connection.send(worker.task)

    def result(self) -> bytes:
        """See `Crew.result`."""
        while True:
            ready = wait([worker.connection for worker in self._workers])
            for worker in self._workers:
                if worker.connection not in ready:
                    continue
                try:
                    told, answer = worker.connection.recv()
                except (EOFError, OSError):
                    self._replace(worker)
                    break
                worker.task = None
                self._hand_out()
                if told is not None:
                    raise SolverError(told)
                result: bytes = answer
                return result

    def _replace(self, worker: _Worker) -> None:
        """Start a process in place of a dead one, and give its task to the next free worker."""
        worker.process.join()
        task = worker.task
        if task is not None:
            self._deaths[task] = self._deaths.get(task, 0) + 1
            if self._deaths[task] >= _ATTEMPTS:
                raise SolverError(
                    f"{_ATTEMPTS} worker processes died during the same task, the last with exit code "
                    f"{worker.process.exitcode}; perhaps the memory is too small: try fewer workers"
                )
            self._waiting.appendleft(task)
        worker.connection.close()
        self._workers[self._workers.index(worker)] = self._start()
        self._hand_out()

    def close(self) -> None:
        """See `Crew.__exit__`."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()


def _work(function: Function, connection: Connection) -> None:
    """Run tasks in a worker process until its connection ends."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[str | None, bytes] = (None, function(*task))
        except Error2048 as error:
            answer = (str(error), b"")
        connection.send(answer)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let processes that start in the block ignore Ctrl-C, because their parent stops them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# -- Dask --------------------------------------------------------------------------------------------------


class DaskCluster(_Context):
    """Runs tasks on an existing Dask cluster whose workers have this package installed.

    Args:
        function: the function; workers import it by name.
        address: address of the scheduler, such as ``tcp://host:8786``.

    Raises:
        SolverError: the package `distributed` is missing, nothing answers, or the cluster has no workers.
    """

    def __init__(self, function: Function, address: str) -> None:
        try:
            import distributed
        except ImportError as error:
            raise SolverError(
                "a Dask cluster needs the package distributed, which is not installed; "
                "try `pip install 'bot2048[cluster]'`"
            ) from error
        self._function = function
        self._distributed = distributed
        try:
            self._client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise SolverError(
                f"no Dask scheduler answers at {address}: {error}; expected a running one, as tcp://host:8786"
            ) from error
        self.size = sum(self._client.nthreads().values())
        if self.size == 0:
            self.close()
            raise SolverError(f"the Dask cluster at {address} has no workers: expected at least one")
        self._done = distributed.as_completed(loop=self._client.loop)

    def submit(self, *task: Any) -> None:
        """See `Crew.submit`."""
        self._done.add(self._client.submit(self._function, *task, pure=False))

    def result(self) -> bytes:
        """See `Crew.result`."""
        future = next(self._done)
        try:
            result: bytes = future.result()
        except (self._distributed.scheduler.KilledWorker, self._distributed.CancelledError) as error:
            raise SolverError(f"the Dask cluster gave up a task: {error}") from error
        return result

    def close(self) -> None:
        """See `Crew.__exit__`."""
        self._client.close()


def make_crew(function: Function, *, workers: int = 1, scheduler: str | None = None) -> Crew:
    """Make workers for a function.

    Args:
        function: a function of a module that workers can import.
        workers: number of processes of this machine; with 1, tasks run in this process.
        scheduler: address of a Dask scheduler; if given, its cluster runs the tasks.
    """
    if scheduler is not None:
        return DaskCluster(function, scheduler)
    return Processes(function, workers) if workers > 1 else Inline(function)

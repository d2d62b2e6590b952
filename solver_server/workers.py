"""Workers for tasks that cost time: this process, processes of this machine, or an existing Dask cluster.

All of them call the same functions with the same arguments, so that the results do not depend on who works. A
worker that dies costs the time of its task, which is then given to another.
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
    """Some workers of one function. Results come in any order; each of them says itself what it is of.

    Attributes:
        size: how many tasks are worked on at a time.
    """

    size: int

    def submit(self, *task: Any) -> None:
        """Ask for the function's result for these arguments, which are plain numbers, texts and bytes."""
        ...

    def result(self) -> bytes:
        """The next result; waits for it.

        Raises:
            Error2048: the function raised it, or workers die over a task again and again.
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
    """Works in this process, when a result is asked for."""

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
    """Works in processes of this machine.

    Args:
        function: found by its name in the workers.
        workers: how many processes.
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
        context = multiprocessing.get_context("spawn")  # forking would copy locks of other threads
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
                with contextlib.suppress(OSError):  # a dead one: `result` sees to it
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
        """Start another process for one that died, and give its task to whoever is free."""
        worker.process.join()
        task = worker.task
        if task is not None:
            self._deaths[task] = self._deaths.get(task, 0) + 1
            if self._deaths[task] >= _ATTEMPTS:
                raise SolverError(
                    f"{_ATTEMPTS} worker processes died over the same task, the last with exit code "
                    f"{worker.process.exitcode}: is there too little memory for so many of them?"
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
    """The life of a worker process."""
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
    """What is started here takes no Ctrl-C, which the terminal sends to all: its parent stops it."""
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
    """Works on an existing Dask cluster, whose workers have this package installed.

    Args:
        function: found by its name in the workers.
        address: of the scheduler, as ``tcp://host:8786``.

    Raises:
        SolverError: the package `distributed` is missing, nothing answers, or the cluster has no workers.
    """

    def __init__(self, function: Function, address: str) -> None:
        try:
            import distributed
        except ImportError as error:
            raise SolverError(
                "a Dask cluster needs the package distributed, which is not installed: "
                "`pip install 'bot2048[cluster]'` brings it"
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
            raise SolverError(f"the Dask cluster gave a task up: {error}") from error
        return result

    def close(self) -> None:
        """See `Crew.__exit__`."""
        self._client.close()


def make_crew(function: Function, *, workers: int = 1, scheduler: str | None = None) -> Crew:
    """Workers of a function.

    Args:
        function: of a module that workers can import.
        workers: processes of this machine; 1 works in this process.
        scheduler: of a Dask cluster, instead of processes.
    """
    if scheduler is not None:
        return DaskCluster(function, scheduler)
    return Processes(function, workers) if workers > 1 else Inline(function)

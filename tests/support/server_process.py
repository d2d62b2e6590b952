"""A solver server as a process, for tests that break it or talk to it from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple


class ServerProcess(NamedTuple):
    """A running server.

    Attributes:
        url: where it listens.
        process: the process; its standard error is a pipe.
    """

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def server_process(*arguments: str, files: int | None = None) -> Iterator[ServerProcess]:
    """Start ``serve`` on a free port, kill it at the end.

    Args:
        arguments: further arguments.
        files: how many files the process may open.
    """
    command = [sys.executable, "-m", "solver_server", "serve", "--port", "0", *arguments]
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    environment = {name: value for name, value in os.environ.items() if name != "BOT2048_TOKEN"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.communicate()
            yield ServerProcess(json.loads(line)["url"], process)
        finally:
            process.kill()

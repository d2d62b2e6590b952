"""The notice that kernels are compiled comes where they are, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ADD = """
import threading
from game2048.kernels.compilation import tell_of_compilation
from game2048.kernels.jit import kernel

@kernel
def inner(number: int) -> int:
    return number + 1

@kernel
def add(number: int) -> int:
    return inner(number) + 1

said = threading.Event()
def say(text: str) -> None:
    print(text)
    said.set()
tell_of_compilation(say, after=0.0)
assert add(1) == 3
assert add(1.0) == 3
said.wait(20 if add.stats.cache_misses else 0)
"""


def test_compiling_is_told_once_and_loading_is_not(tmp_path: Path) -> None:
    script = tmp_path / "adding.py"
    script.write_text(ADD)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run() -> str:
        return subprocess.run(
            [sys.executable, script], env=environment, capture_output=True, text=True, timeout=120, check=True
        ).stdout

    assert run() == "compiling kernels, once; this may take a minute\n"
    assert run() == ""  # now they are cached


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("command", ["hint", "serve", "evaluate"])
def test_commands_tell_of_compiling_only_where_they_compile(tmp_path: Path, command: str) -> None:
    arguments = {
        "hint": ["--engine", "fast", "2 2 / 0 4"],
        "serve": ["--engine", "fast", "--port", "0", "--stop-with-stdin"],
        "evaluate": ["--engine", "fast", "--depth", "1", "--games", "2"],
    }[command]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run() -> str:
        with subprocess.Popen(
            [sys.executable, "-m", "bot.cli.main", command, *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            if command == "serve":
                from websockets.sync.client import connect

                assert process.stdout is not None
                url = process.stdout.readline().split('"')[3]
                with connect(url, proxy=None) as client:
                    client.recv()
                    client.send('{"type":"choose","id":1,"board":[[2,2],[0,4]],"depth":1}')
                    client.recv(timeout=700)
            _, err = process.communicate(timeout=700)
            assert process.returncode == 0
            return err

    assert run().count("compiling kernels, once") == 1
    assert "compiling" not in run()

"""The event loop in a thread: results, errors, interruption and the end."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading

import pytest

from bot2048.loop_thread import LoopThread


async def twice(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


async def fails() -> None:
    raise KeyError("gone")


def test_results_and_errors_come_back() -> None:
    thread = LoopThread()
    assert thread.run(twice(21)) == 42
    with pytest.raises(KeyError, match="gone"):
        thread.run(fails())
    thread.close()
    thread.close()
    assert thread.is_closed
    with pytest.raises(RuntimeError):
        thread.run(twice(1))


async def test_it_works_where_a_loop_runs() -> None:
    thread = LoopThread()
    assert thread.run(twice(4)) == 8
    thread.close()


def test_it_ends_with_its_owner() -> None:
    before = threading.active_count()
    thread = LoopThread()
    assert threading.active_count() == before + 1
    del thread
    gc.collect()
    assert threading.active_count() == before


INTERRUPTED = """
import asyncio, signal, os
from bot2048.loop_thread import LoopThread

async def work():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        print("cleaned up")

try:
    LoopThread().run(work())
except KeyboardInterrupt:
    print("interrupted")
"""

LEFT_OPEN = """
from bot2048.loop_thread import LoopThread

async def numbers():
    try:
        yield 1
        yield 2
    finally:
        print("closed")

async def first(generator):
    return await anext(generator)

thread, generator = LoopThread(), numbers()
print(thread.run(first(generator)))
"""


@pytest.mark.parametrize(
    ("script", "output"), [(INTERRUPTED, "cleaned up\ninterrupted\n"), (LEFT_OPEN, "1\nclosed\n")]
)
def test_work_is_cleaned_up_at_ctrl_c_and_at_the_end_of_python(script: str, output: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == (output, "", 0)

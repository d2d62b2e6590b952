from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import distributed
import psutil
import pytest
from support import crew_tasks

from game2048.errors import RulesError, SolverError
from solver_server.workers import DaskCluster, Inline, Processes, make_crew

ROOT = Path(__file__).parents[2]


def results(crew: object, tasks: list[tuple[object, ...]]) -> list[bytes]:
    for task in tasks:
        crew.submit(*task)  # type: ignore[attr-defined]
    return sorted(crew.result() for _ in tasks)  # type: ignore[attr-defined]


def test_every_crew_gives_the_same_results(scheduler: str) -> None:
    expected = sorted(b"%d" % (2 * number) for number in range(10))
    for options in ({}, {"workers": 2}, {"scheduler": scheduler}):
        with make_crew(crew_tasks.double, **options) as crew:
            assert results(crew, [(number,) for number in range(10)]) == expected
            assert results(crew, [(1,)]) == [b"2"]


def test_the_size_of_a_crew(scheduler: str) -> None:
    for options, size in (({}, 1), ({"workers": 3}, 3), ({"scheduler": scheduler}, 2)):
        with make_crew(crew_tasks.double, **options) as crew:
            assert crew.size == size


def test_a_worker_that_dies_costs_no_result(scheduler: str, tmp_path: Path) -> None:
    for name, options in (("processes", {"workers": 2}), ("dask", {"scheduler": scheduler})):
        folder = tmp_path / name
        folder.mkdir()
        with make_crew(crew_tasks.die_once, **options) as crew:
            found = results(crew, [(str(folder), number) for number in range(6)])
        assert found == [b"0", b"1", b"2", b"3, again", b"4", b"5"]


def test_a_task_that_kills_every_worker_is_told() -> None:
    with Processes(crew_tasks.die_always, 1) as crew:
        crew.submit()
        with pytest.raises(SolverError, match=r"3 worker processes died during the same task.*exit code -9"):
            crew.result()


def test_what_a_worker_refuses_is_told(scheduler: str) -> None:
    with Inline(crew_tasks.refuse) as crew, pytest.raises(RulesError, match="number 7 is refused"):
        results(crew, [(7,)])
    with Processes(crew_tasks.refuse, 1) as crew, pytest.raises(SolverError, match="number 7 is refused"):
        results(crew, [(7,)])
    with DaskCluster(crew_tasks.refuse, scheduler) as crew, pytest.raises(RulesError, match="7 is refused"):
        results(crew, [(7,)])


def wait_for_files(folder: Path, count: int, alive: subprocess.Popen[str] | None = None) -> list[int]:
    """The process ids that tasks told of."""
    while True:
        found = [int(file.name) for file in folder.iterdir()]
        if len(found) == count:
            return found
        assert alive is None or alive.poll() is None, alive.stderr and alive.stderr.read()


def test_a_crew_that_is_closed_ends_its_workers_in_the_midst_of_their_work(tmp_path: Path) -> None:
    with Processes(crew_tasks.stand_still, 2) as crew:
        crew.submit(str(tmp_path))
        crew.submit(str(tmp_path))
        workers = wait_for_files(tmp_path, 2)
        assert sorted(workers) == sorted(crew.processes)
    assert not any(psutil.pid_exists(worker) for worker in workers)


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom support import crew_tasks\nfrom solver_server.workers import Processes\n"
        "if __name__ == '__main__':\n"
        "    crew = Processes(crew_tasks.stand_still, 2)\n"
        "    crew.submit(sys.argv[1]), crew.submit(sys.argv[1]), crew.result()\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    folder = tmp_path / "folder"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)])}
    parent = subprocess.Popen(
        [sys.executable, str(script), str(folder)], env=environment, text=True, stderr=subprocess.PIPE
    )
    workers = [psutil.Process(worker) for worker in wait_for_files(folder, 2, parent)]
    parent.send_signal(signal.SIGKILL)
    parent.wait(60)
    assert psutil.wait_procs(workers, timeout=60)[1] == []


def test_a_cluster_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int) -> None:
    monkeypatch.setattr("solver_server.workers._CONNECT_SECONDS", 0.5)
    for address in (f"tcp://127.0.0.1:{unused_tcp_port}", "nonsense://x"):
        with pytest.raises(SolverError, match="no Dask scheduler answers at"):
            DaskCluster(crew_tasks.double, address)


def test_a_cluster_without_workers_is_told() -> None:
    with (
        distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0") as cluster,
        pytest.raises(SolverError, match="has no workers"),
    ):
        DaskCluster(crew_tasks.double, cluster.scheduler_address)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SolverError, match=r"pip install 'bot2048\[cluster\]'"):
        DaskCluster(crew_tasks.double, "tcp://127.0.0.1:1")

from __future__ import annotations

import datetime
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

STUCK_SERVER = """
import threading
from support.fake_engines import Gated, offer
from solver_server.cli import serve as cli

agent = Gated()
cli._engine_offers = lambda *_: [offer(agent, "order")]
def tell():
    agent.searching.acquire()
    print("searching", flush=True)
threading.Thread(target=tell, daemon=True).start()
cli.serve.main(["--port", "0"])
"""

Process = subprocess.Popen[str]
Begin = Callable[..., Process]


def environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "BOT2048_TOKEN"} | more


def solver(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "solver_server", *arguments],
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Starts server processes; they are gone when the test ends."""
    processes: list[Process] = []

    def start(*command: str, **more: str) -> Process:
        process = subprocess.Popen(
            [sys.executable, *command],
            env=environment(**more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def serve(begin: Begin, *arguments: str, **more: str) -> Process:
    return begin("-m", "solver_server", "serve", "--port", "0", *arguments, **more)


def url_of(process: Process) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()
    told = json.loads(line)
    assert told["url"] in {f"{scheme}://127.0.0.1:{told['port']}" for scheme in ("ws", "wss")}
    assert told["pid"] == process.pid
    return str(told["url"])


def ask(url: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    with connect(url, proxy=None, additional_headers=headers) as client:
        assert json.loads(client.recv())["type"] == "hello"
        client.send('{"type":"choose","id":1,"board":[[0,0,0,0],[0,0,0,0],[0,0,0,0],[2,4,0,2]],"depth":1}')
        answer: dict[str, Any] = json.loads(client.recv())
        return answer


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_serve_announces_itself_answers_and_ends_on_a_signal(
    begin: Begin, number: signal.Signals, code: int
) -> None:
    process = serve(begin)
    answer = ask(url_of(process))
    assert answer["type"] == "decision"
    assert set(answer["values"]) == {"up", "right", "down", "left"} - {"down"}
    process.send_signal(number)
    assert process.wait(60) == code


def test_serve_splits_searches_over_threads_and_ends_all_the_same(begin: Begin) -> None:
    process = serve(begin, "--engine", "fast", "--search-threads", "2")
    with connect(url_of(process), proxy=None) as client:
        client.recv()
        client.send(
            '{"type":"choose","id":1,"board":[[2,4,8,16],[0,0,0,0],[0,0,0,2],[0,0,0,0]],"time_ms":50}'
        )
        answer = json.loads(client.recv())
    assert set(answer["values"]) == {"up", "down", "left"}
    assert answer["values"][answer["direction"]] == max(answer["values"].values())
    assert answer["depth"] > 2
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def test_serve_ends_with_its_standard_input_if_told_so(begin: Begin) -> None:
    process = serve(begin, "--stop-with-stdin")
    url_of(process)
    out, _ = process.communicate(timeout=60)  # closes its standard input
    assert (process.returncode, out) == (0, "")


def test_serve_ends_although_a_search_does_not(begin: Begin) -> None:
    process = begin("-c", STUCK_SERVER, PYTHONPATH=str(Path(__file__).parents[2]))
    url = url_of(process)
    assert process.stdout is not None
    with connect(url, proxy=None) as client:
        client.send('{"type":"choose","id":1,"board":[[2,0],[4,0]]}')
        assert process.stdout.readline() == "searching\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_serve_takes_its_token_from_the_environment(begin: Begin) -> None:
    process = serve(begin, BOT2048_TOKEN="s3cret-of-16-chars")
    assert ask(url_of(process), {"Authorization": "Bearer s3cret-of-16-chars"})["id"] == 1


def test_serve_reads_its_token_from_a_file_or_makes_one(begin: Begin, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("a-token-from-a-file\n")
    process = serve(begin, "--token-file", str(file), BOT2048_TOKEN="another-long-token")
    assert ask(url_of(process), {"Authorization": "Bearer a-token-from-a-file"})["id"] == 1
    process = serve(begin, "--new-token")
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    assert len(told["token"]) >= 32
    assert ask(told["url"], {"Authorization": f"Bearer {told['token']}"})["id"] == 1


def test_serve_prints_a_sentence_on_a_port_of_your_choice(begin: Begin) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = begin("-m", "solver_server", "serve", "--port", str(port), "--new-token")
    assert process.stdout is not None
    token = process.stdout.readline().split()
    assert token[0] == "token"
    assert process.stdout.readline() == f"listening on ws://127.0.0.1:{port}\n"


def test_the_log_names_time_level_and_connection(begin: Begin) -> None:
    for arguments in (["-v"], ["-v", "--log-json"]):
        process = serve(begin, "--engine", "fast", *arguments)
        ask(url_of(process))
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        lines = [line for line in err.splitlines() if "disconnected" in line]
        assert len(lines) == 1
        if "--log-json" in arguments:
            told = json.loads(lines[0])
            datetime.datetime.fromisoformat(told["time"])
            assert (told["level"], told["connection"], told["message"]) == ("INFO", "c1", "disconnected")
        else:
            time, level, connection, logger, message = lines[0].split()
            datetime.datetime.fromisoformat(time)
            assert (level, connection, message) == ("INFO", "[c1]", "disconnected")
            assert logger == "solver_server.serving.conversation:"


def test_a_failure_is_one_line_of_json_where_the_log_is(begin: Begin) -> None:
    result = solver("serve", "--port", "0", "--log-json", "--depth", "99")
    assert (result.returncode, result.stdout) == (1, "")
    told = json.loads(result.stderr)
    assert told["level"] == "CRITICAL"
    assert told["message"].startswith("depth 99 is out of range for engine 'order'")


def test_serve_tells_that_the_port_is_in_use(begin: Begin) -> None:
    port = url_of(serve(begin)).rpartition(":")[2]
    second = solver("serve", "--port", port)
    assert second.returncode == 1
    assert second.stdout == ""
    assert second.stderr.splitlines() == [
        f"error: cannot listen on 127.0.0.1:{port}: the port is in use; "
        "stop the other server, or take a free port with --port 0"
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--host", "0.0.0.0"], 1, "--token"),
        (["--depth", "99"], 1, "depth 99 is out of range for engine 'order'; expected 1 to 10"),
        (["--time-ms", "nan"], 1, "time_ms nan is out of range"),
        (["--allow-origin", "*"], 1, "scheme://host"),
        (["--token", "two words"], 1, "the token is not usable"),
        (["--token", "short"], 1, "the token has 5 characters; expected at least 16; try --new-token"),
        (["--new-token", "--token-file", __file__], 2, "exclude each other"),
        (["--token-file", __file__], 1, "lines; expected one, the token"),
        (["--tls-key", __file__], 2, "add --tls-cert"),
        (["--tls-cert", __file__], 1, "expected PEM files"),
        (["--max-connections", "9999999"], 1, "ask for fewer with --max-connections"),
        (
            ["--depth", "3", "--max-depth", "2"],
            1,
            "depth 3 is out of range for engine 'order'; expected 1 to 2",
        ),
        (["--time-ms", "30", "--max-time-ms", "20"], 1, "time_ms 30 is out of range"),
        (["--engine", "stockfish"], 2, "'stockfish' is not an engine; expected one of order, ntuple"),
        (["--port", "65536"], 2, "--port"),
    ],
)
def test_serve_refuses_what_it_cannot_do(arguments: list[str], code: int, said: str) -> None:
    result = solver("serve", *arguments)
    assert (result.returncode, result.stdout) == (code, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


OPEN = "2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"


def test_hint_prints_the_move_and_the_four_values() -> None:
    result = solver("hint", "4 2 2 4 / 8 16 32 64 / 16 8 64 32 / 2 4 8 16", "--depth", "1")
    assert (result.returncode, result.stderr) == (0, "")
    move, *values, _, found, _, top, _, _, bottom = result.stdout.splitlines()
    assert found.startswith("found by search, depth 1, ")
    assert (top.split(), bottom.split()) == (["4", "2", "2", "4"], ["2", "4", "8", "16"])
    assert move in {"left", "right"}
    assert [line.split()[0] for line in values] == ["up", "right", "down", "left"]
    assert [line.split()[1] for line in values[::2]] == ["illegal", "illegal"]
    by_name = {line.split()[0]: float(line.split()[1]) for line in values[1::2]}
    assert by_name[move] == max(by_name.values())


def test_hint_prints_json() -> None:
    result = solver("hint", *OPEN.split(), "--depth", "2", "--json")
    told = json.loads(result.stdout)
    assert told["direction"] in {"left", "right", "down"}
    assert told["values"]["up"] is None
    assert sum(value is not None for value in told["values"].values()) == 3
    assert (told["game_over"], told["depth"]) == (False, 2)


@pytest.mark.parametrize(
    "words",
    [
        ["[[2,2],[4,8]]"],
        ["[2,2,4,8]"],
        ["2", "2", "4", "8"],
        ["2,2,4,8"],
        ["1123"],
        ["--exponents", "1 1 / 2 3"],
    ],
)
def test_hint_takes_a_board_in_any_notation_and_prints_it(words: list[str]) -> None:
    told = json.loads(solver("hint", *words, "--engine", "fast", "--depth", "1", "--json").stdout)
    assert told["board"] == [[2, 2], [4, 8]]
    assert told["direction"] in {"left", "right"}


def test_hint_takes_a_board_that_begins_with_a_dash_and_one_on_standard_input() -> None:
    result = solver("hint", "- - / - 2", "--engine", "fast", "-d", "1", "--json")
    assert json.loads(result.stdout)["board"] == [[0, 0], [0, 2]]
    for words in ([], ["-"]):
        piped = subprocess.run(
            [sys.executable, "-m", "solver_server", "hint", *words, "--engine", "fast", "-d", "1", "--json"],
            input="2 2\n4 8\n", capture_output=True, text=True, timeout=200, check=True,
        )  # fmt: skip
        assert json.loads(piped.stdout)["board"] == [[2, 2], [4, 8]]


def test_hint_says_that_the_game_is_over() -> None:
    over = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"
    assert solver("hint", over).stdout.startswith("game over: no direction changes this board\n\n")
    told = json.loads(solver("hint", over, "--json").stdout)
    assert (told["game_over"], told["direction"]) == (True, None)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "BOARD"),
        (["2 3 / 0 0"], 1, "3 in row 1, column 2 is not a tile"),
        (["2 4 / 0"], 1, "ragged"),
        ([OPEN, "--depth", "99"], 1, "depth 99 is out of range for engine 'order'; expected 1 to 10"),
        ([OPEN, "--engine", "stockfish"], 2, "'stockfish' is not an engine; expected one of order, ntuple"),
    ],
)
def test_hint_refuses_what_it_cannot_do(arguments: list[str], code: int, said: str) -> None:
    result = solver("hint", *arguments)
    assert (result.returncode, result.stdout) == (code, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_help_needs_no_kernels() -> None:
    script = (
        "import sys\nfrom solver_server.cli.hint import hint\n"
        "from solver_server.cli.serve import serve\n"
        "for command in (serve, hint):\n"
        "    command.main(['--help'], standalone_mode=False)\n"
        "print('numba' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.endswith("False\n")
    for option in ("--token", "--allow-origin", "--stop-with-stdin", "--json", "--time-ms"):
        assert option in result.stdout

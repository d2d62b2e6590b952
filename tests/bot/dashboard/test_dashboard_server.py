"""The dashboard's server, asked without a browser: what it refuses, and how it begins and ends."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.dashboard_process import DashboardProcess, dashboard_process, fill_runs
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

TOKEN = "a-token-of-the-tests"
SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardProcess]:
    """A dashboard with a token, which every request below sends unless it says otherwise."""
    runs = tmp_path_factory.mktemp("dashboard") / "runs"
    fill_runs(runs)
    with dashboard_process(runs, "--token", TOKEN) as process:
        yield process


def ask(
    dashboard: DashboardProcess, path: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, str, http.client.HTTPMessage]:
    host = dashboard.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=60)
    given = {"Host": host, "Authorization": f"Bearer {TOKEN}"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, {name: value for name, value in given.items() if value})
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer.status, text, answer.headers


def test_a_request_of_our_own_is_answered_with_a_policy(dashboard: DashboardProcess) -> None:
    status, text, headers = ask(dashboard, "/")
    assert status == 200
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "https://" not in text.replace("https://…", "")


@pytest.mark.parametrize("path", ["/", "/api/about", "/files/hand/games.jsonl", "/web/board.js"])
def test_without_the_token_nothing_is_answered(dashboard: DashboardProcess, path: str) -> None:
    assert ask(dashboard, path, Authorization="")[0] == 401
    assert ask(dashboard, path, Authorization="Bearer wrong")[0] == 401


def test_a_browser_enters_the_token_once(dashboard: DashboardProcess) -> None:
    status, _, headers = ask(dashboard, "/live", Authorization="", Sec_Fetch_Mode="navigate")
    assert (status, headers["location"]) == (303, "/token")
    assert "<form" in ask(dashboard, "/token", Authorization="")[1]
    status, text, headers = ask(dashboard, "/token", "POST", b"token=wrong", Authorization="")
    assert (status, headers["set-cookie"]) == (401, None)
    assert "This token is wrong" in text
    status, _, headers = ask(dashboard, "/token", "POST", f"token={TOKEN}".encode(), Authorization="")
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert ask(dashboard, "/", Authorization="", Cookie=cookie.partition(";")[0])[0] == 200


def test_other_hosts_and_origins_are_refused(dashboard: DashboardProcess) -> None:
    assert ask(dashboard, "/", Host="attacker.example")[0] == 403
    assert ask(dashboard, "/api/about", Origin="https://attacker.example")[0] == 403
    assert ask(dashboard, "/api/about", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")[0] == 403
    assert ask(dashboard, "/api/about", Origin=dashboard.url)[0] == 200


@pytest.mark.parametrize(
    ("origin", "token"), [("https://attacker.example", TOKEN), (None, None), ("http://127.0.0.1:1", TOKEN)]
)
def test_websockets_of_other_pages_are_refused(
    dashboard: DashboardProcess, origin: str | None, token: str | None
) -> None:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    url = dashboard.url.replace("http", "ws") + SOCKET
    with pytest.raises(InvalidStatus) as caught, connect(url, origin=origin, additional_headers=headers):
        pass
    assert caught.value.response.status_code == 403
    with connect(
        url, origin=dashboard.url, additional_headers={"Authorization": f"Bearer {TOKEN}"}
    ) as socket:
        assert str(socket.recv(10)).startswith("0{")


@pytest.mark.parametrize(
    "name",
    [
        "../outside.jsonl",
        "..%2foutside.jsonl",
        "%2e%2e/outside.jsonl",
        "hand/..%2f..%2foutside.jsonl",
        "/etc/passwd",
        "link.jsonl",
        "linked/outside.jsonl",
        "notes.txt",
        "hand",
        "",
    ],
)
def test_no_path_outside_the_runs_is_served(dashboard: DashboardProcess, name: str) -> None:
    assert ask(dashboard, f"/files/{name}")[0] == 404
    assert ask(dashboard, f"/api/replay?game=0&file={name}")[0] == 404
    assert ask(dashboard, f"/web/../{name}")[0] in {404, 405}


def test_files_and_games_of_the_runs_are_served(dashboard: DashboardProcess) -> None:
    status, text, headers = ask(dashboard, "/files/hand/games.jsonl")
    assert (status, text) == (200, (dashboard.runs / "hand" / "games.jsonl").read_text())
    assert "attachment" in headers["content-disposition"]
    assert ask(dashboard, "/files/hand/game-001.gif")[2]["content-type"] == "image/gif"
    status, text, _ = ask(dashboard, "/api/replay?file=hand/games.jsonl&game=0")
    assert (status, json.loads(text)["finalScore"]) == (200, 16)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("plies?file=hand/games.jsonl&game=1&begin=0&count=1", "has no game 2; expected 1 to 1"),
        ("plies?file=hand/games.jsonl&game=-1&begin=0&count=1", "game is '-1'; expected a whole number"),
        ("plies?file=hand/games.jsonl&game=0&begin=0&count=9999", "expected 0 to 5, 512 at a time"),
        ("opinions?file=hand/games.jsonl&game=0&plies=99&engine=fast", "up to 64 from 0 to 5"),
        ("opinions?file=hand/games.jsonl&game=0&plies=0&engine=x", "'x' is not an engine"),
        ("opinions?file=hand/games.jsonl&game=0&plies=0&engine=fast&depth=99", "expected 1 to 12"),
    ],
)
def test_requests_out_of_range_are_told_so(dashboard: DashboardProcess, query: str, said: str) -> None:
    status, text, _ = ask(dashboard, f"/api/{query}")
    assert status in {400, 404}
    assert said in json.loads(text)["error"]


def test_an_upload_is_checked_by_its_loader(dashboard: DashboardProcess) -> None:
    status, text, _ = ask(dashboard, "/api/upload/x.jsonl", "PUT", b'{"moves": []}\n')
    assert status == 400
    assert "x.jsonl was refused: x.jsonl, line 1: not a game record" in json.loads(text)["error"]
    assert ask(dashboard, "/api/upload/..%2fx.jsonl", "PUT", b"")[0] in {400, 404}
    assert not (dashboard.runs / "uploads" / "x.jsonl").exists()


def test_what_runs_which_folder_is_told_to_play(dashboard: DashboardProcess) -> None:
    assert json.loads(ask(dashboard, "/api/about")[1]) == {
        "program": "bot2048 dashboard",
        "runs": str(dashboard.runs.resolve()),
    }


# -- beginning -----------------------------------------------------------------------------------------------


def run(*words: str, code: str = "from bot.cli.main import main; main()") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=120)


def test_a_missing_package_is_named_with_what_installs_it(tmp_path: Path) -> None:
    code = "import sys; sys.modules['nicegui'] = None; from bot.cli.main import main; main()"
    ended = run("dashboard", "--runs", str(tmp_path), code=code)
    assert ended.returncode == 1
    assert ended.stderr == (
        "error: the dashboard needs the package nicegui, which is not installed; "
        "try `pip install 'bot2048[dashboard]'`\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "0.0.0.0"), "expected a token; give --token-file FILE"),
        (("--host", "0.0.0.0", "--token", "short"), "the token has 5 characters; expected at least 16"),
        (("--runs", "/dev/null/x"), "cannot be read"),
    ],
)
def test_what_cannot_begin_says_why_in_one_line(words: tuple[str, ...], said: str) -> None:
    ended = run("dashboard", "--port", "0", *words)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: ")
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_port_in_use_is_told(dashboard: DashboardProcess, tmp_path: Path) -> None:
    port = dashboard.url.rpartition(":")[2]
    ended = run("dashboard", "--runs", str(tmp_path), "--port", port)
    assert ended.returncode == 1
    assert f"error: cannot listen on 127.0.0.1, port {port}: " in ended.stderr

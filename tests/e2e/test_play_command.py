"""``bot2048 play`` and ``demo`` as a person runs them: real processes, a real browser, our own page."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import trustme
from PIL import Image
from support import npm_pages

from recordings.jsonl import read_records
from recordings.record import GameRecord
from recordings.replay import verify
from scraper.demo.server import serve_demo

PAGES = Path(__file__).resolve().parent.parent / "pages"
BOT = [sys.executable, "-m", "bot.cli.main"]
QUICK = ["--engine", "fast", "--depth", "2", "--no-gif"]
PATIENCE = 240  # seconds; kernels may have to be compiled first


def run(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BOT, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, **(env or {})},
    )


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*BOT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)


def journaled_moves(folder: Path) -> int:
    return sum(file.read_bytes().count(b'"direction"') for file in folder.glob("*.journal"))


def only_game(folder: Path) -> GameRecord:
    (record,) = read_records(folder / "games.jsonl")
    assert verify(record) is None
    return record


@pytest.fixture
def page() -> Iterator[str]:
    with serve_demo() as url:
        yield url


@pytest.fixture
def playing(tmp_path: Path, page: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A game under way, some moves in."""
    out = tmp_path / "out"
    process = start("play", page, "--out", str(out), *QUICK)
    family = [psutil.Process(process.pid)]
    try:
        until(lambda: journaled_moves(out) >= 10 or process.poll() is not None, "ten moves")
        family += family[0].children(recursive=True)
        yield process, out
    finally:
        for member in family:
            if member.is_running():
                member.kill()
        process.communicate()


def test_demo_leaves_a_record_and_a_gif(tmp_path: Path) -> None:
    done = run("demo", "--engine", "fast", "--depth", "2", "--max-moves", "60", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    record = only_game(tmp_path)
    assert (record.total_moves, record.outcome) == (60, "stopped")
    assert record.solver == "fast depth=2"
    assert (tmp_path / "game-001.gif").read_bytes().startswith(b"GIF89a")
    assert "60 moves" in done.stdout
    assert str(tmp_path / "games.jsonl") in done.stdout


def test_a_seeded_page_and_a_fixed_depth_repeat_the_game(tmp_path: Path) -> None:
    arguments = ["demo", *QUICK, "--max-moves", "30", "--page-seed", "5", "--size", "5", "--out"]
    records = []
    for name in ("a", "b"):
        assert run(*arguments, str(tmp_path / name)).returncode == 0
        records.append(only_game(tmp_path / name))
    assert records[0].moves == records[1].moves
    assert len(records[0].final_board) == 5


def test_several_games_are_added_to_one_folder(tmp_path: Path, page: str) -> None:
    done = run("play", page, *QUICK, "--games", "2", "--max-moves", "15", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert run("play", page, *QUICK, "--max-moves", "5", "--out", str(tmp_path)).returncode == 0
    records = list(read_records(tmp_path / "games.jsonl"))
    assert [record.total_moves for record in records] == [15, 15, 5]
    assert all(verify(record) is None for record in records)
    # Each game begins with two tiles.
    assert all(sum(tile > 0 for row in r.moves[0].board for tile in row) == 2 for r in records)


def test_a_server_is_asked_over_tls_and_given_up_when_it_stays_away(tmp_path: Path, page: str) -> None:
    authority, certificate, token = (tmp_path / name for name in ("authority.pem", "server.pem", "token"))
    ours = trustme.CA()
    ours.cert_pem.write_to_path(authority)
    ours.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(certificate)
    token.write_text("a-token-of-23-characters")
    access = ["--tls-cert", str(certificate), "--token-file", str(token)]
    server = start("serve", "--port", "0", "--engine", "fast", "--depth", "2", *access)
    bot = None
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        assert url.startswith("wss://")
        shown = ["--server", url, "--ca", str(authority), "--token", token.read_text()]
        out = tmp_path / "out"
        bot = start("play", page, *shown, "--server-patience", "0.5", "--no-gif", "--out", str(out))
        until(lambda: journaled_moves(out) >= 25, "25 moves")
        server.kill()
        _, stderr = bot.communicate(timeout=PATIENCE)
        assert bot.returncode == 1
        assert "attempts within 0.5 s" in stderr
        assert only_game(out).total_moves >= 25
    finally:
        for process in filter(None, (server, bot)):
            process.kill()
            process.communicate()


def test_a_new_game_that_takes_no_move_is_begun_by_loading_the_page_again(tmp_path: Path) -> None:
    with npm_pages.serve_folder(PAGES) as url:
        done = run("play", f"{url}ends.html?how=loop&sticky", "--games", "2", *QUICK, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "loading the page again" in done.stderr
    games = list(read_records(tmp_path / "games.jsonl"))
    assert [(game.outcome, game.max_tile) for game in games] == [("stopped", 32)] * 2


def test_two_bots_share_a_server(tmp_path: Path, page: str) -> None:
    server = start("serve", "--port", "0", "--engine", "fast", "--depth", "2")
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        options = ["--server", url, "--no-gif", "--max-moves", "40"]
        folders = [tmp_path / "one", tmp_path / "two"]
        bots = [start("play", page, *options, "--out", str(folder)) for folder in folders]
        for bot, folder in zip(bots, folders, strict=True):
            _, stderr = bot.communicate(timeout=PATIENCE)
            assert bot.returncode == 0, stderr
            assert only_game(folder).total_moves == 40
        assert server.poll() is None
    finally:
        server.terminate()
        server.communicate()


def test_ctrl_c_records_the_game_and_leaves_nothing_running(
    playing: tuple[subprocess.Popen[str], Path],
) -> None:
    process, out = playing
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    record = only_game(out)
    assert record.outcome == "interrupted"
    assert record.total_moves >= 9
    assert "interrupted" in stdout
    _, alive = psutil.wait_procs(family, timeout=30)
    assert alive == []


@pytest.mark.skipif(sys.platform == "win32", reason="groups of processes")
def test_ending_the_whole_group_of_processes_records_the_game_without_a_word(
    playing: tuple[subprocess.Popen[str], Path],
) -> None:
    process, out = playing
    for child in psutil.Process(process.pid).children(recursive=True):  # the browser's driver is among them
        with contextlib.suppress(psutil.NoSuchProcess):
            child.terminate()
    process.terminate()
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode in (1, 130), stderr  # it may notice the lost browser before the signal
    assert "never retrieved" not in stderr
    assert "Traceback" not in stderr
    assert only_game(out).outcome == "interrupted"


def test_a_killed_game_is_recovered_whole(playing: tuple[subprocess.Popen[str], Path]) -> None:
    process, out = playing
    servers = [
        child for child in psutil.Process(process.pid).children() if "solver_server" in child.cmdline()
    ]
    process.kill()
    process.communicate()
    moves = journaled_moves(out)
    assert not (out / "games.jsonl").exists()
    recovered = run("records", "recover", str(out))
    assert recovered.returncode == 0, recovered.stderr
    record = only_game(out)
    assert record.outcome == "interrupted"
    assert record.total_moves == moves
    _, alive = psutil.wait_procs(servers, timeout=30)
    assert alive == []


def searches(server: psutil.Process) -> bool:
    """Whether a server process works on a move."""
    (port,) = {one.laddr.port for one in server.net_connections("tcp") if one.status == psutil.CONN_LISTEN}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/status", timeout=60) as response:
        return bool(json.load(response)["searching"])


def test_a_server_that_is_killed_in_mid_search_is_started_again(tmp_path: Path, page: str) -> None:
    process = start("play", page, "--out", str(tmp_path), "--engine", "fast", "--time-ms", "400", "--no-gif")
    family = [psutil.Process(process.pid)]
    try:
        until(lambda: journaled_moves(tmp_path) >= 2 or process.poll() is not None, "two moves")
        family += family[0].children(recursive=True)
        (server,) = [child for child in family[0].children() if "solver_server" in child.cmdline()]
        until(lambda: searches(server), "a search")
        server.kill()
        server.wait(30)
        moves = journaled_moves(tmp_path)
        until(lambda: journaled_moves(tmp_path) >= moves + 3, "three more moves with the new server")
        family += family[0].children(recursive=True)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        assert only_game(tmp_path).total_moves >= moves + 2
    finally:
        for member in family:
            if member.is_running():
                member.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["http://127.0.0.1:1/"], "http://127.0.0.1:1/"),
        (["nonsense"], "'nonsense' is not an address of a page"),
        (["DEMO", "--server", "ws://127.0.0.1:1"], "ws://127.0.0.1:1"),
        (["DEMO", "--out", "FILE/below"], "below"),
        (["DEMO", "--browser", "/no/such/browser"], "/no/such/browser"),
        (["DEMO", "--engine", "fast", "--depth", "99"], "99"),
        (["DEMO?size=5", "--engine", "composite"], "does not play the 5x5 boards of this page"),
    ],
)
def test_what_cannot_be_played_is_told_in_one_line(
    arguments: list[str], complaint: str, tmp_path: Path, page: str
) -> None:
    (tmp_path / "file").write_text("in the way")
    given = [a.replace("DEMO", page).replace("FILE", str(tmp_path / "file")) for a in arguments]
    if "--engine" not in given:
        given += ["--engine", "fast"]
    if "--out" not in given:
        given += ["--out", str(tmp_path / "out")]
    done = run("play", *given)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert complaint in line


def test_a_page_without_a_board_is_told(tmp_path: Path) -> None:
    page = tmp_path / "empty.html"
    page.write_text("<!doctype html><title>Nothing here</title><p>Hello.")
    done = run("play", page.as_uri(), *QUICK, "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert "board" in done.stderr.splitlines()[-1]
    assert list((tmp_path / "out").glob("*.journal")) == []


@pytest.mark.parametrize(
    "arguments", [["--until-tile", "3"], ["--games", "0"], ["--depth", "0"], ["--gif-ms", "0"]]
)
def test_bad_usage_exits_with_2(arguments: list[str]) -> None:
    assert run("play", "http://127.0.0.1:1/", *arguments).returncode == 2


def test_probe_prints_what_is_read(page: str) -> None:
    done = run("probe", page + "?seed=3", "--json")
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert sum(tile > 0 for row in seen["board"] for tile in row) == 2
    assert seen["score"] == 0


def test_the_frames_of_a_gif_are_pictures_of_the_page(tmp_path: Path) -> None:
    options = [
        "--engine",
        "fast",
        "--depth",
        "1",
        "--max-moves",
        "6",
        "--page-seed",
        "5",
        "--out",
        str(tmp_path),
    ]
    done = run("demo", *options, "--gif-from-page", "--gif-size", "200")
    assert done.returncode == 0, done.stderr
    with Image.open(tmp_path / "game-001.gif") as gif:
        assert 6 <= gif.n_frames <= 8  # equal pictures become one frame
        assert gif.width == 200
        shades = {pixel for _, pixel in gif.convert("RGB").getcolors(200 * 400) or []}
    assert any(abs(r - 0xBB) + abs(g - 0xAD) + abs(b - 0xA0) < 6 for r, g, b in shades)  # the board's ground
    refused = run("demo", *options, "--gif-from-page", "--gif-motion")
    assert refused.returncode == 2
    assert "leave out --gif-motion" in refused.stderr

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import distributed
import psutil
import pytest
from click.testing import CliRunner, Result
from support import first_engine

from game2048.errors import RecordError, SolverError
from recordings.datasets.dataset_file import read_games, write_games
from recordings.datasets.formats.chunks import Chunk
from recordings.datasets.resumable import GrowingDataset, working_files
from recordings.game_arrays import GameArrays
from recordings.replay import verify
from solver_server.cli.generate import generate
from solver_server.engines import ENGINES
from solver_server.ntuple.bundled import weights_for

ROOT = Path(__file__).parents[2]
SCRIPT = Path(first_engine.__file__)
WHEN = "2025-03-01T12:00:00+00:00"
# Short games, so that tests are about files.
SHORT = ("--engine", "first", "-d", 1, "--max-moves", 60, "--seed", 7, "--timestamp", WHEN, "--workers", 1)


@pytest.fixture(autouse=True)
def first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine of these tests; for them alone."""
    monkeypatch.setitem(ENGINES, first_engine.FIRST.name, first_engine.FIRST)


def run(output: Path, *arguments: object) -> Result:
    words = [str(word) for word in (*SHORT, *arguments, "-o", output)]
    return CliRunner().invoke(generate, words)


def done(output: Path, *arguments: object) -> list[GameArrays]:
    result = run(output, *arguments)
    assert result.exit_code == 0, result.output
    return list(read_games(output))


def figures(output: Path, *arguments: object) -> dict[str, Any]:
    result = run(output, "--json", *arguments)
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def told(result: Result) -> str:
    assert result.exit_code == 1
    assert isinstance(result.exception, RecordError | SolverError)
    return str(result.exception)


def test_the_report_is_the_specification_s(tmp_path: Path) -> None:
    result = run(tmp_path / "new" / "games.jsonl", "-g", 5)
    lines = result.stdout.splitlines()
    assert lines[:3] == ["📊 Dataset Statistics", "=" * 60, "Total games: 5"]
    assert "Average moves per game: 60.0" in lines
    assert lines[-3:] == [
        "",
        "✅ Dataset generation complete!",
        f"Output saved to: {tmp_path}/new/games.jsonl",
    ]
    assert "Playing games: 100%" in result.stderr
    assert len((tmp_path / "new" / "games.jsonl").read_bytes().splitlines()) == 5
    assert all(verify(game) is None for game in read_games(tmp_path / "new" / "games.jsonl"))


def test_json_has_the_figures_and_what_was_played(tmp_path: Path) -> None:
    found = figures(tmp_path / "games.jsonl", "-g", 3)
    assert (found["games"], found["moves"], found["played"], found["seed"], found["depth"]) == (
        3,
        180,
        3,
        7,
        1,
    )
    assert (found["engine"], found["interrupted"]) == ("first", False)


def test_verbose_tells_of_every_game_as_a_person_would(tmp_path: Path) -> None:
    result = run(tmp_path / "games.jsonl", "-g", 2, "-v")
    game = next(read_games(tmp_path / "games.jsonl"))
    for line in (
        "🎯 Game 1/2",
        f"Move 50: Score {game.scores[50]}, Max tile {2 ** game.cells[50].max()}",
        f"✓ Finished: Score {game.final_score}, Max tile {game.info.max_tile}, Moves 60",
        "🎯 Game 2/2",
    ):
        assert line in result.stderr


@pytest.mark.parametrize("extension", ["jsonl", "json", "csv", "parquet", "h5"])
def test_the_same_seed_gives_the_same_file_whatever_plays_it(
    tmp_path: Path, extension: str, scheduler: str
) -> None:
    files = []
    for name, options in (("one", ()), ("two", ("--workers", 2)), ("dask", ("--scheduler", scheduler))):
        files.append(tmp_path / f"{name}.{extension}")
        if extension in ("jsonl", "parquet") or name == "one":
            done(files[-1], "--engine", "fast", "-g", 20, "--metadata", *options)
    assert {file.read_bytes() for file in files if file.exists()} == {files[0].read_bytes()}
    assert len(list(read_games(files[0]))) == 20


def test_without_a_seed_one_is_drawn_and_told(tmp_path: Path) -> None:
    words = ["--engine", "first", "-d", "1", "-g", "1", "--max-moves", "5", "--json"]
    seeds = []
    for name in ("a", "b"):
        result = CliRunner().invoke(generate, [*words, "-o", str(tmp_path / f"{name}.jsonl")])
        game = next(read_games(tmp_path / f"{name}.jsonl"))
        seeds.append(json.loads(result.stdout)["seed"])
        assert game.info.seed == seeds[-1]
    assert seeds[0] != seeds[1]


def test_an_engine_that_goes_as_deep_as_it_can_is_given_a_depth(tmp_path: Path) -> None:
    words = ["--engine", "first", "-g", "1", "--max-moves", "2", "-o", str(tmp_path / "games.jsonl")]
    assert CliRunner().invoke(generate, words).exit_code == 0
    assert next(read_games(tmp_path / "games.jsonl")).info.depth == 3


def test_the_network_that_comes_along_plays_where_none_is_named(tmp_path: Path) -> None:
    for words, engine, depth in (((), "ntuple", 3), (("--engine", "greedy"), "ntuple", 1)):
        output = tmp_path / f"{depth}.jsonl"
        options = [*words, "-g", "1", "--max-moves", "2", "-o", str(output)]
        assert CliRunner().invoke(generate, options).exit_code == 0
        (game,) = read_games(output)
        assert (game.info.solver, game.info.depth) == (engine, depth)
        assert game.info.weights == hashlib.sha256(weights_for(4, 4).read_bytes()).hexdigest()


def test_the_curriculum_is_a_depth(tmp_path: Path) -> None:
    for name, depth in (("easy", 2), ("medium", 3), ("hard", 5)):
        words = ["--engine", "first", "--curriculum", name, "-g", "1", "--max-moves", "2"]
        output = tmp_path / f"{name}.jsonl"
        assert CliRunner().invoke(generate, [*words, "-o", str(output)]).exit_code == 0
        assert next(read_games(output)).info.depth == depth


def test_only_games_that_are_good_enough_are_kept(tmp_path: Path) -> None:
    games = done(tmp_path / "all.jsonl", "-g", 12)
    scores = sorted(game.final_score for game in games)
    kept = done(tmp_path / "good.parquet", "-g", 12, "--min-score", scores[8])
    assert sorted(game.final_score for game in kept) == scores[8:]
    tiles = {game.info.max_tile for game in games}
    kept = done(tmp_path / "tiles.jsonl", "-g", 12, "--min-tile", max(tiles))
    assert {game.info.max_tile for game in kept} == {max(tiles)}
    assert figures(tmp_path / "none.h5", "-g", 2, "--min-tile", 131072)["games"] == 0
    assert list(read_games(tmp_path / "none.h5")) == []


def test_metadata_is_in_the_moves_as_the_specification_names_it(tmp_path: Path) -> None:
    done(tmp_path / "games.jsonl", "-g", 1, "--metadata")
    move = json.loads((tmp_path / "games.jsonl").read_text())["moves"][10]
    assert set(move) == {
        *("board", "direction", "score"),
        *("values", "evaluation_score", "alternative_moves", "nodes_evaluated", "depth"),
    }
    assert move["evaluation_score"] == max(move["values"].values()) == move["values"][move["direction"]]
    assert {move["direction"], *move["alternative_moves"]} == set(move["values"])


def test_a_card_is_written_on_request(tmp_path: Path) -> None:
    done(tmp_path / "games.parquet", "-g", 1, "--card")
    assert 'path: "games.parquet"' in (tmp_path / "README.md").read_text(encoding="utf-8")


# -- going on ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", ["jsonl", "parquet"])
def test_a_dataset_is_gone_on_with_to_the_number_asked_for(tmp_path: Path, extension: str) -> None:
    whole, grown = tmp_path / f"whole.{extension}", tmp_path / f"grown.{extension}"
    done(whole, "-g", 9)
    done(grown, "-g", 4)
    assert figures(grown, "-g", 9, "--resume")["played"] == 5
    assert grown.read_bytes() == whole.read_bytes()
    assert figures(grown, "-g", 9, "--resume")["played"] == 0
    assert grown.read_bytes() == whole.read_bytes()


def test_what_goes_on_takes_the_seed_of_what_is_there(tmp_path: Path) -> None:
    output = tmp_path / "games.jsonl"
    words = ["--engine", "first", "-d", "1", "--max-moves", "60", "--workers", "1", "-o", str(output)]
    done(output, "-g", 2)
    assert CliRunner().invoke(generate, [*words, "-g", "4", "--resume"]).exit_code == 0
    assert [(game.info.seed, game.info.game_number) for game in read_games(output)] == [
        (7, 0), (7, 1), (7, 2), (7, 3),
    ]  # fmt: skip


def test_resume_refuses_games_of_another_run_and_append_goes_on_after_them(tmp_path: Path) -> None:
    output = tmp_path / "games.jsonl"
    done(output, "-g", 2)
    assert "game 1 of" in told(run(output, "-g", 4, "-d", 2, "--resume"))
    assert "is of another run (depth 1, not 2)" in told(run(output, "-g", 4, "-d", 2, "--resume"))
    done(output, "-g", 2, "-d", 2, "--append")
    done(output, "-g", 3, "-d", 2, "--append")
    assert [(game.info.depth, game.info.game_number) for game in read_games(output)] == [
        (1, 0), (1, 1), (2, 0), (2, 1), (2, 2),
    ]  # fmt: skip


def test_filtered_games_are_not_played_again_but_for_those_after_the_last_kept_one(tmp_path: Path) -> None:
    scores = [game.final_score for game in done(tmp_path / "all.jsonl", "-g", 10)]
    best = max(scores[:6])
    kept = [score for score in scores if score >= best]
    output = tmp_path / "best.jsonl"
    done(output, "-g", 6, "--min-score", best)
    found = figures(output, "-g", 10, "--min-score", best, "--resume")
    assert found["played"] == 10 - (max(i for i, score in enumerate(scores[:6]) if score == best) + 1)
    assert [game.final_score for game in read_games(output)] == kept


def test_games_that_were_finished_before_their_turn_are_taken_up(tmp_path: Path) -> None:
    games = done(tmp_path / "whole.jsonl", "-g", 6)
    output = tmp_path / "games.jsonl"
    with GrowingDataset(output, "new") as dataset:
        dataset.append(Chunk(0, 1, games[:1]))
        dataset.set_aside(Chunk(2, 2, games[2:4], 5.0))
    assert figures(output, "-g", 6, "--resume")["played"] == 5
    assert output.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not any(file.exists() for file in working_files(output))


# -- what ends it -----------------------------------------------------------------------------------------


def begin(output: Path, *arguments: object) -> subprocess.Popen[str]:
    words = [
        str(word) for word in ("--engine", "first", "-d", 1, "--timestamp", WHEN, "-o", output, *arguments)
    ]
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        process_group=0,
    )


def ended(process: subprocess.Popen[str]) -> bool:
    """Whether it has ended, after a moment's grace that leaves the processor to it."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.005)
    return process.poll() is not None


def wait_for_games(process: subprocess.Popen[str], output: Path, size: int) -> None:
    """Wait until so many bytes of games are on disk."""
    place = output if output.suffix == ".jsonl" else working_files(output)[0]
    while not place.exists() or place.stat().st_size < size:
        assert not ended(process)


@pytest.mark.parametrize(("extension", "workers"), [("jsonl", 1), ("parquet", 2)])
def test_ctrl_c_saves_what_was_played_and_resume_goes_on(
    tmp_path: Path, extension: str, workers: int
) -> None:
    output = tmp_path / f"games.{extension}"
    process = begin(output, "-g", 100_000, "--seed", 1, "--max-moves", 20, "--workers", workers)
    wait_for_games(process, output, 20_000)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    report = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    games = list(read_games(output))
    assert [game.info.game_number for game in games] == list(range(len(games)))
    assert f"Total games: {len(games):,}" in report
    assert "⏸ Interrupted; --resume continues" in report
    assert not any(file.exists() for file in working_files(output))
    found = figures(output, "--seed", 1, "--max-moves", 20, "-g", len(games) + 2, "--resume")
    assert (found["played"], found["games"]) == (2, len(games) + 2)


def survives_kills(tmp_path: Path, extension: str, workers: int, kills: int, draw: random.Random) -> None:
    """Kill it at random moments: nothing finished is lost, and in the end the bytes are the same."""
    whole, output = tmp_path / f"whole.{extension}", tmp_path / f"games.{extension}"
    options = ("-g", 60 + 30 * kills, "--seed", 3, "--max-moves", 150)
    assert begin(whole, *options, "--workers", 1).wait(120) == 0
    known = 0
    place = output if extension == "jsonl" else working_files(output)[0]
    for _ in range(kills):
        process = begin(output, *options, "--workers", workers, "--resume")
        wait_for_growth(process, place, draw.randrange(100_000))
        with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if process.returncode == 0:
            break
        games = list(read_games(place)) if place.exists() else []
        assert [game.info.game_number for game in games] == list(range(len(games)))
        assert len(games) >= known
        known = len(games)
        if output.exists():
            assert len(list(read_games(output))) >= 0
    assert begin(output, *options, "--workers", 1, "--resume").wait(120) == 0
    assert output.read_bytes() == whole.read_bytes()


def wait_for_growth(process: subprocess.Popen[str], place: Path, size: int) -> None:
    """Wait until the games on disk take so many bytes more, or all are played."""
    before = place.stat().st_size if place.exists() else 0
    while not ended(process) and (not place.exists() or place.stat().st_size < before + size):
        pass


@pytest.mark.parametrize(("extension", "workers"), [("jsonl", 2), ("parquet", 1)])
def test_a_kill_at_any_moment_loses_no_finished_game(tmp_path: Path, extension: str, workers: int) -> None:
    survives_kills(tmp_path, extension, workers, 2, random.Random(extension))


@pytest.mark.slow
@pytest.mark.parametrize("extension", ["jsonl", "parquet", "h5", "csv", "json"])
def test_twenty_kills_at_any_moment_lose_no_finished_game(tmp_path: Path, extension: str) -> None:
    survives_kills(tmp_path, extension, 2, 20, random.Random(extension))


@pytest.mark.parametrize("where", ["processes", "dask"])
def test_a_worker_that_is_killed_costs_time_and_no_game(tmp_path: Path, where: str, request: Any) -> None:
    whole, output = tmp_path / "whole.jsonl", tmp_path / "games.jsonl"
    options: tuple[object, ...] = ("-g", 200, "--seed", 3, "--max-moves", 150)
    crew: tuple[object, ...] = ("--workers", 2)
    if where == "dask":
        address = request.getfixturevalue("scheduler")
        with distributed.Client(address, set_as_default=False) as client:
            pids = list(client.run(os.getpid).values())
        # Dask's workers do not know the engine of these tests.
        options, crew = (*options, "--engine", "fast"), ("--scheduler", address)
    assert begin(whole, *options, "--workers", 1).wait(240) == 0
    process = begin(output, *options, *crew)
    wait_for_games(process, output, 100_000)
    if where == "processes":
        children = psutil.Process(process.pid).children(recursive=True)
        pids = [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())]
    os.kill(pids[0], signal.SIGKILL)
    assert process.wait(240) == 0
    assert output.read_bytes() == whole.read_bytes()
    assert len(list(read_games(output))) == 200


# -- what goes wrong --------------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", ["jsonl", "parquet"])
def test_nothing_is_overwritten_without_force(tmp_path: Path, extension: str) -> None:
    output = tmp_path / f"games.{extension}"
    done(output, "-g", 2)
    assert "exists; expected a new name, or --force" in told(run(output, "-g", 1))
    found = figures(output, "-g", 3, "--force")
    assert (found["games"], found["played"]) == (3, 3)
    assert len(done(output, "-g", 1, "--force")) == 1


def test_bad_usage_is_told_before_anything_is_touched(tmp_path: Path) -> None:
    output = tmp_path / "games.jsonl"
    for words in (
        ("--curriculum", "easy"),
        ("--force", "--resume"),
        ("--board", "9x9"),
        ("--timestamp", "now"),
        ("-g", 0),
        ("--weights", tmp_path / "none"),
        ("--engine", "nobody"),
    ):
        assert run(output, *words).exit_code == 2, words
    for words, message in (
        (("--engine", "composite", "--board", "5x5", "-d", 2), "does not play 5x5"),
        (("--engine", "greedy", "--board", "5x5"), "'ntuple' does not play 5x5"),
        (("-d", 99), "depth 99 is out of range"),
    ):
        assert message in told(run(output, *words))
    assert "is not known" in told(run(tmp_path / "games.xml"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_program_s_games_is_not_gone_on_with(tmp_path: Path) -> None:
    from support.dataset_games import late_game

    write_games(tmp_path / "late.jsonl", [late_game()])
    assert "is of another run (source https" in told(run(tmp_path / "late.jsonl", "--resume", "-g", 1))
    assert len(done(tmp_path / "late.jsonl", "--append", "-g", 1)) == 2

"""The options that choose an engine: the same on every command, and what the help says is what plays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from bot.cli.main import main
from command_line.engine_options import solver_options
from game2048.engine_names import DEFAULT_FOR_DATA, DEFAULT_FOR_PLAY, ENGINE_NAMES, default_in_words
from game2048.size import Size
from game2048.solver_options import SolverOptions
from solver_server.engine import Limit
from solver_server.engines import default_for_data, default_for_play
from solver_server.evaluation.games import plan_for

ROOT = Path(__file__).parents[2]
PLAYERS = ("play", "demo", "harvest", "serve", "hint", "evaluate")
SHARED = ("--weights", "--depth", "--time-ms", "--search-threads", "--tables", "--engine")


def option_of(command: str, name: str) -> click.Option | None:
    found = main.get_command(click.Context(main), command)
    assert found is not None
    for parameter in found.params:
        if isinstance(parameter, click.Option) and name in parameter.opts:
            return parameter
    return None


@pytest.mark.parametrize("name", SHARED)
def test_an_option_has_one_help_on_every_command(name: str) -> None:
    helps = {option.help for command in PLAYERS if (option := option_of(command, name)) is not None}
    assert len(helps) == 1
    assert all(option_of(command, name) is not None for command in PLAYERS)


@pytest.mark.parametrize("name", ["--cdp", "--device", "--site", "--user-data-dir", "--browser", "--headed"])
def test_harvest_takes_what_play_takes(name: str) -> None:
    play, harvest = option_of("play", name), option_of("harvest", name)
    assert play is not None
    assert harvest is not None
    assert play.help == harvest.help


def test_the_help_names_the_engine_that_plays() -> None:
    for command in PLAYERS:
        engine = option_of(command, "--engine")
        assert engine is not None
        assert f"[default: {default_in_words(DEFAULT_FOR_PLAY)}]" in (engine.help or "")
    generate = option_of("generate", "--engine")
    assert generate is not None
    assert f"[default: {default_in_words(DEFAULT_FOR_DATA)}]" in (generate.help or "")
    others = "exact on boards of up to nine cells; fast on all other boards"
    assert default_in_words("order") == f"order; ntuple with --weights; {others}"
    assert default_in_words("ntuple") == f"ntuple; {others}"


def test_evaluate_measures_the_engine_that_plays() -> None:
    for size in (None, Size(4, 4), Size(5, 5)):
        plan = plan_for(None, None, size, Limit())
        assert plan.engine == default_for_play(plan.size)
        assert (plan.depth, plan.time_ms) == (None, None)


def test_generate_plays_by_the_default_for_data(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["generate", "-g", "1", "--max-moves", "2", "-o", str(tmp_path / "a.jsonl"), "--json"]
    )
    assert done.exit_code == 0, done.output
    assert f'"engine":"{default_for_data()}"' in done.stdout


def test_documents_name_the_default_engine() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8")
    assert re.search(rf"`{DEFAULT_FOR_PLAY}`[^|\n]*default", readme)
    for engine in set(ENGINE_NAMES) - {DEFAULT_FOR_PLAY, "exact", "fast"}:  # which are so on other boards
        assert not re.search(rf"default engine[^.\n]*`{engine}`", results, re.IGNORECASE)
        assert not re.search(rf"`{engine}` \(the default\)", readme)


# -- the decorator ----------------------------------------------------------------------------------------


@click.command()
@solver_options(remote=True)
def shown(solver: SolverOptions) -> None:
    click.echo(repr(solver))


def said(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(shown, arguments)
    return done.exit_code, done.output


def test_the_options_become_one_value() -> None:
    assert said()[1].strip() == repr(SolverOptions())
    given = ["--engine", "fast", "-d", "3", "--time-ms", "5", "--search-threads", "2", "--tables"]
    expected = SolverOptions(engine="fast", depth=3, time_ms=5.0, search_threads=2, tables=True)
    assert said(*given)[1].strip() == repr(expected)
    assert expected.arguments() == [
        "--engine", "fast", "--depth", "3", "--time-ms", "5.0", "--search-threads", "2", "--tables",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--engine", "stockfish"], "'stockfish' is not an engine; expected one of order"),
        (["--server", "ws://x", "--tables"], "--tables belongs to the server"),
        (["--server", "ws://x", "--search-threads", "2"], "--search-threads belongs to the server"),
        (["--server", "ws://x", "--weights", __file__], "--weights belongs to the server"),
        (["--ca", __file__], "--ca is for a server at wss://; add --server"),
        (["--server-patience", "-1"], "-1.0 is not in the range"),
        (["--weights", __file__, "--engine", "fast"], "--weights is a network for engine ntuple"),
        (["--depth", "0"], "0 is not in the range"),
        (["--search-threads", "65"], "65 is not in the range"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments: list[str], complaint: str) -> None:
    code, output = said(*arguments)
    assert code == 2
    assert complaint in " ".join(output.split())


def test_another_machine_s_server_may_have_engines_of_its_own() -> None:
    code, output = said("--server", "ws://x", "--engine", "stockfish")
    assert code == 0
    assert "engine='stockfish'" in output


def test_a_command_may_leave_options_out() -> None:
    @click.command()
    @solver_options("time_ms", "search_threads")
    def command(**_: Any) -> None: ...

    assert {name for parameter in command.params for name in parameter.opts} == {
        "--engine", "--weights", "--depth", "-d", "--tables",
    }  # fmt: skip

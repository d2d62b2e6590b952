"""docs/datasets.md keeps up with the commands, and its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from support.dataset_games import played

from bot.cli.harvest import harvest
from recordings.cli.datasets import DATASET_COMMANDS
from recordings.datasets.dataset_file import write_games
from scraper.cli import install_browser_command
from solver_server.cli.generate import generate

TEXT = (Path(__file__).parents[1] / "docs" / "datasets.md").read_text(encoding="utf-8")
# Options that choose an engine or a browser: the same on every command, and told by its help.
UNTOLD = {"--token", "--verbose", "--tables", "--no-tables", "--search-threads", "--site"} | {
    name for option in install_browser_command.params for name in (*option.opts, *option.secondary_opts)
}


@pytest.mark.parametrize("command", [generate, harvest, *DATASET_COMMANDS], ids=lambda command: command.name)
def test_every_option_is_in_the_page(command: click.Command) -> None:
    assert f"bot2048 {command.name}" in TEXT or f"bot2048 records {command.name}" in TEXT
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            names = {*parameter.opts, *parameter.secondary_opts}
            assert any(name in TEXT for name in names) or names <= UNTOLD, names


def test_every_column_is_in_the_page(tmp_path: Path) -> None:
    from recordings.datasets.formats.parquet import game_schema, move_schema

    for name in (*move_schema().names, *game_schema().names):
        assert f"`{name}`" in TEXT, name


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for extension in ("parquet", "h5", "jsonl"):
        write_games(f"data/training_games.{extension}", [played(4, 4, seed) for seed in range(3)])
    blocks = [
        block for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "load_dataset" not in block
    ]
    assert len(blocks) == 4
    found: list[dict[str, object]] = []
    for block in blocks:
        names: dict[str, object] = {}
        exec(block, names)  # our own page
        found.append(names)
    boards, actions, mask = found[0]["boards"], found[0]["actions"], found[0]["mask"]
    assert boards.shape[1:] == (4, 4)  # type: ignore[attr-defined]
    assert mask[range(len(mask)), actions].all()  # type: ignore[index]
    assert found[1]["one_hot"].shape[1:] == (16, 18)  # type: ignore[attr-defined]

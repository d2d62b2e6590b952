from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.dataset_games import hard_games, late_game, played
from support.records_command import run, told

from recordings.datasets.dataset_file import read_games, write_games


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_games(tmp_path / "games.jsonl", [played(4, 4, 1, game) for game in range(4)])
    return tmp_path / "games.jsonl"


def test_export_converts_and_says_what(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "new" / "games.parquet"
    result = run("export", source, target)
    moves = sum(game.plies for game in read_games(source))
    assert result.output == f"4 games, {moves:,} moves: {target}\n"
    assert run("export", target, tmp_path / "back.jsonl").exit_code == 0
    assert (tmp_path / "back.jsonl").read_bytes() == source.read_bytes()
    assert "exists" in told(run("export", source, target))
    assert run("export", source, target, "--force").exit_code == 0


def test_export_joins_files_and_reads_run_folders(source: Path, tmp_path: Path) -> None:
    write_games(tmp_path / "late.csv", [late_game()])
    assert run("export", tmp_path, tmp_path / "late.csv", tmp_path / "all.json").exit_code == 0
    assert len(list(read_games(tmp_path / "all.json"))) == 5


def test_augment_writes_eight_games_for_one(source: Path, tmp_path: Path) -> None:
    assert run("augment", source, tmp_path / "eight.h5").output.startswith("32 games, ")
    assert run("verify", tmp_path / "eight.h5").exit_code == 0
    assert "image 0 of another already" in told(run("augment", tmp_path / "eight.h5", tmp_path / "more.h5"))


def test_split_says_what_is_where(source: Path, tmp_path: Path) -> None:
    result = run(
        "split", source, "-o", tmp_path / "s", "--ratios", "50/25/25", "--format", "parquet", "--card"
    )
    assert result.output.splitlines() == [
        f"train: 2 games in {tmp_path}/s/train.parquet",
        f"validation: 1 games in {tmp_path}/s/validation.parquet",
        f"test: 1 games in {tmp_path}/s/test.parquet",
        f"dataset card: {tmp_path}/s/README.md",
    ]
    assert run("split", source, "--ratios", "half").exit_code == 2


def test_stats_prints_the_report_or_json(source: Path, tmp_path: Path) -> None:
    text = run("stats", source).output
    assert text.startswith("📊 Dataset Statistics")
    assert "Total games: 4" in text
    assert "⚠️  win rate 0.0%, below 50%" in text
    write_games(tmp_path / "late.parquet", [late_game()])
    figures = json.loads(run("stats", "--json", source, tmp_path / "late.parquet").output)
    assert (figures["games"], figures["max_tile"]) == (5, 131072)


def test_stats_of_a_file_whose_last_line_is_cut_off_counts_the_games_before_it(source: Path) -> None:
    source.write_bytes(source.read_bytes()[:-100])
    assert "Total games: 3" in run("stats", source).output


@pytest.mark.parametrize("extension", ["jsonl", "json", "csv", "parquet", "h5"])
def test_verify_takes_every_format_and_names_the_first_ply_at_fault(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"games.{extension}"
    write_games(path, hard_games())
    assert run("verify", path).output.endswith("every ply by the rules\n")
    cells = hard_games()[0].cells.copy()
    cells[7].flat[int((cells[7] == 0).argmax())] = 5
    broken = hard_games()[0]
    broken.cells[...] = cells
    write_games(path, [late_game(), broken], force=True)
    result = run("verify", path)
    assert result.output.startswith(f"{path}, game 2, ply 7: ")
    assert told(result) == f"1 of 2 games broke the rules, first {path}, game 2, ply 7"


def test_show_and_gif_take_every_format(tmp_path: Path) -> None:
    write_games(tmp_path / "games.parquet", [played(2, 2, 1), late_game()])
    assert "max tile 131072, 3 moves" in run("show", tmp_path / "games.parquet").output
    assert run("gif", tmp_path / "games.parquet", "--game", 2).exit_code == 0
    assert (tmp_path / "games-game-2.gif").exists()


def test_the_card_names_the_files_of_each_split_for_dataset_hubs(source: Path, tmp_path: Path) -> None:
    run("export", source, tmp_path / "d" / "games.parquet", "--card")
    card = (tmp_path / "d" / "README.md").read_text(encoding="utf-8")
    assert card.split("---")[1].splitlines() == [
        "",
        "pretty_name: 2048 games",
        "task_categories:",
        "- reinforcement-learning",
        "tags:",
        '- "2048"',
        "- games",
        "size_categories:",
        "- n<1K",
        "configs:",
        "- config_name: moves",
        "  default: true",
        "  data_files:",
        "  - split: train",
        '    path: "games.parquet"',
        "- config_name: games",
        "  data_files:",
        "  - split: train",
        '    path: "games.games.parquet"',
    ]
    assert "Total games: 4" in card


def test_a_readme_of_somebody_else_is_not_overwritten(source: Path, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "README.md").write_text("# Mine\n")
    result = run("export", source, tmp_path / "d" / "games.csv", "--card")
    assert "is not a dataset card that bot2048 wrote" in told(result)
    assert (tmp_path / "d" / "README.md").read_text() == "# Mine\n"
    assert not (tmp_path / "d" / "games.csv").exists()
    assert run("export", source, tmp_path / "d" / "games.csv", "--card", "--force").exit_code == 0
    assert run("export", source, tmp_path / "d" / "games.h5", "--card").exit_code == 0  # now it is ours


@pytest.mark.parametrize("name", ["export", "augment", "split", "stats", "verify"])
def test_a_missing_file_is_bad_usage(name: str, tmp_path: Path) -> None:
    assert run(name, tmp_path / "none.jsonl", tmp_path / "out.csv").exit_code == 2

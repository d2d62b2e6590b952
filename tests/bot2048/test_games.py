"""Games as values: read, checked, drawn."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pytest
from PIL import Image
from support.recorded import WORKED_FINAL, WORKED_MOVES, WORKED_SCORE, worked_game

import bot2048
from bot.options import GameSummary
from bot2048 import Board, Direction
from recordings.datasets.dataset_file import write_games
from recordings.game_arrays import arrays_of


@pytest.mark.parametrize("extension", ["jsonl", "json", "csv", "parquet", "h5"])
def test_a_dataset_of_any_format_is_read(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"games.{extension}"
    write_games(path, [arrays_of(worked_game())] * 2)
    games = list(bot2048.read_games(path))
    assert [game.final_score for game in games] == [WORKED_SCORE] * 2
    (game, _) = games
    assert list(game.boards()) == [
        *(Board.from_text(text) for text, _, _ in WORKED_MOVES),
        Board.from_text(WORKED_FINAL),
    ]
    assert game.moves == [Direction(name) for _, name, _ in WORKED_MOVES]
    assert game.final_board == Board.from_text(WORKED_FINAL)
    assert (game.max_tile, game.plies, game.info.solver) == (8, 5, "hand")
    assert game.record() == worked_game()
    assert bot2048.verify(game) is None
    assert repr(game) == "<Game: score 16, tile 8, 5 moves>"
    assert isinstance(game.with_info(seed=3), bot2048.Game)


def test_a_fault_is_found_in_both_forms() -> None:
    game = bot2048.Game.of(arrays_of(worked_game()))
    game.scores[1] = 8  # the first move makes a 4
    for form in (game, game.record()):
        fault = bot2048.verify(form)
        assert fault is not None
        assert fault.ply == 1
        assert "the score before ply 2 is 8" in fault.message


def test_a_missing_dataset_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(bot2048.RecordError, match="does not exist") as error:
        next(bot2048.read_games(tmp_path / "games.parquet"))
    assert error.value.path == tmp_path / "games.parquet"


def test_a_game_draws_itself_in_a_notebook(tmp_path: Path) -> None:
    game = bot2048.Game.of(arrays_of(worked_game()))
    html = game._repr_html_()
    found = re.fullmatch(r'<img src="data:image/gif;base64,([A-Za-z0-9+/=]+)" alt="([^"]*)">', html)
    assert found is not None
    assert found[2] == "Game: score 16, tile 8, 5 moves"
    with Image.open(io.BytesIO(base64.b64decode(found[1]))) as picture:
        assert (picture.format, getattr(picture, "n_frames", 1)) == ("GIF", 6)
    game.save_gif(tmp_path / "game.gif", bot2048.AnimationOptions(pixels=120))
    assert (tmp_path / "game.gif").read_bytes() == game.gif(bot2048.AnimationOptions(pixels=120))


def test_a_played_game_says_how_long_it_took() -> None:
    game = bot2048.PlayedGame.of_summary(GameSummary(worked_game(), 2.5, Path("game-001.gif")))
    assert (game.seconds, game.gif_path, game.gif_fault) == (2.5, Path("game-001.gif"), None)
    assert game.final_score == WORKED_SCORE
    assert game._repr_html_().startswith("<img ")

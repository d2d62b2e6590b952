from __future__ import annotations

import sys
from pathlib import Path

import minari
import numpy as np
import pytest
from click.testing import CliRunner
from support.dataset_games import late_game, moveless, played

from game2048.errors import RecordError
from recordings.cli.records import records
from recordings.datasets.dataset_file import write_games
from recordings.datasets.minari_export import export_to_minari


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    return tmp_path / "minari"


def test_minari_reads_the_games_as_episodes(folder: Path) -> None:
    game, cut = played(4, 4, 1), played(4, 4, 2, max_moves=20)
    assert export_to_minari([game, moveless(game), cut], "2048/random-v0").startswith(str(folder))
    dataset = minari.load_dataset("2048/random-v0")
    assert (dataset.total_episodes, dataset.total_steps) == (2, game.plies + 20)
    one, two = dataset.iterate_episodes()
    assert one.observations.dtype == np.uint8
    np.testing.assert_array_equal(one.observations, game.cells)
    np.testing.assert_array_equal(one.actions, game.directions)
    assert one.rewards.sum() == game.final_score
    assert (one.terminations[-1], one.truncations[-1]) == (True, False)
    assert (two.terminations[-1], two.truncations[-1]) == (False, True)
    masks = one.infos["action_mask"]
    assert masks.shape == (game.plies + 1, 4)
    assert masks[np.arange(game.plies), game.directions].all()
    assert not masks[-1].any()


@pytest.mark.parametrize("size", [(4, 4), (5, 5), (3, 4)])
def test_the_environment_is_recovered_and_begins_the_recorded_games(size: tuple[int, int]) -> None:
    games = [played(*size, seed=3, game=number, max_moves=60) for number in range(3)]
    export_to_minari(games, "2048/self-v0")
    dataset = minari.load_dataset("2048/self-v0")
    env = dataset.recover_environment()
    assert env.unwrapped.observation_space.shape == size
    episodes = list(dataset.iterate_episodes())
    metadata = list(dataset.storage.get_episode_metadata(range(3)))
    for number, (game, episode, about) in enumerate(zip(games, episodes, metadata, strict=True)):
        assert about["seed"] == 3
        assert about["options"]["game"] == number
        observation, _ = env.reset(seed=int(about["seed"]), options=dict(about["options"]))
        np.testing.assert_array_equal(observation, game.cells[0])
        for action, expected in zip(episode.actions, game.cells[1:], strict=True):
            observation, *_ = env.step(action)
            np.testing.assert_array_equal(observation, expected)


def test_what_cannot_be_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RecordError, match="there are no games"):
        export_to_minari([], "2048/none-v0")
    with pytest.raises(RecordError, match="game 2 is on 2x3, the first on 4x4"):
        export_to_minari([late_game(), played(2, 3, 1)], "2048/mixed-v0")
    assert not (folder / "2048" / "mixed-v0").exists()
    export_to_minari([late_game()], "2048/late-v0")
    with pytest.raises(RecordError, match="does not take dataset '2048/late-v0'"):
        export_to_minari([late_game()], "2048/late-v0")
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(RecordError, match=r"`pip install 'bot2048\[minari\]'`"):
        export_to_minari([late_game()], "2048/more-v0")


def test_the_command_says_where_it_is(tmp_path: Path, folder: Path) -> None:
    write_games(tmp_path / "late.csv", [late_game()])
    result = CliRunner().invoke(records, ["export-minari", str(tmp_path / "late.csv"), "2048/hand-v1"])
    assert result.output == f"{folder}/2048/hand-v1/data\n"

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from game2048 import DIRECTIONS, Board
from game2048.errors import RulesError
from game2048.spawn import Spawner
from solver_server.gym_env import Game2048Env

TILES = [[2, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 4]]


@pytest.mark.parametrize("name", ["solver_server.gym_env:Bot2048-v0", "Bot2048-5x5-v0"])
@pytest.mark.parametrize("observation", ["exponents", "one_hot"])
def test_gymnasium_s_own_checker_is_content(name: str, observation: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name, observation=observation).unwrapped)


def test_the_sizes_and_the_levels() -> None:
    four, five = gymnasium.make("Bot2048-v0"), gymnasium.make("Bot2048-5x5-v0", observation="one_hot")
    assert four.observation_space == gymnasium.spaces.Box(0, 17, (4, 4), np.uint8)
    assert five.observation_space == gymnasium.spaces.Box(0, 1, (5, 5, 27), np.uint8)
    assert four.action_space == gymnasium.spaces.Discrete(4)


def test_a_move_merges_pays_and_spawns_one_tile() -> None:
    env = Game2048Env()
    observation, info = env.reset(seed=1, options={"board": TILES})
    assert observation.tolist() == [[1, 1, 0, 0], [0] * 4, [0] * 4, [0, 0, 0, 2]]
    assert info["action_mask"].tolist() == [1, 1, 1, 1]
    assert (info["score"], info["max_tile"]) == (0, 4)
    observation, reward, terminated, truncated, info = env.step(np.int64(3))  # left
    assert (reward, terminated, truncated, info["score"]) == (4.0, False, False, 4)
    assert (observation[0, 0], observation[3, 0]) == (2, 2)
    assert np.count_nonzero(observation) == 3


def test_an_illegal_action_changes_nothing() -> None:
    env = Game2048Env()
    observation, info = env.reset(options={"board": [[2, 0, 0, 0], *[[0] * 4] * 3]})
    assert info["action_mask"].tolist() == [0, 1, 1, 0]
    after, reward, terminated, _, info = env.step(np.int64(0))
    assert after.tolist() == observation.tolist()
    assert (reward, terminated, info["score"]) == (0.0, False, 0)


def test_an_episode_ends_when_no_action_is_legal() -> None:
    env = Game2048Env(2, 2)
    ends = {}
    for seed in range(40):
        env.reset(seed=seed, options={"board": [[2, 4], [8, 0]]})
        observation, _, terminated, truncated, info = env.step(np.int64(1))  # right
        assert not truncated
        assert terminated == (not info["action_mask"].any())
        ends[int(observation[1, 0])] = terminated
    assert ends == {1: False, 2: True}  # a 2 below the 2 can merge, a 4 has no equal beside it


def test_one_hot_is_one_in_the_level_of_the_exponent() -> None:
    env = Game2048Env(observation="one_hot")
    observation, _ = env.reset(options={"board": [[131072, 2, 0, 0], *[[0] * 4] * 3]})
    assert observation.shape == (4, 4, 18)
    assert (observation.sum(axis=2) == 1).all()
    assert observation.argmax(axis=2).tolist()[0] == [17, 1, 0, 0]


def test_episodes_are_the_games_of_self_play() -> None:
    env = Game2048Env()
    observation, _ = env.reset(seed=7)
    for game in range(2):
        spawner = Spawner(7, game)
        board = spawner.start()
        for _ in range(30):
            assert observation.tobytes() == board.cells
            direction = board.legal_directions()[0]
            board = spawner.spawn(board.slide(direction).afterstate)
            observation, *_ = env.step(np.int64(direction.index))
        observation, _ = env.reset()
    observation, _ = env.reset(options={"game": 1})
    assert observation.tobytes() == Spawner(7, 1).start().cells


def test_without_a_seed_episodes_differ() -> None:
    starts: set[bytes] = set()
    for _ in range(5):
        env = Game2048Env()
        starts |= {env.reset()[0].tobytes() for _ in range(3)}
    assert len(starts) > 5


def test_every_ply_follows_the_rules() -> None:
    env: Any = Game2048Env(3, 5)
    draw = np.random.default_rng(2)
    observation, info = env.reset(seed=2)
    terminated = False
    while not terminated:
        board = Board(3, 5, observation.tobytes())
        legal = board.legal_directions()
        assert [d for d in DIRECTIONS if info["action_mask"][d.index]] == list(legal)
        direction = legal[draw.integers(len(legal))]
        slide = board.slide(direction)
        observation, reward, terminated, _, info = env.step(np.int64(direction.index))
        assert reward == slide.reward
        changed = [
            (a, b) for a, b in zip(slide.afterstate.cells, observation.tobytes(), strict=True) if a != b
        ]
        assert changed in ([(0, 1)], [(0, 2)])
    assert Board(3, 5, observation.tobytes()).is_over


def test_it_is_shown_as_a_text_and_as_a_picture() -> None:
    env = Game2048Env(render_mode="ansi")
    env.reset(options={"board": TILES})
    assert env.render() == Board.from_tiles(TILES).pretty() + "\nscore 0\n"
    env = Game2048Env(render_mode="rgb_array")
    env.reset(options={"board": TILES})
    picture = env.render()
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    assert picture.shape[2] == 3


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(RulesError, match="observation 'bits' is unknown"):
        Game2048Env(observation="bits")  # type: ignore[arg-type]
    with pytest.raises(RulesError, match="a board of 2×2 does not fit: expected 4×4"):
        Game2048Env().reset(options={"board": [[2, 0], [0, 2]]})


def test_a_missing_package_names_the_extra(tmp_path: Path) -> None:
    code = "import sys; sys.modules['gymnasium'] = None; import solver_server.gym_env"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(root), "HOME": str(tmp_path)}, text=True,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == (
        "ImportError: the environment needs the package gymnasium; "
        "install it with `pip install 'bot2048[gym]'`"
    )


@pytest.mark.parametrize("action", [-1, 4, 255, 1.7, True, "up", None])
def test_an_action_outside_the_space_is_refused(action: Any) -> None:
    env = Game2048Env()
    board, _ = env.reset(seed=3)
    with pytest.raises(RulesError, match="is out of range; expected 0 up"):
        env.step(action)
    for legal in np.flatnonzero(env.action_masks())[:1]:
        after, *_ = env.step(legal)
        assert not np.array_equal(after, board)


def test_a_numpy_board_is_taken_and_masks_say_what_is_legal() -> None:
    env = Game2048Env()
    env.reset(options={"board": np.array([[2, 4, 8, 16]] + [[0] * 4] * 3)})
    assert env.action_masks().tolist() == [
        False,
        False,
        True,
        False,
    ]  # a full top row: only down
    assert env.action_masks().dtype == np.bool_
    for wrong in (np.zeros((4, 4)), np.zeros((3, 3), dtype=int), np.full((4, 4), 3)):
        with pytest.raises(RulesError):
            env.reset(options={"board": wrong})

"""Games as a Minari dataset: episodes of observations, actions and rewards (extra ``minari``)."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from game2048.board import highest_exponent
from game2048.errors import RecordError
from game2048.size import STANDARD_SIZE, Size
from recordings.datasets.formats.writing import missing_extra
from recordings.game_arrays import GameArrays

_ENTRY_POINT = "solver_server.gym_env:Game2048Env"


def export_to_minari(games: Iterable[GameArrays], dataset_id: str) -> str:
    """Write games as a dataset of Minari's, in its own folder (``MINARI_DATASETS_PATH``).

    Observations are exponents, uint8 [rows, columns]; actions 0 to 3 are up, right, down, left; rewards are
    the merge rewards; ``infos`` has ``action_mask``. A game that was not played to its end is truncated. The
    environment is that of ``solver_server.gym_env``; an episode of self-play has the ``seed`` and, in its
    ``options``, the number of the game, with which ``reset`` begins the same game.

    Args:
        games: at least one, all on boards of one size.
        dataset_id: such as ``2048/fast-v0``.

    Returns:
        The folder of its data.

    Raises:
        RecordError: the package is missing, the id is taken or invalid, or the games differ in size.
    """
    try:
        import gymnasium
        import minari
        from minari.storage.datasets_root_dir import get_dataset_path
    except ImportError as error:
        raise missing_extra("Minari datasets", "minari", "minari") from error
    rest = iter(games)
    first = next(rest, None)
    if first is None:
        raise RecordError("there are no games to export; expected at least one")
    top = highest_exponent(*first.size)
    try:
        with _whole(get_dataset_path(dataset_id)), warnings.catch_warnings():
            # It asks for an author, whom the games do not name.
            warnings.simplefilter("ignore", UserWarning)
            dataset = minari.create_dataset_from_buffers(
                dataset_id,
                _episodes(chain([first], rest), first.size),
                env=_environment(first.size),
                observation_space=gymnasium.spaces.Box(0, top, first.size, np.uint8),
                action_space=gymnasium.spaces.Discrete(4),
                algorithm_name=first.info.solver,
                description="Games of 2048; exponents of the board, actions up, right, down, left.",
            )
    except ValueError as error:
        raise RecordError(f"Minari does not take dataset {dataset_id!r}: {error}") from error
    return str(dataset.storage.data_path)


def _environment(size: Size) -> Any:
    """Describe the environment of boards of a size, by the name of its class."""
    from gymnasium.envs.registration import EnvSpec

    name = "Bot2048-v0" if size == STANDARD_SIZE else f"Bot2048-{size}-v0"
    return EnvSpec(name, entry_point=_ENTRY_POINT, kwargs={"rows": size.rows, "columns": size.columns})


@contextmanager
def _whole(folder: Path) -> Iterator[None]:
    """Leave nothing of a folder that was begun within this context and not finished."""
    is_new = not folder.exists()
    done = False
    try:
        yield
        done = True
    finally:
        if is_new and not done:
            shutil.rmtree(folder, ignore_errors=True)


def _episodes(games: Iterable[GameArrays], size: Size) -> Iterator[Any]:
    from minari.data_collector import EpisodeBuffer

    from game2048.kernels.transitions import legal_mask

    for number, game in enumerate(games):
        if game.size != size:
            raise RecordError(
                f"game {number + 1} is on {game.size}, the first on {size}; expected boards of one size"
            )
        if not game.plies:
            continue
        masks = np.array([int(legal_mask(cells)) for cells in game.cells])
        last = np.zeros(game.plies, dtype=np.bool_)
        last[-1] = True
        over = masks[-1] == 0
        yield EpisodeBuffer(
            seed=game.info.seed,
            options=None if game.info.game_number is None else {"game": game.info.game_number},
            observations=game.cells,
            actions=game.directions.astype(np.int64),
            rewards=np.diff(game.scores).astype(np.float64),
            terminations=last & over,
            truncations=last & ~over,
            infos={"action_mask": ((masks[:, np.newaxis] >> np.arange(4)) & 1).astype(np.int8)},
        )

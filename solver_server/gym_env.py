"""2048 as a Gymnasium environment (extra ``gym``): ``Bot2048-v0`` on 4×4 and ``Bot2048-5x5-v0``.

Importing this module registers both, and ``gymnasium.make("solver_server.gym_env:Bot2048-v0")`` imports it.
It is here and not with the rules, since it serves learning and the rules do not need the package.

Episodes are those of self-play: after ``reset(seed=7)`` the first one has the spawns of game 0 of seed 7, the
next one (``reset()``) those of game 1, and so on, as ``bot2048 generate --seed 7`` plays them.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from game2048.board import Board, highest_exponent
from game2048.errors import RulesError
from game2048.kernels import grid
from game2048.kernels.jit import kernel
from game2048.kernels.transitions import legal_mask
from game2048.spawn import game_state

try:
    import gymnasium
except ImportError as error:
    raise ImportError(
        "the environment needs the package gymnasium; install it with `pip install 'bot2048[gym]'`"
    ) from error

Observation = npt.NDArray[np.uint8]

_BITS = np.arange(4)


@kernel
def _step(cells: Any, direction: int, after: Any, state: np.uint64) -> Any:
    """Move and spawn in place; return the merge reward (−1 for an illegal move) and the generator's state."""
    reward = grid.slide_into(cells, direction, after)
    if reward >= 0:
        grid.copy_into(after, cells)
        state = grid.spawn_into(cells, state)
    return reward, state


def _is_action(action: object) -> bool:
    return isinstance(action, int | np.integer) and not isinstance(action, bool) and action in range(4)


class Game2048Env(gymnasium.Env[Observation, np.int64]):
    """One game.

    Actions are 0 up, 1 right, 2 down, 3 left. The reward is the sum of the tiles made by merging. An action
    that changes nothing is illegal: its reward is 0 and nothing spawns. In ``info["action_mask"]`` (int8 [4])
    legal actions have a 1. An episode ends when no action is legal.

    Observations are exponents (0 = empty, 11 = 2048), uint8 [rows, columns], or one-hot, uint8 [rows,
    columns, levels]. There are as many levels as a board of that size can hold: 18 on 4×4, up to the 131072.

    ``info`` also has ``score`` and ``max_tile``. ``reset`` takes ``options={"game": n}`` for game number n of
    the seed, and ``options={"board": [[2, 0, …], …]}`` for a board of face values to begin with.

    Args:
        rows: number of rows.
        columns: number of columns.
        observation: ``exponents`` or ``one_hot``.
        render_mode: ``ansi`` for a text, ``rgb_array`` for a picture.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 10}  # noqa: RUF012  # as its base has it

    def __init__(
        self,
        rows: int = 4,
        columns: int = 4,
        observation: Literal["exponents", "one_hot"] = "exponents",
        render_mode: str | None = None,
    ) -> None:
        if observation not in ("exponents", "one_hot"):
            raise RulesError(f"observation {observation!r} is unknown; expected exponents or one_hot")
        levels = highest_exponent(rows, columns) + 1
        one_hot = observation == "one_hot"
        shape, high = ((rows, columns, levels), 1) if one_hot else ((rows, columns), levels - 1)
        self.observation_space = gymnasium.spaces.Box(0, high, shape, np.uint8)
        self.action_space = gymnasium.spaces.Discrete(4)
        self.render_mode = render_mode
        self._one_hot = np.eye(levels, dtype=np.uint8) if one_hot else None
        self._cells = grid.to_grid(Board(rows, columns))
        self._after = self._cells.copy()
        self._state = np.uint64(0)
        self._seed: int | None = None
        self._game = 0
        self._score = 0
        self._moves = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next game, or game 0 of a seed.

        Raises:
            RulesError: the board in the options is invalid, or of another size.
        """
        super().reset(seed=seed)
        options = options or {}
        if seed is not None:
            self._seed, self._game = seed, 0
        elif self._seed is None:
            self._seed, self._game = int(self.np_random.integers(2**63)), 0
        else:
            self._game += 1
        self._game = int(options.get("game", self._game))
        self._state = np.uint64(game_state(self._seed, self._game))
        if "board" in options:
            self._cells[:] = self._board_of(options["board"])
        else:
            self._state = np.uint64(grid.start_into(self._cells, self._state))
        self._score = self._moves = 0
        return self._observation(), self._info(int(legal_mask(self._cells)))

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal, bool [4], as MaskablePPO of sb3-contrib asks for."""
        return ((int(legal_mask(self._cells)) >> _BITS) & 1).astype(np.bool_)

    def _board_of(self, tiles: Any) -> npt.NDArray[np.uint8]:
        if isinstance(tiles, np.ndarray):
            if tiles.dtype.kind not in "iu":
                raise RulesError(f"a board of type {tiles.dtype} is not usable; expected integer face values")
            tiles = tiles.tolist()
        cells = grid.to_grid(Board.from_tiles(tiles))
        if cells.shape != self._cells.shape:
            raise RulesError(
                f"a board of {cells.shape[0]}×{cells.shape[1]} does not fit: "
                f"expected {self._cells.shape[0]}×{self._cells.shape[1]}"
            )
        return cells

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Move in a direction; see the class.

        Raises:
            RulesError: the action is not one of 0, 1, 2, 3.
        """
        if not _is_action(action):
            raise RulesError(f"action {action!r} is out of range; expected 0 up, 1 right, 2 down or 3 left")
        reward, state = _step(self._cells, int(action), self._after, self._state)
        self._state = np.uint64(state)
        gained = max(int(reward), 0)
        self._score += gained
        self._moves += reward >= 0
        legal = int(legal_mask(self._cells))
        return self._observation(), float(gained), legal == 0, False, self._info(legal)

    def _observation(self) -> Observation:
        return self._cells.copy() if self._one_hot is None else self._one_hot[self._cells]

    def _info(self, legal: int) -> dict[str, Any]:
        top = int(self._cells.max())
        return {
            "action_mask": ((legal >> _BITS) & 1).astype(np.int8),
            "score": self._score,
            "max_tile": 1 << top if top else 0,
        }

    def render(self) -> Any:
        """The board as a text or a picture, by ``render_mode``."""
        board = grid.from_grid(self._cells)
        if self.render_mode == "ansi":
            return f"{board.pretty()}\nscore {self._score}\n"
        if self.render_mode == "rgb_array":
            from recordings.pictures.board_image import draw_board  # loads Pillow

            return np.asarray(draw_board(board, self._score, self._moves).convert("RGB"))
        return None


def register() -> None:
    """Make the environments known to Gymnasium by their ids."""
    entry = f"{__name__}:{Game2048Env.__name__}"
    for name, size in (("Bot2048-v0", 4), ("Bot2048-5x5-v0", 5)):
        if name not in gymnasium.registry:
            gymnasium.register(name, entry_point=entry, kwargs={"rows": size, "columns": size})


register()

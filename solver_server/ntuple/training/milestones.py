"""Draw the best games of a training run as GIFs."""

from __future__ import annotations

from pathlib import Path

from game2048.direction import DIRECTIONS
from game2048.spawn import Spawner
from recordings.record import GameRecord, Move, build_record, new_info
from solver_server.ntuple.training.td_kernels import Learner
from solver_server.ntuple.training.training_state import Training

FIRST_MILESTONE = 11
_SIZE = 160  # pixels; so small a GIF is drawn in a tenth of a second


class Milestones:
    """Writes a GIF of the first game to reach each tile from 2048 on, and of each new best score after that.

    Args:
        folder: folder of the GIFs.
        top: largest exponent reached before.
    """

    def __init__(self, folder: Path, top: int = 0) -> None:
        self._folder = folder
        self._top = top

    def picture(self, training: Training, thread: int) -> Path | None:
        """Write the GIF of a thread's last game if it is a milestone; return the file.

        Raises:
            OSError: the file cannot be written.
        """
        from recordings.pictures.animation import write_animation
        from recordings.pictures.animation_options import AnimationOptions

        record = replay(training.learners[thread], training)
        top = record.max_tile.bit_length() - 1
        if top < FIRST_MILESTONE:
            return None
        name = f"first-{record.max_tile}.gif" if top > self._top else f"best-{record.final_score}.gif"
        self._top = max(self._top, top)
        self._folder.mkdir(parents=True, exist_ok=True)
        write_animation(record, self._folder / name, AnimationOptions(pixels=_SIZE))
        return self._folder / name


def replay(learner: Learner, training: Training) -> GameRecord:
    """Rebuild the last game of a learner from its path and the generator's state at its start."""
    pattern = training.network.pattern
    spawner = Spawner(0)
    spawner.state = learner.get("game_random")
    board = spawner.start(pattern.rows, pattern.columns)
    moves: list[Move] = []
    score = 0
    for t in range(learner.get("length")):
        direction = DIRECTIONS[learner.path.directions[t]]
        slide = board.slide(direction)
        moves.append(Move.of(board, direction, score))
        score += slide.reward
        board = spawner.spawn(slide.afterstate)
    name = f"ntuple {pattern.name}, {training.games} games old"
    return build_record(moves, board, score, new_info(source="self-play", solver=name, outcome="game_over"))

"""What makes two recorded games the same one, whatever file they are in and however they are turned."""

from __future__ import annotations

import hashlib

from recordings.game_arrays import GameArrays


def identity(game: GameArrays) -> str:
    """Return a name of a game: its ``id``, else its run and number in it, else a digest of what happened.

    The symmetric images of a game have one identity, so that a split never parts them.
    """
    info = game.info
    if info.id is not None:
        return info.id
    if info.seed is not None and info.game_number is not None:
        run = f"{info.source} {info.solver} {info.depth} {info.weights} {game.size} {info.seed}"
        return f"{hashlib.blake2b(run.encode(), digest_size=8).hexdigest()}-{info.game_number}"
    digest = hashlib.blake2b(repr(game.size).encode(), digest_size=16)
    for array in (game.cells, game.directions):
        digest.update(array.tobytes())
    return digest.hexdigest()

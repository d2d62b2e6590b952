"""``bot2048 records``: look into recorded games, check them, draw them, bring back those of a crash.

What works on whole datasets is in `recordings.cli.datasets`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from command_line.command import Group
from command_line.progress import progress
from command_line.tables import on_terminal, show_table
from game2048.board import Board
from game2048.errors import RecordError, RulesError
from recordings.cli import datasets
from recordings.cli.gif_options import animation_options
from recordings.jsonl import GAMES_FILE, LINES_SUFFIX, read_records
from recordings.pictures.animation_options import AnimationOptions
from recordings.record import GameRecord
from recordings.recovery import recover
from recordings.replay import Fault, verify

_FILE = click.Path(exists=True, path_type=Path)
_MOST_ROWS = 1000  # of a table


@click.group(cls=Group)
def records() -> None:
    """Show, verify, draw and recover recorded games; convert and split datasets.

    FILE is a file of games as `play` and `demo` write it, or a run folder with a games.jsonl.
    """


for _command in datasets.DATASET_COMMANDS:
    records.add_command(_command)


@records.command("show")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per game, without its moves.")
def show_command(files: tuple[Path, ...], as_json: bool) -> None:
    """Print score, moves and final board of each game; on a terminal, also a table of the games."""
    for file in map(_games_file, files):
        rows: list[tuple[str, ...]] = []
        for number, record in enumerate(_records(file), 1):
            click.echo(_as_json(file, number, record) if as_json else _as_text(file, number, record))
            if len(rows) <= _MOST_ROWS:
                rows.append(_row(number, record))
        if not as_json and on_terminal() and 1 < len(rows) <= _MOST_ROWS:
            headings = (">game", ">score", ">tile", ">moves", "end", ">seed", "solver", "time")
            show_table(headings, rows, title=str(file))


@records.command("verify")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_FILE)
def verify_command(files: tuple[Path, ...]) -> None:
    """Replay every game by the rules; print the first wrong ply of each faulty game.

    FILE may also be a dataset of any format.
    """
    games = moves = 0
    faulty: list[str] = []
    for file, number, plies, fault in _with_progress(files):
        games += 1
        moves += plies
        if fault is not None:
            place = f"{file}, game {number}"
            click.echo(f"{place}, {fault}")
            faulty.append(place if fault.ply is None else f"{place}, ply {fault.ply}")
    if faulty:
        raise RecordError(f"{len(faulty)} of {_count(games, 'game')} broke the rules, first {faulty[0]}")
    click.echo(f"{_count(games, 'game')}, {_count(moves, 'move')}: every ply by the rules")


@records.command()
@click.argument("file", metavar="FILE", type=_FILE)
@click.option(
    "--game",
    "number",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of the game in FILE.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="GIF or WebP to write. [default: FILE-game-N.gif]",
)
@animation_options("animation")
def gif(file: Path, number: int, output: Path | None, animation: AnimationOptions) -> None:
    """Draw a game as an animated GIF, or as WebP where the name of OUTPUT ends in .webp.

    FILE is a dataset of any format, a run folder, or the journal of a game.
    """
    from recordings.datasets.game_index import open_index
    from recordings.pictures.animation import write_animation  # loads Pillow

    index = open_index(file)
    target = output or index.path.with_name(f"{index.path.stem}-game-{number}.gif")
    write_animation(index.game(number - 1), target, animation)
    click.echo(str(target))


@records.command()
def schema() -> None:
    """Print the JSON Schema of a game record, a line of games.jsonl."""
    from recordings.schema import schema_text

    click.echo(schema_text(), nl=False)


@records.command("recover")
@click.argument("folder", type=_FILE)
def recover_command(folder: Path) -> None:
    """Recover the games of a killed program from the journals in FOLDER.

    They are appended to its games.jsonl as interrupted. Games that are still being played are not touched.
    """
    recovered = recover(folder)
    for record in recovered:
        click.echo(
            f"recovered: {_count(record.total_moves, 'move')}, score {record.final_score:,}, "
            f"max tile {record.max_tile}"
        )
    place = folder / GAMES_FILE if folder.is_dir() else folder.with_name(GAMES_FILE)
    if recovered:
        click.echo(f"{_count(len(recovered), 'game')} appended to {place}")
    else:
        click.echo(f"nothing to recover in {folder}")


def _games_file(path: Path) -> Path:
    """Return the file of games that a FILE argument means."""
    if not path.is_dir():
        return path
    file = path / GAMES_FILE
    if not file.exists():
        raise RecordError(
            f"{path} has no {GAMES_FILE}; expected a run folder; if a killed program left journals there, "
            f"try `bot2048 records recover {path}`",
            path=file,
        )
    return file


def _with_progress(files: tuple[Path, ...]) -> Iterator[tuple[Path, int, int, Fault | None]]:
    """Yield every game's file, number, moves and fault, counted on a terminal's stderr meanwhile."""
    with progress("Verifying", "games", kept=False) as bar:
        for file in map(_games_file, files):
            for number, (plies, fault) in enumerate(_faults(file), 1):
                yield file, number, plies, fault
                bar.update()


def _faults(file: Path) -> Iterator[tuple[int, Fault | None]]:
    """Yield the moves and the fault of every game of a file."""
    from recordings.datasets.dataset_file import read_games
    from recordings.game_arrays import arrays_of

    if _is_dataset(file):
        for game in read_games(file):
            yield game.plies, verify(game)
        return
    for record in read_records(file):
        try:
            fault = verify(arrays_of(record))
        except RecordError:  # a board is invalid: name its ply
            fault = verify(record)
        yield len(record.moves), fault


def _records(file: Path) -> Iterator[GameRecord]:
    """Yield the games of a file of any format."""
    if not _is_dataset(file):
        yield from read_records(file, skip_torn=True)
        return
    from recordings.datasets.dataset_file import read_games
    from recordings.game_arrays import record_of

    yield from map(record_of, read_games(file))


def _is_dataset(file: Path) -> bool:
    """Tell whether a file is of another format than lines of JSON."""
    from recordings.datasets.dataset_file import READABLE_FORMATS

    return file.suffix.lower() in READABLE_FORMATS and file.suffix.lower() != LINES_SUFFIX


def _as_json(file: Path, number: int, record: GameRecord) -> str:
    summary = msgspec.to_builtins(msgspec.structs.replace(record, moves=[]))
    del summary["moves"]
    return msgspec.json.encode({"file": str(file), "game": number, **summary}).decode()


def _row(number: int, record: GameRecord) -> tuple[str, ...]:
    return (
        str(number),
        f"{record.final_score:,}",
        str(record.max_tile),
        f"{record.total_moves:,}",
        (record.outcome or "unknown").replace("_", " "),
        "" if record.seed is None else str(record.seed),
        _printable(record.solver),
        _printable(record.timestamp),
    )


def _as_text(file: Path, number: int, record: GameRecord) -> str:
    outcome = (record.outcome or "outcome not recorded").replace("_", " ")
    seed = "" if record.seed is None else f", seed {record.seed}"
    lines = [
        f"{file}, game {number}: {outcome}{', won' if record.won else ''}",
        f"  score {record.final_score:,}, max tile {record.max_tile}, {_count(record.total_moves, 'move')}",
        f"  solver {_printable(record.solver)}, source {_printable(record.source)}{seed}, "
        f"{_printable(record.timestamp)}",
    ]
    try:
        board = Board.from_tiles(record.final_board).pretty()
    except RulesError as error:
        raise RecordError(f"{file}, game {number}: the final board is invalid: {error}", path=file) from error
    return "\n".join([*lines, *(f"  {row}" for row in board.splitlines()), ""])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _printable(text: str | None) -> str:
    """Return a text from outside without what could steer the terminal."""
    if text is None:
        return "unknown"
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)

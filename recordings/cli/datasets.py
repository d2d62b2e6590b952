"""The commands of ``bot2048 records`` that work on datasets: export, split, stats, augment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from command_line.command import Command
from command_line.progress import progress

if TYPE_CHECKING:  # imports numpy, and what the formats need
    from recordings.datasets.statistics import GameTally
    from recordings.game_arrays import GameArrays

_IN = click.Path(exists=True, path_type=Path)
_OUT = click.Path(dir_okay=False, path_type=Path)
_force = click.option("--force", is_flag=True, help="Overwrite an existing file.")
_card = click.option("--card", is_flag=True, help="Write a dataset card, README.md, beside the dataset.")


@click.command(cls=Command)
@click.argument("sources", metavar="IN...", nargs=-1, required=True, type=_IN)
@click.argument("target", metavar="OUT", type=_OUT)
@_force
@_card
def export(sources: tuple[Path, ...], target: Path, force: bool, card: bool) -> None:
    """Convert games to another format, or join several files.

    The extension of OUT is the format: .jsonl, .json, .csv, .parquet or .h5. Every format keeps everything,
    so each converts to each other and back.
    """
    _convert(_games(sources), target, force=force, card=card)


@click.command(cls=Command)
@click.argument("source", metavar="IN", type=_IN)
@click.argument("target", metavar="OUT", type=_OUT)
@_force
@_card
def augment(source: Path, target: Path, force: bool, card: bool) -> None:
    """Write every game with all its symmetric images: 8 on square boards, 4 on others."""
    from recordings.datasets.augment import with_all_images

    _convert(with_all_images(_games((source,))), target, force=force, card=card)


@click.command(cls=Command)
@click.argument("source", metavar="IN", type=_IN)
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the new files. [default: the folder of IN]",
)
@click.option(
    "--ratios",
    default="70/15/15",
    show_default=True,
    help="Percent of the games for training/validation/test.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the draw.")
@click.option("--format", "extension", help="Format of the new files, e.g. parquet. [default: that of IN]")
@_force
@_card
def split(
    source: Path, out: Path | None, ratios: str, seed: int, extension: str | None, force: bool, card: bool
) -> None:
    """Split a dataset by game into train, validation and test files.

    The same seed puts the same games into the same parts, in whatever order they are stored. Symmetric images
    of a game stay in one part.
    """
    from recordings.datasets.hub_card import check_card, write_card
    from recordings.datasets.split import split_file

    folder = out or (source if source.is_dir() else source.parent)
    if card:
        check_card(folder, force=force)
    suffix = f".{extension.lstrip('.')}" if extension else None
    counts = split_file(source, folder, _ratios(ratios), seed=seed, suffix=suffix, force=force)
    suffix = suffix or (source.suffix if source.is_file() else ".jsonl")
    for name, count in counts.items():
        click.echo(f"{name}: {count:,} games in {folder / (name + suffix)}")
    if card:
        files = {name: folder / (name + suffix) for name in counts}
        click.echo(f"dataset card: {write_card(files, _tally(files.values()).statistics())}")


def _ratios(text: str) -> list[float]:
    try:
        ratios = [float(part) for part in text.split("/")]
    except ValueError:
        ratios = []
    if len(ratios) != 3:
        raise click.BadParameter(
            f"{text!r} is not a split; expected three numbers, e.g. 70/15/15", param_hint="--ratios"
        )
    return ratios


@click.command(cls=Command)
@click.argument("sources", metavar="IN...", nargs=-1, required=True, type=_IN)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def stats(sources: tuple[Path, ...], as_json: bool) -> None:
    """Print statistics of a dataset, and what looks wrong with it."""
    import msgspec

    from recordings.datasets.statistics import statistics_text

    statistics = _tally(sources).statistics()
    click.echo(msgspec.json.encode(statistics).decode() if as_json else statistics_text(statistics))


@click.command("export-minari")
@click.argument("source", metavar="IN", type=_IN)
@click.argument("name", metavar="DATASET-ID")
def export_minari(source: Path, name: str) -> None:
    """Write games as a Minari dataset, such as 2048/fast-v0, for offline learning.

    The dataset goes into Minari's folder, $MINARI_DATASETS_PATH.
    """
    from recordings.datasets.minari_export import export_to_minari

    click.echo(export_to_minari(_games((source,)), name))


DATASET_COMMANDS = (export, split, stats, augment, export_minari)


def _convert(games: Iterable[GameArrays], target: Path, *, force: bool, card: bool) -> None:
    from recordings.datasets import statistics as figures
    from recordings.datasets.dataset_file import write_games
    from recordings.datasets.hub_card import check_card, write_card

    if card:
        check_card(target.parent, force=force)
    tally = figures.GameTally()

    def counted() -> Iterator[GameArrays]:
        for game in games:
            tally.add(game)
            yield game

    write_games(target, counted(), force=force)
    statistics = tally.statistics()
    click.echo(f"{statistics.games:,} games, {statistics.moves:,} moves: {target}")
    if card:
        click.echo(f"dataset card: {write_card({'train': target}, statistics)}")


def _games(sources: Iterable[Path]) -> Iterator[GameArrays]:
    """Yield the games of all files, counted on a terminal's stderr meanwhile."""
    from recordings.datasets.dataset_file import read_games

    with progress("Reading", "games", kept=False) as bar:
        for source in sources:
            for game in read_games(source):
                yield game
                bar.update()


def _tally(sources: Iterable[Path]) -> GameTally:
    from recordings.datasets import statistics as figures

    tally = figures.GameTally()
    for game in _games(sources):
        tally.add(game)
    return tally

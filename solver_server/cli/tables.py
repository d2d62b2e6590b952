"""The commands of ``tables``: build, list, verify and remove endgame tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from command_line.command import Group

if TYPE_CHECKING:  # imports numba
    from tqdm import tqdm

    from solver_server.tables.build.builder import Table

_folder = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the tables are. [default: $BOT2048_TABLES, or the user's cache directory]",
)


@click.group(cls=Group)
def tables() -> None:
    """Build exact tables of late boards, of whose moves a small set comes along (docs/tables.md)."""


@tables.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_folder
@click.option("--threads", type=click.IntRange(1, 256), help="[default: one a processor]")
@click.option(
    "--memory",
    type=click.FloatRange(0, min_open=True),
    default=6,
    show_default=True,
    help="Gigabytes that a build may take; one that needs more is not begun.",
)
def build(names: tuple[str, ...], folder: Path | None, threads: int | None, memory: float) -> None:
    """Build the tables that are missing; all, or those of each NAME (a formation or a table).

    Together they take 2.9 GB on disk, 0.3 GB of memory and some minutes. A build that was stopped goes on
    where it was.
    """
    from tqdm import tqdm

    from solver_server.tables import storage
    from solver_server.tables.build import builder
    from solver_server.tables.default_formations import plan

    where = folder or storage.folder()
    for spec in plan(names):
        path = storage.path_of(where, spec.name)
        if not (path.exists() and storage.read_header(path).spec == spec):
            with tqdm(desc=spec.name, unit=" positions", unit_scale=True, total=builder.count(spec)) as bar:
                builder.build(
                    spec,
                    where,
                    threads=threads or os.cpu_count() or 1,
                    memory=memory * 1e9,
                    advance=_update(bar),
                )
        click.echo(path)


def _update(bar: tqdm[NoReturn]) -> Callable[[int], None]:
    """What tells a progress bar of progress."""

    def advance(count: int) -> None:
        bar.update(count)

    return advance


@tables.command(name="list")
@_folder
def list_tables(folder: Path | None) -> None:
    """List the tables that are built, and the set that serves until there are any."""
    from solver_server.tables import storage
    from solver_server.tables.extract import move_set

    where = folder or storage.folder()
    for path in storage.list_files(where):
        header = storage.read_header(path)
        click.echo(
            f"{header.spec.name:<14} {header.positions:>13,} positions {path.stat().st_size / 1e6:>9,.1f} MB"
            f"  {header.picture}"
        )
    count, size = move_set.read_header(move_set.SHIPPED).count, move_set.SHIPPED.stat().st_size
    click.echo(
        f"{move_set.SHIPPED.name:<14} {count:>13,} moves     {size / 1e6:>9,.1f} MB  comes with bot2048"
    )


@tables.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_folder
def verify(names: tuple[str, ...], folder: Path | None) -> None:
    """Check the digests of tables, and 10,000 positions of each against their neighbours.

    Where all are built, and none is named, the moves that come with bot2048 are compared with them, too.
    """
    from tqdm import tqdm

    from solver_server.tables import storage
    from solver_server.tables.extract import move_set
    from solver_server.tables.verification import check_file, check_set

    where = folder or storage.folder()
    for path in _chosen(names, where):
        with tqdm(desc=path.stem, unit="B", unit_scale=True, total=path.stat().st_size - storage.PAGE) as bar:
            check_file(path, _update(bar))
        click.echo(f"{path.stem}: good")
    if not names and (tables_of_set := _tables_of_set(where)):
        check_set(move_set.load(move_set.SHIPPED), tables_of_set)
        click.echo(f"{move_set.SHIPPED.name}: good")


def _tables_of_set(where: Path) -> list[Table]:
    """The tables that the set which comes along was made of; none unless all of them are there."""
    from solver_server.tables import storage
    from solver_server.tables.build.builder import load
    from solver_server.tables.extract import move_set

    told = move_set.read_header(move_set.SHIPPED).tables
    digests = {storage.read_header(path).sha256: path for path in storage.list_files(where)}
    return (
        [load(digests[table.sha256]) for table in told] if digests.keys() >= {t.sha256 for t in told} else []
    )


@tables.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_folder
@click.option("--all", "everything", is_flag=True, help="Remove all of them.")
def remove(names: tuple[str, ...], folder: Path | None, everything: bool) -> None:
    """Remove tables, and builds that were stopped."""
    from solver_server.tables import storage

    if bool(names) == everything:
        raise click.UsageError("name the tables to remove, or give --all")
    where = folder or storage.folder()
    for path in _chosen(names, where, unfinished=True):
        size = path.stat().st_size
        path.unlink()
        click.echo(f"removed {path} ({size / 1e6:,.1f} MB)")


@tables.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@_folder
@click.option("--games", type=click.IntRange(1), default=300, show_default=True, help="Played to begin with.")
@click.option(
    "--visits", type=click.IntRange(1), default=600_000_000, show_default=True, help="Boards to meet."
)
@click.option(
    "--count", type=click.IntRange(1, 1 << 24), default=10_000_000, show_default=True, help="Boards to keep."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of games and visits.")
def distil(file: Path, folder: Path | None, games: int, visits: int, count: int, seed: int) -> None:
    """Write the best moves of the boards that play by the tables meets most into FILE.

    Such a set comes with bot2048 and serves until tables are built. It takes some twenty minutes and 600 MB.
    """
    from tqdm import tqdm

    from game2048.errors import SolverError
    from solver_server.tables import storage
    from solver_server.tables.engine import load_all
    from solver_server.tables.extract.extractor import distil_into

    where = folder or storage.folder()
    known = load_all(where)
    if not known:
        raise SolverError(f"no endgame tables in {where}: make them by `bot2048 tables build`")
    with tqdm(desc=file.name, unit=" boards", unit_scale=True, total=visits) as bar:
        kept = distil_into(
            file, known, games=games, visits=visits, count=count, seed=seed, advance=_update(bar)
        )
    click.echo(f"{file}: {kept:,} boards, {file.stat().st_size / 1e6:,.1f} MB")


def _chosen(names: tuple[str, ...], where: Path, *, unfinished: bool = False) -> list[Path]:
    """The files of the named tables, or of all.

    Raises:
        SolverError: one is not there.
    """
    from game2048.errors import SolverError
    from solver_server.tables import storage

    files = storage.list_files(where)
    if unfinished:
        files += sorted(where.glob(f"*{storage.SUFFIX}{storage.PART}"))
    if not names:
        return files
    chosen = []
    for name in names:
        of_name = [
            file for file in files if file.name.split(".")[0] in (name,) or file.name.startswith(f"{name}-")
        ]
        if not of_name:
            raise SolverError(f"there is no table {name} in {where}: see `bot2048 tables list`")
        chosen += of_name
    return chosen

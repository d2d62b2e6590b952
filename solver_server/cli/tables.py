"""The commands of ``tables``: build, list, verify, remove and extract endgame tables."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from command_line.command import Group
from command_line.progress import advancing, progress
from command_line.tables import on_terminal, show_table

if TYPE_CHECKING:  # imports numba
    from game2048.size import Size
    from solver_server.tables.build.builder import EndgameTable

_SIZE = re.compile(r"\d{1,2}[x×]\d{1,2}")
_folder = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the tables. [default: $BOT2048_TABLES, else in the user's cache folder]",
)


@click.group(cls=Group)
def tables() -> None:
    """Build, list, verify and remove endgame tables and solutions (docs/tables.md).

    A table holds the chance to reach a goal from every late board of one formation. The extract, a small file
    of the moves that occur most, is bundled and serves until tables are built. A solution holds the best play
    of a board of up to nine cells.
    """


@tables.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_folder
@click.option(
    "--threads", type=click.IntRange(1, 256), help="Threads that build. [default: one per processor]"
)
@click.option(
    "--memory",
    type=click.FloatRange(0, min_open=True),
    default=6,
    show_default=True,
    help="Gigabytes of memory that a build may take; one that needs more is refused.",
)
def build(names: tuple[str, ...], folder: Path | None, threads: int | None, memory: float) -> None:
    """Build missing tables: all, or those of each NAME (a formation, a table, or a small board such as 3x3).

    All tables of 4×4 boards take 2.9 GB on disk, 0.3 GB of memory and some minutes. A stopped build resumes.
    The solution of 3x3 takes 0.25 GB, 0.7 GB of memory and a minute, and has to be named; so do 2x2, 2x3 and
    2x4.
    """
    from solver_server.cli.options import announce_compilation
    from solver_server.solutions.solution_file import build_solution, solution_path
    from solver_server.tables import storage
    from solver_server.tables.build import builder
    from solver_server.tables.default_formations import plan

    announce_compilation()
    where = folder or storage.tables_folder()
    sizes, formations = _sizes_among(names)
    for size in sizes:
        path = solution_path(where, size)
        if not path.exists():
            with progress(str(size), "positions", scaled=True) as bar:
                build_solution(size, where, advancing(bar))
        click.echo(path)
    for spec in plan(formations) if formations or not sizes else ():
        path = storage.table_path(where, spec.name)
        if not (path.exists() and storage.read_table_header(path).spec == spec):
            with progress(spec.name, "positions", total=builder.count_positions(spec), scaled=True) as bar:
                builder.build_table(
                    spec,
                    where,
                    threads=threads or os.cpu_count() or 1,
                    memory=memory * 1e9,
                    advance=advancing(bar),
                )
        click.echo(path)


def _sizes_among(names: tuple[str, ...]) -> tuple[list[Size], list[str]]:
    """Divide names into sizes of boards that can be solved, and all others."""
    from game2048.size import Size

    sizes = [Size.parse(name) for name in names if _SIZE.fullmatch(name)]
    return sizes, [name for name in names if not _SIZE.fullmatch(name)]


@tables.command(name="list")
@_folder
def list_tables(folder: Path | None) -> None:
    """List the tables and solutions that are built, and the bundled extract."""
    from solver_server.solutions import solution_file
    from solver_server.tables import storage
    from solver_server.tables.extract import extract_file

    where = folder or storage.tables_folder()
    rows = []
    for path in storage.finished_tables(where):
        header = storage.read_table_header(path)
        rows.append((header.spec.name, header.positions, "positions", path.stat().st_size, header.picture))
    for path in solution_file.finished_solutions(where):
        solved = solution_file.read_solution_header(path)
        told = f"solution, mean score {solved.start_value:,.1f}"
        rows.append((solved.board, solved.positions, "positions", path.stat().st_size, told))
    bundled = extract_file.BUNDLED_EXTRACT
    count = extract_file.read_extract_header(bundled).count
    rows.append((bundled.name, count, "moves", bundled.stat().st_size, "bundled"))
    if on_terminal():
        cells = [
            (name, f"{count:,} {unit}", f"{size / 1e6:,.1f} MB", what)
            for name, count, unit, size, what in rows
        ]
        show_table(("table", ">holds", ">size", "formation"), cells)
        return
    for name, count, unit, size, what in rows:
        click.echo(f"{name:<14} {count:>13,} {unit:<9} {size / 1e6:>9,.1f} MB  {what}")


@tables.command("verify")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_folder
def verify_tables(names: tuple[str, ...], folder: Path | None) -> None:
    """Check the digests of tables and solutions, and 10,000 positions of each against their successors.

    If all tables are built and no NAME is given, the bundled extract is compared with them too.
    """
    from solver_server.solutions.solution_file import SOLUTION_SUFFIX, check_solution
    from solver_server.tables import storage
    from solver_server.tables.extract import extract_file
    from solver_server.tables.verification import check_extract, check_table

    where = folder or storage.tables_folder()
    for path in _chosen(names, where):
        if path.suffix == SOLUTION_SUFFIX:
            check_solution(path)
        else:
            with progress(path.stem, "B", total=path.stat().st_size - storage.PAGE, scaled=True) as bar:
                check_table(path, advancing(bar))
        click.echo(f"{path.stem}: good")
    if not names and (tables_of_set := _tables_of_set(where)):
        check_extract(extract_file.read_extract(extract_file.BUNDLED_EXTRACT), tables_of_set)
        click.echo(f"{extract_file.BUNDLED_EXTRACT.name}: good")


def _tables_of_set(where: Path) -> list[EndgameTable]:
    """Return the tables that the bundled extract was made of; none unless all of them are there."""
    from solver_server.tables import storage
    from solver_server.tables.build.builder import load_table
    from solver_server.tables.extract import extract_file

    told = extract_file.read_extract_header(extract_file.BUNDLED_EXTRACT).tables
    digests = {storage.read_table_header(path).sha256: path for path in storage.finished_tables(where)}
    return (
        [load_table(digests[table.sha256]) for table in told]
        if digests.keys() >= {t.sha256 for t in told}
        else []
    )


@tables.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_folder
@click.option("--all", "everything", is_flag=True, help="Remove all tables.")
def remove(names: tuple[str, ...], folder: Path | None, everything: bool) -> None:
    """Remove tables, solutions and stopped builds."""
    from solver_server.tables import storage

    if bool(names) == everything:
        raise click.UsageError("no table is named; name the tables to remove, or give --all")
    where = folder or storage.tables_folder()
    for path in _chosen(names, where, unfinished=True):
        size = path.stat().st_size
        path.unlink()
        click.echo(f"removed {path} ({size / 1e6:,.1f} MB)")


@tables.command()
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@_folder
@click.option(
    "--games",
    type=click.IntRange(1),
    default=300,
    show_default=True,
    help="Games played first, to find boards to start from.",
)
@click.option(
    "--visits", type=click.IntRange(1), default=600_000_000, show_default=True, help="Boards to visit."
)
@click.option(
    "--count",
    type=click.IntRange(1, 1 << 24),
    default=10_000_000,
    show_default=True,
    help="Boards to keep: those visited most often.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the games and the visits."
)
def extract(file: Path, folder: Path | None, games: int, visits: int, count: int, seed: int) -> None:
    """Write an extract of the tables into FILE: the best moves of the boards that occur most.

    Such an extract is bundled. Making one takes some twenty minutes and 600 MB of memory.
    """
    from game2048.errors import SolverError
    from solver_server.tables import storage
    from solver_server.tables.engine import load_tables
    from solver_server.tables.extract.extractor import write_most_met

    where = folder or storage.tables_folder()
    known = load_tables(where)
    if not known:
        raise SolverError(f"{where} holds no endgame tables; build them with `bot2048 tables build`")
    with progress(file.name, "boards", total=visits, scaled=True) as bar:
        kept = write_most_met(
            file, known, games=games, visits=visits, count=count, seed=seed, advance=advancing(bar)
        )
    click.echo(f"{file}: {kept:,} boards, {file.stat().st_size / 1e6:,.1f} MB")


def _chosen(names: tuple[str, ...], where: Path, *, unfinished: bool = False) -> list[Path]:
    """Return the files of the named tables, or of all.

    Raises:
        SolverError: a table is missing.
    """
    from game2048.errors import SolverError
    from solver_server.solutions.solution_file import finished_solutions
    from solver_server.tables import storage

    files = storage.finished_tables(where) + finished_solutions(where)
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
            raise SolverError(f"table {name} is not in {where}; `bot2048 tables list` shows what is")
        chosen += of_name
    return chosen


tables.add_command(
    click.Command("distil", callback=extract.callback, help=extract.help, params=extract.params, hidden=True)
)

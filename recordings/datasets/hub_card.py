"""The dataset card: a ``README.md`` beside the files, with the YAML that dataset hubs read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from game2048.errors import RecordError
from recordings.atomic import atomic
from recordings.datasets.dataset_file import format_of
from recordings.datasets.formats.writing import Pair, unwritable
from recordings.datasets.statistics import Statistics, statistics_text

CARD = "README.md"
_MARK = "<!-- written by bot2048 -->"
_HEAD_BYTES = 1 << 16  # far beyond the mark
_HUB_FORMATS = {".parquet", ".csv", ".jsonl"}
_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
)


def check_card(folder: Path, *, force: bool = False) -> None:
    """Make sure that a card can be written.

    Raises:
        RecordError: a ``README.md`` is there that bot2048 did not write, and ``force`` is not given.
    """
    card = folder / CARD
    if force or not card.exists():
        return
    try:
        with card.open("rb") as file:
            ours = _MARK.encode() in file.read(_HEAD_BYTES)
    except OSError as error:
        raise RecordError(f"{card} cannot be read: {error.strerror or error}", path=card) from error
    if not ours:
        raise RecordError(
            f"{card} exists and is not a dataset card that bot2048 wrote; try --force to overwrite it",
            path=card,
        )


def write_card(files: Mapping[str, Path], statistics: Statistics) -> Path:
    """Write the card of a dataset whose files lie in one folder.

    Args:
        files: by split, such as ``train``.
        statistics: of all of them together.

    Returns:
        Where it is.
    """
    card = next(iter(files.values())).parent / CARD
    text = "\n".join(
        ["---", *_front_matter(files, statistics), "---", _MARK, "", *_body(files, statistics), ""]
    )
    try:
        with atomic(card) as file:
            file.write(text.encode())
    except OSError as error:
        raise unwritable(card, error) from error
    return card


def _front_matter(files: Mapping[str, Path], statistics: Statistics) -> list[str]:
    size = next((name for limit, name in _SIZES if statistics.moves < limit), "n>10M")
    lines = [
        "pretty_name: 2048 games",
        "task_categories:",
        "- reinforcement-learning",
        "tags:",
        '- "2048"',
        "- games",
        "size_categories:",
        f"- {size}",
    ]
    if not all(path.suffix in _HUB_FORMATS for path in files.values()):
        return lines
    lines.append("configs:")
    paired = all(format_of(path).paired for path in files.values())
    if paired:
        lines += ["- config_name: moves", "  default: true", *_data_files(files)]
    games = {split: Pair(path).games if paired else path for split, path in files.items()}
    return [*lines, "- config_name: games", *_data_files(games)]


def _data_files(files: Mapping[str, Path]) -> list[str]:
    lines = ["  data_files:"]
    for split, path in files.items():
        lines += [f"  - split: {split}", f'    path: "{path.name}"']
    return lines


def _body(files: Mapping[str, Path], statistics: Statistics) -> list[str]:
    return [
        "# 2048 games",
        "",
        "Whole games of 2048, every move with the board before it, recorded by bot2048.",
        "`direction` is the action taken on `board`; exponents stand for tiles (0 = empty, 11 = 2048).",
        "",
        "| split | file |",
        "|---|---|",
        *(f"| {split} | `{path.name}` |" for split, path in files.items()),
        "",
        "```text",
        statistics_text(statistics),
        "```",
    ]

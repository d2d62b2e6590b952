from __future__ import annotations

from pathlib import Path

import pytest
from support.dataset_games import played

from game2048.errors import RecordError
from recordings.datasets.augment import with_all_images
from recordings.datasets.dataset_file import read_games, write_games
from recordings.datasets.identity import identity
from recordings.datasets.split import split_file


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_games(tmp_path / "games.jsonl", [played(2, 2, 1, game) for game in range(20)])
    return tmp_path / "games.jsonl"


def names(folder: Path, suffix: str = ".jsonl") -> dict[str, list[str]]:
    return {
        file.stem: [identity(game) for game in read_games(file)] for file in sorted(folder.glob(f"*{suffix}"))
    }


def test_every_game_is_in_one_part_and_the_parts_have_their_share(source: Path, tmp_path: Path) -> None:
    counts = split_file(source, tmp_path / "out")
    assert counts == {"train": 14, "validation": 3, "test": 3}
    parts = names(tmp_path / "out")
    assert {name: len(part) for name, part in parts.items()} == counts
    found = [name for part in parts.values() for name in part]
    assert sorted(found) == sorted(identity(game) for game in read_games(source))


def test_the_seed_says_who_goes_where_and_the_order_does_not(source: Path, tmp_path: Path) -> None:
    write_games(tmp_path / "backwards.jsonl", list(read_games(source))[::-1])
    for name, file, seed in (
        ("one", source, 1),
        ("again", source, 1),
        ("turned", tmp_path / "backwards.jsonl", 1),
        ("two", source, 2),
    ):
        split_file(file, tmp_path / name, seed=seed)
    one, again, turned, two = (names(tmp_path / name) for name in ("one", "again", "turned", "two"))
    assert one == again
    assert {part: sorted(games) for part, games in one.items()} == {
        part: sorted(games) for part, games in turned.items()
    }
    assert one != two


def test_the_images_of_a_game_stay_together(source: Path, tmp_path: Path) -> None:
    split_file(source, tmp_path / "plain", seed=3)
    write_games(tmp_path / "augmented.jsonl", with_all_images(read_games(source)))
    assert split_file(tmp_path / "augmented.jsonl", tmp_path / "images", seed=3) == {
        "train": 8 * 14,
        "validation": 8 * 3,
        "test": 8 * 3,
    }
    # The images are in the part that their game is in without them.
    assert {part: set(games) for part, games in names(tmp_path / "images").items()} == {
        part: set(games) for part, games in names(tmp_path / "plain").items()
    }


def test_other_ratios_and_formats(source: Path, tmp_path: Path) -> None:
    assert split_file(source, tmp_path / "a", (1, 1, 0), suffix=".csv") == {"train": 10, "validation": 10}
    assert sorted(file.name for file in (tmp_path / "a").iterdir()) == [
        "train.csv", "train.games.csv", "validation.csv", "validation.games.csv",
    ]  # fmt: skip
    assert split_file(source, tmp_path / "b", (0, 0, 1)) == {"test": 20}


@pytest.mark.parametrize("ratios", [(70, 30), (0, 0, 0), (-1, 1, 1)])
def test_ratios_that_are_none_are_told(source: Path, tmp_path: Path, ratios: tuple[float, ...]) -> None:
    with pytest.raises(RecordError, match="expected three numbers"):
        split_file(source, tmp_path / "out", ratios)
    assert not (tmp_path / "out").exists()


def test_a_part_that_exists_is_not_overwritten(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_games(out / "test.jsonl", [])
    with pytest.raises(RecordError, match=r"test\.jsonl exists"):
        split_file(source, out)
    assert [file.name for file in out.iterdir()] == ["test.jsonl"]
    assert split_file(source, out, force=True)["test"] == 3

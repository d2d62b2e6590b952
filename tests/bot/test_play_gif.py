"""The GIF of a played game: drawn beside its record, or said to be missing."""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from support.recorded import worked_game

from bot.cli.play import summed_up
from bot.options import PlayOptions, SolverOptions
from bot.play import summary_of
from bot.progress import Goal
from recordings.pictures.animation_options import AnimationOptions
from scraper.chromium.launch import BrowserOptions


def options(folder: Path, gif: AnimationOptions | None) -> PlayOptions:
    return PlayOptions("https://example.org/", 1, folder, Goal(), SolverOptions(), BrowserOptions(), gif)


def test_each_game_has_a_gif_of_its_own(tmp_path: Path) -> None:
    asked = options(tmp_path, AnimationOptions(moving=True))
    summaries = [summary_of(worked_game(), 1.0, asked) for _ in range(2)]
    assert [summary.gif for summary in summaries] == [tmp_path / "game-001.gif", tmp_path / "game-002.gif"]
    with Image.open(tmp_path / "game-002.gif") as gif:
        assert getattr(gif, "n_frames", 1) > 6
    assert f"GIF in {tmp_path / 'game-001.gif'}" in summed_up(summaries, tmp_path)


def test_a_gif_that_cannot_be_written_does_not_cost_the_summary(tmp_path: Path) -> None:
    summary = summary_of(worked_game(), 1.0, options(tmp_path, AnimationOptions(max_bytes=1000)))
    assert (summary.record, summary.gif) == (worked_game(), None)
    text = summed_up([summary], tmp_path)
    assert "no GIF: not one frame fits into 1000 bytes" in text
    assert f"score {worked_game().final_score:,}" in text
    missing = summary_of(worked_game(), 1.0, options(tmp_path / "gone", AnimationOptions()))
    assert missing.gif_fault is not None
    assert missing.gif_fault.endswith("game-001.gif cannot be written: No such file or directory")

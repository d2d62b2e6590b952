from __future__ import annotations

from itertools import count

import click
import pytest

from benchmarks.peers import Compared, Speed, peer_moves, processor_time, rows_for, speed_of

# What TDL2048+ prints: its settings, a line for each recipe, and three lines for each unit of games.
PEER = """\
TDL2048+ by Hung Guei (optimize: no recipe yet)
seed = turn0
alpha = 0.1

optimize: 2x100 alpha=0.1

001/002 250ms 400000.00ops
local:  avg=2873 max=7024 tile=512 win=0.00%
total:  avg=2873 max=7024 tile=512 win=0.00%

002/002 300ms 333336.67ops
local:  avg=4009 max=11180 tile=1024 win=0.00%
total:  avg=3441 max=11180 tile=1024 win=0.00%

""".splitlines(keepends=True)


def test_moves_of_a_line_are_its_time_by_its_speed() -> None:
    assert peer_moves("001/002 250ms 400000.00ops\n") == 100_000
    assert peer_moves("002/002 300ms 333336.67ops [0]\n") == 100_001  # 333336.67 is 100001 · 1000 / 300, cut
    assert peer_moves("local:  avg=2873 max=7024 tile=512 win=0.00%\n") is None


@pytest.mark.parametrize("speed", ["inf", "nan", "-nan"])
def test_a_line_too_short_for_its_clock_is_refused(speed: str) -> None:
    with pytest.raises(click.ClickException, match="less than 1 ms"):
        peer_moves(f"001/002 0ms {speed}ops\n")


def test_start_up_of_both_is_left_out() -> None:
    clock = iter([2.0, 2.5, 3.1])
    assert speed_of(PEER, clock, None, peer=True) == Speed(200_001, pytest.approx(1.1))
    ours = ["compiling kernels\n", "ready\n", "moves 10\n", "note\n", "moves 600\n"]
    assert speed_of(ours, iter([7.0, 8.0, 9.5]), None, peer=False) == Speed(600, 2.5)


def test_a_timed_row_ends_with_the_first_line_past_its_time() -> None:
    ours = ("ready\n", *(f"moves {n}\n" for n in range(100, 1000, 100)))
    assert speed_of(ours, map(float, count()), 3, peer=False) == Speed(300, 3)


@pytest.mark.parametrize("lines", [[], ["moves 5\n"], ["ready\n"]])
def test_a_program_that_never_played_has_no_speed(lines: list[str]) -> None:
    with pytest.raises(click.ClickException, match="before it had played"):
        speed_of(lines, map(float, count()), None, peer=False)


def test_processor_time_is_user_and_system() -> None:
    # Fields 14 and 15 of proc(5); the name, field 2, may itself have brackets and spaces.
    stat = "71 (20 48) (x) R 1 71 71 0 -1 4194304 300 0 0 0 150 25 7 9 20 0 1 0 4242 0 0"
    assert processor_time(stat, 100) == 1.75


def test_the_table_has_the_median_of_the_turns_ratios() -> None:
    row = next(row for row in rows_for(500) if row.name == "td0")
    assert row.peer == ("-a", "0.1", "-t", "5x100")
    peer = [Speed(1_000_000, 1.0), Speed(2_000_000, 1.0), Speed(1_000_000, 2.0)]
    ours = [Speed(3_000_000, 2.0), Speed(2_000_000, 1.0), Speed(1_000_000, 1.0)]
    # Ratios 1.5, 1, 2: their median is not the ratio of the medians, which is 1.5 / 1.
    line = Compared(row, peer, ours).line()
    assert line == "| TD(0), from zero, 500 games | 4x6 | 1 | 1.5 | 1.50 | 1.00 to 2.00 |"

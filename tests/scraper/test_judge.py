"""What came of a move, from what was seen: a table of cases without a browser."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from game2048 import Board, Direction
from scraper.eye import Sighting, SightKind
from scraper.moves.explain import OFFENCES, Judge
from scraper.moves.outcome import Cause, MoveOutcome, Slid, Unexplained
from scraper.moves.rule_variants import CHAIN, IDLE_SPAWN, NO_SPAWN, TWO_SPAWNS, Deviation, spawning
from scraper.readers import LATTICE_TEXT, POSITION_CLASSES
from scraper.readers.tile_values import TileValues
from scraper.reading import ReaderTraits, Reading, Status
from scraper.wait_times import WaitTimes

BEFORE = "2 0 0 0 / 4 0 0 0 / 0 0 0 0 / 0 0 0 2"
LEFT = "2 0 0 0 / 4 0 0 0 / 0 2 0 0 / 2 0 0 0"
"""The slide of BEFORE to the left, with a 2 in the third row."""
MERGING = "2 2 4 0 / 0 0 0 0"
"""Left: 4 4 0 0."""


def read(text: str, score: int | None = 0, traits: ReaderTraits = LATTICE_TEXT.traits) -> Reading:
    return Reading(Board.from_text(text), score, None, Status.PLAYING, "a reader", traits)


def faces(text: str) -> list[int]:
    return [face for row in Board.from_text(text).tiles() for face in row]


def sighting(kind: SightKind, at_key: str | None = None, early: str | None = None) -> Sighting:
    return Sighting(kind, None, early and faces(early), at_key and faces(at_key), 1, "a reader")  # type: ignore[arg-type]


def judged(judge: Judge, before: str, at_key: str | None, after: str) -> MoveOutcome:
    seen = sighting(SightKind.OTHER, at_key)
    return judge.other(seen, read(after), read(before).ply(Direction.LEFT))


@dataclass(frozen=True)
class Case:
    """A board that came to rest elsewhere than expected, after a move to the left."""

    why: str
    before: str
    after: str
    cause: Cause | None
    """``None`` where it is by the rules all the same."""
    rules: tuple[Deviation, ...] = ()
    at_key: str | None = None
    words: str = ""
    adopted: list[Deviation] = field(default_factory=list)


CASES = [
    Case("by the rules, only late", BEFORE, LEFT, None),
    Case("at the key as before", BEFORE, LEFT, None, at_key=BEFORE),
    Case(
        "nothing explains it",
        BEFORE,
        "8 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2",
        Cause.UNKNOWN,
        words="no spawn explains",
    ),
    Case("merges go on", MERGING, "8 2 0 0 / 0 0 0 0", Cause.OWN_RULE, (CHAIN,), words="chain merges"),
    Case("nothing spawned", MERGING, "4 4 0 0 / 0 0 0 0", Cause.OWN_RULE, (NO_SPAWN,)),
    Case("two spawned", MERGING, "4 4 0 2 / 0 2 0 0", Cause.OWN_RULE, (TWO_SPAWNS,)),
    Case("an 8 spawned", MERGING, "4 4 0 0 / 0 8 0 0", Cause.OWN_RULE, (spawning(8),)),
    Case("a 64 is too large to spawn", MERGING, "4 4 0 0 / 0 64 0 0", Cause.UNKNOWN),
    Case("a tile spawned and nothing slid", MERGING, "2 2 4 0 / 0 2 0 0", Cause.UNKNOWN),
    Case(
        "a tile still grew at the key",
        BEFORE,
        LEFT,
        None,
        at_key="2 0 0 0 / 4 0 0 0 / 0 0 0 0 / 0 0 0 0",
    ),
    Case(
        "the page had moved before, and once more at the key",
        BEFORE,
        "2 0 0 0 / 4 4 0 0 / 2 0 0 0 / 2 0 0 0",
        Cause.MOVED_BEFORE,
        at_key=LEFT,
        words="does follow",
    ),
    Case(
        "the page had moved before, and shows something else now",
        BEFORE,
        "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0",
        Cause.MOVED_BEFORE,
        at_key=LEFT,
        words="does not follow",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_a_board_that_was_not_expected_is_explained(case: Case) -> None:
    judge = Judge(TileValues())
    outcome = judged(judge, case.before, case.at_key, case.after)
    if case.cause is None:
        assert outcome == Slid(read(case.after))
        return
    assert isinstance(outcome, Unexplained)
    assert (outcome.cause, outcome.rules, outcome.reading) == (case.cause, case.rules, read(case.after))
    assert case.words in outcome.why
    assert outcome.at_key == (Board.from_text(case.at_key) if case.at_key else None)
    assert judge.rules.deviations == list(case.rules)


def test_idle_spawns_are_a_rule_once_some_move_was_by_the_rules() -> None:
    judge = Judge(TileValues())
    judged(judge, BEFORE, None, LEFT)
    outcome = judged(judge, MERGING, None, "2 2 4 0 / 0 2 0 0")
    assert isinstance(outcome, Unexplained)
    assert outcome.rules == (IDLE_SPAWN,)


@pytest.mark.parametrize("at_key", ["2 0 0 0 / 4 0 0 0 / 0 0 0 0 / 0 0 0 0", LEFT])
def test_another_board_at_the_key_costs_the_page_its_trust(at_key: str) -> None:
    judge = Judge(TileValues())
    judged(judge, BEFORE, at_key, LEFT)
    assert judge.trust.revoked


@pytest.mark.parametrize(
    ("traits", "shown"),
    [(LATTICE_TEXT.traits, None), (POSITION_CLASSES.traits, 500)],
    ids=["any number", "the score"],
)
def test_a_number_that_does_not_count_by_the_rules_is_shown_where_it_is_surely_the_score(
    traits: ReaderTraits, shown: int | None
) -> None:
    judge = Judge(TileValues())
    before = read(MERGING, 0, traits)
    after = read("4 4 0 2 / 0 0 0 0", 500, traits)
    outcome = judge.slid(sighting(SightKind.SLID), after, before, before.ply(Direction.LEFT), learned=False)
    assert isinstance(outcome, Slid)
    assert outcome.reading.score == shown
    assert not judge.scores_by_rules


def test_what_is_asked_names_the_slide_the_spawns_and_the_score() -> None:
    judge = Judge(TileValues())
    before = read(MERGING, 12)
    question = judge.question(
        before, before.ply(Direction.LEFT), WaitTimes(quiet=1, quiet_other=2), idle=3, foresee=False
    )
    assert question.before == [2, 2, 4, 0, 0, 0, 0, 0]
    assert question.afters == [[4, 4, 0, 0, 0, 0, 0, 0]]
    assert (question.spawn.values, question.spawn.least, question.spawn.most) == ([2, 4], 1, 1)
    assert question.score == "16"
    assert (question.quiet, question.quiet_other, question.idle) == (1, 2, 3)
    judge.rules.adopt([CHAIN, TWO_SPAWNS, spawning(8)])
    question = judge.question(before, before.ply(Direction.LEFT), WaitTimes(), idle=3, foresee=False)
    assert question.afters == [[4, 4, 0, 0, 0, 0, 0, 0], [8, 0, 0, 0, 0, 0, 0, 0]]
    assert (question.spawn.values, question.spawn.least, question.spawn.most) == ([2, 4, 8], 1, 2)


def test_a_page_that_loads_again_is_no_offence_and_four_odd_boards_are() -> None:
    judge = Judge(TileValues())
    ply = read(BEFORE).ply(Direction.LEFT)
    anew = judge.anew(read(BEFORE), ply)
    assert isinstance(anew, Unexplained)
    assert anew.cause is Cause.LOADED_ANEW
    odd = Unexplained(read(BEFORE), "odd")
    told = [judge.offends(outcome) for outcome in [anew] * OFFENCES + [odd] * OFFENCES]
    assert told == [False] * (2 * OFFENCES - 1) + [True]
    # Two moves by the rules make good for one that was not.
    told = [
        judge.offends(outcome) for outcome in [odd, odd, odd, Slid(read(BEFORE)), Slid(read(BEFORE)), odd]
    ]
    assert not any(told)


def test_a_board_that_the_key_did_not_change_counts_twice() -> None:
    judge = Judge(TileValues())
    idle = Unexplained(read(LEFT), "idle", Cause.MOVED_BEFORE, Board.from_text(LEFT))
    assert [judge.offends(idle) for _ in range(OFFENCES // 2)] == [False, True]

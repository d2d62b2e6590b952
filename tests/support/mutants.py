"""Damaged copies of a file, and the promise that a loader keeps for each of them.

A loader reads a mutant or refuses it with one sentence. It raises nothing else, takes at most 5 seconds of
processor time and allocates at most 200 MB (what Python and NumPy allocate; a mapped file does not count).
"""

from __future__ import annotations

import random
import signal
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 200_000_000
MOST_SECONDS = 5.0

_HEAD = 512  # bytes that half of all changes hit, since that is where files describe themselves
_EXTREMES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
_NUMBERS = (b"-1", b"0", b"1e308", b"1e999", b"NaN", b"99999999999999999999", b"4294967296", b"1.5", b"null")
_DEEP = 100_000


def mutants(data: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """Make damaged copies of a file; the same ones for the same seed.

    Args:
        data: the whole file.
        count: how many copies to make.
        seed: seed of all that is drawn.
    """
    rng = random.Random(seed)
    for _ in range(count):
        mutant = data
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            mutant = rng.choice(_CHANGES)(mutant, rng)
        yield mutant


def _place(data: bytes, rng: random.Random) -> int:
    if not data:
        return 0
    return rng.randrange(min(len(data), _HEAD)) if rng.random() < 0.5 else rng.randrange(len(data))


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = _place(data, rng)
    return start, min(len(data), start + rng.choice((1, 2, 8, 64, 4096)))


def _flip_bit(data: bytes, rng: random.Random) -> bytes:
    place = _place(data, rng)
    return (
        data[:place]
        + bytes(byte ^ (1 << rng.randrange(8)) for byte in data[place : place + 1])
        + data[place + 1 :]
    )


def _set_bytes(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + rng.randbytes(end - start) + data[end:]


def _fill(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + bytes([rng.choice((0, 0xFF, 0x20))]) * (end - start) + data[end:]


def _set_number(data: bytes, rng: random.Random) -> bytes:
    start, size = _place(data, rng), rng.choice((1, 2, 4, 8))
    number = rng.choice(_EXTREMES) % (1 << (8 * size))
    return data[:start] + number.to_bytes(size, "little") + data[start + size :]


def _set_digits(data: bytes, rng: random.Random) -> bytes:
    """Replace a run of decimal digits, as JSON and CSV have them, by another value."""
    places = [i for i in range(min(len(data), 4 * _HEAD)) if 0x30 <= data[i] <= 0x39]
    if not places:
        return data
    start = end = rng.choice(places)
    while end < len(data) and 0x30 <= data[end] <= 0x39:
        end += 1
    return data[:start] + rng.choice(_NUMBERS) + data[end:]


def _nest(data: bytes, rng: random.Random) -> bytes:
    """Put brackets, far more than any parser should follow, at a place."""
    place = _place(data, rng)
    return data[:place] + rng.choice((b"[", b'{"a":')) * rng.choice((1, 600, _DEEP)) + data[place:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    place = _place(data, rng)
    return data[:place] + rng.randbytes(rng.choice((1, 7, 300))) + data[place:]


def _remove(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 3)) + data[end:]


def _swap(data: bytes, rng: random.Random) -> bytes:
    a, b = sorted((_place(data, rng), _place(data, rng)))
    size = min(64, b - a)
    return data[:a] + data[b : b + size] + data[a + size : b] + data[a : a + size] + data[b + size :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


def _extend(data: bytes, rng: random.Random) -> bytes:
    return data + rng.randbytes(rng.choice((1, 100, 5000)))


_CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip_bit,
    _flip_bit,
    _set_bytes,
    _fill,
    _set_number,
    _set_number,
    _set_digits,
    _set_digits,
    _nest,
    _insert,
    _remove,
    _repeat,
    _swap,
    _cut,
    _extend,
)


@dataclass(frozen=True)
class Outcomes:
    """What a loader made of mutants.

    Attributes:
        read: how many it read.
        refused: how often it gave each reason, by the first words.
        largest: the most bytes that it allocated for one.
    """

    read: int
    refused: Counter[str]
    largest: int


def check_loader(
    load: Callable[[Path], object],
    path: Path,
    copies: Iterator[bytes],
    refusals: type[Exception] | tuple[type[Exception], ...],
) -> Outcomes:
    """Feed mutants to a loader and hold it to its promise (see the module).

    Args:
        load: reads the file, all of it.
        path: where each mutant is put in turn.
        copies: the mutants.
        refusals: what the loader may raise.

    Raises:
        AssertionError: the promise is broken; the mutant stays at ``path``.
    """
    read, largest = 0, 0
    refused: Counter[str] = Counter()
    before = signal.signal(signal.SIGPROF, _too_long)
    tracemalloc.start()
    try:
        for number, copy in enumerate(copies):
            path.write_bytes(copy)
            held = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
            try:
                load(path)
                read += 1
            except refusals as error:
                sentence = str(error)
                assert sentence.strip(), f"mutant {number} is refused without a word"
                assert "\n" not in sentence, f"mutant {number} is refused in several lines: {sentence}"
                refused[" ".join(sentence.replace(str(path), "FILE").split()[:6])] += 1
            except (Exception, TooLongError) as error:
                raise AssertionError(f"mutant {number} ({path}) ends in {error!r}") from error
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            peak = tracemalloc.get_traced_memory()[1] - held
            assert peak <= MOST_BYTES, f"mutant {number} ({path}) takes {peak:,} bytes"
            largest = max(largest, peak)
    finally:
        tracemalloc.stop()
        signal.signal(signal.SIGPROF, before)
    return Outcomes(read, refused, largest)


class TooLongError(BaseException):
    """A loader took too much processor time; no loader may take it for an error of its own."""


def _too_long(*_: object) -> None:
    raise TooLongError(f"more than {MOST_SECONDS:g} seconds of processor time")

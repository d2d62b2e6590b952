"""Mutants of array files (`solver_server.array_file`) that get past the digest."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator

from support.mutants import mutants


def resealed(data: bytes) -> bytes:
    """The file with the digest of what it now holds, so that a mutant gets past it."""
    if len(data) < 64:
        return data
    length = int.from_bytes(data[12:16], "little")
    start = int.from_bytes(data[16:24], "little")
    digest = hashlib.sha256(data[64 : 64 + length] + data[start:]).digest()
    return data[:32] + digest + data[64:]


def with_headers_changed(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Array files whose headers are mutants, and which are whole otherwise."""
    length, start = int.from_bytes(data[12:16], "little"), int.from_bytes(data[16:24], "little")
    for header in mutants(data[64 : 64 + length], count, seed):
        yield with_header(data, header, start)


def with_header(data: bytes, header: bytes, start: int = 4096) -> bytes:
    """The array file with another header, true to its digest."""
    room = -(-(64 + len(header)) // 4096) * 4096
    head = data[:12] + len(header).to_bytes(4, "little") + room.to_bytes(8, "little") + data[24:64]
    return resealed((head + header).ljust(room, b"\0") + data[start:])


def all_kinds(data: bytes, count: int) -> Iterator[bytes]:
    """Mutants as they are, with a right digest, and with a whole file around a changed header."""
    third = -(-count // 3)
    return itertools.chain(
        mutants(data, third, 1), map(resealed, mutants(data, third, 2)), with_headers_changed(data, third, 3)
    )

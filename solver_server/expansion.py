"""Decompress within bounds: never more memory than a file of its size may ask for."""

from __future__ import annotations

import lzma
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError

Codec = Literal["xz", "zlib", "gzip"]

_FREE = 64 << 20
_RATIO = 200
_DECODER_MEMORY = 128 << 20  # enough for `xz -9`
_GZIP = 31  # zlib's number for a gzip header with the largest window


def most_expanded(stored: int) -> int:
    """How many bytes a file of ``stored`` bytes may expand to: 64 MiB and 200 times its size."""
    return _FREE + _RATIO * stored


def expand(path: Path, stream: bytes, most: int, codec: Codec) -> bytes:
    """Decompress a whole stream.

    Args:
        path: file that the stream is of, for messages.
        stream: the stream, nothing behind it.
        most: most bytes that may come out.
        codec: how it is compressed.

    Raises:
        SolverError: the stream is damaged, longer than allowed, or followed by something.
    """
    decoder: Any
    if codec == "xz":
        decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_DECODER_MEMORY)
    else:
        decoder = zlib.decompressobj(_GZIP if codec == "gzip" else zlib.MAX_WBITS)
    try:
        expanded: bytes = decoder.decompress(stream, most + 1)
    except (lzma.LZMAError, zlib.error) as error:
        raise SolverError(f"{path} is damaged: a stream cannot be expanded ({error})") from error
    if len(expanded) > most:
        raise SolverError(f"{path} expands to more than {most:,} bytes: it is damaged, or made to harm")
    if not decoder.eof or decoder.unused_data:
        raise SolverError(f"{path} is damaged: a stream ends before or after its end mark")
    return expanded


def expand_exactly(path: Path, stream: bytes, size: int, codec: Codec) -> npt.NDArray[np.uint8]:
    """Decompress a stream of a known size.

    Args:
        path: file that the stream is of, for messages.
        stream: the stream, nothing behind it.
        size: bytes that must come out.
        codec: how it is compressed.

    Returns:
        uint8 [size], writable.

    Raises:
        SolverError: the stream is damaged or of another size.
    """
    expanded = expand(path, stream, size, codec)
    if len(expanded) != size:
        raise SolverError(f"{path} is damaged: a stream has {len(expanded)} bytes; expected {size}")
    return np.frombuffer(bytearray(expanded), dtype=np.uint8)

"""Output that never fails for a sign that the terminal's code page lacks."""

from __future__ import annotations

import codecs
import io
import sys

ERRORS = "bot2048.plain"
"""Beginning of the names of the error handlers that write signs plainly."""

PLAIN_SIGNS = {
    "×": "x",
    "±": "+/-",
    "…": "...",
    "·": "*",
    "→": "->",
    "−": "-",
    "–": "-",
    "—": "-",
    "≥": ">=",
    "≤": "<=",
    "λ": "lambda",
    "β": "beta",
    "α": "alpha",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "•": "*",
    "█": "#",
    "░": ".",
    "\N{NO-BREAK SPACE}": " ",
}


def plain(text: str, encoding: str) -> str:
    """Return a text of the same meaning that a code page can hold.

    Args:
        text: any text, also with surrogates from undecodable file names.
        encoding: name of the code page.
    """
    return "".join(_in(character, encoding) for character in text)


def _in(character: str, encoding: str) -> str:
    for candidate in (character, PLAIN_SIGNS.get(character, ""), _without_marks(character)):
        if candidate and _fits(candidate, encoding):
            return candidate
    return "?"


def _without_marks(character: str) -> str:
    import unicodedata  # a library of its own, seldom needed

    decomposed = unicodedata.normalize("NFKD", character)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _handler_for(encoding: str) -> str:
    """Return the name of the error handler that writes plainly what a code page lacks.

    Python's charmap codecs do not tell the handler which code page they are of, so each has one of its own.
    """
    name = f"{ERRORS}.{encoding}"

    def replace(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        return plain(error.object[error.start : error.end], encoding), error.end

    codecs.register_error(name, replace)
    return name


def make_streams_safe() -> None:
    """Let standard output and standard error take every text; signs they cannot hold are written plainly.

    Click itself writes UTF-8 where a stream is said to be ASCII.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_handler_for(stream.encoding))

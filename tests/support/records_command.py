"""The command ``records`` as tests call it."""

from __future__ import annotations

from click.testing import CliRunner, Result

from game2048.errors import RecordError
from recordings.cli.records import records


def run(*arguments: object) -> Result:
    """Call it in this process."""
    return CliRunner().invoke(records, [str(argument) for argument in arguments])


def told(result: Result) -> str:
    """The message of the error that a command ended with; the root command prints it."""
    assert result.exit_code == 1
    assert isinstance(result.exception, RecordError)
    return str(result.exception)

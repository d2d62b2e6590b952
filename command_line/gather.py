"""Options of a command, gathered into one value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import click


class _HasSection(Protocol):
    section: str | None


def gather(
    argument: str, make: Callable[..., Any], section: str | None, *options: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Return a decorator that adds options to a command and hands it their values as one argument.

    Args:
        argument: name of the command's argument.
        make: makes the value of the options' values, given by name: a dataclass or a function.
        section: heading of the options in the help; ``None`` for the general one.
        options: from `click.option` and `click.argument`, in the order of the help.
    """

    def decorate(command: Any) -> Any:
        @functools.wraps(command)
        def gathered(*args: Any, **kwargs: Any) -> Any:
            given = {name: kwargs.pop(name) for name in names}
            return command(*args, **{argument: make(**given)}, **kwargs)

        before = len(_parameters(gathered))
        decorated: Any = gathered
        for option in reversed(options):
            decorated = option(decorated)
        added = _parameters(gathered)[before:]
        names = [parameter.name for parameter in added if parameter.name is not None]
        for parameter in added:
            set_section(parameter, section)
        return decorated

    return decorate


def in_section(section: str, *options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds options to a command under a heading of the help."""

    def decorate(command: Any) -> Any:
        before = len(_parameters(command))
        for option in reversed(options):
            command = option(command)
        for parameter in _parameters(command)[before:]:
            set_section(parameter, section)
        return command

    return decorate


def set_section(parameter: click.Parameter, section: str | None) -> None:
    """Put an option under a heading of the help, unless it is under one already."""
    if section is not None and section_of(parameter) is None:
        parameter.section = section  # type: ignore[attr-defined]


def section_of(parameter: click.Parameter) -> str | None:
    """Return the heading of an option in the help; ``None`` for the general one."""
    section: str | None = getattr(parameter, "section", None)
    return section


def _parameters(command: Any) -> Sequence[click.Parameter]:
    if isinstance(command, click.Command):
        return command.params
    if not hasattr(command, "__click_params__"):
        command.__click_params__ = []
    found: list[click.Parameter] = command.__click_params__
    return found

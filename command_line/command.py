"""Commands and groups whose help has sections, and whose failures are one line."""

from __future__ import annotations

import importlib
import sys
from typing import IO, Any

import click

from command_line.gather import section_of
from command_line.streams import make_streams_safe

GENERAL = "Options"
"""Heading of the options that are in no section."""

CONTEXT_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


class FailureError(click.ClickException):
    """A failure that needs no traceback: one line on standard error, exit code 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        click.echo(f"error: {self.message}", file=file, err=file is None)


class Command(click.Command):
    """A command whose options are shown under headings, in colour and boxes on a terminal."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command as a program."""
        make_streams_safe()
        return super().main(*args, **kwargs)

    def get_help(self, ctx: click.Context) -> str:
        """Return the help."""
        return _rich_help(self, ctx) if _rich_is_wanted() else super().get_help(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, one section after another."""
        for title, parameters in sections_of(self, ctx).items():
            lines = [line for each in parameters if (line := each.get_help_record(ctx)) is not None]
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)


class Group(click.Group):
    """A group of such commands."""

    command_class = Command
    group_class = type

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the group as a program."""
        make_streams_safe()
        return super().main(*args, **kwargs)

    def get_help(self, ctx: click.Context) -> str:
        """Return the help."""
        return _rich_help(self, ctx) if _rich_is_wanted() else super().get_help(ctx)


class Program(Group):
    """The commands of a whole program. A failure of this project ends with exit code 1, Ctrl-C with 130."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        from game2048.errors import Error2048  # not needed for --help

        try:
            return super().invoke(ctx)
        except Error2048 as error:
            raise FailureError(str(error)) from error
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None


class LazyProgram(Program):
    """A program whose commands are imported when they are called.

    Attributes:
        lazy: by name, where the command is (``module:attribute``), the section of the help that lists it,
            and its line there.
    """

    lazy: dict[str, tuple[str, str, str]]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of use."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, imported now."""
        if cmd_name not in self.lazy:
            return None
        module, _, attribute = self.lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def get_help(self, ctx: click.Context) -> str:
        """Return the help: always click's own, since loading rich would double the time that it takes."""
        return click.Command.get_help(self, ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, from what is known without importing them."""
        titles = dict.fromkeys(section for _, section, _ in self.lazy.values())
        width = max(map(len, self.lazy))
        for title in titles:
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (name.ljust(width), summary)
                        for name, (_, section, summary) in self.lazy.items()
                        if section == title
                    ]
                )


def sections_of(command: click.Command, ctx: click.Context) -> dict[str, list[click.Parameter]]:
    """Return a command's options by their headings; the general ones and --help come last."""
    sections: dict[str, list[click.Parameter]] = {}
    general: list[click.Parameter] = []
    for parameter in command.get_params(ctx):
        if isinstance(parameter, click.Option):
            title = section_of(parameter)
            (general if title is None else sections.setdefault(title, [])).append(parameter)
    return {**sections, GENERAL: general}


def log_to_stderr(verbose: int) -> None:
    """Send the log to standard error: warnings; with one ``-v`` also what happens, with two all details.

    Args:
        verbose: how often ``-v`` was given.
    """
    import logging  # not needed for --help

    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger().setLevel(level)


def _rich_is_wanted() -> bool:
    """Whether the help is for a terminal; only then rich is loaded, which takes a tenth of a second."""
    return sys.stdout.isatty()


def _rich_help(command: click.Command, ctx: click.Context) -> str:
    """Return the help as rich-click draws it."""
    import rich_click
    from rich_click import RichContext
    from rich_click.rich_help_configuration import RichHelpConfiguration
    from rich_click.rich_panel import RichOptionPanel

    kind: Any = rich_click.RichGroup if isinstance(command, click.Group) else rich_click.RichCommand
    commands = {"commands": command.commands} if isinstance(command, click.Group) else {}
    panels = [
        RichOptionPanel(title, options=[max(each.opts, key=len) for each in parameters])
        for title, parameters in sections_of(command, ctx).items()
        if parameters and title != GENERAL  # which is rich-click's own panel for all others
    ]
    drawn = kind(
        name=command.name,
        params=command.params,
        help=command.help,
        context_settings=command.context_settings,
        panels=panels,
        **commands,
    )
    config = RichHelpConfiguration(theme="nord-slim", text_markup="ansi")
    context = RichContext(drawn, info_name=ctx.info_name, parent=ctx.parent, rich_help_config=config)
    text: str = drawn.get_help(context)
    return text

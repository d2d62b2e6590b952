"""The command `dashboard`."""

from __future__ import annotations

from pathlib import Path

import click

from bot.dashboard.options import DASHBOARD_PORT, DEFAULT_HOST, DEFAULT_RUNS, DashboardOptions
from command_line.command import Command, FailureError
from command_line.gather import gather, in_section


@click.command(cls=Command)
@gather(
    "given",
    lambda **given: given,
    None,
    click.option(
        "--runs",
        type=click.Path(file_okay=False, path_type=Path),
        default=DEFAULT_RUNS,
        show_default=True,
        help="Folder to show; nothing outside it is read or served.",
    ),
    in_section(
        "Server",
        click.option("--host", default=DEFAULT_HOST, show_default=True, help="Address to listen on."),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=DASHBOARD_PORT,
            show_default=True,
            help="Port to listen on; 0 takes a free one.",
        ),
        click.option(
            "--token",
            envvar="BOT2048_DASHBOARD_TOKEN",
            show_envvar=True,
            help="Access token, 16 characters or more; needed where other machines reach the address.",
        ),
        click.option(
            "--token-file",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="File that holds the access token.",
        ),
        click.option(
            "--name", "names", multiple=True, help="Further host name that a browser may ask for; repeatable."
        ),
        click.option("--open/--no-open", "opens", default=False, show_default=True, help="Open a browser."),
        click.option("--stop-with-stdin", is_flag=True, help="Stop when standard input ends."),
    ),
)
def dashboard(given: dict[str, object]) -> None:
    """Show runs in a browser: replays, weights, trainings, running games (docs/watching.md).

    Trainings, evaluations and games can be started and stopped there. They end with the dashboard; each saves
    its work first.
    """
    from bot.dashboard.opening import open_dashboard

    options, opens = _options(**given)  # type: ignore[arg-type]
    opening = open_dashboard(options)
    try:
        from bot.dashboard.app import run_dashboard  # loads NiceGUI
    except ModuleNotFoundError as error:
        if error.name not in {"nicegui", "fastapi", "uvicorn", "starlette"}:
            raise
        raise FailureError(
            f"the dashboard needs the package {error.name}, which is not installed; "
            "try `pip install 'bot2048[dashboard]'`"
        ) from error

    def announce(url: str) -> None:
        click.echo(f"dashboard on {url}")
        if opens:
            click.launch(url)

    run_dashboard(opening, announce)


def _options(
    token: str | None, token_file: Path | None, opens: bool, **given: object
) -> tuple[DashboardOptions, bool]:
    from bot.dashboard.access import checked_token_file

    if token is not None and token_file is not None:
        raise click.UsageError("--token and --token-file exclude each other; leave one out")
    options = DashboardOptions(
        token=token if token_file is None else checked_token_file(token_file),
        **given,  # type: ignore[arg-type]
    )
    return options, opens

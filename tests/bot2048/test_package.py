"""The names of the front door: all are there, and importing it is quick."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bot2048
import game2048


@pytest.mark.parametrize("name", bot2048.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(bot2048, name) is not None
    assert name in dir(bot2048)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(bot2048.__file__).read_text("utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    typed = {"__version__"}
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            typed |= {alias.name for alias in node.names}
    assert typed == set(bot2048.__all__)


def test_names_are_those_of_the_packages() -> None:
    assert bot2048.Board is game2048.Board
    assert issubclass(bot2048.PageError, bot2048.Error2048)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'agent'"):
        _ = bot2048.agent  # type: ignore[attr-defined]


def test_the_import_loads_nothing_heavy() -> None:
    script = (
        "import sys; before = set(sys.modules); import bot2048; bot2048.Board; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "playwright", "PIL", "asyncio", "websockets", "click", "msgspec"} & set(
        loaded.stdout.split()
    )


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert bot2048.__version__ == version("bot2048")

"""One public name stands for one thing in the whole project, and no function takes too many parameters."""

from __future__ import annotations

import ast
import collections
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"][
    "targets"
]["wheel"]["packages"]
MOST_PARAMETERS = 7
PER_MODULE = ("logging.getLogger", "getLogger", "TypeVar", "ParamSpec")
"""What every module may make for itself under the same name."""

SHARED = {
    "read_games": "the front door yields the same games, which then draw themselves",
}
"""The names that are defined in several modules, and why. Rename one of the two rather than add a row."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


def top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, also those under ``if`` and ``try``."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from top_level([*node.body, *node.orelse])


def names_of(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ClassDef | Definition):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        value = node.value
        if isinstance(value, ast.Call) and ast.unparse(value.func) in PER_MODULE:
            return
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def places_of_names() -> dict[str, set[str]]:
    places: dict[str, set[str]] = collections.defaultdict(set)
    for path, module in modules():
        for node in top_level(module.body):
            for name in names_of(node):
                if not name.startswith("_"):
                    places[name].add(path)
    return places


def parameters_of(function: Definition) -> list[str]:
    given = function.args
    every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    return [each.arg for each in every if each is not None and each.arg not in {"self", "cls"}]


def test_a_public_name_stands_for_one_thing() -> None:
    shared = {name: places for name, places in places_of_names().items() if len(places) > 1}
    assert shared.keys() == SHARED.keys(), shared


def test_no_function_takes_more_than_seven_parameters() -> None:
    wide = {
        f"{path}:{node.lineno} {node.name}": len(parameters_of(node))
        for path, module in modules()
        for node in ast.walk(module)
        if isinstance(node, Definition) and len(parameters_of(node)) > MOST_PARAMETERS
    }
    assert wide == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("class A: ...\ndef b(): ...\nC = 1\nD: int = 2\ne, f = 1, 2", "A b C D e f"),
        ("if x:\n    A = 1\nelse:\n    B = 2\ntry:\n    C = 3\nfinally:\n    pass", "A B C"),
        ("logger = logging.getLogger(__name__)\nT = TypeVar('T')\ndef f():\n    G = 1", "f"),
    ],
)
def test_names_are_found(source: str, names: str) -> None:
    assert [name for node in top_level(ast.parse(source).body) for name in names_of(node)] == names.split()

"""Store uploaded files: limit their size while they arrive, and let their loaders check them first."""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

from bot.dashboard.faults import DashboardError
from bot.dashboard.jobs.job_book import run_briefly
from bot.dashboard.sources.run_folders import Kind, RunFolders, kind_of

UPLOADS = "uploads"
UPLOAD_BYTES: dict[Kind, int] = {"weights": 4 << 30, "games": 1 << 30}
MAX_FOLDER_BYTES = 16 << 30
CHECK_SECONDS = 300.0

_WHOLE_DATASETS = (".jsonl", ".json", ".h5", ".hdf5")  # the other formats are two files each
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", re.ASCII)


async def receive(runs: RunFolders, name: str, chunks: AsyncIterator[bytes], length: int | None) -> str:
    """Keep a file in the folder of uploads, if its loader takes it.

    Args:
        runs: the folder of runs.
        name: the file's name; its end says what it is.
        chunks: the contents.
        length: how many bytes the sender announces.

    Returns:
        The name of the file among the runs.

    Raises:
        DashboardError: the name, the size or the contents are not acceptable; nothing is kept then.
    """
    if not _NAME.fullmatch(name):
        raise DashboardError(
            f"{name[:80]!r} is not usable as a file name; "
            "expected letters, digits, dots and lines, 100 at most"
        )
    kind = kind_of(name)
    whole = kind != "games" or name.lower().endswith(_WHOLE_DATASETS)
    if kind is None or kind not in UPLOAD_BYTES or not whole:
        raise DashboardError(
            f"{name!r} is neither weights nor games; expected a name that ends in .n2048, .w, .w.xz, .w.gz, "
            f"{', '.join(_WHOLE_DATASETS)}"
        )
    target = runs.path(f"{UPLOADS}/{name}")
    if target.exists():
        raise DashboardError(f"{UPLOADS}/{name} exists; give the file another name")
    most = min(UPLOAD_BYTES[kind], MAX_FOLDER_BYTES - _folder_size(target.parent))
    if length is not None and length > most:
        raise _too_long(name, most)
    # A hidden folder for each upload: the loaders know a file by the end of its name.
    draft_folder = target.parent / f".{uuid.uuid4().hex}.tmp"
    draft = draft_folder / name
    try:
        draft_folder.mkdir(parents=True)
        await _write(draft, chunks, most, name)
        await _check(draft, kind, name)
        os.link(draft, target)  # refuses to overwrite what came meanwhile
    except FileExistsError:
        raise DashboardError(f"{UPLOADS}/{name} exists; give the file another name") from None
    except OSError as error:
        raise DashboardError(f"{name} cannot be written: {error.strerror or error}", status=500) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
            draft_folder.rmdir()
    runs.look_again()
    return f"{UPLOADS}/{name}"


async def _write(draft: Path, chunks: AsyncIterator[bytes], most: int, name: str) -> None:
    size = 0
    with draft.open("xb") as file:
        async for chunk in chunks:
            size += len(chunk)
            if size > most:
                raise _too_long(name, most)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())


async def _check(draft: Path, kind: Kind, name: str) -> None:
    """Let the loader read the file, in a separate process."""
    words = ["weights", "show", str(draft)] if kind == "weights" else ["records", "verify", str(draft)]
    code, out, err = await run_briefly(words, CHECK_SECONDS)
    if code:
        said = [line for line in (out + err).splitlines() if line.strip()]
        why = said[-1].removeprefix("error: ") if said else "its loader gave no reason"
        raise DashboardError(f"{name} was refused: {why.replace(str(draft), name)}")


def _too_long(name: str, most: int) -> DashboardError:
    return DashboardError(f"{name} is too long; expected at most {most / 1e6:,.0f} MB", status=413)


def _folder_size(folder: Path) -> int:
    try:
        return sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder))
    except OSError:
        return 0

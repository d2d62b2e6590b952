"""Ask the solver server of this container whether it works; the exit code tells. Needs nothing but Python."""

import os
import pathlib
import sys
import urllib.request


def token() -> str | None:
    """Return the server's token, from where the server takes it."""
    file = os.environ.get("BOT2048_TOKEN_FILE")
    return pathlib.Path(file).read_text().strip() if file else os.environ.get("BOT2048_TOKEN")


def main(url: str = "http://127.0.0.1:8765") -> int:
    """Return 0 if the server answers, else 1."""
    shown = token()
    headers = {} if shown is None else {"Authorization": f"Bearer {shown}"}
    request = urllib.request.Request(f"{url}/healthz", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=4) as said:
            print(said.read().decode().strip())
    except OSError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

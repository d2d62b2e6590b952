"""The `bot2048` command and the commands that play pages."""

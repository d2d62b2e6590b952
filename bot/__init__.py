"""The player: read, ask, press, confirm, record; the harvest; and the ``bot2048`` command."""

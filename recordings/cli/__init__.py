"""The commands under `bot2048 records`."""

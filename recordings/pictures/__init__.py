"""Boards as images and games as GIFs."""

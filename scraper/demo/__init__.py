"""The project's own 2048 page and its server."""

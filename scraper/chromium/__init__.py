"""Find, start or install a browser."""

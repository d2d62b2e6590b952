"""A small file with the most frequent moves of endgame tables."""

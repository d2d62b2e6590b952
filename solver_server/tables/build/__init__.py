"""Build endgame tables."""

"""Make moves, and find out by which rules the board has changed."""

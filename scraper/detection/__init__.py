"""Find the board on a page, and what stands before it."""

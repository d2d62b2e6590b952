"""Find the board on a page, and click away what covers it."""

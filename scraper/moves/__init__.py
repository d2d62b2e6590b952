"""What a key press did to the board, and by which rules."""

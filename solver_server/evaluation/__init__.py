"""Play games by an engine and measure its strength and speed."""

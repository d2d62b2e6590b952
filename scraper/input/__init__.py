"""Ways to give a page a direction."""

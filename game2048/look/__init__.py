"""How a board looks: the classic colours, a picture of it, and the way of each tile in a slide."""

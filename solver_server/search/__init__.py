"""Expectimax search: one kernel over any board, any evaluator and any chance policy."""

"""Our own commands as processes: their arguments, their figures, their end."""

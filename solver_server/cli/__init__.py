"""The commands of the solver."""

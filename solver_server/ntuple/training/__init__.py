"""Temporal difference learning of n-tuple networks."""

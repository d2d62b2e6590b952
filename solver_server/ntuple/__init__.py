"""N-tuple networks: their shapes, their weights, how they learn and how their files look."""

"""Compiled boards: numba kernels over bitboards, grids and boards of two words."""

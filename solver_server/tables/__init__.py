"""Endgame tables: exact values of late boards, whose largest tiles stand locked in a corner."""

"""Network files: our own, packed, and TDL2048+."""

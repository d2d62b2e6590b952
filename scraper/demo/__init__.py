"""Our own 2048 page, served from this machine."""

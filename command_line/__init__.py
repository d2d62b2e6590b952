"""What all commands of ``bot2048`` share: options, help, progress, and output that any terminal can show."""

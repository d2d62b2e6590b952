"""Many games in one file: formats, splitting, augmentation, statistics."""

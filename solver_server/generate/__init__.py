"""Datasets by self-play: what is played (`plan`), by whom (`players`), how it gets into a file (`run`)."""

"""Files of games in every format, by their extension; see `recordings.datasets.dataset_file`."""

"""Files of games in every format, told apart by their extension; see `recordings.datasets.dataset_file`."""

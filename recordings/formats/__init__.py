"""Files of games in every format, told apart by their extension; see `recordings.dataset`."""

"""What the dashboard shows: files of runs, running games and servers, engines' opinions; and uploads."""

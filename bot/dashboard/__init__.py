"""The dashboard: weights, replays, pictures, trainings and running games, in a browser."""

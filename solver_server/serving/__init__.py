"""The websocket server: connections, sessions, workers, access."""

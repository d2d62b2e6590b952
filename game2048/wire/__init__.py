"""The wire between clients and the solver server: messages, their binary frames, and their JSON Schema."""

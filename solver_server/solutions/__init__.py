"""Full solutions of small boards: the exact value of every position, and the engine that plays by it."""

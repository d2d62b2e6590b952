"""Engines (Expectimax, N-tuple networks), training, evaluation and the asyncio websocket server."""

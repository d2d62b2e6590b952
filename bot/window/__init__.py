"""The desktop window: a game to play by hand, or to watch while an engine plays it (extra ``window``).

The rooms, from the bottom: `desktop_game` (the game and its past), `game_recorder` (its journal),
`solver_thread` (the engine, asked off the drawing thread), `look` and `scene` (what is drawn), `app` (keys,
frames, turns).
"""

"""A process that trains and saves all the time, to be killed."""

from __future__ import annotations

import sys
from pathlib import Path

from solver_server.ntuple.patterns import pattern_for
from solver_server.ntuple.training import trainer
from solver_server.ntuple.training.settings import Settings
from solver_server.ntuple.training.training_state import Training

plan = trainer.TrainingPlan(Path(sys.argv[1]))
training = Training.start(pattern_for("01234 45678"), Settings(seed=4))
while True:
    training.advance(training.games + 5)
    trainer.checkpoint(training, plan)
    print(training.games, flush=True)

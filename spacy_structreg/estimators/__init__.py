"""One estimator per job: fit, partial_fit, predict, nbest, save and load."""

"""Base classes of estimators: training by epochs, model files, decoders; no task is known here."""

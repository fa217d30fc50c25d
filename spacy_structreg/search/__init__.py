"""The decoders; they see states, masks and scores, never a task."""

"""Knowledge sources: what a model knows besides its training corpus."""

"""spaCy glue: tokenizers, components, architectures, scorers, readers and callbacks."""

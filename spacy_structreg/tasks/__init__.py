"""One file per label chain or transition system."""

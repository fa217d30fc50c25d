"""Joint segmenters and taggers: words and their tags from text."""

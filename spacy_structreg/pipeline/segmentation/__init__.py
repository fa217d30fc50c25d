"""The tokenizer that finds words."""

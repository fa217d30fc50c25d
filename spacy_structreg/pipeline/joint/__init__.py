"""The tokenizer that finds words and their tags."""

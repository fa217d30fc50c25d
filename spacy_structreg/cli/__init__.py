"""The command line: `python -m spacy structreg …`."""

"""Short requests to `structreg serve`: how many a second, and how long each takes."""

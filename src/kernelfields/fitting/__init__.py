"""How a fit runs: the search, what watches it, where it is kept, what it was."""

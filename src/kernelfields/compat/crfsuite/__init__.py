"""How CRFsuite trains: its weights, its five algorithms step by step, its messages, and its files."""

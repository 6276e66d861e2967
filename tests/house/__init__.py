"""How large and how tangled the package is: numbers with limits.

`python -m tests.house` prints them, `--list METER` the places that one of them counts.
"""

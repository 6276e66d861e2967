"""How large and how tangled the package is: numbers that may fall and must not rise.

`python -m tests.house` prints them with their limits and with what there is to mend.
"""

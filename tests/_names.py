"""Names of cases that are the same in every process."""

import re

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def shown(value) -> str:
    """Return what an object looks like, without where it is: processes that share out tests compare names."""
    return ADDRESS.sub("", repr(value))

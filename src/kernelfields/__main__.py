"""``python -m kernelfields`` is ``kf``."""

from .cli import main

main()

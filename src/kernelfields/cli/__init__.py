"""The command ``kf``."""

from ._interrupts import ending, give_up


def main() -> None:
    """Run ``kf``."""
    with ending():
        try:
            from .app import app  # here, because Ctrl-C and other signals may come while it is imported

            app(prog_name="kf")
        except KeyboardInterrupt as error:
            give_up(error)


__all__ = ["main"]

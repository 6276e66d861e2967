"""``kf serve``: fitted models as a JSON service.

A request passes the guards of `kernelfields.web`, waits in a `Lane` until a thread takes all that wait there
together, and is answered by one prediction for all of them.
"""

from .app import service
from .limits import Limits
from .shelf import ServedFile, Shelf, model_files

__all__ = ["Limits", "ServedFile", "Shelf", "model_files", "service"]

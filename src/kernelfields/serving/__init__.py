"""``kf serve``: fitted models as a JSON service.

A request passes the guards of `kernelfields.web`, waits in a `Lane` until a thread takes all that wait there
together, and is answered by one prediction for all of them.
"""

from .app import service
from .limits import Limits
from .shelf import ModelFile, Shelf, model_files

__all__ = ["Limits", "ModelFile", "Shelf", "model_files", "service"]

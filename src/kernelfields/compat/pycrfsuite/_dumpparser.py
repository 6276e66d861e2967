"""What programs import from python-crfsuite's module of this name."""

from .._dump_parser import CRFsuiteDumpParser
from .._info import ParsedDump

__all__ = ["CRFsuiteDumpParser", "ParsedDump"]

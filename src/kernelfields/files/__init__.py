"""Sequences, trees and graphs of any file that ``kf`` reads, and files written from them."""

from .read import read

__all__ = ["read"]

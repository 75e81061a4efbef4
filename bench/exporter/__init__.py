"""From a trained model to C++ for a device: attend.export, and `python3 -m attend export`."""
from .errors import ExportError
from .export import export

__all__ = ['export', 'ExportError']

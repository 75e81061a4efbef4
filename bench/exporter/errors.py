"""What the exporter refuses, as one kind of exception."""


class ExportError(ValueError):
    """The model cannot be exported; the message names the place in the model, and says what to do. Nothing has been written."""

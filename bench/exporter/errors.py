"""What the exporter refuses, as one kind of exception."""


class ExportError(ValueError):
    """The model cannot be exported; the message names the place in the model, and says what to do. Nothing has been written."""

    def __init__(self, text: str):
        """Names in it may be a damaged file's."""
        text = text if len(text) < 2000 else text[:2000] + ' …'
        super().__init__(''.join(each if each.isprintable() else ' ' if each.isspace() else '\ufffd' for each in text))

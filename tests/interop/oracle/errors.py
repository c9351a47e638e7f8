"""What a judge answers when it does not answer with rows."""


class OracleError(Exception):
    """The oracle refused or failed; the text is its own message, cut to a readable length."""

    LENGTH_MAX = 2000

    def __init__(self, message: str) -> None:
        super().__init__(message[: self.LENGTH_MAX])

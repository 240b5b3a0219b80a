"""Writes log messages and uncaught exceptions to stderr without their values.

Any value may be secret, and no request says which. So the report of an exception has its type and place, and a
library's message has no arguments.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings
from types import TracebackType

_OURS = "gcpx."


class _WithoutValues(logging.Formatter):
    """Formats messages of libraries without their arguments, and exceptions without their texts."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record; gcpx's own messages have no values, so they are complete."""
        from gcpx.model.redaction import redact  # noqa: PLC0415 - loaded with the first message, which few runs have

        message = record.getMessage() if record.name.startswith(_OURS) else str(record.msg)
        text = redact(f"{record.levelname} {record.name}: {message}", frozenset())
        error = record.exc_info[1] if record.exc_info else None
        return f"{text}\n{describe(error)}" if error is not None else text


def describe(error: BaseException) -> str:
    """Describe an exception by its type and traceback, without its text."""
    places = (
        f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}'
        for frame in traceback.extract_tb(error.__traceback__)
    )
    return "\n".join((f"unexpected {type(error).__qualname__}; please report it", *places))


def hide_values() -> None:
    """Keep values out of everything that this process writes to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(_WithoutValues())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    warnings.formatwarning = _describe_warning
    sys.excepthook = _reported
    sys.unraisablehook = lambda found: _reported(found.exc_type, found.exc_value, found.exc_traceback)
    threading.excepthook = lambda found: _reported(found.exc_type, found.exc_value, found.exc_traceback)


def _reported(_kind: type[BaseException], error: BaseException | None, _where: TracebackType | None) -> None:
    if error is not None and not isinstance(error, SystemExit):
        sys.stderr.write(f"gcpx: {describe(error)}\n")


def _describe_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    del message, line
    return f"gcpx: {category.__name__} in {filename}, line {lineno}\n"

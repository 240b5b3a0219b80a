"""Credentials with a subject token from an executable, and errors that say what is wrong with it."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any, Final

from google.auth import pluggable

from gcpx.errors import UserError

_BY_TYPE: Final[tuple[tuple[type[Exception], str], ...]] = (
    (OSError, "it cannot be started, or its output_file cannot be read"),
    (subprocess.TimeoutExpired, "it did not end within timeout_millis"),
    (json.JSONDecodeError, "it did not print JSON"),
)
_BY_WORDS: Final = {
    "unsuccessful response": "it reported a failure",
    "is expired": "its token has expired",
    "unsupported version": "it printed a version of the response that is not supported",
    "unsupported token type": "it printed a token_type that is not supported",
}
"""The meaning of google-auth's errors by words in their texts; the texts may also quote the program's output."""


class ExecutableCredentials(pluggable.Credentials):  # type: ignore[misc]
    """Credentials of an external account with `credential_source.executable`."""

    def retrieve_subject_token(self, request: Any) -> str:
        """Run the program; raises UserError, without the program's output, if it gives no subject token."""
        try:
            return str(super().retrieve_subject_token(request))
        except Exception as error:
            raise UserError(
                "gcpx:credentials: the program in credential_source.executable gave no subject token: "
                f"{_what_is_wrong(error)}; run its command in a shell to see why"
            ) from error


def _what_is_wrong(error: Exception) -> str:
    code = re.search(r"non-zero return code (-?\d+)", str(error))
    if code is not None:
        return f"it ended with exit code {code[1]}"
    by_type = (words for kind, words in _BY_TYPE if isinstance(error, kind))
    by_words = (words for part, words in _BY_WORDS.items() if part in str(error))
    return next(by_type, next(by_words, "it did not print the fields that Google's documentation requires"))

"""The filter and ordering language of Compute's list methods, as the API documentation defines it.

The provider checks filters with it, and the emulator evaluates them; this package imports neither.
"""

from gcpx_filter.syntax import (
    ORDERS,
    All,
    Any,
    Comparison,
    Expression,
    FilterError,
    Match,
    Not,
    check_order,
    leaves,
    parse,
)

__all__ = [
    "ORDERS", "All", "Any", "Comparison", "Expression", "FilterError", "Match", "Not", "check_order", "leaves", "parse",
]  # fmt: skip

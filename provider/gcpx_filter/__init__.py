"""The filter and ordering language of Compute's list methods, as the API documentation defines it.

The provider checks with it what a program asks for, and the emulator evaluates it; neither is imported here.
"""

from gcpx_filter.syntax import ORDERS, All, Any, Comparison, Expression, FilterError, Match, Not, check_order, parse

__all__ = [
    "ORDERS", "All", "Any", "Comparison", "Expression", "FilterError", "Match", "Not", "check_order", "parse",
]  # fmt: skip

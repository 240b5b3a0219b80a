"""The former name of `gcpx_push`, kept for programs that import it."""

from gcpx_push import *  # noqa: F403 - the same names, so that they are listed once
from gcpx_push import __all__  # noqa: F401 - as above

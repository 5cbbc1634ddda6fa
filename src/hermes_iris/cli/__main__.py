"""`python -m hermes_iris.cli`: the same as `iris`."""

import sys

from . import main

sys.exit(main())

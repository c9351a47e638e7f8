"""`python -m pyhudi`: the command line."""

import sys

from pyhudi.interfaces.cli import main

sys.exit(main())

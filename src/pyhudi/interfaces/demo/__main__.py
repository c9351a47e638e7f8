"""`python -m pyhudi.interfaces.demo`: what `pyhudi demo` does."""

import sys

from pyhudi.interfaces.demo.story import main

sys.exit(main())

"""The command line: `pyhudi COMMAND TABLE [options]`. Exit codes: 0 done, 1 findings or refused, 2 wrong usage."""

from pyhudi.interfaces.cli.program import main

__all__ = ["main"]

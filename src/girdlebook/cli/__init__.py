"""The `girdle` command.  Each group of commands is a module that is loaded when it is called."""

from girdlebook.cli.app import main

__all__ = ["main"]

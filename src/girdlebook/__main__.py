"""`python -m girdlebook` is `girdle`."""

from girdlebook.cli import main

if __name__ == "__main__":
    main()

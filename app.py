"""Starts the web page: `python app.py` is `evalbot serve`, with the same options."""

import sys

from evalbot.cli.main import main

if __name__ == "__main__":
    sys.argv.insert(1, "serve")
    main()

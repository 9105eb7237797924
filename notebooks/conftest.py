"""Stored outputs are those without the fetched original, also where it is here."""

import os

from lib.released import WITHOUT

os.environ[WITHOUT] = "1"

"""Measurements, each one command: `python -m bench list`. Nothing of this is part of the product."""

"""One SQLite file: directory, messages, event log and devices, so that one transaction can span them.

Every function of this package that touches data takes the connection of a running transaction.
"""

from .database import Store, connect, transaction

__all__ = ["Store", "connect", "transaction"]

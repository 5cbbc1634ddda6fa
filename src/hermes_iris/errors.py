"""Every error that Iris raises on purpose, as one tree.

::

    IrisError
     ├── InvalidFrame    invalid_frame  bytes that are no well-formed frame
     ├── Unauthorized    unauthorized   no token, a wrong one, a revoked device
     ├── NotFound        not_found      an id that names nothing
     ├── Unsupported     unsupported    well formed, but not allowed here
     ├── Conflict        conflict       the same client_id with another payload
     ├── Busy            busy           try again in a moment
     ├── DiskFull        disk_full      no room for a file
     ├── TooLarge        too_large      over a limit of the policy
     ├── RateLimited     rate_limited   too many in too short a time
     └── SetupError      (never travels) an installation that cannot start

`code` is what travels in an `error` frame; `retryable` says whether the same request may work later.
"""

from typing import ClassVar, Literal

ErrorCode = Literal[
    "invalid_frame",
    "unauthorized",
    "not_found",
    "unsupported",
    "conflict",
    "busy",
    "disk_full",
    "too_large",
    "rate_limited",
    "internal",
]


class IrisError(Exception):
    """Base of all Iris errors; its text is meant for the peer."""

    code: ClassVar[ErrorCode] = "internal"
    retryable: ClassVar[bool] = False


class InvalidFrame(IrisError):
    """The peer sent bytes that are no known, well-formed frame."""

    code = "invalid_frame"


class Unauthorized(IrisError):
    """No token, a token that is not known, or a device that was revoked."""

    code = "unauthorized"


class NotFound(IrisError):
    """An id names nothing that exists."""

    code = "not_found"


class Unsupported(IrisError):
    """The frame is well formed but not allowed here."""

    code = "unsupported"


class Conflict(IrisError):
    """A `client_id` was used before with another payload."""

    code = "conflict"


class Busy(IrisError):
    """The gateway cannot do this right now."""

    code = "busy"
    retryable = True


class DiskFull(IrisError):
    """There is no room for a file on the gateway's disk."""

    code = "disk_full"
    retryable = True


class TooLarge(IrisError):
    """Something is over a limit that the policy names."""

    code = "too_large"


class RateLimited(IrisError):
    """Too many attempts in too short a time."""

    code = "rate_limited"
    retryable = True


class SetupError(IrisError):
    """An installation cannot start; the text is one line that says what to do."""

"""What went wrong, as an HTTP answer."""

from starlette.responses import JSONResponse, Response

from ..commands import failure
from ..errors import Busy, DiskFull, IrisError, NotFound, RateLimited, TooLarge, Unauthorized, Unsupported

_STATUS: dict[type[IrisError], int] = {
    Unauthorized: 403,
    NotFound: 404,
    TooLarge: 413,
    Unsupported: 415,
    RateLimited: 429,
    Busy: 503,
    DiskFull: 507,
}


def refusal(exc: Exception) -> Response:
    """The answer to a request that failed: code and message as in an `error` frame."""
    answer = failure(exc)
    status = _STATUS.get(type(exc), 400) if isinstance(exc, IrisError) else 500
    return JSONResponse({"code": answer.code, "message": answer.message}, status_code=status)

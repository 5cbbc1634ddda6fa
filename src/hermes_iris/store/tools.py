"""Tool calls in full, beyond what their frames carry."""

import sqlite3
from typing import NamedTuple

from ..errors import NotFound
from ..protocol.types import ToolCallId


class Detail(NamedTuple):
    """What is kept of a tool call."""

    args: str
    output: str


def detail(conn: sqlite3.Connection, tool_call_id: ToolCallId) -> Detail:
    """Arguments, as JSON, and output of a tool call.

    Raises:
        NotFound: there is none with this id.
    """
    row = conn.execute(
        "SELECT COALESCE(full_args, args), COALESCE(output, output_preview) FROM tool_calls WHERE tool_call_id = ?",
        (tool_call_id,),
    ).fetchone()
    if row is None:
        raise NotFound("$.tool_call_id names no tool call")
    return Detail(*row)

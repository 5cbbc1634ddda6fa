"""What a gateway that is gone left open."""

import sqlite3

from ..moment import Moment
from ..protocol.frames import MessageStop, RequestClosed, ToolEnd, TurnEnded
from ..turns import Effect
from . import questions


def closing(conn: sqlite3.Connection, moment: Moment) -> list[Effect | RequestClosed]:
    """What closes all of it: requests, bubbles, tools, then turns."""
    stops: list[Effect] = [
        MessageStop(
            message_id=row["message_id"],
            chat_id=row["chat_id"],
            thread_id=row["thread_id"] or None,
            role=row["role"],
            turn_id=row["turn_id"],
            final_text=row["text"],
            kind="partial",
            state="aborted",
            ts=row["ts"],
            order=row["ord"],
        )
        for row in conn.execute("SELECT * FROM messages WHERE live = 1 ORDER BY ord")
    ]
    tools: list[Effect] = [
        ToolEnd(
            chat_id=row["chat_id"],
            thread_id=row["thread_id"] or None,
            turn_id=row["turn_id"],
            index=row["idx"],
            tool_call_id=row["tool_call_id"],
            name=row["name"],
            ok=False,
            state="cancelled",
            duration=0.0,
        )
        for row in conn.execute("SELECT * FROM tool_calls WHERE state = 'running' ORDER BY ord")
    ]
    turns: list[Effect] = [
        TurnEnded(
            turn_id=row["turn_id"],
            chat_id=row["chat_id"],
            thread_id=row["thread_id"] or None,
            outcome="interrupted",
            error="The gateway was restarted.",
            ts=moment.ts,
        )
        for row in conn.execute("SELECT * FROM turns WHERE ended IS NULL ORDER BY started")
    ]
    asked = [questions.closing(card, moment, "interrupted") for card in questions.unanswered(conn)]
    return [*asked, *stops, *tools, *turns]

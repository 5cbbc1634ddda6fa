"""What people were asked: open until it is closed, and a part of its lane's history from then on."""

import sqlite3

import msgspec

from ..moment import Moment
from ..protocol import codec
from ..protocol.frames import Question, RequestCard, RequestClosed, RequestOpened
from ..protocol.types import DeviceId, RequestId, RequestOutcome

_question = msgspec.json.Decoder(Question)


def put(conn: sqlite3.Connection, event: RequestOpened | RequestClosed) -> None:
    """Store that a request was opened or closed; what is closed stays as it is."""
    match event:
        case RequestOpened():
            conn.execute(
                "INSERT INTO questions (request_id, chat_id, thread_id, turn_id, ord, ts, question)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    event.request_id,
                    event.chat_id,
                    event.thread_id or "",
                    event.turn_id,
                    event.order,
                    event.ts,
                    codec.encode(event.question).decode(),
                ),
            )
        case RequestClosed():
            conn.execute(
                "UPDATE questions SET outcome = ?, answer = ?, by_device = ?, by_name = ?"
                " WHERE request_id = ? AND outcome IS NULL",
                (event.outcome, event.answer, event.by_device, event.by_name, event.request_id),
            )


def find(conn: sqlite3.Connection, request_id: RequestId) -> RequestCard | None:
    """One request."""
    row = conn.execute("SELECT * FROM questions WHERE request_id = ?", (request_id,)).fetchone()
    return card(row) if row else None


def unanswered(conn: sqlite3.Connection) -> list[RequestCard]:
    """What is open in any lane, oldest first."""
    return [card(row) for row in conn.execute("SELECT * FROM questions WHERE outcome IS NULL ORDER BY ord")]


def closing(
    asked: RequestCard | RequestOpened,
    moment: Moment,
    outcome: RequestOutcome,
    answer: str = "",
    device_id: DeviceId | None = None,
    device_name: str | None = None,
) -> RequestClosed:
    """The event that closes a request."""
    return RequestClosed(
        request_id=asked.request_id,
        chat_id=asked.chat_id,
        thread_id=asked.thread_id,
        outcome=outcome,
        answer=answer,
        by_device=device_id,
        by_name=device_name,
        ts=moment.ts,
    )


def card(row: sqlite3.Row) -> RequestCard:
    """A row as history tells it."""
    return RequestCard(
        request_id=row["request_id"],
        chat_id=row["chat_id"],
        thread_id=row["thread_id"] or None,
        turn_id=row["turn_id"],
        question=_question.decode(row["question"]),
        outcome=row["outcome"],
        answer=row["answer"],
        by_device=row["by_device"],
        by_name=row["by_name"],
        ts=row["ts"],
        order=row["ord"],
    )

"""What the hosts put around a cron report, taken off again."""

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from hermes_iris.protocol.frames import JobRef
from hermes_iris.reports import unwrap


def v19(text: str, name: str = "Weather", job_id: str = "a1b2c3") -> str:
    """As 0.19 does (`cron/scheduler.py`, `_deliver_result`)."""
    return (
        f"Cronjob Response: {name}\n"
        f"(job_id: {job_id})\n"
        f"-------------\n\n"
        f"{text}\n\n"
        f'To stop or manage this job, send me a new message (e.g. "stop reminder {name}").'
    )


def v22(text: str, name: str = "Weather", job_id: str = "a1b2c3") -> str:
    """As 0.22 does (`cron/scheduler_delivery.py`)."""
    return (
        f"Cronjob Response: {name}\n"
        f"(job_id: {job_id})\n"
        f"-------------\n\n"
        f"{text}\n\n"
        "To stop or manage this job, send me a new message "
        f'(e.g. "stop reminder {name}").'
    )


JOB = JobRef(id="a1b2c3", name="Weather")
TEXTS = {
    "one line": "It rains.",
    "blank lines": "# Today\n\nRain.\n\n\nMore rain.\n\n- a\n- b",
    "rules": "One\n\n-------------\n\nTwo",
    "indented code": "    code\n\n    more",
    "its own footer, quoted": "To stop or manage this job, send me a new message (e.g. x).\n\nend",
    "another wrapper": v19("inner", "Other", "x9"),
    "Chinese": "今天下雨。",
    "nothing": "",
}


@pytest.mark.parametrize("wrap", [v19, v22])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_report_comes_out_of_its_wrapper_as_it_went_in(wrap: Callable[[str], str], text: str) -> None:
    assert unwrap(wrap(text)) == (JOB, text)


@given(st.text(), st.text(st.characters(exclude_characters="\n")), st.from_regex(r"[a-z0-9_-]{1,20}", fullmatch=True))
def test_any_report_comes_out_of_its_wrapper(text: str, name: str, job_id: str) -> None:
    job = JobRef(id=job_id, name=name or job_id)
    assert unwrap(v19(text, name, job_id)) == (job, text.strip("\n"))


@pytest.mark.parametrize("name", ["明天 ☔", "(job_id: x)", "Cronjob Response: y", "---", " spaces "])
def test_a_job_may_be_called_anything(name: str) -> None:
    assert unwrap(v22("It rains.", name)) == (JobRef(id="a1b2c3", name=name), "It rains.")


def test_a_job_without_a_name_is_called_by_its_id() -> None:
    assert unwrap(v19("It rains.", "")) == (JobRef(id="a1b2c3", name="a1b2c3"), "It rains.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It rains.",
        "Cronjob Response: Weather",
        "Cronjob Response: Weather\nIt rains.\n\nBye.",
        "(job_id: a1b2c3)\n-------------\n\nIt rains.\n\nBye.",
        "Cronjob Response: Weather\n(job_id: )\n-------------\n\nIt rains.\n\nBye.",
        "Cronjob Response: Weather\n(job_id: a1b2c3)\n\nIt rains.\n\nBye.",
        f"Look at this:\n\n{v19('It rains.')}",
        f" {v19('It rains.')}",
        f"{v19('It rains.')}\n",
        f"{v19('It rains.')}\n\nAnd this.\nToo.",
    ],
)
def test_what_is_in_no_wrapper_or_only_speaks_of_one_stays_whole(text: str) -> None:
    assert unwrap(text) is None


def test_what_only_begins_like_a_wrapper_loses_nothing() -> None:
    """A text whose last line is not the host's own, e.g. a job's report on another one."""
    assert unwrap("Cronjob Response: Weather\n(job_id: a1b2c3)\n-------------\n\nIt rains.\n\nIt will stop.") is None

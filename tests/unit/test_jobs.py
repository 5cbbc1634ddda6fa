"""Cron jobs as Iris shows them: where each one reports, their order, and how many report into each lane."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from hermes_iris.address import Lane
from hermes_iris.jobs import HostJob, counts, listed, lost, targets
from hermes_iris.protocol.frames import Channel, CronJob

DEFAULT, REPORTS, MOVED = Lane("android:default"), Lane("android:chan_7"), Lane("android:chan_8")
WEEKLY = Lane("android:chan_7", "t_31")
DIRECTORY = [
    Channel(chat_id=DEFAULT.chat_id, name="Default", kind="default", is_default=True, created=0.0),
    Channel(chat_id=REPORTS.chat_id, name="Cron Reports", kind="channel", created=1.0),
    Channel(
        chat_id=WEEKLY.chat_id,
        thread_id=WEEKLY.thread_id,
        name="Weekly",
        kind="thread",
        parent_chat_id=WEEKLY.chat_id,
        created=2.0,
    ),
    Channel(chat_id=MOVED.chat_id, name="Gone", kind="channel", archived=True, created=3.0),
    Channel(chat_id="android:chan_9", name="Twins", kind="channel", created=4.0),
    Channel(chat_id="android:chan_10", name="twins", kind="channel", created=5.0),
]


def job(*deliver: str, **more: Any) -> HostJob:
    return HostJob(**{"id": "j1", "name": "Job", "schedule": "daily", "enabled": True, "deliver": deliver, **more})


# ---------------------------------------------------------------- where a job reports


@pytest.mark.parametrize(
    ("deliver", "lanes"),
    [
        (["android"], [DEFAULT]),
        (["android:7"], [REPORTS]),
        (["android:chan_7"], [REPORTS]),
        (["android:android:chan_7"], [REPORTS]),
        (["android:android:chan_7:t_31"], [WEEKLY]),
        (["android:7:t_31"], [WEEKLY]),
        (["android:Cron Reports"], [REPORTS]),
        (["android:cron reports"], [REPORTS]),
        (["android:Cron Reports / Weekly"], [WEEKLY]),
        (["android", "android:chan_7"], [DEFAULT, REPORTS]),
        (["android:chan_7", "android"], [REPORTS, DEFAULT]),
        (["android:chan_7", "android:Cron Reports", "android:7"], [REPORTS]),
        (["telegram", "telegram:123", "local", "all", ""], []),
        (["telegram:123", "android:chan_7"], [REPORTS]),
        (["chan_7", "Cron Reports", "7", "default"], []),  # without a platform these are not ours
        (["androids:chan_7"], []),
        (["android:Nowhere"], []),
        (["android:Nowhere", "android"], [DEFAULT]),
        (["android:chan_8"], []),
        (["android:Gone"], []),
        (["android:Twins"], []),
        ([], []),
    ],
)
def test_the_targets_of_a_job(deliver: list[str], lanes: list[Lane]) -> None:
    assert targets(job(*deliver), DIRECTORY) == lanes


@pytest.mark.parametrize(
    ("origin", "lanes"),
    [
        ("android:7:t_31", [WEEKLY]),
        ("android:7", [REPORTS]),
        ("android:default", [DEFAULT]),
        ("telegram:7", []),
        ("android:8", []),
        (None, []),
    ],
)
def test_origin_is_the_lane_in_which_the_job_was_made(origin: str | None, lanes: list[Lane]) -> None:
    assert targets(job("origin", origin=origin), DIRECTORY) == lanes


def test_the_origin_does_not_count_when_the_job_reports_elsewhere() -> None:
    assert targets(job("android", origin="android:7"), DIRECTORY) == [DEFAULT]


def test_an_origin_that_is_a_target_too_counts_once() -> None:
    assert targets(job("origin", "android:chan_7", origin="android:7"), DIRECTORY) == [REPORTS]


def test_the_bare_platform_is_the_default_channel_of_now() -> None:
    moved = [
        Channel(chat_id=DEFAULT.chat_id, name="Default", kind="default", created=0.0),
        Channel(chat_id=REPORTS.chat_id, name="Cron Reports", kind="channel", is_default=True, created=1.0),
    ]
    assert targets(job("android"), moved) == [REPORTS]


# ---------------------------------------------------------------- the list


def test_a_job_is_shown_with_all_that_is_known() -> None:
    known = job("android:7:t_31", "android", next_run=20.0, last_run=10.0, error="timed out")
    assert listed([known], DIRECTORY) == [
        CronJob(
            id="j1",
            name="Job",
            schedule="daily",
            enabled=True,
            chat_id=WEEKLY.chat_id,
            thread_id=WEEKLY.thread_id,
            next_run=20.0,
            last_run=10.0,
            error="timed out",
        )
    ]


def test_a_job_that_reports_nowhere_in_iris_is_shown_without_a_lane() -> None:
    shown = listed([job("telegram", enabled=False)], DIRECTORY)
    assert shown == [CronJob(id="j1", name="Job", schedule="daily", enabled=False)]


def test_the_next_to_run_comes_first_and_what_is_off_last() -> None:
    jobs = [
        job(id="off early", enabled=False, next_run=1.0),
        job(id="never b", name="b"),
        job(id="late", next_run=30.0),
        job(id="off never", enabled=False),
        job(id="never a", name="a"),
        job(id="soon", next_run=10.0),
        job(id="soon too", name="A", next_run=10.0),
    ]
    order = ["soon too", "soon", "late", "never a", "never b", "off early", "off never"]
    assert [shown.id for shown in listed(jobs, DIRECTORY)] == order
    assert [shown.id for shown in listed(iter(jobs[::-1]), DIRECTORY)] == order


# ---------------------------------------------------------------- how many


def test_jobs_are_counted_by_lane_and_only_those_that_are_on() -> None:
    jobs = [
        job("android:7"),
        job("android:Cron Reports", "android"),
        job("android:7", enabled=False),
        job("android:7:t_31"),
        job("android:chan_8"),
        job("telegram"),
    ]
    found = counts(jobs, DIRECTORY)
    assert found == {REPORTS: 2, DEFAULT: 1, WEEKLY: 1}
    assert found[MOVED] == 0


spelled = st.sampled_from(
    ["android", "android:7", "android:chan_7", "android:7:t_31", "android:Gone", "telegram", "origin", "android:x"]
)
some_jobs = st.lists(
    st.builds(
        job,
        enabled=st.booleans(),
        deliver=st.lists(spelled, max_size=3).map(tuple),
        origin=st.none() | spelled.filter(lambda target: target != "origin"),
    ),
    max_size=6,
)


@given(some_jobs)
def test_the_list_and_the_counts_agree(jobs: list[HostJob]) -> None:
    found = counts(jobs, DIRECTORY)
    shown = listed(jobs, DIRECTORY)
    assert len(shown) == len(jobs)
    assert sum(found.values()) == sum(len(targets(each, DIRECTORY)) for each in jobs if each.enabled)
    for each in shown:
        if each.enabled and each.chat_id:
            assert found[Lane(each.chat_id, each.thread_id)] > 0


# ---------------------------------------------------------------- reports that reached nobody


@pytest.mark.parametrize(
    ("deliver", "undelivered", "target"),
    [
        (["android:Nowhere"], True, "android:Nowhere"),
        (["android", "android:Gone"], True, "android:Gone"),
        (["android:Nowhere"], False, None),  # it reached somebody, or has not run
        (["android:Cron Reports"], True, None),  # the lane is there: something else went wrong
        (["telegram:Nowhere"], True, None),  # not ours to tell of
    ],
)
def test_the_target_that_a_report_did_not_reach(deliver: list[str], undelivered: bool, target: str | None) -> None:
    assert lost(job(*deliver, undelivered=undelivered), DIRECTORY) == target

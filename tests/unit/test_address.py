"""A lane's spellings."""

import pytest
from hypothesis import assume, given, strategies as st

from hermes_iris.address import (
    DEFAULT_LANE,
    HOME_CHANNEL,
    PLATFORM,
    Lane,
    from_host,
    full_name,
    living,
    parse,
    resolve,
    spell,
    to_host,
)
from hermes_iris.errors import Conflict, InvalidFrame, NotFound
from hermes_iris.names import checked
from hermes_iris.protocol.frames import Channel

numbers = st.text("0123456789", min_size=1, max_size=12)
plain = st.text("abcXYZ019_-", min_size=1, max_size=64)
names = plain.filter(lambda name: name != PLATFORM)
channels = st.one_of(
    names.filter(lambda name: not name.isdecimal()),  # a bare number is the host's form of a channel, never a channel
    numbers.map("chan_{}".format),
    st.sampled_from(["default", "chan_", "chan_chan_7", "chan_7a", "chan_007", "chan"]),
)
lanes = st.builds(lambda chat, thread: Lane(f"android:{chat}", thread), channels, st.none() | names | numbers)


# ---------------------------------------------------------------- the host's form


@given(lanes)
def test_a_lane_comes_back_from_the_host(lane: Lane) -> None:
    assert from_host(*to_host(lane)) == lane


@given(lanes)
def test_the_host_s_form_has_no_colon(lane: Lane) -> None:
    """The host cuts its session keys at ":"."""
    assert ":" not in "".join(filter(None, to_host(lane)))


@given(lanes, lanes)
def test_two_lanes_are_never_one_in_the_host(one: Lane, other: Lane) -> None:
    assume(one != other)
    assert to_host(one) != to_host(other)


@given(numbers)
def test_a_minted_channel_is_a_number_in_the_host(number: str) -> None:
    """0.19 takes nothing else for an address of a plugin's platform."""
    assert to_host(Lane(f"android:chan_{number}", "t_31")) == (number, "t_31")
    assert from_host(number, None) == parse(f"android:{number}") == Lane(f"android:chan_{number}")


@given(lanes, st.integers(0, 2))
def test_a_lane_is_read_in_every_spelling(lane: Lane, platforms: int) -> None:
    for chat, thread in (to_host(lane), (lane.chat_id.removeprefix("android:"), lane.thread_id)):
        target = f"{'android:' * platforms}{chat}" + (f":{thread}" if thread else "")
        assert parse(target) == lane
        assert from_host(target, None) == lane


@given(lanes, names)
def test_a_thread_that_the_host_names_apart_counts_more(lane: Lane, thread: str) -> None:
    assert from_host(to_host(lane)[0], thread) == Lane(lane.chat_id, thread)
    assert from_host(lane.chat_id, thread) == Lane(lane.chat_id, thread)


@given(lanes)
def test_a_lane_comes_back_from_a_cron_target(lane: Lane) -> None:
    assert parse(spell(lane)) == lane
    assert spell(lane).startswith("android:android:")


@pytest.mark.parametrize(
    ("target", "lane"),
    [
        ("android", Lane("android:default")),
        ("default", Lane("android:default")),
        ("android:default", Lane("android:default")),
        ("7", Lane("android:chan_7")),
        ("7:t_31", Lane("android:chan_7", "t_31")),
        ("7:31", Lane("android:chan_7", "31")),
        ("android:7", Lane("android:chan_7")),
        ("android:7:t_31", Lane("android:chan_7", "t_31")),
        ("android:android:7:t_31", Lane("android:chan_7", "t_31")),
        ("chan_7", Lane("android:chan_7")),
        ("chan_7:t_31", Lane("android:chan_7", "t_31")),
        ("android:chan_7", Lane("android:chan_7")),
        ("android:chan_7:t_31", Lane("android:chan_7", "t_31")),
        ("android:android:chan_7", Lane("android:chan_7")),
        ("android:android:chan_7:t_31", Lane("android:chan_7", "t_31")),
        ("x" * 64, Lane("android:" + "x" * 64)),
    ],
)
def test_each_spelling(target: str, lane: Lane) -> None:
    assert parse(target) == lane


@pytest.mark.parametrize(
    "target",
    [
        "",
        ":",
        "android:",
        "android:android",
        "android:android:",
        "android:android:android",
        "android:android:android:chan_7:t_31",
        "chan_7:",
        ":t_31",
        "a:b:c",
        "chan 7",
        "-7.5",
        "٧",
        "chan_7\n",
        "chan_7:t_31\n",
        "Cron Reports",
        "频道",
        "../../etc",
        "telegram:chan_7:t_31",
        "x" * 65,
    ],
)
def test_what_has_no_known_form_names_no_lane(target: str) -> None:
    with pytest.raises(NotFound, match="android:chan_7") as refused:
        parse(target)
    assert target.strip() == "" or target not in str(refused.value) or target in "android:chan_7:t_31"
    with pytest.raises(NotFound):
        from_host(target, "t_31")


@given(st.text(max_size=30) | plain)
def test_any_text_is_a_lane_or_not_found(text: str) -> None:
    try:
        lane = parse(text)
    except NotFound:
        return
    assert from_host(*to_host(lane)) == lane


def test_the_default_lane() -> None:
    assert parse(PLATFORM) == DEFAULT_LANE
    assert to_host(DEFAULT_LANE) == (HOME_CHANNEL, None)
    assert from_host(HOME_CHANNEL, "") == DEFAULT_LANE


# ---------------------------------------------------------------- what a person means


def channel(chat: str, name: str, **more: bool) -> Channel:
    return Channel(chat_id=f"android:{chat}", name=name, kind="channel", created=0.0, **more)


def thread(chat: str, thread_id: str, name: str, **more: bool) -> Channel:
    chat_id = f"android:{chat}"
    return Channel(
        chat_id=chat_id, thread_id=thread_id, name=name, kind="thread", parent_chat_id=chat_id, created=0.0, **more
    )


DIRECTORY = [
    channel("default", "Default", is_default=True),
    channel("chan_1", "Cron Reports"),
    channel("chan_2", "Straße"),
    channel("chan_3", "天气 report"),
    channel("chan_4", "Twins"),
    channel("chan_5", "twins"),
    channel("chan_6", "Gone", archived=True),
    channel("chan_7", "7"),
    channel("chan_8", "1"),
    channel("chan_9", "chan_2"),
    thread("default", "t_1", "Trip"),
    thread("default", "t_2", "Old trip", archived=True),
    thread("chan_1", "t_3", "Trip"),
    thread("chan_6", "t_4", "Orphan"),
    thread("chan_4", "t_5", "Cron Reports"),
]


@pytest.mark.parametrize(
    ("target", "chat", "thread_id"),
    [
        ("android", "default", None),
        ("  android ", "default", None),
        ("android:default", "default", None),
        ("default", "default", None),
        ("chan_1", "chan_1", None),
        ("android:chan_1", "chan_1", None),
        ("android:android:chan_1", "chan_1", None),
        ("android:android:chan_1:t_3", "chan_1", "t_3"),
        ("chan_1:t_3", "chan_1", "t_3"),
        ("android:1:t_3", "chan_1", "t_3"),
        ("android:default:t_1", "default", "t_1"),
        ("Cron Reports", "chan_1", None),
        ("cron reports", "chan_1", None),
        ("CRON REPORTS", "chan_1", None),
        ("android:Cron Reports", "chan_1", None),
        ("android: Cron Reports", "chan_1", None),
        ('"Cron Reports"', "chan_1", None),
        ("'Cron Reports'", "chan_1", None),
        ("“Cron Reports”", "chan_1", None),
        (" ‘cron reports’ ", "chan_1", None),
        ('" Cron Reports "', "chan_1", None),
        ("#cron reports", "chan_1", None),
        ("android:#Cron Reports", "chan_1", None),
        ("STRASSE", "chan_2", None),
        ("天气 REPORT", "chan_3", None),
        ("default / trip", "default", "t_1"),
        ("Cron Reports / Trip", "chan_1", "t_3"),
        ("#Cron Reports / Trip", "chan_1", "t_3"),
        ("Twins / Cron Reports", "chan_4", "t_5"),
    ],
)
def test_a_target_is_found_by_address_or_name(target: str, chat: str, thread_id: str | None) -> None:
    assert resolve(target, DIRECTORY) == Lane(f"android:{chat}", thread_id)


def test_the_name_behind_the_platform_may_be_quoted_too() -> None:
    """What a model makes of "deliver to the *Cron Reports* channel"."""
    assert resolve('android:"Cron Reports"', DIRECTORY) == Lane("android:chan_1")


@pytest.mark.parametrize(
    ("target", "chat"),
    [
        ("1", "chan_1"),  # not chan_8, whose name this is
        ("7", "chan_7"),
        ("chan_2", "chan_2"),  # not chan_9
    ],
)
def test_an_address_goes_before_a_name(target: str, chat: str) -> None:
    assert resolve(target, DIRECTORY) == Lane(f"android:{chat}")


@pytest.mark.parametrize(
    "target",
    [
        "",
        "   ",
        '""',
        "#",
        "Nowhere",
        "Trip",  # a thread's name alone: threads of two channels are called so
        "Cron Reports/Trip",
        "android:chan_99",
        "android:chan_1:t_99",
        "android:chan_1:t_1",
        "telegram:Cron Reports",
    ],
)
def test_what_nothing_is_called_is_not_found(target: str) -> None:
    with pytest.raises(NotFound):
        resolve(target, DIRECTORY)


@pytest.mark.parametrize(
    "target",
    ["Gone", "chan_6", "android:6", "android:chan_6:t_4", "Gone / Orphan", "android:default:t_2", "Default / Old trip"],
)
def test_what_was_deleted_is_no_target_nor_is_what_is_under_it(target: str) -> None:
    with pytest.raises(NotFound):
        resolve(target, DIRECTORY)


def test_a_name_that_was_deleted_can_be_another_channel_s_now() -> None:
    assert resolve("gone", [*DIRECTORY, channel("chan_10", "Gone")]) == Lane("android:chan_10")


@pytest.mark.parametrize("target", ["Twins", "twins", "android:TWINS"])
def test_what_several_are_called_lists_them(target: str) -> None:
    with pytest.raises(Conflict) as refused:
        resolve(target, DIRECTORY)
    for name in ("Twins", "twins", "android:android:chan_4", "android:android:chan_5"):
        assert name in str(refused.value)
    for said in ("android:android:chan_4", "android:android:chan_5"):
        assert resolve(said, DIRECTORY).chat_id == said.removeprefix("android:")


def test_two_threads_of_one_name_are_told_apart_by_their_address() -> None:
    twins = [*DIRECTORY, thread("default", "t_9", "TRIP")]
    with pytest.raises(Conflict, match=r"android:android:default:t_1\).*android:android:default:t_9\)"):
        resolve("Default / Trip", twins)


def test_the_bare_platform_is_the_default_channel_of_now() -> None:
    moved = [channel("default", "Default"), channel("chan_1", "Home", is_default=True)]
    assert resolve("android", moved) == Lane("android:chan_1")
    assert resolve("android:default", moved) == DEFAULT_LANE
    assert resolve("android", []) == DEFAULT_LANE


def test_a_directory_may_be_anything_that_is_gone_through_once() -> None:
    assert resolve("Cron Reports / Trip", iter(DIRECTORY)) == Lane("android:chan_1", "t_3")


def _is_name(text: str) -> bool:
    try:
        return checked(text) == text
    except InvalidFrame:
        return False


allowed = (
    st.text(min_size=1, max_size=20)
    | st.text("#'\" /:aé“”", min_size=1, max_size=8)
    | st.sampled_from(["#ops", "#", "'tis", '"Quoted"', "android:x", "Say “hi”", "A / B", "7", "t_1"])
).filter(lambda text: _is_name(text) and text != PLATFORM)


@given(allowed)
def test_every_name_that_is_allowed_names_its_channel(name: str) -> None:
    only = [channel("default", "zzz zzz", is_default=True), channel("chan_5", name)]
    assert resolve(name, only) == Lane("android:chan_5")
    assert resolve(f"android:{name}", only) == Lane("android:chan_5")


@given(st.text(max_size=20))
def test_any_text_means_a_lane_of_the_directory_or_is_refused(text: str) -> None:
    try:
        lane = resolve(text, DIRECTORY)
    except (NotFound, Conflict):
        return
    assert lane in {Lane(entry.chat_id, entry.thread_id) for entry in living(DIRECTORY)}


@pytest.mark.parametrize("entry", living(DIRECTORY), ids=lambda entry: entry.name)
def test_each_entry_is_found_by_its_address_in_every_form(entry: Channel) -> None:
    lane = Lane(entry.chat_id, entry.thread_id)
    chat_id, thread_id = to_host(lane)
    in_host = f"android:{chat_id}" + (f":{thread_id}" if thread_id else "")
    assert resolve(spell(lane), DIRECTORY) == resolve(in_host, DIRECTORY) == lane


def test_what_is_living() -> None:
    told = {(entry.chat_id.removeprefix("android:"), entry.thread_id) for entry in living(DIRECTORY)}
    gone = {("chan_6", None), ("chan_6", "t_4"), ("default", "t_2")}
    assert not told & gone
    assert len(told) == len(DIRECTORY) - len(gone)


def test_the_full_name_of_a_thread_has_its_channel_s() -> None:
    by_id = {(entry.chat_id, entry.thread_id): entry for entry in DIRECTORY}
    assert full_name(by_id["android:chan_1", "t_3"], DIRECTORY) == "Cron Reports / Trip"
    assert full_name(by_id["android:chan_1", "t_3"], DIRECTORY[::-1]) == "Cron Reports / Trip"
    assert full_name(by_id["android:chan_1", None], DIRECTORY) == "Cron Reports"

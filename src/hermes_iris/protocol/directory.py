"""Frames about channels, threads and cron jobs."""

from typing import Annotated

from msgspec import Meta

from .base import Event, Reply, Request
from .parts import Channel, CronJob
from .types import ChannelKind, ChannelName, ChatId, JobId, ThreadId


class ChannelAccepted(Reply, frozen=True, kw_only=True, tag="channel.accepted"):
    """The directory was changed; the entry follows as an event."""

    chat_id: ChatId
    thread_id: ThreadId | None = None


class ChannelCreate(Request[ChannelAccepted], frozen=True, kw_only=True, tag="channel.create"):
    """Make a channel, or a thread under the default channel."""

    name: ChannelName
    kind: ChannelKind = "channel"
    parent_chat_id: Annotated[ChatId | None, Meta(description="Of a thread: the channel that it is under.")] = None


class ChannelRename(Request[ChannelAccepted], frozen=True, kw_only=True, tag="channel.rename"):
    """Give a channel or a thread another name."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    name: ChannelName


class ChannelSetDefault(Request[ChannelAccepted], frozen=True, kw_only=True, tag="channel.set_default"):
    """Make a channel the default one: it opens first, takes threads, and gets reports without a target."""

    chat_id: ChatId


class ChannelSetAutomation(Request[ChannelAccepted], frozen=True, kw_only=True, tag="channel.set_automation"):
    """Make a channel read-only for people, or open it again."""

    chat_id: ChatId
    on: bool


class ChannelSetThreads(Request[ChannelAccepted], frozen=True, kw_only=True, tag="channel.set_threads"):
    """Split the default channel in threads, or show it flat again."""

    chat_id: ChatId
    on: bool


class ChannelDelete(Request[ChannelAccepted], frozen=True, kw_only=True, tag="channel.delete"):
    """Hide a channel or a thread; its history stays."""

    chat_id: ChatId
    thread_id: ThreadId | None = None


class ChannelRestore(Request[ChannelAccepted], frozen=True, kw_only=True, tag="channel.restore"):
    """Take a deletion back."""

    chat_id: ChatId
    thread_id: ThreadId | None = None


class CronJobs(Reply, frozen=True, kw_only=True, tag="cron.list"):
    """The cron jobs of the host."""

    jobs: list[CronJob]


class CronList(Request[CronJobs], frozen=True, kw_only=True, tag="cron.list"):
    """Ask for the cron jobs of the host."""


class Ack(Reply, frozen=True, kw_only=True, tag="ack"):
    """The request was carried out; what it changed follows as events."""


class CronSetTarget(Request[Ack], frozen=True, kw_only=True, tag="cron.set_target"):
    """Let a cron job report into another lane."""

    job_id: JobId
    chat_id: ChatId
    thread_id: ThreadId | None = None


class ChannelCreated(Event, frozen=True, kw_only=True, tag="channel.created"):
    """A channel or thread is new, or back again."""

    channel: Channel
    auto: Annotated[bool, Meta(description="It was minted for a message, not asked for.")] = False


class ChannelRenamed(Event, frozen=True, kw_only=True, tag="channel.renamed"):
    """Something about a channel or thread has changed; the whole entry."""

    channel: Channel


class ChannelDeleted(Event, frozen=True, kw_only=True, tag="channel.deleted"):
    """A channel or thread was hidden."""

    channel: Channel

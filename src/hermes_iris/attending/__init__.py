"""The host's side of a meeting: an agent attends its rooms as the platform `xmpp_meeting`."""

PLATFORM = "xmpp_meeting"
"""The platform's name in the host; another one, `xmpp`, exists elsewhere."""

THREAD = "room"
"""The thread of every room: a constant makes one session of the host that all members share."""

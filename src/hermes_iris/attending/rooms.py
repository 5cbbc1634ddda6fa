"""Which agent a home is, and which rooms are meant."""

from pathlib import Path

from ..config import Home, Settings
from ..errors import NotFound, SetupError
from ..meeting import config
from ..meeting.config import Agent, Meeting


def attending(home: Home, settings: Settings, name: str = "") -> tuple[Meeting, Agent, Path]:
    """The meeting of a home, the agent that the home is, or the named one, and the folder to which files are relative.

    Raises:
        SetupError: there is no meeting, it is wrong, or nobody in it has this home.
    """
    file = config.path(home, settings)
    meeting = config.load(file)
    me = meeting.me(home, name or settings.meeting_agent)
    if me is None:
        raise SetupError(
            f"no agent of {file} has {home.root} as its `profile`; set that, or `meeting_agent` in {home.settings}"
        )
    if not meeting.rooms_of(me):
        raise SetupError(f"{file}: {me.name} has no rooms")
    return meeting, me, file.parent


def attends(home: Home, settings: Settings) -> bool:
    """Whether a home takes part in a meeting; a meeting that is wrong counts, so that it is complained of."""
    file = config.path(home, settings)
    if not file.is_file():
        return False
    try:
        return config.load(file).me(home, settings.meeting_agent) is not None
    except SetupError:
        return True


def named(meeting: Meeting, me: Agent, room: str) -> str:
    """The JID of a room of the agent, by its JID or name; of the only one, or the first, when none is named.

    Raises:
        NotFound: the agent is in no such room.
    """
    mine = meeting.rooms_of(me)
    for each in mine:
        if not room or room in (each.jid, each.jid.partition("@")[0]) or room.casefold() == each.name.casefold():
            return each.jid
    raise NotFound(f"{me.name} is in no room {room}; it is in: {', '.join(each.jid for each in mine)}")


def home_of(agent: Agent, home: Home) -> Home:
    """The Hermes home of an agent, as the host lays profiles out (`~/.hermes/profiles/<name>`), seen from a home.

    Raises:
        SetupError: the agent has no profile here.
    """
    if not agent.profile:
        raise SetupError(f"{agent.name} has no `profile` in meeting.toml, so its sessions are not on this machine")
    if "/" in agent.profile:
        return Home(Path(agent.profile).expanduser())
    top = home.root.parent.parent if home.root.parent.name == "profiles" else home.root
    return Home(top if agent.profile == "default" else top / "profiles" / agent.profile)

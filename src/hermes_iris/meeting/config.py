"""Who meets where: `iris/meeting.toml`, declared once, checked whole, documented by its own descriptions.

Invariants: what is wrong raises `SetupError` with the name of the field and what to do; a bare JID names one occupant,
agent or person; no password is in the file, and the file that has it is read by its owner alone; plain connections stay
on this machine.
"""

import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..config import Home, Settings, variable
from ..endpoints import is_loopback
from ..errors import SetupError
from ..protocol.types import Seconds
from .guard import Count, Guard, Mention
from .said import SenderKind

Jid = Annotated[str, Meta(pattern=r"^[^@/\s\"&'<>:A-Z]+@[^@/\sA-Z]+$(?!\n)")]
"""A bare JID, lower case: `mohe@example.org`."""

Nick = Annotated[str, Meta(pattern=r"^\S(.{0,62}\S)?$(?!\n)")]
Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$(?!\n)")]


class Server(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[server]`: how this machine reaches the XMPP server."""

    host: Annotated[str, Meta(description="Its address; without one, DNS says it (SRV of the JID's domain).")] = ""
    port: Annotated[int, Meta(description="Its port; counts only with `host`.", ge=1, le=65535)] = 5222
    tls: Annotated[bool, Meta(description="Encrypt, and check the certificate. False only on loopback.")] = True
    ca_file: Annotated[
        str, Meta(description="Certificates (PEM) to trust instead of the system's, for a server with a private one.")
    ] = ""


class Room(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[rooms]]`: a chat room."""

    jid: Annotated[Jid, Meta(description="Its bare JID, e.g. `coregroup@conference.example.org`.")]
    name: Annotated[str, Meta(description="What people call it.", min_length=1, max_length=80)]
    policy: Annotated[
        Literal["mention", "always"],
        Meta(description="Whether the agents answer a person when they are mentioned, or always."),
    ] = "mention"


class Agent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[agents]]`: a Hermes agent in the rooms."""

    name: Annotated[Name, Meta(description="Its name on the command line.")]
    jid: Annotated[Jid, Meta(description="Its bare JID: who says it is this agent must have logged in as that.")]
    nick: Annotated[Nick | None, Meta(description="Its name in the rooms; without one, `name`.")] = None
    mentions: Annotated[
        tuple[Mention, ...], Meta(description="Further names under which it is addressed, besides its nick.")
    ] = ()
    rooms: Annotated[tuple[str, ...] | None, Meta(description="JIDs of its rooms; without any, all.")] = None
    profile: Annotated[
        str | None, Meta(description="Its Hermes profile, by name or as the path of a home; without one, none here.")
    ] = None
    password_file: Annotated[
        str | None, Meta(description="File with its password and nothing else, readable by its owner alone.")
    ] = None
    password_env: Annotated[str | None, Meta(description="Environment variable with its password instead.")] = None

    @property
    def shown(self) -> str:
        """The nick it has in the rooms."""
        return self.nick or self.name

    @property
    def addressed(self) -> tuple[str, ...]:
        """Every name under which it is addressed, its nick first."""
        return (self.shown, *self.mentions)


class Person(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[person]`: the person whose agents meet."""

    jid: Annotated[Jid, Meta(description="The bare JID of the person.")]
    nick: Annotated[Nick, Meta(description="The person's name in the rooms.")]
    password_file: Annotated[
        str | None, Meta(description="As for an agent; without a password the app is not in the rooms.")
    ] = None
    password_env: Annotated[str | None, Meta(description="Environment variable with the password instead.")] = None
    rooms: Annotated[tuple[str, ...] | None, Meta(description="JIDs of the person's rooms; without any, all.")] = None
    profile: Annotated[
        str | None, Meta(description="The Hermes profile whose app is in the rooms; without one, of every home here.")
    ] = None

    @property
    def shown(self) -> str:
        """The nick in the rooms."""
        return self.nick


class Lease(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[lease]`: what an agent in a room knows of the terminal session from which it last spoke."""

    mode: Annotated[
        Literal["prompt", "switch", "off"],
        Meta(description="Show the end of that session to the model, run the room's turns in it, or neither."),
    ] = "prompt"
    ttl: Annotated[Seconds, Meta(description="Seconds for which it lasts; each message from there renews it.")] = 3600.0
    messages: Annotated[Count, Meta(description="Most messages of the session that are shown.")] = 12
    chars: Annotated[Count, Meta(description="Most characters of the session that are shown.")] = 4000


@dataclass(frozen=True, slots=True)
class Account:
    """All that is needed to be somebody in the rooms."""

    jid: str
    nick: str
    password: str = field(repr=False)
    server: Server
    kinds: Mapping[str, SenderKind]
    """Who is who, by bare JID; they are the members of a room that this account makes."""


class Meeting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    server: Server = Server()
    rooms: tuple[Room, ...]
    agents: tuple[Agent, ...]
    person: Person | None = None
    guard: Guard = Guard()
    lease: Lease = Lease()

    @property
    def kinds(self) -> dict[str, SenderKind]:
        """Who is who, by bare JID."""
        kinds = {agent.jid: SenderKind.AGENT for agent in self.agents}
        return {**kinds, self.person.jid: SenderKind.PERSON} if self.person else kinds

    def room(self, jid: str) -> Room:
        """A room by its bare JID. Raises `SetupError`."""
        for room in self.rooms:
            if room.jid == jid:
                return room
        raise SetupError(f"no room {jid} in meeting.toml; there are: {', '.join(room.jid for room in self.rooms)}")

    def agent(self, name: str) -> Agent:
        """An agent by its name. Raises `SetupError`."""
        for agent in self.agents:
            if agent.name == name:
                return agent
        raise SetupError(f"no agent {name} in meeting.toml; there are: {', '.join(one.name for one in self.agents)}")

    def rooms_of(self, one: Agent | Person) -> list[Room]:
        """The rooms of an agent or of the person."""
        return [room for room in self.rooms if one.rooms is None or room.jid in one.rooms]

    def me(self, home: Home, named: str) -> Agent | None:
        """Whose home this is: the agent that the settings name, else the one whose profile it is, else nobody.

        Raises:
            SetupError: the settings name an agent that does not exist.
        """
        if named:
            return self.agent(named)
        return next((agent for agent in self.agents if agent.profile and _is_profile(agent.profile, home)), None)

    def person_of(self, home: Home) -> Person | None:
        """The person, if the app of this home is to be in the rooms."""
        person = self.person
        elsewhere = person is not None and person.profile and not _is_profile(person.profile, home)
        return None if elsewhere else person

    def account(self, of: Agent | Person, base: Path) -> Account:
        """An agent's or the person's account; `base` is the folder to which files are relative.

        Raises:
            SetupError: there is no password, or it is open to others.
        """
        field = "person" if isinstance(of, Person) else f"agents[{self.agents.index(of)}]"
        ca_file = str(base / Path(self.server.ca_file).expanduser()) if self.server.ca_file else ""
        server = msgspec.structs.replace(self.server, ca_file=ca_file)
        return Account(of.jid, of.shown, _password(of, base, field), server, self.kinds)


def path(home: Home, settings: Settings) -> Path:
    """Where the file of a home is; it need not exist."""
    return home.root / Path(settings.meeting_file).expanduser() if settings.meeting_file else home.meeting


def load(file: Path) -> Meeting:
    """Read and check the file.

    Raises:
        SetupError: it cannot be read, is no TOML, or a field is wrong; the text names it.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SetupError(f"there is no {file}; docs/meeting.md says what to write there") from None
    except (OSError, UnicodeError) as exc:
        raise SetupError(f"{file} cannot be read: {exc}") from exc
    return parse(text, str(file))


def parse(text: str, source: str = "meeting.toml") -> Meeting:
    """Check the text of the file. Raises `SetupError` that names the field."""
    try:
        meeting = msgspec.convert(tomllib.loads(text), Meeting)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as exc:
        raise SetupError(f"{source}: {exc}") from exc
    for problem in _problems(meeting):
        raise SetupError(f"{source}: {problem}")
    return meeting


def markdown() -> str:
    """The tables of fields in `docs/meeting.md`."""
    rows = []
    blocks: tuple[tuple[str, type[msgspec.Struct]], ...] = (
        ("[server]", Server),
        ("[[rooms]]", Room),
        ("[[agents]]", Agent),
        ("[person]", Person),
        ("[guard]", Guard),
        ("[lease]", Lease),
    )
    for title, struct in blocks:
        rows += [f"`{title}`", "", "| field | default | about |", "|---|---|---|"]
        for each in msgspec.structs.fields(struct):
            shown = "needed" if each.required else f"`{msgspec.json.encode(each.default).decode()}`"
            shown = "" if shown in ("`null`", "`[]`", '`""`') else shown
            rows.append(f"| `{each.encode_name}` | {shown} | {each.type.__metadata__[-1].description} |")
        rows.append("")
    return "\n".join(rows)


def _problems(meeting: Meeting) -> Iterator[str]:
    """What is wrong across fields."""
    if not meeting.rooms:
        yield "$.rooms is empty; at least one [[rooms]] is needed"
    if not meeting.server.tls and not is_loopback(meeting.server.host):
        yield "$.server.tls = false needs $.server.host on this machine (127.0.0.1); set tls = true"
    everybody: dict[str, Agent | Person] = {f"$.agents[{i}]": agent for i, agent in enumerate(meeting.agents)}
    if meeting.person:
        everybody["$.person"] = meeting.person
    yield from _doubles("jid", {f"$.rooms[{i}]": room.jid for i, room in enumerate(meeting.rooms)})
    yield from _doubles("name", {f"$.agents[{i}]": agent.name for i, agent in enumerate(meeting.agents)})
    yield from _doubles("jid", {where: one.jid for where, one in everybody.items()})
    yield from _doubles("nick", {where: one.shown.casefold() for where, one in everybody.items()})
    known = {room.jid for room in meeting.rooms}
    for where, one in everybody.items():
        if one.password_file and one.password_env:
            yield f"{where} has both password_file and password_env; keep one of them"
        for room in set(one.rooms or ()) - known:
            yield f"{where}.rooms names {room}, which is in no [[rooms]]"


def _doubles(field: str, values: Mapping[str, str]) -> Iterator[str]:
    """What two blocks have in common though it must tell them apart."""
    seen: dict[str, str] = {}
    for where, value in values.items():
        if value in seen:
            yield f"{where}.{field} is {value}, as {seen[value]}.{field} is; each needs its own"
        seen.setdefault(value, where)


def _is_profile(profile: str, home: Home) -> bool:
    """Whether a profile is this home: by path, or by name as the host lays them out (`~/.hermes/profiles/<name>`)."""
    root = home.root.resolve()
    if "/" in profile:
        return Path(profile).expanduser().resolve() == root
    return (root.name if root.parent.name == "profiles" else "default") == profile


def _password(of: Agent | Person, base: Path, field: str) -> str:
    """The password of an account. Raises `SetupError` that names the field."""
    if of.password_env:
        password = variable(of.password_env)
        if not password:
            raise SetupError(f"{field}.password_env: the variable {of.password_env} is not set")
        return password
    if not of.password_file:
        raise SetupError(f"{field} ({of.jid}) has no password here: set password_file or password_env")
    file = base / Path(of.password_file).expanduser()
    try:
        if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SetupError(f"{field}.password_file: others can read {file}; run `chmod 600 {file}`")
        password = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as exc:
        raise SetupError(f"{field}.password_file: {file} cannot be read: {exc}") from exc
    if not password:
        raise SetupError(f"{field}.password_file: {file} is empty")
    return password

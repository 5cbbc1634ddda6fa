"""Settings of Iris: declared once, read from a file and the environment, documented by their own descriptions.

Invariants: this is the only module that reads `os.environ`; a value that is wrong raises `SetupError` with its name
and what is allowed; every setting has a default with which Iris runs on loopback.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from .errors import SetupError

ENV_PREFIX = "IRIS_"
DEFAULT_PORT = 8765
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set, in `iris/iris.toml` of the Hermes home or as `IRIS_<NAME>`."""

    host: Annotated[
        str,
        Meta(description="Address to listen on. Anything but loopback needs TLS, or a VPN or a proxy that brings it."),
    ] = "127.0.0.1"
    port: Annotated[
        int, Meta(description="Port of the app, the socket and pairing. 0 takes a free one.", ge=0, le=65535)
    ] = DEFAULT_PORT
    public_hosts: Annotated[
        list[str],
        Meta(description="Further host names under which browsers reach Iris, e.g. that of a reverse proxy."),
    ] = []
    tls_cert: Annotated[
        str, Meta(description="PEM file of a certificate and the chain behind it: Iris then speaks TLS itself.")
    ] = ""
    tls_key: Annotated[str, Meta(description="PEM file of its key, without a password.")] = ""
    trusted_proxies: Annotated[
        list[str],
        Meta(description="Addresses of reverse proxies whose `X-Forwarded-*` headers count; all others are ignored."),
    ] = []
    link_base: Annotated[
        str,
        Meta(
            description="Base of pairing links, when it is not that of host and port; the app draws its QR code for it."
        ),
    ] = ""
    user_name: Annotated[str, Meta(description="What the agent calls the person.", min_length=1, max_length=80)] = "You"
    log_events: Annotated[
        int, Meta(description="Events kept for devices that come back; older ones make them load afresh.", ge=100)
    ] = 20_000
    log_days: Annotated[float, Meta(description="Days for which events are kept for devices that come back.", gt=0)] = (
        30.0
    )
    max_upload_mb: Annotated[
        int, Meta(description="Size of the largest file that is sent either way, in MiB.", ge=1, le=100_000)
    ] = 100
    upload_types: Annotated[
        list[str], Meta(description="Types of files that devices may send, e.g. `image/*` or `application/pdf`.")
    ] = msgspec.field(default_factory=lambda: ["*/*"])
    media_days: Annotated[
        int, Meta(description="Days for which files are kept; 0 keeps them for ever. Messages stay.", ge=0)
    ] = 0
    push_hosts: Annotated[
        list[str],
        Meta(description="Hosts of push services in a private network, e.g. of an own ntfy; others must be public."),
    ] = []
    push_contact: Annotated[
        str,
        Meta(description="Where push services may reach you, `mailto:` or `https:`; else they get the app's address."),
    ] = ""
    pairing_ttl: Annotated[float, Meta(description="Seconds for which a pairing link is valid.", ge=10, le=86_400)] = (
        600.0
    )

    def __post_init__(self) -> None:
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ValueError("tls_cert and tls_key go together")
        if self.push_contact and not self.push_contact.startswith(("mailto:", "https:")):
            raise ValueError("push_contact begins with mailto: or https:")

    @property
    def tls(self) -> tuple[Path, Path] | None:
        """The files of certificate and key, when Iris speaks TLS itself."""
        return (Path(self.tls_cert).expanduser(), Path(self.tls_key).expanduser()) if self.tls_cert else None

    @property
    def names(self) -> list[str]:
        """The host names and addresses under which browsers may reach Iris."""
        linked = urlsplit(self.link_base).hostname
        own = [] if self.host in WILDCARDS else [f"[{self.host}]" if ":" in self.host else self.host]
        return list(dict.fromkeys([*LOOPBACK, *own, *([linked] if linked else []), *self.public_hosts]))

    @property
    def contact(self) -> str:
        """What push services are told of this gateway; Apple's wants to know something."""
        public = self.link_base if self.link_base.startswith("https:") else ""
        return self.push_contact or public or next((f"https://{name}" for name in self.public_hosts), "")

    meeting_file: Annotated[
        str, Meta(description="The file of the meeting room when it is not `iris/meeting.toml`; homes can share one.")
    ] = ""
    meeting_agent: Annotated[
        str, Meta(description="The agent of the meeting that this home is, when `profile` there does not say it.")
    ] = ""


_home_channels: dict[str, str] = {}
"""What `set_home_channel` has set in this process."""

_LISTS = {"public_hosts", "push_hosts", "trusted_proxies", "upload_types"}
"""Settings that stand in the environment with commas."""


class Home(msgspec.Struct, frozen=True):
    """The files of one Hermes home that concern Iris."""

    root: Path

    @property
    def iris(self) -> Path:
        """Iris's own folder."""
        return self.root / "iris"

    @property
    def database(self) -> Path:
        """Directory, messages, event log and devices."""
        return self.iris / "channels.db"

    @property
    def mark(self) -> Path:
        """By what a database that was put back is noticed."""
        return self.iris / "mark.json"

    @property
    def media(self) -> Path:
        """The files that were sent."""
        return self.iris / "media"

    @property
    def settings(self) -> Path:
        """The settings file; need not exist."""
        return self.iris / "iris.toml"

    @property
    def meeting(self) -> Path:
        """The file of the meeting room; need not exist."""
        return self.iris / "meeting.toml"

    @property
    def push_key(self) -> Path:
        """The key by which push services know this gateway."""
        return self.iris / "push-key.pem"

    @property
    def endpoint(self) -> Path:
        """Where the running gateway listens; present while it runs."""
        return self.iris / "endpoint.json"

    def device(self, kind: str) -> Path:
        """Token of the command line (`cli`), or of the chat in a terminal (`tui`), on this machine."""
        return self.iris / f"{kind}-device.json"

    @property
    def host_config(self) -> Path:
        """The host's configuration."""
        return self.root / "config.yaml"


def default_home() -> Path:
    """The Hermes home that is meant when none is given: `$HERMES_HOME`, else `~/.hermes`."""
    return Path(os.environ.get("HERMES_HOME") or Path.home() / ".hermes")


def private_home() -> Path:
    """The home that `iris up` makes for itself when none is given: under `$XDG_DATA_HOME`."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "hermes-iris"


def given_home() -> Path | None:
    """`$HERMES_HOME` if it is set."""
    value = os.environ.get("HERMES_HOME")
    return Path(value) if value else None


def child_environment(home: Home, **extra: str) -> dict[str, str]:
    """The environment of a host process that works in `home`."""
    return {**os.environ, "HERMES_HOME": str(home.root), **extra}


def set_home_channel(variable: str, target: str) -> None:
    """Tell the host where output without a target goes; a value that was not set here is the operator's, and stays."""
    if os.environ.get(variable) in (None, "", _home_channels.get(variable)):
        os.environ[variable] = _home_channels[variable] = target


def home_channel(variable: str) -> str:
    """Where output without a target goes."""
    return os.environ[variable]


def variable(name: str) -> str:
    """A variable that a file of the operator names, e.g. for a password; empty when it is not set."""
    return os.environ.get(name, "")


def load(home: Home, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings of a home: the environment wins over the file, the file over the defaults.

    Raises:
        SetupError: a file that is no TOML, an unknown name, a value out of range; the text names it.
    """
    values: dict[str, Any] = {}
    if home.settings.is_file():
        try:
            values = tomllib.loads(home.settings.read_text(encoding="utf-8"))
        except (OSError, UnicodeError, tomllib.TOMLDecodeError) as exc:
            raise SetupError(f"{home.settings} cannot be read: {exc}") from exc
    env = os.environ if environ is None else environ
    for name in Settings.__struct_fields__:
        if (raw := env.get(ENV_PREFIX + name.upper())) is not None:
            values[name] = [part.strip() for part in raw.split(",") if part.strip()] if name in _LISTS else raw
    try:
        return msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as exc:
        raise SetupError(f"settings of Iris ({home.settings} or {ENV_PREFIX}*): {exc}") from exc


def markdown() -> str:
    """The table of settings in `docs/configuration.md`."""
    rows = ["| setting | environment | default | about |", "|---|---|---|---|"]
    for field in msgspec.structs.fields(Settings):
        about = field.type.__metadata__[0].description
        default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
        shown = msgspec.json.encode(default).decode()
        rows.append(f"| `{field.encode_name}` | `{ENV_PREFIX}{field.encode_name.upper()}` | `{shown}` | {about} |")
    return "\n".join([*rows, ""])

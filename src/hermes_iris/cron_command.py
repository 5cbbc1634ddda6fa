"""`/cron` in a conversation: the host has it in its terminal only, so its own command line is run and quoted.

Invariants: nothing of the text reaches a shell; a run ends within `LIMIT`, whatever the host does; a job that is made
here reports here, unless its target is given.
"""

import asyncio
import re
import shlex
import sys

from .errors import InvalidFrame
from .protocol.types import Seconds

NAME = "cron"
LIMIT: Seconds = 60.0
MAX_SHOWN = 20_000
"""Characters of the output that are shown: its last part."""

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CALL = re.compile(rf"/{NAME}(?:\s+(?P<rest>.*))?\Z", re.DOTALL)
_MAKES = {"add", "create"}


def arguments(text: str, target: str) -> list[str] | None:
    """The arguments of `hermes cron` that a message asks for; None when it is another message.

    `target`: the address of the lane, for a job that is made without one.

    Raises:
        InvalidFrame: a quotation mark is not closed.
    """
    called = _CALL.match(text.strip())
    if called is None:
        return None
    try:
        words = shlex.split(called["rest"] or "") or ["list"]
    except ValueError:
        raise InvalidFrame("a quotation mark is not closed") from None
    has_target = any(word == "--deliver" or word.startswith("--deliver=") for word in words)
    return [*words, "--deliver", target] if words[0] in _MAKES and not has_target else words


async def run(words: list[str]) -> str:
    """What `hermes cron` prints, for the home of this process, as Markdown."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "hermes_cli.main",
        NAME,
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(LIMIT):
            printed, _ = await process.communicate()
    except TimeoutError:
        return f"`/{NAME}` did not end within {LIMIT:.0f} seconds and was stopped."
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return quoted(printed.decode(errors="replace"))


def quoted(printed: str) -> str:
    """The output of a command line as a block of Markdown that nothing in it can end."""
    text = _COLOURS.sub("", printed).strip("\n")[-MAX_SHOWN:]
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 0)
    return f"{fence}text\n{text or '(no output)'}\n{fence}"

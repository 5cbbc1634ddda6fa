"""What the rehearsal says when it says more than a line; pure, apart from reading `long.md` once.

Invariant: wherever a person could mistake the script for a model, the text says that it is none.
"""

import base64
import struct
import zlib
from pathlib import Path

LONG = Path(__file__).with_name("long.md").read_text(encoding="utf-8")
"""At least 9,000 characters of Markdown."""

HELLO = """\
Hello! I am the **rehearsal model** of Iris: a script on this machine, not a real model. I cannot think and I know \
nothing, but the host around me is real, and so are the tools that it runs for me.

Ask *“What can you show me?”* for the list of what I can play. Good ones to begin with:

- Use a tool and tell me what you found
- Write a long answer with code and a table
- Let something fail

When you want answers instead of a rehearsal, a real provider is one setting away: `model:` in your host's \
`config.yaml`. `iris doctor` checks it, and `docs/configuration.md` explains it."""

HELLO_THOUGHT = "A person wrote something free.\nI have no scene for it, so I say who I am and what I can play."

HELLO_ZH = """\
你好！我是 Iris 的**排练模型**：我只是这台机器上的一段脚本，不是真正的模型，也不会思考。\
不过我身边的主机是真的，它替我运行的工具也是真的。

想知道我能演示什么，请问：*“你能做什么？”*。也可以直接说：

- 用一个工具，告诉我你发现了什么
- 写一个长的回答，带上代码和表格
- 让某件事失败

想得到真正的回答，只需要改一个设置：主机 `config.yaml` 里的 `model:`。\
`iris doctor` 会检查它，`docs/configuration.md` 里有说明。"""

HELLO_THOUGHT_ZH = "有人用中文打招呼。\n我用中文回答，并说明我是谁。"

BLIND = "I was sent your picture, but I cannot see what is in it."

MENU = """\
## What I can show you

I am the rehearsal model of Iris: every answer is scripted, every tool call is real. Just say one of these:

{wishes}

Or name a scene; `rehearse NAME` works anywhere in a message:

| say | and you get |
|---|---|
{rows}

For real answers, set `model:` in your host's `config.yaml` (see `docs/configuration.md`; `iris doctor` helps)."""

RIDDLE = """\
**The riddle.** Three switches stand outside a closed room; one of them turns on the lamp inside. You may set the \
switches as you like, but enter the room only once. Which switch is it?

**The answer.** Turn the first switch on, wait some minutes, turn it off again, turn the second one on and go in:

1. The lamp is on: the second switch.
2. It is off and warm: the first.
3. It is off and cold: the third.

The lamp has not two states but four, because it also remembers. (I did not find that out: it stands in my script.)"""

RIDDLE_THOUGHT = """\
Three switches, one lamp, one look.
A look tells on from off. That is one bit, and three possibilities need more than one bit.
So there has to be a second thing that the room can tell me.
What else does a lamp do while it is on? It gets warm.
Warmth stays for a while after the light has gone.
Then "off" splits into two cases: off and warm, off and cold.
On, off and warm, off and cold: that makes three cases for three switches.
So: the first on for some minutes and off again, the second on, the third never touched. That works."""

CODE = """\
Here is a small program:

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"


print(greet("rehearsal"))
```

It prints one line."""

CODE_THOUGHT = """\
A thought may hold a fence as well:
```python
x = 1
```
What follows the fence is still the thought."""

SLOW = (
    "This answer is slow on purpose. It comes a few letters at a time, so that there is room to do something while it "
    "runs. You could press stop now, and the text would end where it is. You could also send a second message, and "
    "the host would put this answer aside and turn to you. Or you could lock your phone, walk to the kitchen, come "
    "back, and find that the rest has arrived without you. None of that needs a clever model; it needs somebody who "
    "talks slowly and does not mind being interrupted. I am good at that. If you have let me speak until here, then "
    "nothing was interrupted, and that is worth knowing too. Thank you for your patience."
)


def _stripes() -> bytes:
    """A PNG of seven coloured stripes (https://www.w3.org/TR/png-3/), small enough for one command line."""
    colours = bytes.fromhex("7c3aed4f46e52563eb0891b2059669d97706dc2626")
    width, height = 140, 84
    rows = b"".join(b"\0" + bytes([row * 7 // height]) * width for row in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, data) for kind, data in parts)


PICTURE = base64.b64encode(_stripes()).decode()
"""The picture of the `media` scene, in base64."""

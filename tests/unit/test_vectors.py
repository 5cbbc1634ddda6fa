"""The example frames in `tests/vectors`, which the web tests read too.

One JSON object a line: `name`; `frame` (a JSON value) or `raw` (the text that travels); `ok`; for bad ones `error` (a
part of the refusal that names the field) and `code`.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from frame_strategies import plain, tag

from hermes_iris.errors import IrisError
from hermes_iris.protocol import codec
from hermes_iris.protocol.export import CLIENT, SERVER
from hermes_iris.protocol.frames import Frame

FOLDER = Path(__file__).parents[1] / "vectors"
SIDES = {
    "client": (codec.decode_client, CLIENT),
    "server": (codec.decode_server, SERVER),
}


def read(side: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{side}.jsonl").read_text(encoding="utf-8").splitlines()]


def travelling(vector: dict[str, Any]) -> str:
    return vector["raw"] if "raw" in vector else json.dumps(vector["frame"])


ALL = [pytest.param(side, vector, id=f"{side}-{vector['name']}") for side in SIDES for vector in read(side)]


@pytest.mark.parametrize(("side", "vector"), ALL)
def test_a_vector_is_read_as_it_says(side: str, vector: dict[str, Any]) -> None:
    decode, _ = SIDES[side]
    if not vector["ok"]:
        with pytest.raises(IrisError) as refused:
            decode(travelling(vector))
        assert refused.value.code == vector["code"]
        assert vector["error"] in str(refused.value)
        return
    frame = decode(travelling(vector))
    assert frame == decode(codec.encode(frame))
    assert _known(vector["frame"], plain(frame)) == plain(frame), "what was read is what was written"


def _known(written: Any, read_back: Any) -> Any:
    """What was written, without the fields of a later level."""
    if isinstance(written, dict) and isinstance(read_back, dict):
        return {key: _known(written[key], read_back[key]) for key in read_back}
    return written


@pytest.mark.parametrize(("side", "cls"), [(side, cls) for side, (_, group) in SIDES.items() for cls in group])
def test_every_frame_has_a_good_vector(side: str, cls: type[Frame]) -> None:
    assert any(vector["ok"] and vector["frame"]["type"] == tag(cls) for vector in read(side))


@pytest.mark.parametrize("side", SIDES)
def test_every_optional_field_is_used_by_a_good_vector(side: str) -> None:
    _, group = SIDES[side]
    for cls in group:
        used: set[str] = set()
        for vector in read(side):
            if vector["ok"] and vector["frame"]["type"] == tag(cls):
                used |= vector["frame"].keys()
        optional = {"thread_id"} & set(cls.__struct_fields__)  # the same everywhere: not asked of every frame
        assert set(cls.__struct_fields__) - optional - {"seq"} <= used


@pytest.mark.parametrize("side", SIDES)
def test_the_file_keeps_its_format(side: str) -> None:
    vectors = read(side)
    assert len({vector["name"] for vector in vectors}) == len(vectors), "names are unique"
    for vector in vectors:
        assert ("frame" in vector) != ("raw" in vector)
        assert set(vector) - {"frame", "raw"} == ({"name", "ok"} if vector["ok"] else {"name", "ok", "error", "code"})
        assert not vector["ok"] or "frame" in vector

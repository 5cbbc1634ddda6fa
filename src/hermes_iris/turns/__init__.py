"""From the calls of a host to the frames of a turn. Pure; `step` is the only way to change a lane's state."""

from . import calls
from .state import Effect, LaneState, ToolDetail
from .step import TYPING_TTL, step

__all__ = ["TYPING_TTL", "Effect", "LaneState", "ToolDetail", "calls", "step"]

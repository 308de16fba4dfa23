"""Which tools whom: the families a layer is offered, in the fixed order of its requests."""

from __future__ import annotations

from rolecall.tools import entries, knowledge, memory, threads
from rolecall.tools.toolbox import ToolType

NARRATOR: tuple[ToolType, ...] = (*knowledge.TOOLS, *threads.TOOLS, *entries.TOOLS, *memory.TOOLS)

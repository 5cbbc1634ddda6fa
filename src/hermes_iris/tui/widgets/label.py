"""A line whose text changes, and whose place does not."""

from textual.content import Content
from textual.widgets import Static


class Label(Static):
    """Drawn anew only when it says something else, and without laying out the screen anew."""

    def __init__(self, content: Content | None = None, *, id: str | None = None, classes: str | None = None) -> None:
        self._said = content or Content()
        super().__init__(self._said, id=id, classes=classes)

    def say(self, content: Content) -> None:
        """Say something else."""
        if not content.is_same(self._said):
            self._said = content
            self.update(content, layout=False)

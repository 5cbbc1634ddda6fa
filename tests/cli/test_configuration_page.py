from pathlib import Path

import pytest

from hermes_iris import hostconfig

PAGE = (Path(__file__).parents[2] / "docs/configuration.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("setting", hostconfig.RECOMMENDED, ids=lambda setting: setting.name)
def test_the_page_recommends_what_iris_sets(setting: hostconfig.Setting) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{setting.name}` |"))
    assert row.split("|")[2].strip().startswith(f"`{hostconfig.shown(setting.good[0])}`")
    assert setting.effect in row

import pytest
from ruamel.yaml import YAML

from hermes_iris import hostconfig
from hermes_iris.errors import SetupError

USED = """\
# My agent. Do not touch!
model:
  default: "some-model"   # the good one
plugins:
  enabled:
    # needed at work
    - tickets
  disabled: []

# How chatty it is
display:
  tool_progress: verbose  # I like it
  platforms:
    telegram: {streaming: off}
streaming:
  enabled: false
"""


def loaded(text: str) -> dict[str, object]:
    return hostconfig.parse(text, "config.yaml")


def test_an_empty_file_gets_every_setting() -> None:
    config = loaded(hostconfig.merge("", hostconfig.private(4711)))
    assert config["plugins"] == {"enabled": ["hermes-iris"]}
    assert config["streaming"] == {"enabled": True, "transport": "edit", "cursor": ""}
    assert config["security"] == {"allow_lazy_installs": False}
    assert config["model"] == {
        "default": "iris-rehearsal",
        "provider": "custom",
        "base_url": "http://127.0.0.1:4711/v1",
        "api_key": "rehearsal",
    }
    assert hostconfig.deviations(config) == []


def test_only_lines_that_differ_are_touched() -> None:
    new = hostconfig.merge(USED, hostconfig.additions(loaded(USED)))
    removed = [line for line in hostconfig.diff(USED, new).splitlines()[2:] if line.startswith("-")]
    assert removed == []
    assert [line for line in USED.splitlines() if line not in new.splitlines()] == []


def test_a_comment_stays_above_its_line() -> None:
    new = hostconfig.merge(USED, hostconfig.additions(loaded(USED)))
    assert "    # needed at work\n    - tickets\n" in new
    assert "# How chatty it is\ndisplay:\n" in new


def test_the_new_item_stands_in_the_list() -> None:
    new = hostconfig.merge(USED, hostconfig.additions(loaded(USED)))
    assert loaded(new)["plugins"] == {"enabled": ["hermes-iris", "tickets"], "disabled": []}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        USED,
        "plugins: {enabled: [a]}\nstreaming: {enabled: off}\n",
        "plugins:\n  enabled:\n  - a\ndisplay: null # later\nstreaming: ~",
        "plugins:\ndisplay:   # nothing yet\n",
        '{"model": "x"}',
        "display:\r\n  # mine\r\n  tool_progress: all\r\n",
        "# é😀\nplugins: {enabled: []}\nx: '# no comment'\n",
    ],
)
def test_merging_twice_changes_nothing(text: str) -> None:
    once = hostconfig.merge(text, hostconfig.recommended())
    assert hostconfig.is_enabled(loaded(once))
    assert hostconfig.deviations(loaded(once)) == []
    assert hostconfig.merge(once, hostconfig.recommended()) == once


def test_windows_line_ends_stay() -> None:
    new = hostconfig.merge("a: 1\r\nplugins:\r\n  enabled:\r\n  - b\r\n", hostconfig.recommended())
    assert new.count("\n") == new.count("\r\n")


def test_both_yaml_versions_read_the_same_settings() -> None:
    text = hostconfig.merge(USED, hostconfig.recommended())
    old_yaml = YAML(typ="safe", pure=True)
    old_yaml.version = (1, 1)
    assert old_yaml.load(text)["display"]["platforms"]["android"] == {
        "streaming": True,
        "show_reasoning": False,
        "tool_progress": "off",
        "interim_assistant_messages": True,
        "long_running_notifications": False,
    }


def test_an_unquoted_off_is_left_alone() -> None:
    text = hostconfig.merge("", hostconfig.recommended()).replace('"off"', "off")
    assert hostconfig.merge(text, hostconfig.recommended()) == text


def test_shared_streaming_is_switched_on_when_nobody_has_decided() -> None:
    assert hostconfig.additions({})["streaming"] == {"enabled": True}


@pytest.mark.parametrize("config", [{"streaming": {"enabled": False}}, {"gateway": {"streaming": {"enabled": False}}}])
def test_shared_streaming_is_left_to_whoever_decided(config: dict[str, object]) -> None:
    assert "streaming" not in hostconfig.additions(config)


def test_the_model_of_a_home_in_use_is_never_touched() -> None:
    assert not {"model", "security"} & hostconfig.additions(loaded(USED)).keys()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "config.yaml, line 1: "),
        ("ok: 1\na: b: c\n", "config.yaml, line 2: mapping values are not allowed here"),
        ("a: 1\na: 2\n", "config.yaml, line 2: found duplicate key"),
        ("- a\n", "config.yaml: settings must be"),
        ("plugins: all\n", "config.yaml, line 1: plugins must be a block of settings"),
        ("plugins:\n  enabled: all\n", "config.yaml, line 2: plugins.enabled must be a list"),
        ("streaming:\n  enabled: {}\n", "config.yaml, line 2: streaming.enabled must be a value"),
        ("a: 1\n...\n", "config.yaml is written in a way that cannot be edited safely"),
        ("streaming: &shared {enabled: false}\nother: *shared\n", "config.yaml is written in a way"),
    ],
)
def test_what_cannot_be_edited_is_said_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(SetupError) as caught:
        hostconfig.merge(text, hostconfig.recommended())
    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)


def test_a_disabled_plugin_is_not_enabled() -> None:
    assert not hostconfig.is_enabled({"plugins": {"enabled": ["hermes-iris"], "disabled": ["hermes-iris"]}})


@pytest.mark.parametrize("plugins", [None, [], {"enabled": None}, {"enabled": "hermes-iris"}, {"enabled": ["other"]}])
def test_the_plugin_is_off_unless_a_list_names_it(plugins: object) -> None:
    assert not hostconfig.is_enabled({"plugins": plugins})


@pytest.mark.parametrize(
    ("config", "deviating"),
    [
        ({}, {"streaming.enabled", "tool_progress", "long_running_notifications"}),
        ({"display": {"tool_progress": False}}, {"streaming.enabled", "long_running_notifications"}),
        (
            {"gateway": {"streaming": {"enabled": True}}, "display": {"show_reasoning": True}},
            {"tool_progress", "long_running_notifications", "show_reasoning"},
        ),
        (
            {"streaming": {"enabled": True, "transport": "draft"}},
            {"streaming.transport", "tool_progress", "long_running_notifications"},
        ),
    ],
)
def test_a_deviation_is_what_the_host_really_takes(config: dict[str, object], deviating: set[str]) -> None:
    names = {setting.name.removeprefix("display.platforms.android.") for setting, _ in hostconfig.deviations(config)}
    assert names == deviating


def test_the_rehearsal_is_known_by_its_name() -> None:
    assert hostconfig.rehearsal_port(hostconfig.rehearsal(4711)) == 4711
    assert hostconfig.rehearsal_port({"model": {"default": "other", "base_url": "http://127.0.0.1:1/v1"}}) is None
    assert hostconfig.rehearsal_port({"model": "other"}) is None
    assert hostconfig.rehearsal_port({}) is None


@pytest.mark.parametrize("address", [None, "http://127.0.0.1/v1", "http://127.0.0.1:x/v1"])
def test_a_rehearsal_without_a_port_is_refused(address: str | None) -> None:
    with pytest.raises(SetupError, match=r"model\.base_url"):
        hostconfig.rehearsal_port({"model": {"default": "iris-rehearsal", "base_url": address}})


def test_the_diff_is_empty_when_nothing_changes() -> None:
    assert hostconfig.diff(USED, USED) == ""

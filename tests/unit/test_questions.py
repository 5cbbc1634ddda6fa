"""What people are asked, and which answers fit."""

import pytest

from hermes_iris import questions
from hermes_iris.errors import InvalidFrame
from hermes_iris.protocol.frames import Choice, Question, RequestAnswer

COLOURS = ["blue", "violet"]


def request(**fields: object) -> RequestAnswer:
    return RequestAnswer(client_id="client-id", request_id="ask_1", **fields)  # type: ignore[arg-type]


def colours(*, multiple: bool = False) -> Question:
    return questions.clarification("Which colour?", COLOURS, None, multiple=multiple)


def values(question: Question) -> list[str]:
    return [choice.value for choice in question.choices]


class TestCheck:
    def test_a_choice_is_told_by_its_label(self) -> None:
        asked = questions.approval("rm -r x", "delete", 1.0, session=True, permanent=True)
        assert questions.check(asked, request(choices=["once"])) == questions.Answer(("once",), "", "Allow once")

    def test_several_choices_where_several_may_be_taken(self) -> None:
        answer = questions.check(colours(multiple=True), request(choices=["violet", "blue", "violet"]))
        assert answer.values == ("violet", "blue")
        assert answer.told == "violet, blue"

    def test_a_text_of_one_s_own(self) -> None:
        assert questions.check(colours(), request(text=" green ")) == questions.Answer((), "green", "green")

    def test_put_away(self) -> None:
        assert questions.check(colours(), request(dismiss=True)) == questions.Answer()

    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({}, "choices"),
            ({"choices": ["blue"], "text": "x"}, "choices"),
            ({"choices": ["green"]}, "choices"),
            ({"choices": ["blue", "violet"]}, "choices"),
            ({"text": "   "}, "text"),
        ],
    )
    def test_what_does_not_fit_a_question_is_refused(self, fields: dict[str, object], field: str) -> None:
        with pytest.raises(InvalidFrame, match=rf"\$\.{field}"):
            questions.check(colours(), request(**fields))

    @pytest.mark.parametrize(("fields", "field"), [({"text": "yes"}, "text"), ({"dismiss": True}, "dismiss")])
    def test_an_approval_takes_its_choices_only(self, fields: dict[str, object], field: str) -> None:
        asked = questions.approval("ls", "listing", None, session=False, permanent=False)
        with pytest.raises(InvalidFrame, match=rf"\$\.{field}"):
            questions.check(asked, request(**fields))


class TestQuestions:
    @pytest.mark.parametrize(
        ("session", "permanent", "offered"),
        [
            (True, True, ["once", "session", "always", "deny"]),
            (True, False, ["once", "session", "deny"]),
            (False, True, ["once", "deny"]),
        ],
    )
    def test_an_approval_offers_what_the_host_allows(self, session: bool, permanent: bool, offered: list[str]) -> None:
        assert values(questions.approval("ls", "", None, session=session, permanent=permanent)) == offered

    def test_a_very_long_command_is_cut(self) -> None:
        asked = questions.approval("x" * 30_000, "", None, session=False, permanent=False)
        assert len(asked.detail) == questions.MAX_DETAIL + 1

    def test_bare_message_keys_are_not_shown(self) -> None:
        asked = questions.clarification("Which?\ngateway.clarify.skip_hint", None, None, multiple=False)
        assert asked.prompt == "Which?"
        asked = questions.confirmation("new", "gateway.confirm.title", "gateway.confirm.prompt", None)
        assert (asked.title, asked.prompt) == ("/new", "")

    def test_models_stand_under_their_providers(self) -> None:
        providers = [
            {"slug": "a", "name": "A", "models": ["m1", "m2"], "is_current": True},
            {"slug": "b", "models": ["m1"]},
            {"slug": "c"},
        ]
        found = questions.models(providers, "m1", "a")
        assert {value: (model, slug) for value, (_, model, slug) in found.items()} == {
            "a:m1": ("m1", "a"),
            "a:m2": ("m2", "a"),
            "b:m1": ("m1", "b"),
        }
        assert found["a:m1"][0] == Choice(value="a:m1", label="m1", group="A", current=True)
        assert found["b:m1"][0] == Choice(value="b:m1", label="m1", group="b")

    def test_options_of_a_picker(self) -> None:
        offered = questions.options(
            [{"value": "low", "label": "Low", "is_current": True}, {"value": "x", "label": "a.b"}]
        )
        asked = questions.picker("How much?", offered, 5.0)
        assert asked.choices == [Choice(value="low", label="Low", current=True), Choice(value="x", label="x")]
        assert asked.dismissible
        assert questions.picker("gateway.reasoning.title", offered, None).title == "Choose"

    def test_a_value_from_elsewhere_has_the_label_of_its_choice(self) -> None:
        asked = questions.approval("ls", "", None, session=False, permanent=False)
        assert questions.label(asked, "deny") == "Deny"
        assert questions.label(asked, "no, thanks") == "no, thanks"

    def test_several_values_for_the_host(self) -> None:
        assert questions.as_list(("ä", "b")) == '["ä", "b"]'

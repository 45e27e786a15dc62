"""How well a text answers, and what a topic covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from girdlebook.models.extractive.relevance import ENOUGH, covers, relevance


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which editor do I use?", "I use Helix for everything"),
        ("what city am I in?", "I live in Ghent"),
        ("how much can I spend on the bike?", "My budget for the new bike is 1,850 euros"),
        ("我在哪个城市？", "在厦门当小学老师"),
        ("依赖用什么管理？", "这个项目用 uv 管理依赖"),
        ("我不会什么？", "我不会游泳"),
    ],
)
def test_finds_the_answer_by_words_and_concepts(question: str, text: str) -> None:
    assert relevance(question, text) >= ENOUGH


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What's my dog's birthday?", "I have a cat called Miso"),
        ("What's my cat's birthday?", "I have a cat called Miso"),
        ("Where do I live?", "My sister lives in Oslo"),
        ("what is my shoe size?", "the api runs on port 8080"),
        ("what was my ex called?", "My dog is called Pepper"),
        ("我姐姐住在哪里？", "我有一个哥哥，在重庆"),
        ("What's my favourite food?", "My favourite author is Ursula Vernon"),
    ],
)
def test_refuses_what_shares_only_a_weak_word(question: str, text: str) -> None:
    assert relevance(question, text) < ENOUGH


@pytest.mark.parametrize(
    ("topic", "text"),
    [
        ("my phone number", "You can call me on 0171 2345678"),
        ("my sister", "My sister is called Noor"),
        ("我女儿的名字", "我女儿叫朵朵"),
        ("my health", "I was diagnosed with asthma"),
    ],
)
def test_a_topic_covers_what_is_about_it(topic: str, text: str) -> None:
    assert covers(topic, text)


@pytest.mark.parametrize(
    ("topic", "text"),
    [
        ("my sister", "I'm allergic to penicillin"),
        ("my birthday", "My sister's birthday is May 4"),
        ("", "I live in Ghent"),
        ("我女儿的名字", "我对花生过敏"),
    ],
)
def test_a_topic_covers_nothing_else(topic: str, text: str) -> None:
    assert not covers(topic, text)


@given(st.text(max_size=60), st.text(max_size=60))
def test_relevance_is_a_share(question: str, text: str) -> None:
    assert 0 <= relevance(question, text) <= 1.1

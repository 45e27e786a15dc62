"""Text → search words."""

from hypothesis import given
from hypothesis import strategies as st

from girdlebook.words import index_words, terms, words


def joined(text):
    return [" ".join(term) for term in terms(text)]


def test_forms_of_a_word_share_a_stem():
    assert index_words("payments Payment") == "payment payment"


def test_case_width_and_accents_do_not_matter():
    assert index_words("ＰＯＲＴ port Café cafe\u0301") == "port port cafe cafe"


def test_L2_01_two_neighbouring_chinese_characters_are_a_word():
    assert "测试" in index_words("部署网关到测试环境").split()


def test_L2_05_a_latin_name_inside_chinese_text_is_a_word_of_its_own():
    assert "nimbus" in index_words("部署nimbus网关").split()


def test_every_character_begins_a_word_so_that_one_alone_can_be_found():
    assert index_words("记忆") == "记忆 忆"


def test_stop_words_are_left_out_of_a_question():
    assert joined("When did Caroline go to the support group?") == ["carolin", "go", "support", "group"]
    assert joined("我的数据库端口是多少？") == ["数据", "据库", "库端", "端口"]


def test_a_question_of_stop_words_alone_keeps_them():
    assert joined("who are you") == ["who", "are", "you"]
    assert joined("是什么") != []


def test_compounds_stay_together():
    assert terms("v2.1 src/app.py don't") == [("v2", "1"), ("src", "app", "py")]


def test_other_scripts_are_words_too():
    assert index_words("שלום עולם") == "שלום עולם"
    assert index_words("नमस्ते") == index_words("नमस्ते")
    assert len(index_words("सुरक्षा जाँच").split()) == 2
    assert index_words("می‌خواهم").count(" ") == 0


@given(st.text())
def test_any_text_gives_words_that_stand_where_they_say(text):
    for word in words(text):
        assert 0 <= word.start <= word.end <= len(text)
        assert word.text
        assert " " not in word.text


@given(st.text())
def test_a_text_is_found_by_its_own_words(text):
    indexed = set(index_words(text).split())
    for term in terms(text):
        assert set(term) <= indexed

"""The system prompt."""

import datetime

from girdlebook.prompts.assemble import read, system_prompt

DAY = datetime.date(2026, 12, 1)


def test_parts_stand_in_their_order_with_blank_lines_between():
    text = system_prompt("Be kind.", guidance=["memory"], memory_blocks=["══\nMEMORY"], today=DAY)
    assert text == f"Be kind.\n\n{read('memory')}\n\n══\nMEMORY\n\nToday is 2026-12-01."


def test_without_instructions_a_default_stands_first():
    assert system_prompt("  ", guidance=[], memory_blocks=[], today=DAY).startswith(read("default"))


def test_L3_48_the_prompt_holds_the_date_and_no_clock():
    text = system_prompt("", guidance=["memory", "session_search"], memory_blocks=[], today=DAY)
    assert "2026-12-01" in text
    assert ":0" not in text

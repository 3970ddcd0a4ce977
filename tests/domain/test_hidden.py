"""Characters that hide: marks wherever they do nothing for their script or emoji."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable

from playground.domain.hidden import HIDDEN, escape_hidden, show_hidden, show_prose, unseen, without_unseen
from tests.support.each_case import each_case

#: Texts that need invisible characters, and look as they did.
LEGITIMATE = {
    "emoji with two looks": "❤️ ☀︎ ©️ 1️⃣ #️⃣ ▶️ 〰️ ㊗️ ✔️ ⚠️",
    "joined emoji": "👨‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 🏴‍☠️ 👁️‍🗨️ ❤️‍🔥 ⛹🏽‍♂️ 🧑🏿‍🤝‍🧑🏻 🐦‍🔥",
    "flags": "🇳🇴 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿",
    "Arabic": "بِسْمِ ٱللَّهِ ٱلرَّحْمَٰنِ ٱلرَّحِيمِ، هـ‍ 2024 (test)\u200f",
    "Persian": "می‌خواهم کتاب‌ها را با API‌های تازه بخوانم",
    "Urdu": "یہ اُردو ہے۔",
    "Hebrew": "שלום C++\u200e, בְּרֵאשִׁ֖ית, יְרוּשָׁלַ͏ִם",
    "Hindi": "क्‍ष क्‌ष हिन्दी",
    "Malayalam": "ന്‍ അവന്‍",
    "Sinhala": "ශ්‍රී ලංකා",
    "Bengali": "র‍্যাব",
    "Tamil, Telugu, Kannada": "தமிழ் తెలుగు ಕನ್ನಡ ರ‍್ಯ",
    "Burmese, Khmer, Thai, Tibetan": "မြန်မာ ភាសាខ្មែរ ภาษาไทย བོད་སྐད་",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ ᠭ᠋ ᠠ᠎ᠠ",
    "Korean": "한국어 ᄀᅠ",
    "Chinese and Japanese": "漢字かな交じり文、全角 スペース",
    "Braille": "⠓⠑⠇⠇⠕⠀⠺⠕⠗⠇⠙",
    "German": "Straße, Größe, naïve café",
}
#: Where they do nothing: the text, and what is shown of it as prose.
ALONE = {
    "a\ufe0fb": "a‹U+FE0F›b",
    "❤\ufe0f\ufe0f": "❤\ufe0f‹U+FE0F›",
    "∩\ufe00": "∩‹U+FE00›",
    "葛\U000e0100城": "葛‹U+E0100›城",
    "x\U000e01ef": "x‹U+E01EF›",
    "\u3164": "‹U+3164›",
    "\uffa0a": "‹U+FFA0›a",
    "\u115f\u1160": "‹U+115F›‹U+1160›",
    "a\u034fb": "a‹U+034F›b",
    "a\u2800b": "a‹U+2800›b",
    "⠓\u2800\u2800⠓": "⠓\u2800‹U+2800›⠓",
    "a\u200eb\u200fc": "a‹U+200E›b‹U+200F›c",
    "שלום\u200f\u200f": "שלום\u200f‹U+200F›",
    "a\u2060b\u2062": "a‹U+2060›b‹U+2062›",
    "so\u00adft": "so‹U+00AD›ft",
    "a\u200db\u200cc": "a‹U+200D›b‹U+200C›c",
    "می\u200c\u200cخ": "می\u200c‹U+200C›خ",
    "👩\u200d\u200d": "👩\u200d‹U+200D›",
    "🏴\U000e0067\U000e0062\U000e0078": "🏴\U000e0067\U000e0062‹U+E0078›",
    "a\U000e0041": "a‹U+E0041›",
    "\ufeffa\ufff9b\u180e": "‹U+FEFF›a‹U+FFF9›b‹U+180E›",
    "pay\u202eлap": "pay‹U+202E›лap",
}
#: In code nothing stays but a look behind an emoji.
STAY_IN_CODE = {"emoji with two looks", "Urdu", "Hindi and others", "German", "Chinese and Japanese"}


@each_case("script", LEGITIMATE)
def test_legitimate_hidden_characters_stay(script: str) -> None:
    text = LEGITIMATE[script]
    assert show_prose(text) == text
    assert not unseen(text)
    assert without_unseen(text) == text
    if script in STAY_IN_CODE:
        assert show_hidden(text) == text


@each_case("text", ALONE)
def test_useless_hidden_characters_are_marked(text: str) -> None:
    assert show_prose(text) == ALONE[text]
    result = unseen(text)
    assert result.total() == ALONE[text].count("‹U+")
    assert not unseen(without_unseen(text))
    assert show_prose(without_unseen(text)) == re.sub("‹U[^›]*›", "", ALONE[text])


def test_hidden_characters_in_code_are_marked() -> None:
    saved = set("\t\n\r")
    for code in (*range(0x20), *range(0x7F, 0x3200), *range(0xA000, 0x10000), *range(0xE0000, 0xE1000)):
        character = chr(code)
        unassigned_or_drawn = unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        if not unassigned_or_drawn and character not in saved and not _drawn_though_formatting(character):
            assert show_hidden(f"a{character}b") == f"a‹U+{code:04X}›b", f"U+{code:04X}"
    for character in "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\uffa0\ufe00\ufe0f\U000e0100\U000e01ef":
        assert show_hidden(f"a{character}b") == f"a‹U+{ord(character):04X}›b"
    assert show_hidden("👩\u200d💻") == "👩‹U+200D›💻"
    assert escape_hidden('"\u3164\U000e0100❤\ufe0f"') == '"\\u3164\\udb40\\udd00❤\ufe0f"'


def _drawn_though_formatting(character: str) -> bool:
    """Signs that enclose or precede numbers are visible."""
    return character in "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2"


@each_case("show", [show_prose, show_hidden])
def test_characters_drawn_stay_when_the_text_grows(show: Callable[..., str]) -> None:
    dice = random.Random(7)
    letters = (
        "ab❤\ufe0f\ufe0e\u200d👩1🏴\U000e0067\U000e0062\U000e0065\U000e007fאב\u05b0\u200f\u200e\u200cیमᠭ\u180bᄀ\u1160x"
    )
    letters += "\u034f\u2800⠓\ud800\u2029\u202e\u00ad"
    for _ in range(500):
        text = "".join(dice.choices(letters, k=dice.randint(0, 100)))
        index = dice.randint(0, len(text))
        assert show(text) == show(text[:index]) + show(text[index:], text[:index])


def test_hidden_characters_are_counted() -> None:
    assert unseen("a\u200bb\u200b ❤\ufe0f \u202e") == Counter({"\u200b": 2, "\u202e": 1})
    assert unseen("plain") == Counter()
    assert HIDDEN.search("plain") is None

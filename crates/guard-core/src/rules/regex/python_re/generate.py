"""Writes cases.jsonl: the texts, and for each pattern the matches of Python's re, or that it rejects the pattern.

Run it with Python 3.11 in this folder: python generate.py
"""

import json
import re
import warnings

PATTERNS = r"""
\N{BULLET} [\N{BULLET}] \N \Na a\Z \Aa a\z \Ga a\K \Qa\E \R \X \h \H \e \O \C \i \ca \v \f \a \t \r \n [\Z] [\A] [\B] [\h] [\R] [\b] [\a] [\w.-]
(?P<n>a)(?P=n) (?P<n>a)\k<n> (?P<n>a)\g<n> (a)\g<1> (a)\1 (?P<n>a)(?P>n) (?R) (?P=n) (a)\2 (a\1) (a)\1{2} (?:a)\1 (?i)(a)\1 ((a)|b)+\2 (a)(b)\2\1
\u0041 \U00000041 \x41 \x4 \u41 \U0041 [\u0041-\u0043] [\x41-\x43] \U0001F600 \U00110000 [\u00e9] [^\x00-\x7f]
\0 \07 \012 \101 [\101] [\1] [\12] \8 (a)\11 \377 \400 [\0] \08 \0101 (a)\101 [\8] [\400] \1011 (a)\1\1
a{,2}b a{2,}b a{,}b a{b a{1 a{1,2 a{2,1} a{1,2}{2} x{1}{,2}y a{0} x{,3} }{ {a} {} a} a]
a++b a?+a a*+a a{1,2}+a a{,2}+b a+?b a??b (?>a+)a (?>a+)b (?:ab)++a [ab]*+b \w++b a** a+* a?* *a +a ?a |* (?:+a) {1} a|{2}
(?i)A (?i:A)b a(?i)b (?-i:a) (?i)(?-i:A) (?s). (?m)^a (?m)a$ (?x)a#b (?u)a (?U)a+ (?R)a (?is)A. (?n)a (?i-s:A) (?u:a) (?a)\w (?a:\w) (?L)a (?i)(?m)^A ((?i)a) (?:(?i)a) b|(?i)A (?i)A|b
a(?#c)b a(?#c (?#c)a(?#\)d)b a(?#c)* (a)?(?(1)b|c) (?P<q>a)?(?(q)b|c) (?(2)a|b) (?(1)a|b) (?(q)a|b) (?|a|b) (?~a) (?'n'a) (?<!a)b (?<=a)b (?!a)b (?=a)a (?<=ab)c (?P<n>a)(?P<n>b) (?P<n (?
[a-\d] [a-] [-a] [z-a] []a] [^]a] [a [] [^] [a&&b] [a--b] [a||b] [a~~b] [[a] [^\n] [\]] [\-a] [a\-c] [\s\S] [\D] [\W\d] [+--] [!--/] [\_] [\<] [&&] [a^]
\bfoo\b \ba a\B \<a\> \_ \- \/ \# \& \~ \% \= \: \! \@ \' \` \{a\} a\{2} a.c ^a$ ^$ a| |a () ( ) a|ab (a|b)* \d{3}-\d{4} [\w.+-]+@[\w-]+\.[\w.-]+
(?:a|b)\Z \Z\Z $a a$b a\$ \w\W \d+ \D \s \S (?:a (?i:
""".split() + [r"(?x) a\ b", r"(?x)a b", "(?x)a # c\nb", r"(?x)[ a]", r"(?x)[#]", r"(?x)a\#b", r"(?x)a {2}", r"(?x)a * +", r"(?x) (?i) a", r"\ ", r"a{ 2 }", r"(?x)a ?? b"]
TEXTS = [
    "", "a", "A", "aa", "aaa", "aaaa", "aab", "ab", "abab", "abba", "aba", "abc", "b", "B", "c", "•", "N{BULLET}", "é", "9", "_", "-", "a-b", "a.c",
    "a b", "a\nb", "\n", "a\n", "\t", "\x07", "\x08", "\x00", "\x008", "\x01", "\x0c", "\x0b", "\x1b", "\\", "\xff", "A8", "A1", "[]", "{}", "{a}", "a{b", "a{1,2",
    "xxx", "xy", "a{2}", "a{ 2 }", "a#b", "a foo b", "foobar", "😀", "acb", "d", "~", "a&", "|", "/", ".", "+,-", "%=:!@'`", "<a>", "a$", "a@b.co", "555-1234", "h", " ", "\u00a0", "K",
]  # fmt: skip

warnings.simplefilter("ignore")
cases = []
for pattern in dict.fromkeys(PATTERNS):
    try:
        compiled = re.compile(pattern)
    except re.error:
        cases.append({"pattern": pattern, "refused": True})
        continue
    found = {}
    for text in TEXTS:
        if match := compiled.search(text):
            found[text] = [len(text[:at].encode()) for at in match.span()]
    cases.append({"pattern": pattern, "found": found})
with open("cases.jsonl", "w", encoding="utf-8", newline="\n") as file:
    for line in [TEXTS, *cases]:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")

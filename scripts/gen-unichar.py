#!/usr/bin/env python3
"""Writes src/lang/syntax/unichar.inc: the properties of characters that Python's str methods ask for and utf8proc does not
tell. Run it with the Python whose answers tsr gives (3.11): scripts/gen-unichar.py > src/lang/syntax/unichar.inc"""
import sys
import unicodedata

CHARACTERS = [chr(c) for c in range(0x80, sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]


def category(c):
    return unicodedata.category(c)


def ranges(name, comment, characters):
    runs = []
    for c in map(ord, characters):
        if runs and runs[-1][1] == c - 1:
            runs[-1][1] = c
        else:
            runs.append([c, c])
    print(f'/* {comment} */\nstatic const Range {name}[] = {{')
    line = '   '
    for first, last in runs:
        item = f' {{0x{first:x}, 0x{last:x}}},'
        if len(line) + len(item) > 140:
            print(line)
            line = '   '
        line += item
    print(line + '\n};\n')


def cases(name, comment, change):
    print(f'/* {comment} */\nstatic const LongCase {name}[] = {{')
    for c in CHARACTERS:
        if len(change(c)) > 1:
            text = ''.join(f'\\x{b:02x}' for b in change(c).encode())
            print(f'    {{0x{ord(c):x}, "{text}"}},')
    print('};\n')


def is_ignorable(c):
    """Whether a final sigma looks past c (of a cased character that can't be told)."""
    return ('A' + c + '\u03a3').lower()[-1] == '\u03c2' and ('A\u03a3' + c + 'A').lower()[1] == '\u03c3' and ('1' + c + '\u03a3').lower()[-1] == '\u03c3'


def may_start(c):
    return category(c) in ('Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'Nl')


def may_go_on(c):
    return may_start(c) or category(c) in ('Mn', 'Mc', 'Nd', 'Pc')


def main():
    print('/* unichar.inc: made by scripts/gen-unichar.py. */\n')
    ranges('lower_others', 'Lower case, though not of category Ll.', [c for c in CHARACTERS if c.islower() and category(c) != 'Ll'])
    ranges('upper_others', 'Upper case, though not of category Lu.', [c for c in CHARACTERS if c.isupper() and category(c) != 'Lu'])
    ranges('digit_others', 'Digits, though not decimal ones.', [c for c in CHARACTERS if c.isdigit() and not c.isdecimal()])
    ranges('numeric_letters', 'Letters that are numbers.', [c for c in CHARACTERS if c.isnumeric() and category(c)[0] != 'N'])
    ranges('start_others', 'Where the start of a name and its categories disagree.', [c for c in CHARACTERS if c.isidentifier() != may_start(c)])
    ranges('going_on_others', 'The same for the rest of a name.', [c for c in CHARACTERS if ('a' + c).isidentifier() != may_go_on(c)])
    ranges('ignorable_others', 'What a final sigma looks past, though not a mark, modifier or format character.',
           [c for c in map(chr, range(0x21, 0x10000)) if is_ignorable(c) and category(c) not in ('Mn', 'Me', 'Cf', 'Lm', 'Sk') and not 0xD800 <= ord(c) < 0xE000])
    cases('long_upper', 'Characters whose upper case is several.', str.upper)
    cases('long_title', 'Characters whose title case is several.', str.title)


main()

"""Writes src/text/tables.rs: where CPython's character properties differ from those of Rust's `char`.

Run with CPython 3.12: `python3.12 record_unicode.py PROPERTIES > ../src/text/tables.rs`. PROPERTIES has a line for each
character, made in Rust: hexadecimal code; printable by `escape_debug`; `is_alphabetic`; `is_numeric`; `is_lowercase`;
`is_uppercase`; `is_whitespace` (0 or 1 each); codes of `to_uppercase`; codes of `to_uppercase` then `to_lowercase`.
"""
import sys
import unicodedata


def ranges(codes):
    out = []
    for c in codes:
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def table(name, kind, doc, rows):
    print(f"/// {doc}")
    print(f"pub const {name}: &[{kind}] = &[")
    line = "   "
    for row in rows:
        if len(line) + len(row) > 125:
            print(line)
            line = "   "
        line += f" {row},"
    print(line + "\n];\n")


def show(name, doc, codes):
    table(name, "(u32, u32)", doc, [f"(0x{first:x}, 0x{last:x})" for first, last in ranges(codes)])


def main():
    rust = {}
    for line in open(sys.argv[1]):
        f = line.rstrip("\n").split(";")
        rust[int(f[0], 16)] = f[1:]
    differ = {"alpha": [], "numeric": [], "lower": [], "upper": [], "space": [], "printable": []}
    digits, decimals, titles, folds = [], [], [], []
    for code, row in sorted(rust.items()):
        c = chr(code)
        if unicodedata.category(c) == "Cn":
            continue
        facts = dict(printable=c.isprintable(), alpha=c.isalpha(), numeric=c.isnumeric(), lower=c.islower(),
                     upper=c.isupper(), space=c.isspace())
        for name, column in (("printable", 0), ("alpha", 1), ("numeric", 2), ("lower", 3), ("upper", 4), ("space", 5)):
            if facts[name] != (row[column] == "1"):
                differ[name].append(code)
        if c.isdigit() and not c.isdecimal():
            digits.append(code)
        if unicodedata.decimal(c, -1) == 0:
            decimals.append(code)
        upper = "".join(chr(int(x, 16)) for x in row[6].split())
        fold = "".join(chr(int(x, 16)) for x in row[7].split())
        if c.title() != upper:
            titles.append((code, c.title()))
        if c.casefold() != fold:
            folds.append((code, c.casefold()))
    print("//! Where CPython 3.12 differs from Rust's `char`. Written by tests/record_unicode.py.\n")
    show("ALPHA", "`isalpha` is the opposite of `char::is_alphabetic`.", differ["alpha"])
    show("NUMERIC", "`isnumeric` is the opposite of `char::is_numeric`.", differ["numeric"])
    show("LOWER", "`islower` is the opposite of `char::is_lowercase`.", differ["lower"])
    show("UPPER", "`isupper` is the opposite of `char::is_uppercase`.", differ["upper"])
    show("SPACE", "`isspace` is the opposite of `char::is_whitespace`.", differ["space"])
    show("PRINTABLE", "`isprintable` is the opposite of what `escape_debug` leaves alone.", differ["printable"])
    show("DIGITS", "`isdigit` beside `isdecimal`.", digits)
    table("ZEROS", "u32", "The zeros of the runs of ten decimal digits.", [f"0x{z:x}" for z in decimals])
    # Runs whose mapping is a constant distance are one row.
    for name, doc, rows in (("TITLE", "`title` is not `char::to_uppercase`.", titles),
                            ("FOLD", "`casefold` is not lower case of upper case.", folds)):
        runs, words = [], []
        for code, to in rows:
            if len(to) > 1:
                words.append((code, to))
                continue
            delta = ord(to) - code
            if runs and runs[-1][1] == code - 1 and runs[-1][2] == delta:
                runs[-1][1] = code
            else:
                runs.append([code, code, delta])
        table(name, "(u32, u32, i32)", f"{doc} First, last, what to add.",
              [f"(0x{first:x}, 0x{last:x}, {delta})" for first, last, delta in runs])
        escaped = lambda to: "".join(f"\\u{{{ord(x):x}}}" for x in to)
        table(f"{name}_WORDS", "(u32, &str)", f"{doc} To several characters.", [f'(0x{code:x}, "{escaped(to)}")' for code, to in words])
    idstart = [c for c in rust if unicodedata.category(chr(c)) != "Cn" and chr(c).isidentifier() != (chr(c).isalpha() or c == 0x5F)]
    show("IDENTIFIER_START", "May begin an identifier, though `isalpha` denies it, or the other way round.", sorted(idstart))
    cont = [c for c in rust if ("a" + chr(c)).isidentifier() and not chr(c).isidentifier() and not chr(c).isdecimal()]
    show("IDENTIFIER_REST", "May follow in an identifier, beside what may begin one and decimal digits.", sorted(cont))


main()

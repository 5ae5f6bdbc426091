"""What two sequences have in common: Ratcliff and Obershelp's matching of longest blocks."""

from collections import namedtuple
from heapq import nlargest

Match = namedtuple("Match", "a b size")


class SequenceMatcher:
    def __init__(self, isjunk=None, a="", b="", autojunk=True):
        self.isjunk, self.autojunk = isjunk, autojunk
        self.set_seqs(a, b)

    def set_seqs(self, a, b):
        self.set_seq1(a)
        self.set_seq2(b)

    def set_seq1(self, a):
        self.a, self._blocks, self._codes = a, None, None

    def set_seq2(self, b):
        self.b, self._blocks, self._codes = b, None, None
        places = {}
        for i, item in enumerate(b):
            places.setdefault(item, []).append(i)
        self.bjunk = {item for item in places if self.isjunk and self.isjunk(item)}
        # In long texts what is everywhere says nothing.
        often = len(b) // 100 + 1
        self.bpopular = {k for k, v in places.items() if self.autojunk and len(b) >= 200 and len(v) > often and k not in self.bjunk}
        self.b2j = {k: v for k, v in places.items() if k not in self.bjunk and k not in self.bpopular}

    def find_longest_match(self, alo=0, ahi=None, blo=0, bhi=None):
        a, b, junk = self.a, self.b, self.bjunk
        ahi, bhi = len(a) if ahi is None else ahi, len(b) if bhi is None else bhi
        besti, bestj, size, lengths = alo, blo, 0, {}
        for i in range(alo, ahi):
            now = {}
            for j in self.b2j.get(a[i], ()):
                if j < blo:
                    continue
                if j >= bhi:
                    break
                k = now[j] = lengths.get(j - 1, 0) + 1
                if k > size:
                    besti, bestj, size = i - k + 1, j - k + 1, k
            lengths = now
        for only_junk in (False, True):
            while besti > alo and bestj > blo and (b[bestj - 1] in junk) == only_junk and a[besti - 1] == b[bestj - 1]:
                besti, bestj, size = besti - 1, bestj - 1, size + 1
            while besti + size < ahi and bestj + size < bhi and (b[bestj + size] in junk) == only_junk and a[besti + size] == b[bestj + size]:
                size += 1
        return Match(besti, bestj, size)

    def get_matching_blocks(self):
        if self._blocks is not None:
            return self._blocks
        la, lb = len(self.a), len(self.b)
        queue, found = [(0, la, 0, lb)], []
        while queue:
            alo, ahi, blo, bhi = queue.pop()
            i, j, k = match = self.find_longest_match(alo, ahi, blo, bhi)
            if k:
                found.append(match)
                if alo < i and blo < j:
                    queue.append((alo, i, blo, j))
                if i + k < ahi and j + k < bhi:
                    queue.append((i + k, ahi, j + k, bhi))
        found.sort()
        joined = []
        for m in found:
            if joined and joined[-1][0] + joined[-1][2] == m[0] and joined[-1][1] + joined[-1][2] == m[1]:
                joined[-1] = Match(joined[-1][0], joined[-1][1], joined[-1][2] + m[2])
            else:
                joined.append(m)
        self._blocks = joined + [Match(la, lb, 0)]
        return self._blocks

    def get_opcodes(self):
        if self._codes is None:
            i = j = 0
            self._codes = codes = []
            for ai, bj, size in self.get_matching_blocks():
                tag = "replace" if i < ai and j < bj else "delete" if i < ai else "insert" if j < bj else ""
                if tag:
                    codes.append((tag, i, ai, j, bj))
                i, j = ai + size, bj + size
                if size:
                    codes.append(("equal", ai, i, bj, j))
        return self._codes

    def get_grouped_opcodes(self, n=3):
        codes = self.get_opcodes() or [("equal", 0, 1, 0, 1)]
        codes = list(codes)
        if codes[0][0] == "equal":
            tag, i1, i2, j1, j2 = codes[0]
            codes[0] = tag, max(i1, i2 - n), i2, max(j1, j2 - n), j2
        if codes[-1][0] == "equal":
            tag, i1, i2, j1, j2 = codes[-1]
            codes[-1] = tag, i1, min(i2, i1 + n), j1, min(j2, j1 + n)
        group = []
        for tag, i1, i2, j1, j2 in codes:
            if tag == "equal" and i2 - i1 > 2 * n:
                group.append((tag, i1, min(i2, i1 + n), j1, min(j2, j1 + n)))
                yield group
                group, i1, j1 = [], max(i1, i2 - n), max(j1, j2 - n)
            group.append((tag, i1, i2, j1, j2))
        if group and not (len(group) == 1 and group[0][0] == "equal"):
            yield group

    def ratio(self):
        total = len(self.a) + len(self.b)
        return 2.0 * sum([m[2] for m in self.get_matching_blocks()]) / total if total else 1.0

    def quick_ratio(self):
        counts = {}
        for x in self.b:
            counts[x] = counts.get(x, 0) + 1
        same = 0
        for x in self.a:
            if counts.get(x, 0) > 0:
                same, counts[x] = same + 1, counts[x] - 1
        total = len(self.a) + len(self.b)
        return 2.0 * same / total if total else 1.0

    def real_quick_ratio(self):
        la, lb = len(self.a), len(self.b)
        return 2.0 * min(la, lb) / (la + lb) if la + lb else 1.0


def get_close_matches(word, possibilities, n=3, cutoff=0.6):
    if n <= 0:
        raise ValueError(f"n must be > 0: {n!r}")
    if not 0.0 <= cutoff <= 1.0:
        raise ValueError(f"cutoff must be in [0.0, 1.0]: {cutoff!r}")
    found, matcher = [], SequenceMatcher()
    matcher.set_seq2(word)
    for x in possibilities:
        matcher.set_seq1(x)
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff and matcher.ratio() >= cutoff:
            found.append((matcher.ratio(), x))
    return [x for _, x in nlargest(n, found)]


def _span(start, stop):
    size = stop - start
    return f"{start + 1}" if size == 1 else f"{start + (size > 0)},{size}"


def unified_diff(a, b, fromfile="", tofile="", fromfiledate="", tofiledate="", n=3, lineterm="\n"):
    started = False
    for group in SequenceMatcher(None, a, b).get_grouped_opcodes(n):
        if not started:
            started = True
            yield f"--- {fromfile}{'	' + fromfiledate if fromfiledate else ''}{lineterm}"
            yield f"+++ {tofile}{'	' + tofiledate if tofiledate else ''}{lineterm}"
        yield f"@@ -{_span(group[0][1], group[-1][2])} +{_span(group[0][3], group[-1][4])} @@{lineterm}"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from [" " + line for line in a[i1:i2]]
            if tag in ("replace", "delete"):
                yield from ["-" + line for line in a[i1:i2]]
            if tag in ("replace", "insert"):
                yield from ["+" + line for line in b[j1:j2]]


def context_diff(a, b, fromfile="", tofile="", fromfiledate="", tofiledate="", n=3, lineterm="\n"):
    marks, started = {"insert": "+ ", "delete": "- ", "replace": "! ", "equal": "  "}, False
    for group in SequenceMatcher(None, a, b).get_grouped_opcodes(n):
        if not started:
            started = True
            yield f"*** {fromfile}{lineterm}"
            yield f"--- {tofile}{lineterm}"
        yield "***************" + lineterm
        for at, gone, lines, stars in ((1, "insert", a, "*** {} ****"), (3, "delete", b, "--- {} ----")):
            start, stop = group[0][at], group[-1][at + 1]
            size = stop - start
            yield stars.format(f"{start + (size > 0)}" if size <= 1 else f"{start + 1},{stop}") + lineterm
            if any([tag in ("replace", "delete" if at == 1 else "insert") for tag, *_ in group]):
                for code in group:
                    if code[0] != gone:
                        yield from [marks[code[0]] + line for line in lines[code[at]:code[at + 1]]]


def IS_LINE_JUNK(line, pat=None):
    return line.strip() in ("", "#")


def IS_CHARACTER_JUNK(ch, ws=" \t"):
    return ch in ws


class Differ:
    def __init__(self, linejunk=None, charjunk=None):
        self.linejunk, self.charjunk = linejunk, charjunk

    def compare(self, a, b):
        for tag, alo, ahi, blo, bhi in SequenceMatcher(self.linejunk, a, b).get_opcodes():
            if tag == "replace":
                yield from self._replace(a, alo, ahi, b, blo, bhi)
            else:
                sign = {"delete": "-", "insert": "+", "equal": " "}[tag]
                yield from [f"{sign} {line}" for line in (b[blo:bhi] if tag == "insert" else a[alo:ahi])]

    def _plain(self, a, alo, ahi, b, blo, bhi):
        old, new = [f"- {x}" for x in a[alo:ahi]], [f"+ {x}" for x in b[blo:bhi]]
        yield from new + old if bhi - blo < ahi - alo else old + new

    def _replace(self, a, alo, ahi, b, blo, bhi):
        # The two lines most alike are shown against one another, what is before and after them by itself.
        best, pair, same, cruncher = 0.74, None, None, SequenceMatcher(self.charjunk)
        for j in range(blo, bhi):
            cruncher.set_seq2(b[j])
            for i in range(alo, ahi):
                if a[i] == b[j]:
                    same = same or (i, j)
                    continue
                cruncher.set_seq1(a[i])
                if cruncher.ratio() > best:
                    best, pair = cruncher.ratio(), (i, j)
        if best < 0.75:
            if same is None:
                yield from self._plain(a, alo, ahi, b, blo, bhi)
                return
            pair, best = same, 1.0
        else:
            same = None
        i, j = pair
        yield from self._around(a, alo, i, b, blo, j)
        if same is None:
            marks = ["", ""]
            cruncher.set_seqs(a[i], b[j])
            for tag, i1, i2, j1, j2 in cruncher.get_opcodes():
                here = {"replace": "^^", "delete": "- ", "insert": " +", "equal": "  "}[tag]
                marks[0] += here[0] * (i2 - i1)
                marks[1] += here[1] * (j2 - j1)
            for sign, line, under in ("-", a[i], marks[0]), ("+", b[j], marks[1]):
                yield f"{sign} {line}"
                under = "".join([c if m == " " and c.isspace() else m for c, m in zip(line, under)]).rstrip()
                if under:
                    yield f"? {under}\n"
        else:
            yield f"  {a[i]}"
        yield from self._around(a, i + 1, ahi, b, j + 1, bhi)

    def _around(self, a, alo, ahi, b, blo, bhi):
        if alo < ahi and blo < bhi:
            yield from self._replace(a, alo, ahi, b, blo, bhi)
        else:
            yield from [f"- {x}" for x in a[alo:ahi]] + [f"+ {x}" for x in b[blo:bhi]]


def ndiff(a, b, linejunk=None, charjunk=IS_CHARACTER_JUNK):
    return Differ(linejunk, charjunk).compare(a, b)


def restore(delta, which):
    return (line[2:] for line in delta if line[:2] in ({1: "- ", 2: "+ "}[int(which)], "  "))

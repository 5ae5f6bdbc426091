"""unicodedata for Latin letters, their marks and common punctuation; what is beyond is refused, since the tables would outweigh the
language."""

unidata_version = "15.0.0"

# A letter and the letter with the mark, by the mark (UnicodeData.txt, U+00C0 to U+024F and U+1E00 to U+1EFF).
_PAIRS = {
    0x0300: "AÀEÈIÌOÒUÙaàeèiìoòuùÜǛüǜNǸnǹĒḔēḕŌṐōṑWẀwẁÂẦâầĂẰăằÊỀêềÔỒôồƠỜơờƯỪưừYỲyỳ",
    0x0301:
        "AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzźÜǗüǘGǴgǵÅǺåǻÆǼæǽØǾøǿÇḈçḉĒḖēḗÏḮïḯKḰkḱMḾmḿÕṌõṍŌṒōṓPṔpṕŨṸũṹWẂwẃÂẤ"
        "âấĂẮăắÊẾêếÔỐôốƠỚơớƯỨưứ",
    0x0302: "AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷZẐzẑẠẬạậẸỆẹệỌỘọộ",
    0x0303: "AÃNÑOÕaãnñoõIĨiĩUŨuũVṼvṽÂẪâẫĂẴăẵEẼeẽÊỄêễÔỖôỗƠỠơỡƯỮưữYỸyỹ",
    0x0304: "AĀaāEĒeēIĪiīOŌoōUŪuūÜǕüǖÄǞäǟȦǠȧǡÆǢæǣǪǬǫǭÖȪöȫÕȬõȭȮȰȯȱYȲyȳGḠgḡḶḸḷḹṚṜṛṝ",
    0x0306: "AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭȨḜȩḝẠẶạặ",
    0x0307: "CĊcċEĖeėGĠgġIİZŻzżAȦaȧOȮoȯBḂbḃDḊdḋFḞfḟHḢhḣMṀmṁNṄnṅPṖpṗRṘrṙSṠsṡŚṤśṥŠṦšṧṢṨṣṩTṪtṫWẆwẇXẊxẋYẎyẏſẛ",
    0x0308: "AÄEËIÏOÖUÜaäeëiïoöuüyÿYŸHḦhḧÕṎõṏŪṺūṻWẄwẅXẌxẍtẗ",
    0x0309: "AẢaảÂẨâẩĂẲăẳEẺeẻÊỂêểIỈiỉOỎoỏÔỔôổƠỞơởUỦuủƯỬưửYỶyỷ",
    0x030a: "AÅaåUŮuůwẘyẙ",
    0x030b: "OŐoőUŰuű",
    0x030c: "CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžAǍaǎIǏiǐOǑoǒUǓuǔÜǙüǚGǦgǧKǨkǩƷǮʒǯjǰHȞhȟ",
    0x030f: "AȀaȁEȄeȅIȈiȉOȌoȍRȐrȑUȔuȕ",
    0x0311: "AȂaȃEȆeȇIȊiȋOȎoȏRȒrȓUȖuȗ",
    0x031b: "OƠoơUƯuư",
    0x0323: "BḄbḅDḌdḍHḤhḥKḲkḳLḶlḷMṂmṃNṆnṇRṚrṛSṢsṣTṬtṭVṾvṿWẈwẉZẒzẓAẠaạEẸeẹIỊiịOỌoọƠỢơợUỤuụƯỰưựYỴyỵ",
    0x0324: "UṲuṳ",
    0x0325: "AḀaḁ",
    0x0326: "SȘsșTȚtț",
    0x0327: "CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţEȨeȩDḐdḑHḨhḩ",
    0x0328: "AĄaąEĘeęIĮiįUŲuųOǪoǫ",
    0x032d: "DḒdḓEḘeḙLḼlḽNṊnṋTṰtṱUṶuṷ",
    0x032e: "HḪhḫ",
    0x0330: "EḚeḛIḬiḭUṴuṵ",
    0x0331: "BḆbḇDḎdḏKḴkḵLḺlḻNṈnṉRṞrṟTṮtṯZẔzẕhẖ",
}
_PARTS = {pairs[i + 1]: (pairs[i], chr(mark)) for mark, pairs in _PAIRS.items() for i in range(0, len(pairs), 2)}
_WHOLE = {parts: whole for whole, parts in _PARTS.items()}
_COMPATIBLE = {
    "\xa0": " ", "ª": "a", "º": "o", "²": "2", "³": "3", "¹": "1", "¼": "1⁄4", "½": "1⁄2", "¾": "3⁄4", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl",
    "…": "...", "µ": "μ", "¨": " \u0308", "¯": " \u0304", "´": " \u0301", "¸": " \u0327", "ſ": "s", "™": "TM",
}
_KINDS = {
    "Zs": " \xa0\u202f\u3000", "Po": "!\"#%&'*,./:;?@\\¡§¶·¿†‡•…‰′″", "Sc": "$¢£¤¥€", "Ps": "([{‚„", "Pe": ")]}", "Sm": "+<=>|~¬±×÷⁄−",
    "Pd": "-‐‑‒–—―", "Sk": "^`¨¯´¸", "Pc": "_‿", "So": "¦©®°™", "Pi": "«‘“‹", "Pf": "»’”›", "No": "²³¹¼½¾", "Lo": "ªº", "Zl": "\u2028",
    "Zp": "\u2029",
}
_CATEGORY = {c: kind for kind, chars in _KINDS.items() for c in chars}
_BELOW = "\u0316\u0317\u0323\u0324\u0325\u0326\u032d\u032e\u0330\u0331"
_ATTACHED = "\u0321\u0322\u0327\u0328"


def _known(c, what):
    n = ord(c)
    if n < 0x370 or 0x1e00 <= n < 0x1f00 or c in _CATEGORY or c in _COMPATIBLE:
        return
    raise NotImplementedError(f"unicodedata.{what} of U+{n:04X}: there are tables of Latin letters only")


def combining(chr):
    _known(chr, "combining")
    if not "\u0300" <= chr < "\u0370":
        return 0
    return 220 if chr in _BELOW else 202 if chr in _ATTACHED else 216 if chr == "\u031b" else 0 if chr == "\u034f" else 230


def category(chr):
    if chr in _CATEGORY:
        return _CATEGORY[chr]
    if "\u0300" <= chr < "\u0370":
        return "Mn"
    if chr < " " or "\x7f" <= chr < "\xa0":
        return "Cc"
    if chr == "\xad":
        return "Cf"
    if chr.isupper() or chr.islower():
        return "Lu" if chr.isupper() else "Ll"
    if chr.isdecimal():
        return "Nd"
    _known(chr, "category")
    return "Lt" if chr in "ǅǈǋǲ" else "Lo"


def _split(c, compatible):
    if compatible and c in _COMPATIBLE:
        return "".join([_split(d, True) for d in _COMPATIBLE[c]])
    if c not in _PARTS:
        return c
    base, mark = _PARTS[c]
    return _split(base, compatible) + mark


def normalize(form, unistr):
    if form not in ("NFC", "NFD", "NFKC", "NFKD"):
        raise ValueError("invalid normalization form")
    if unistr.isascii():
        return unistr
    for c in unistr:
        _known(c, "normalize")
    chars = list("".join([_split(c, "K" in form) for c in unistr]))
    # Marks in the order of their classes.
    start = 0
    for i in range(1, len(chars) + 1):
        if i == len(chars) or combining(chars[i]) == 0:
            chars[start + 1:i] = sorted(chars[start + 1:i], key=combining)
            start = i
    if form.endswith("D"):
        return "".join(chars)
    made, base, last = [], None, 0
    for c in chars:
        order = combining(c)
        if base is not None and order > last and (made[base], c) in _WHOLE:
            made[base] = _WHOLE[made[base], c]
            continue
        if order == 0:
            base = len(made)
        last = order
        made.append(c)
    return "".join(made)


def is_normalized(form, unistr):
    return normalize(form, unistr) == unistr


def decimal(chr, *default):
    if chr.isdecimal():
        return int(chr)
    if default:
        return default[0]
    raise ValueError("not a decimal")


digit = numeric = decimal


def name(chr, *default):
    raise NotImplementedError("unicodedata.name: characters' names would outweigh the language")


def lookup(name):
    raise NotImplementedError("unicodedata.lookup: characters' names would outweigh the language")

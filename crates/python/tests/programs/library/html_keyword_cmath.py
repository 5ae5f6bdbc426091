import cmath
import html
import keyword

print(html.escape('<a href="x">&\'</a>'), html.escape('"', quote=False), html.unescape("&lt;b&gt; &amp; &#39; &#x41; &unknown;"))
print([word for word in ("for", "fort", "None", "match") if keyword.iskeyword(word)], keyword.softkwlist)
for value in (cmath.sqrt(-1), cmath.sqrt(3 - 4j), cmath.exp(0), cmath.phase(-1), cmath.polar(1j), abs(cmath.rect(2, 0.5)), cmath.isclose(1 + 1e-12j, 1)):
    print(value)

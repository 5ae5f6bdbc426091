import numpy as np
s = np.array(["abc","de","F"])
print(np.char.upper(s), np.char.lower(s), np.char.add(s, "x"), np.char.str_len(s), np.char.startswith(s,"a"), np.char.endswith(s,"e"), np.char.replace(s,"a","zz"), np.char.strip([" a ","b "]), np.char.find(s,"e"), np.char.count(s,"a"), np.char.multiply(s,2), np.char.split(["a b","c"]), np.char.join("-", ["abc","de"]), np.char.capitalize(s), np.char.title(s), np.char.center(s,5), np.char.zfill(["1","22"],4), np.char.ljust(s,4,"*"), np.char.isalpha(s), np.char.isdigit(["1","a"]), np.char.isnumeric(["1","a"]), np.char.equal(s,s), np.char.mod("%d", np.array([1,2])), np.char.encode(["a"]), np.char.lstrip(["xxa"],"x"), np.char.swapcase(s), np.char.partition(["a-b"],"-"), np.char.isupper(s), np.char.rjust(s,4))
print(np.char.add([["a", "b"], ["c", "d"]], ["x", "y"]), np.char.upper("abc"), np.char.multiply(["a", "b"], [2, 0]))
print(np.char.replace(["aaa", "aba"], "a", "b", count=1), np.char.greater(["b", "a"], "a"), np.char.rpartition(["a-b-c"], "-"))
print(np.strings.str_len(np.array(["one", "four"])), np.char.splitlines(["a\nb"]), np.char.expandtabs(["a\tb"], 4))
print(np.array([1, 2]).astype(str), np.array([1.5, 2]).astype(object), np.arange(3).astype(complex))

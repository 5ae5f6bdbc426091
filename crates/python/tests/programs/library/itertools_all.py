from itertools import *
print(list(chain([1], 'ab', (2,))), list(chain.from_iterable([[1], [2, 3]])), list(islice(count(5, 2), 3)), list(islice('abcdef', 1, 5, 2)), list(islice(cycle('ab'), 5)), list(repeat(7, 3)))
print(list(product('ab', [1, 2])), len(list(product(range(3), repeat=3))), list(permutations([1, 2, 3], 2)), list(combinations('abcd', 2)), list(combinations_with_replacement('ab', 2)))
print(list(accumulate([1, 2, 3])), list(accumulate([1, 2, 3], lambda a, b: a * b)), list(accumulate([1, 2], initial=10)), list(starmap(pow, [(2, 3), (3, 2)])), list(takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(dropwhile(lambda x: x < 3, [1, 2, 3, 1])))
print([(k, list(g)) for k, g in groupby('aabbbc')], list(zip_longest([1, 2], 'a', fillvalue='-')), list(filterfalse(lambda x: x % 2, range(5))), list(compress('abc', [1, 0, 1])), list(pairwise([1, 2, 3])), list(batched('abcde', 2)))
a, b = tee([1, 2, 3]); print(list(a), next(b), list(b))
c = count(); print(next(c), next(c), list(zip(c, 'ab')), [k for k, _ in groupby([1, 1, 2, 1])], list(product()), list(permutations([])))
it = iter(range(10)); print(list(islice(it, 3)), list(it)); print({k: len(list(g)) for k, g in groupby(sorted('banana'))})

"""The value that is there most often, at the place among its equals where PyTorch finds it."""

from torch import _C
from torch._functions import _pair


def mode(input, dim=-1, keepdim=False, *, out=None):
    """Of several values the least, at the place of the last of them once they are sorted."""
    rows = input.movedim(dim, -1) if input.dim() else input.reshape(1, 1)
    n, places = rows.shape[-1], []
    if not n:
        raise IndexError(f"mode(): Expected reduction dim {dim % input.dim()} to have non-zero size.")
    all_values = _C.values(rows)
    for start in range(0, len(all_values), n):
        row = all_values[start:start + n]
        order = _sorted(row)
        most = begin = 0
        for i in range(n):
            if i + 1 == n or row[order[i]] != row[order[i + 1]]:
                if i + 1 - begin > most:
                    most, place = i + 1 - begin, order[i]
                begin = i + 1
        places.append(place)
    places = _C.tensor(places, _C.int64).reshape(list(rows.shape[:-1]))
    made = [rows.gather(-1, places.unsqueeze(-1)).squeeze(-1), places]
    if made[0].requires_grad:
        made[0]._made_by = "ModeBackward0"
    if not input.dim():
        return _pair("mode", [m.reshape(()) for m in made], out)
    return _pair("mode", [m.unsqueeze(dim) for m in made] if keepdim else made, out)


def _sorted(row):
    """Places in the order of their values as the C++ library's `std::sort` leaves them: parts of up to 16 are sorted in their order, what
    is longer is divided at the median of three."""
    order, parts = list(range(len(row))), [(0, len(row), 2 * (len(row).bit_length() - 1))]

    def swap(i, j):
        order[i], order[j] = order[j], order[i]
    while parts:
        first, last, depth = parts.pop()
        while last - first > 16 and depth:
            depth -= 1
            a, b, c = [(row[order[i]], i) for i in (first + 1, (first + last) // 2, last - 1)]
            if a[0] < b[0]:
                median = b if b[0] < c[0] else c if a[0] < c[0] else a
            else:
                median = a if a[0] < c[0] else c if b[0] < c[0] else b
            swap(first, median[1])
            pivot, left, right = row[order[first]], first + 1, last
            while True:
                while row[order[left]] < pivot:
                    left += 1
                right -= 1
                while pivot < row[order[right]]:
                    right -= 1
                if left >= right:
                    break
                swap(left, right)
                left += 1
            parts.append((left, last, depth))
            last = left
    # What is left is sorted by insertion, which keeps the order of equals.
    return sorted(order, key=lambda i: row[i])

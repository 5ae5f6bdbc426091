"""One number for each dimension."""


def _ntuple(n, name="parse"):
    def parse(x):
        return tuple(x) if hasattr(x, "__iter__") else (x,) * n
    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = _ntuple(1, "_single"), _ntuple(2, "_pair"), _ntuple(3, "_triple"), _ntuple(4, "_quadruple")


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    for key in [k for k in state_dict if k.startswith(prefix)]:
        state_dict[key[len(prefix):]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in [k for k in metadata if len(k) and (k.startswith(prefix) or k == prefix.replace(".", ""))]:
        value = metadata.pop(key)
        if key != prefix.replace(".", ""):
            metadata[key[len(prefix):]] = value


def _reverse_repeat_tuple(t, n):
    return tuple([x for x in reversed(t) for _ in range(n)])

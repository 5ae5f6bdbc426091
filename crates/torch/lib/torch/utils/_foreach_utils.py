"""Lists of tensors, by what they have alike."""


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    first, groups = tensorlistlist[0], {}
    for i, t in enumerate(first):
        lists, indices = groups.setdefault((t.device, t.dtype), ([[] for _ in tensorlistlist], []))
        for to, tensors in zip(lists, tensorlistlist):
            to.append(tensors[i])
        indices.append(i)
    return groups


def _get_fused_kernels_supported_devices():
    return []


def _get_foreach_kernels_supported_devices():
    return []

# What element types can hold.
import torch

for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    info = torch.finfo(kind)
    print(info, info.bits, info.eps, info.max, info.min, info.tiny, info.smallest_normal, info.resolution, info.dtype)
for kind in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
    info = torch.iinfo(kind)
    print(info, info.bits, info.max, info.min, info.dtype)
print(torch.finfo(), torch.finfo(torch.complex64))
print(torch.finfo(torch.float32) == torch.finfo(torch.float32), torch.iinfo(torch.int8) != torch.iinfo(torch.uint8), len({torch.iinfo(torch.int8)}))
for call in (
    lambda: torch.iinfo(torch.bool),
    lambda: torch.finfo(torch.int32),
    lambda: torch.iinfo(torch.float32),
    lambda: torch.finfo("float32"),
):
    try:
        print(call())
    except TypeError as e:
        print(e)

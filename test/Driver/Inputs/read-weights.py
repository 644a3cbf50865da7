# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a file of the safetensors format as strictly as its own library: tensors cover all bytes, none twice. Ours begin at
multiples of 64 bytes; what fills the space between them is not counted."""
import json
import struct
import sys

SIZES = {"F32": 4, "U8": 1}
data = open(sys.argv[1], "rb").read()
(size,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + size])
assert list(header.pop("__metadata__")) == ["attn.identity"]
end = 0
for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
    begin, after = tensor["data_offsets"]
    elements = 1
    for n in tensor["shape"]:
        elements *= n
    assert begin == end and after - begin == elements * SIZES[tensor["dtype"]], name
    assert name.startswith("attn.padding.") or (8 + size + begin) % 64 == 0, name
    end = after
assert 8 + size + end == len(data)
print(sum(not name.startswith("attn.padding.") for name in header), "tensors")

"""make_weights.py FILE: weights for block.mlir, as a file of the safetensors format. With torch it would be
safetensors.torch.save_file(model.state_dict(), FILE); the format is simple enough to write without."""
import json
import struct
import sys

import numpy as np

SHAPES = {"input_layernorm.weight": (64,), "self_attn.q_proj.weight": (64, 64), "self_attn.k_proj.weight": (32, 64),
          "self_attn.v_proj.weight": (32, 64), "self_attn.o_proj.weight": (64, 64), "post_attention_layernorm.weight": (64,),
          "mlp.up_proj.weight": (160, 64), "mlp.down_proj.weight": (64, 160)}


def make():
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=shape).astype(np.float32) / np.float32(shape[-1] ** 0.5) for name, shape in SHAPES.items()}


def save(path, tensors):
    """The size of a header in 8 bytes, the header in JSON, then all bytes."""
    header, place = {}, 0
    for name, x in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [place, place + x.nbytes]}
        place += x.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for x in tensors.values():
            file.write(x.tobytes())


if __name__ == "__main__":
    save(sys.argv[1], make())

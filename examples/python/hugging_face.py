# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model of the package transformers with our kernels as its attention.

It is small and made in place, with random weights, so nothing is downloaded.
Run it with torch and transformers installed; it prints how far the logits are
from those of PyTorch's own attention."""
import attn.torch
import torch
import transformers

transformers.AttentionInterface.register("attn", attn.torch.hugging_face_attention)
# Masks are made as for PyTorch's attention: none where it is causal, else of bool.
transformers.AttentionMaskInterface.register("attn", transformers.masking_utils.sdpa_mask)

config = transformers.LlamaConfig(
    vocab_size=500, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=2)
torch.manual_seed(0)
model = transformers.LlamaForCausalLM(config).eval()
tokens = torch.randint(0, 500, (2, 40))
padded = torch.ones(2, 40, dtype=torch.long)
padded[1, :12] = 0  # the second sentence is shorter

with torch.no_grad():
    for mask in (None, padded):
        model.set_attn_implementation("sdpa")
        expected = model(tokens, attention_mask=mask).logits
        model.set_attn_implementation("attn")
        found = model(tokens, attention_mask=mask).logits
        seen = slice(None) if mask is None else mask.bool()
        print(f"largest difference of logits: {(found - expected)[seen].abs().max():.1e}")
    text = model.generate(tokens[:1, :8], max_new_tokens=8, do_sample=False, pad_token_id=0)
    model.set_attn_implementation("sdpa")
    assert torch.equal(text, model.generate(tokens[:1, :8], max_new_tokens=8, do_sample=False, pad_token_id=0))
print("the same words are generated")

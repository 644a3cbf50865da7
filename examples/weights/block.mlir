// A layer of a decoder whose weights lie in block.safetensors beside it: make_weights.py writes that file, and any exporter could.
// 64 features; 4 heads of queries, of which two share one of keys; 160 features inside. Its only argument is x[batch, word].
!x = tensor<?x?x64xf32>
!g = tensor<64xf32>

func.func @block(%x: !x) -> !x {
  %g1    = attn.weight "input_layernorm.weight" from "block.safetensors" : !g
  %wq    = attn.weight "self_attn.q_proj.weight" from "block.safetensors" : tensor<64x64xf32>
  %wk    = attn.weight "self_attn.k_proj.weight" from "block.safetensors" : tensor<32x64xf32>
  %wv    = attn.weight "self_attn.v_proj.weight" from "block.safetensors" : tensor<32x64xf32>
  %wo    = attn.weight "self_attn.o_proj.weight" from "block.safetensors" : tensor<64x64xf32>
  %g2    = attn.weight "post_attention_layernorm.weight" from "block.safetensors" : !g
  %wup   = attn.weight "mlp.up_proj.weight" from "block.safetensors" : tensor<160x64xf32>
  %wdown = attn.weight "mlp.down_proj.weight" from "block.safetensors" : tensor<64x160xf32>

  // torch keeps a row of weights per output: the products read them transposed.
  %n      = attn.rms_norm %x, %g1 eps 1.0e-6 : !x, !g
  %xq     = attn.project %n, %wq transposed : (!x, tensor<64x64xf32>) -> !x
  %xk     = attn.project %n, %wk transposed : (!x, tensor<32x64xf32>) -> tensor<?x?x32xf32>
  %xv     = attn.project %n, %wv transposed : (!x, tensor<32x64xf32>) -> tensor<?x?x32xf32>
  %q      = attn.split_heads %xq into 4 : !x -> tensor<?x4x?x16xf32>
  %k      = attn.split_heads %xk into 2 : tensor<?x?x32xf32> -> tensor<?x2x?x16xf32>
  %v      = attn.split_heads %xv into 2 : tensor<?x?x32xf32> -> tensor<?x2x?x16xf32>
  %scores = attn.scores %q, %k : (tensor<?x4x?x16xf32>, tensor<?x2x?x16xf32>) -> tensor<?x4x?x?xf32>
  %scaled = attn.scale %scores by 0.25 : tensor<?x4x?x?xf32>
  %masked = attn.mask %scaled where causal(top_left) : tensor<?x4x?x?xf32>
  %p      = attn.softmax %masked : tensor<?x4x?x?xf32>
  %heads  = attn.context %p, %v : (tensor<?x4x?x?xf32>, tensor<?x2x?x16xf32>) -> tensor<?x4x?x16xf32>
  %joined = attn.merge_heads %heads : tensor<?x4x?x16xf32> -> !x
  %o      = attn.project %joined, %wo transposed : (!x, tensor<64x64xf32>) -> !x
  %r      = arith.addf %x, %o : !x

  %m      = attn.rms_norm %r, %g2 eps 1.0e-6 : !x, !g
  %up     = attn.project %m, %wup transposed : (!x, tensor<160x64xf32>) -> tensor<?x?x160xf32>
  %t      = math.tanh %up : tensor<?x?x160xf32>
  %down   = attn.project %t, %wdown transposed : (tensor<?x?x160xf32>, tensor<64x160xf32>) -> !x
  %out    = arith.addf %r, %down : !x
  return %out : !x
}

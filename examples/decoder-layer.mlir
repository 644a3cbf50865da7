// A layer of a decoder that goes on with a text: the new words x stand at the positions `at`, one after the other, and their keys and values are added to
// those of the words before, which lie in a cache with room for more. RMS norms, rotary positions, groups of 2 heads that share a key head, SwiGLU.
// A caller that gives the caches' memory for the new caches has them written in place. 64 features, 4 heads, 176 features inside.
!x = tensor<?x?x64xf32>
!wide = tensor<?x?x176xf32>
!heads = tensor<?x4x?x16xf32>
!shared = tensor<?x2x?x16xf32>
!table = tensor<?x8xf32>

// gate * sigmoid(gate) * up of every element.
func.func private @swiglu(%gate: !wide, %up: !wide) -> !wide {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %gate, %c0 : !wide
  %words = tensor.dim %gate, %c1 : !wide
  %empty = tensor.empty(%batch, %words) : !wide
  %y = linalg.map ins(%gate, %up : !wide, !wide) outs(%empty : !wide) (%g: f32, %u: f32, %o: f32) {
    %one = arith.constant 1.0 : f32
    %m = arith.negf %g : f32
    %e = math.exp %m : f32
    %d = arith.addf %e, %one : f32
    %s = arith.divf %g, %d : f32
    %p = arith.mulf %s, %u : f32
    linalg.yield %p : f32
  }
  return %y : !wide
}

func.func @decoder_layer(%x: !x, %at: tensor<?xi64>, %keys: !shared, %values: !shared, %cos: !table, %sin: !table, %g1: tensor<64xf32>,
    %wq: tensor<64x64xf32>, %wk: tensor<64x32xf32>, %wv: tensor<64x32xf32>, %wo: tensor<64x64xf32>, %g2: tensor<64xf32>,
    %wgate: tensor<64x176xf32>, %wup: tensor<64x176xf32>, %wdown: tensor<176x64xf32>)
    -> (!x, !shared {attn.in_place = "keys"}, !shared {attn.in_place = "values"}) {
  %c0    = arith.constant 0 : index
  %c1    = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x
  %first = tensor.extract %at[%c0] : tensor<?xi64>
  %past  = arith.index_cast %first : i64 to index
  %start = tensor.extract_slice %at[0] [1] [1] : tensor<?xi64> to tensor<1xi64>

  %n1    = attn.rms_norm %x, %g1 eps 1.0e-6 : !x, tensor<64xf32>
  %xq    = attn.project %n1, %wq : (!x, tensor<64x64xf32>) -> !x
  %xk    = attn.project %n1, %wk : (!x, tensor<64x32xf32>) -> tensor<?x?x32xf32>
  %xv    = attn.project %n1, %wv : (!x, tensor<64x32xf32>) -> tensor<?x?x32xf32>
  %q     = attn.split_heads %xq into 4 : !x -> !heads
  %k     = attn.split_heads %xk into 2 : tensor<?x?x32xf32> -> !shared
  %v     = attn.split_heads %xv into 2 : tensor<?x?x32xf32> -> !shared
  %rq    = attn.rope %q, %cos, %sin at %at : tensor<?xi64> : !heads, !table
  %rk    = attn.rope %k, %cos, %sin at %at : tensor<?xi64> : !shared, !table
  %allk  = tensor.insert_slice %rk into %keys[0, 0, %past, 0] [%batch, 2, %words, 16] [1, 1, 1, 1] : !shared into !shared
  %allv  = tensor.insert_slice %v into %values[0, 0, %past, 0] [%batch, 2, %words, 16] [1, 1, 1, 1] : !shared into !shared
  %a     = attn.sdpa %rq, %allk, %allv scale 0.25 where causal(offset = %start : tensor<1xi64>) : (!heads, !shared, !shared) -> !heads
  %c     = attn.merge_heads %a : !heads -> !x
  %o     = attn.project %c, %wo : (!x, tensor<64x64xf32>) -> !x
  %r     = arith.addf %x, %o : !x

  %n2    = attn.rms_norm %r, %g2 eps 1.0e-6 : !x, tensor<64xf32>
  %gate  = attn.project %n2, %wgate : (!x, tensor<64x176xf32>) -> !wide
  %up    = attn.project %n2, %wup : (!x, tensor<64x176xf32>) -> !wide
  %act   = func.call @swiglu(%gate, %up) : (!wide, !wide) -> !wide
  %down  = attn.project %act, %wdown : (!wide, tensor<176x64xf32>) -> !x
  %out   = arith.addf %r, %down : !x
  return %out, %allk, %allv : !x, !shared, !shared
}

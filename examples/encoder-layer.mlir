// A layer of an encoder, with norms in front: attention over the words of a sentence that are real, then a feed-forward part with GELU.
// Of sentence x[b], only the first len[b] words are real. 64 features, 4 heads, 256 features inside.
!x = tensor<?x?x64xf32>
!wide = tensor<?x?x256xf32>
!heads = tensor<?x4x?x16xf32>
!w = tensor<64x64xf32>
!b = tensor<64xf32>

// y / 2 * (1 + erf(y / sqrt 2)) of every element.
func.func private @gelu(%x: !wide) -> !wide {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !wide
  %words = tensor.dim %x, %c1 : !wide
  %empty = tensor.empty(%batch, %words) : !wide
  %y = linalg.map ins(%x : !wide) outs(%empty : !wide) (%a: f32, %o: f32) {
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678118654752 : f32
    %s = arith.mulf %a, %root : f32
    %e = math.erf %s : f32
    %p = arith.addf %e, %one : f32
    %q = arith.mulf %a, %half : f32
    %g = arith.mulf %p, %q : f32
    linalg.yield %g : f32
  }
  return %y : !wide
}

func.func @encoder_layer(%x: !x, %len: tensor<?xi32>, %g1: !b, %b1: !b, %wq: !w, %bq: !b, %wk: !w, %bk: !b, %wv: !w, %bv: !b, %wo: !w, %bo: !b,
    %g2: !b, %b2: !b, %wup: tensor<64x256xf32>, %bup: tensor<256xf32>, %wdown: tensor<256x64xf32>, %bdown: !b) -> !x {
  %n1   = attn.layer_norm %x, %g1, %b1 eps 1.0e-5 : !x, !b, !b
  %xq   = attn.project %n1, %wq, %bq : (!x, !w, !b) -> !x
  %xk   = attn.project %n1, %wk, %bk : (!x, !w, !b) -> !x
  %xv   = attn.project %n1, %wv, %bv : (!x, !w, !b) -> !x
  %q    = attn.split_heads %xq into 4 : !x -> !heads
  %k    = attn.split_heads %xk into 4 : !x -> !heads
  %v    = attn.split_heads %xv into 4 : !x -> !heads
  %a    = attn.sdpa %q, %k, %v scale 0.25 where key_length(%len : tensor<?xi32>) : (!heads, !heads, !heads) -> !heads
  %c    = attn.merge_heads %a : !heads -> !x
  %o    = attn.project %c, %wo, %bo : (!x, !w, !b) -> !x
  %r    = arith.addf %x, %o : !x
  %n2   = attn.layer_norm %r, %g2, %b2 eps 1.0e-5 : !x, !b, !b
  %up   = attn.project %n2, %wup, %bup : (!x, tensor<64x256xf32>, tensor<256xf32>) -> !wide
  %act  = func.call @gelu(%up) : (!wide) -> !wide
  %down = attn.project %act, %wdown, %bdown : (!wide, tensor<256x64xf32>, !b) -> !x
  %out  = arith.addf %r, %down : !x
  return %out : !x
}

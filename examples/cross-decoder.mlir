// A layer of a decoder that reads what an encoder made of another sentence, as in the first transformer: attention to the words before, attention to
// the other sentence, of which memory[b] has len[b] real words, and a feed-forward part with ReLU, each added to its input and normalised behind.
!x = tensor<?x?x64xf32>
!wide = tensor<?x?x256xf32>
!heads = tensor<?x4x?x16xf32>
!w = tensor<64x64xf32>
!b = tensor<64xf32>

func.func private @relu(%x: !wide) -> !wide {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !wide
  %words = tensor.dim %x, %c1 : !wide
  %zero = arith.constant 0.0 : f32
  %zeros = tensor.splat %zero[%batch, %words] : !wide
  %y = arith.maximumf %x, %zeros : !wide
  return %y : !wide
}

func.func @cross_decoder(%x: !x, %memory: !x, %len: tensor<?xi32>, %wq: !w, %wk: !w, %wv: !w, %wo: !w, %g1: !b, %b1: !b,
    %cq: !w, %ck: !w, %cv: !w, %co: !w, %g2: !b, %b2: !b, %wup: tensor<64x256xf32>, %bup: tensor<256xf32>, %wdown: tensor<256x64xf32>, %bdown: !b,
    %g3: !b, %b3: !b) -> !x {
  %xq   = attn.project %x, %wq : (!x, !w) -> !x
  %xk   = attn.project %x, %wk : (!x, !w) -> !x
  %xv   = attn.project %x, %wv : (!x, !w) -> !x
  %q1   = attn.split_heads %xq into 4 : !x -> !heads
  %k1   = attn.split_heads %xk into 4 : !x -> !heads
  %v1   = attn.split_heads %xv into 4 : !x -> !heads
  %a1   = attn.sdpa %q1, %k1, %v1 scale 0.25 where causal(top_left) : (!heads, !heads, !heads) -> !heads
  %m1   = attn.merge_heads %a1 : !heads -> !x
  %o1   = attn.project %m1, %wo : (!x, !w) -> !x
  %s1   = arith.addf %x, %o1 : !x
  %r1   = attn.layer_norm %s1, %g1, %b1 eps 1.0e-5 : !x, !b, !b

  %yq   = attn.project %r1, %cq : (!x, !w) -> !x
  %yk   = attn.project %memory, %ck : (!x, !w) -> !x
  %yv   = attn.project %memory, %cv : (!x, !w) -> !x
  %q2   = attn.split_heads %yq into 4 : !x -> !heads
  %k2   = attn.split_heads %yk into 4 : !x -> !heads
  %v2   = attn.split_heads %yv into 4 : !x -> !heads
  %a2   = attn.sdpa %q2, %k2, %v2 scale 0.25 where key_length(%len : tensor<?xi32>) : (!heads, !heads, !heads) -> !heads
  %m2   = attn.merge_heads %a2 : !heads -> !x
  %o2   = attn.project %m2, %co : (!x, !w) -> !x
  %s2   = arith.addf %r1, %o2 : !x
  %r2   = attn.layer_norm %s2, %g2, %b2 eps 1.0e-5 : !x, !b, !b

  %up   = attn.project %r2, %wup, %bup : (!x, tensor<64x256xf32>, tensor<256xf32>) -> !wide
  %act  = func.call @relu(%up) : (!wide) -> !wide
  %down = attn.project %act, %wdown, %bdown : (!wide, tensor<256x64xf32>, !b) -> !x
  %s3   = arith.addf %r2, %down : !x
  %out  = attn.layer_norm %s3, %g3, %b3 eps 1.0e-5 : !x, !b, !b
  return %out : !x
}

// A window of 64 keys on both sides, and 4 global tokens that see all keys and that all queries see (BigBird, Longformer).
// The mask is written as code; the tiles to visit are derived from it.
func.func @global_tokens(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %scores = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %masked = attn.mask_fn %scaled (%b, %h, %i, %j) {
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %first = arith.minsi %i, %j : index
    %last = arith.maxsi %i, %j : index
    %distance = arith.subi %last, %first : index
    %global = arith.cmpi slt, %first, %c4 : index
    %near = arith.cmpi sle, %distance, %c64 : index
    %visible = arith.ori %global, %near : i1
    attn.yield %visible : i1
  } : tensor<?x8x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}

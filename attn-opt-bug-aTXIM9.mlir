// attn-opt test/Integration/attn-opt-bug-dpCows.mlir --emit=obj -o /tmp/x.o
// attn-opt /tmp/tmpyjneu3ip/kernel.mlir --emit=lib -o /tmp/tmpyjneu3ip/kernel.so --target=native
func.func @kernel(%q: tensor<1x2x6x16xf32>, %k: tensor<1x2x0x16xf32>, %v: tensor<1x2x0x16xf32>) -> (tensor<1x2x6x16xf32>, tensor<1x2x6xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.25 returning(out, lse) : (tensor<1x2x6x16xf32>, tensor<1x2x0x16xf32>, tensor<1x2x0x16xf32>) -> (tensor<1x2x6x16xf32>, tensor<1x2x6xf32>)
  return %out, %lse : tensor<1x2x6x16xf32>, tensor<1x2x6xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mask given as code, and what ends such code.
#ifndef ATTN_MASK_OPS_TD
#define ATTN_MASK_OPS_TD

def Attn_MaskFnOp : Attn_GraphOp<"mask_fn", [IsolatedFromAbove,
    AllTypesMatch<["scores", "result"]>]> {
  let summary = "excludes pairs by a predicate";
  let description = [{
    `result[b, h, q, k]` is `scores[b, h, q, k]` where the region yields true,
    and -inf elsewhere. Behind `with` stand the tensors that it reads elements
    of, by `tensor.extract`. b and h are 0 where the scores have no such
    dimension. Where the region compares sums of q, k and numbers per batch entry
    or head, the tiles to visit follow from it as from the terms of `attn.mask`.

    ```mlir
    func.func @mask_fn(%scores: tensor<2x4x5x5xf32>, %width: tensor<4xindex>) -> tensor<2x4x5x5xf32> {
      %masked = attn.mask_fn %scores (%b, %h, %q, %k) with (%w = %width : tensor<4xindex>) {
        %past = arith.subi %q, %k : index
        %limit = tensor.extract %w[%h] : tensor<4xindex>
        %near = arith.cmpi ult, %past, %limit : index
        attn.yield %near : i1
      } : tensor<2x4x5x5xf32>
      return %masked : tensor<2x4x5x5xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$scores,
                       Variadic<AnyRankedTensor>:$captures);
  let results = (outs Attn_FloatTensor:$result);
  let regions = (region AnyRegion:$predicate);
  let assemblyFormat = [{
    $scores custom<Predicate>($predicate, $captures, type($captures))
    attr-dict `:` type($scores)
  }];
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator]> {
  let summary = "ends a predicate or a score function";
  let description = [{
    Gives the region's value for one pair. A score function of
    `attn.grad_step` gives its derivatives behind it.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif

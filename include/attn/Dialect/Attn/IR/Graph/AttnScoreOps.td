// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graph ops that change scores, or queries and keys before they meet.
#ifndef ATTN_SCORE_OPS_TD
#define ATTN_SCORE_OPS_TD

def Attn_SoftcapOp : Attn_GraphOp<"softcap", [SameOperandsAndResultType]> {
  let summary = "bends scores smoothly into a range";
  let description = [{
    `result = cap * tanh(scores / cap)`.

    ```mlir
    func.func @softcap(%scores: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %capped = attn.softcap %scores at 30.0 : tensor<2x3xf32>
      return %capped : tensor<2x3xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$scores, F64Attr:$cap);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $scores `at` custom<Factor>($cap) attr-dict `:` type($result)
  }];
}

def Attn_ScoreModOp : Attn_GraphOp<"score_mod", [IsolatedFromAbove,
    AllTypesMatch<["scores", "result"]>]> {
  let summary = "any function of the score and its place";
  let description = [{
    `result[b, h, q, k] = f(scores[b, h, q, k], b, h, q, k)`, f being the region.
    Behind `with` stand the values that it captures: tensors, of which it reads
    elements by `tensor.extract`, and scalars. b and h are 0 where the scores
    have no such dimension.

    ```mlir
    func.func @relative(%scores: tensor<2x5x7xf32>, %table: tensor<2x11xf32>) -> tensor<2x5x7xf32> {
      %moved = attn.score_mod %scores (%s: f32, %b, %h, %q, %k) with (%t = %table : tensor<2x11xf32>) {
        %c4 = arith.constant 4 : index
        %right = arith.addi %k, %c4 : index
        %at = arith.subi %right, %q : index
        %bias = tensor.extract %t[%h, %at] : tensor<2x11xf32>
        %sum = arith.addf %s, %bias : f32
        attn.yield %sum : f32
      } : tensor<2x5x7xf32>
      return %moved : tensor<2x5x7xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$scores, Variadic<AnyType>:$captures);
  let results = (outs Attn_FloatTensor:$result);
  let regions = (region AnyRegion:$score_function);
  let assemblyFormat = [{
    $scores custom<ScoreFunction>($score_function, $captures, type($captures))
    attr-dict `:` type($scores)
  }];
}

def Attn_AlibiOp : Attn_GraphOp<"alibi", [AttrSizedOperandSegments,
    AllTypesMatch<["scores", "result"]>]> {
  let summary = "adds a slope per head times the distance";
  let description = [{
    `result = scores + slopes[h] * (k - q - start)`. `start` is the key that
    query 0 stands on: 0 for `top_left`, Skv - Sq for `bottom_right`, the operand
    (one integer, or one per batch entry) for `offset`. Without slopes they are
    those of the paper for the number of heads (Press, Smith and Lewis 2022).

    ```mlir
    func.func @alibi(%scores: tensor<8x5x5xf32>, %slopes: tensor<8xf32>) -> tensor<8x5x5xf32> {
      %moved = attn.alibi %scores, %slopes aligned top_left : tensor<8x5x5xf32>, tensor<8xf32>
      return %moved : tensor<8x5x5xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$scores,
    Optional<Attn_FloatTensor>:$slopes, Optional<AnyRankedTensor>:$offset,
    Attn_Alignment:$alignment);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $scores (`,` $slopes^)? `aligned` $alignment (`by` $offset^ `:` type($offset))?
    attr-dict `:` type($scores) (`,` type($slopes)^)?
  }];
}

def Attn_RopeOp : Attn_GraphOp<"rope", [
    AllTypesMatch<["input", "result"]>, AllTypesMatch<["cos", "sin"]>]> {
  let summary = "rotates pairs of features by an angle per position";
  let description = [{
    Rotary position embedding (Su et al. 2021) of queries or keys. Row p of `cos`
    and `sin` holds the angles of position p, one per pair; R is twice their
    number, and features from R on stay as they are. Pair i is the features i and
    i + R/2, or 2i and 2i + 1 if `interleaved`:
    `(x, y)` becomes `(x*cos - y*sin, y*cos + x*sin)`, computed in the type of the
    statistics; the tables have this type or that of the input. Row s of the input has position s, or `positions[s]`, `positions[b, s]`.

    ```mlir
    func.func @rope(%q: tensor<2x?x64xf32>, %cos: tensor<512x32xf32>, %sin: tensor<512x32xf32>, %ids: tensor<?xi32>) -> tensor<2x?x64xf32> {
      %rotated = attn.rope %q, %cos, %sin at %ids : tensor<?xi32> : tensor<2x?x64xf32>, tensor<512x32xf32>
      return %rotated : tensor<2x?x64xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$input, Attn_FloatTensor:$cos,
    Attn_FloatTensor:$sin, Optional<AnyRankedTensor>:$positions,
    UnitAttr:$interleaved);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $cos `,` $sin (`interleaved` $interleaved^)?
    (`at` $positions^ `:` type($positions))? attr-dict
    `:` type($input) `,` type($cos)
  }];
}

def Attn_RmsNormOp : Attn_GraphOp<"rms_norm", [
    AllTypesMatch<["input", "result"]>]> {
  let summary = "divides each row by its root mean square";
  let description = [{
    `result[.., d] = input[.., d] / sqrt(mean_d input[.., d]^2 + eps) * weight[d]`;
    without a weight it is 1.

    ```mlir
    func.func @norm(%q: tensor<2x?x64xf32>, %w: tensor<64xf32>) -> tensor<2x?x64xf32> {
      %normal = attn.rms_norm %q, %w eps 1.0e-6 : tensor<2x?x64xf32>, tensor<64xf32>
      return %normal : tensor<2x?x64xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$input,
    Optional<Attn_FloatTensor>:$weight, F64Attr:$eps);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`,` $weight^)? `eps` custom<Factor>($eps) attr-dict
    `:` type($input) (`,` type($weight)^)?
  }];
}

def Attn_LayerNormOp : Attn_GraphOp<"layer_norm", [AttrSizedOperandSegments,
    AllTypesMatch<["input", "result"]>]> {
  let summary = "gives each row mean 0 and variance 1";
  let description = [{
    `result[.., d] = (input[.., d] - m) / sqrt(v + eps) * weight[d] + bias[d]`
    with the mean m and the variance v of the row (Ba, Kiros and Hinton 2016);
    without a weight it is 1, without a bias that is 0.

    ```mlir
    func.func @norm(%x: tensor<2x?x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<2x?x64xf32> {
      %normal = attn.layer_norm %x, %w, %b eps 1.0e-5 : tensor<2x?x64xf32>, tensor<64xf32>, tensor<64xf32>
      return %normal : tensor<2x?x64xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$input,
    Optional<Attn_FloatTensor>:$weight, Optional<Attn_FloatTensor>:$bias,
    F64Attr:$eps);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`,` $weight^)? (`,` $bias^)? `eps` custom<Factor>($eps) attr-dict
    `:` type($input) (`,` type($weight)^)? (`,` type($bias)^)?
  }];
}

#endif

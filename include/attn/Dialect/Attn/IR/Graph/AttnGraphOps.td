// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graph ops: one textbook step each, and the fused op that means a chain of them.
#ifndef ATTN_GRAPH_OPS_TD
#define ATTN_GRAPH_OPS_TD

def Attn_ScoresOp : Attn_GraphOp<"scores"> {
  let summary = "products of every query with every key";
  let description = [{
    `scores[.., i, j] = sum_d query[.., i, d] * key[.., j, d]`, accumulated in
    the result's element type. Ranks 2 (S, D), 3 (H, S, D) and 4 (B, H, S, D).
    A group of consecutive query heads shares one key head.

    ```mlir
    func.func @scores(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>) -> tensor<2x3xf32> {
      %scores = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
      return %scores : tensor<2x3xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$query, Attn_FloatTensor:$key);
  let results = (outs Attn_FloatTensor:$scores);
  let assemblyFormat = [{
    $query `,` $key attr-dict `:` functional-type(operands, results)
  }];
}

def Attn_WeightOp : Attn_Op<"weight", [Pure]> {
  let summary = "a tensor of a file";
  let description = [{
    The tensor of this name in a file of the safetensors format, which lies
    beside the specification. It is a constant when the specification has been
    read: its bytes become part of the object.

    ```text
    %w = attn.weight "layers.0.wq" from "model.safetensors" : tensor<64x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$tensor, StrAttr:$file);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $tensor `from` $file attr-dict `:` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getResult().getType());
    }
  }];
}

def Attn_ScaleOp : Attn_GraphOp<"scale", [SameOperandsAndResultType]> {
  let summary = "multiplies by a constant";
  let description = [{
    `result = input * factor`. It may stand on the query, the key or the scores.

    ```mlir
    func.func @scale(%scores: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %scaled = attn.scale %scores by 0.5 : tensor<2x3xf32>
      return %scaled : tensor<2x3xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$input, F64Attr:$factor);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $input `by` custom<Factor>($factor) attr-dict `:` type($result)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Attn_BiasOp : Attn_GraphOp<"bias", [
    AllTypesMatch<["scores", "result"]>]> {
  let summary = "adds a tensor to the scores";
  let description = [{
    `result = scores + bias`. The bias broadcasts to the scores from the right.
    A bias of -inf excludes the pair; any finite bias is just added.

    ```mlir
    func.func @bias(%scores: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> tensor<2x3xf32> {
      %biased = attn.bias %scores, %b : tensor<2x3xf32>, tensor<1x3xf32>
      return %biased : tensor<2x3xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$scores, Attn_FloatTensor:$bias);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $scores `,` $bias attr-dict `:` type($scores) `,` type($bias)
  }];
}

def Attn_MaskOp : Attn_GraphOp<"mask", [
    AllTypesMatch<["scores", "result"]>]> {
  let summary = "excludes pairs of query and key";
  let description = [{
    `result[.., i, j]` is `scores[.., i, j]` where the mask sees (i, j), and -inf
    elsewhere, whatever the score is there. After `where` stands a mask: terms
    with `and`, `or`, `not` and parentheses.

    ```mlir
    func.func @mask(%scores: tensor<2x4x5x5xf32>, %len: tensor<2xi32>) -> tensor<2x4x5x5xf32> {
      %masked = attn.mask %scores where causal(top_left) and key_length(%len : tensor<2xi32>) : tensor<2x4x5x5xf32>
      return %masked : tensor<2x4x5x5xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$scores, AnyAttr:$mask,
                       Variadic<AnyRankedTensor>:$mask_operands);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $scores `where` custom<Mask>($mask, $mask_operands, type($mask_operands))
    attr-dict `:` type($scores)
  }];
  let hasCanonicalizer = 1;
}

def Attn_SoftmaxOp : Attn_GraphOp<"softmax", [
    AllTypesMatch<["scores", "weights"]>]> {
  let summary = "weights from scores, along the keys";
  let description = [{
    `weights[.., i, j] = exp(s_ij - m_i) / sum_j exp(s_ij - m_i)` with
    `m_i = max_j s_ij`. A row whose scores are all -inf gives weights of 0.

    A sink is one more score per head, which takes part in the maximum and in the
    sum but has no key: `sinks` has one element per head. Sinks of 0 give the
    softmax whose denominator has 1 more ("off by one").

    ```mlir
    func.func @softmax(%scores: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %weights = attn.softmax %scores : tensor<2x3xf32>
      return %weights : tensor<2x3xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$scores,
                       Optional<Attn_FloatTensor>:$sinks);
  let results = (outs Attn_FloatTensor:$weights);
  let assemblyFormat = [{
    $scores (`sinks` $sinks^ `:` type($sinks))? attr-dict `:` type($scores)
  }];
}

def Attn_SigmoidOp : Attn_GraphOp<"sigmoid", [SameOperandsAndResultType]> {
  let summary = "weights from scores, each by itself";
  let description = [{
    `weights[.., i, j] = 1 / (1 + exp(-s_ij))`, in the place of `attn.softmax`: a
    weight depends on its own score only, and an excluded pair has weight 0. A
    bias of -log(n), which keeps the sum of n weights small, is an `attn.bias`.

    ```mlir
    func.func @sigmoid(%scores: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %weights = attn.sigmoid %scores : tensor<2x3xf32>
      return %weights : tensor<2x3xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$scores);
  let results = (outs Attn_FloatTensor:$weights);
  let assemblyFormat = "$scores attr-dict `:` type($scores)";
}

def Attn_SubtractWeightsOp : Attn_GraphOp<"subtract_weights", [
    AllTypesMatch<["first", "second", "weights"]>]> {
  let summary = "difference of two maps of weights";
  let description = [{
    `weights = first - lambda * second`, the weights of differential attention (Ye
    et al. 2024). `lambda` is one number, or one per head. A weight of 0 in
    `second` changes nothing, whatever lambda is.

    ```mlir
    func.func @difference(%a: tensor<2x5x7xf32>, %b: tensor<2x5x7xf32>, %lambda: tensor<2xf32>) -> tensor<2x5x7xf32> {
      %w = attn.subtract_weights %a, %b by %lambda : tensor<2x5x7xf32>, tensor<2xf32>
      return %w : tensor<2x5x7xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$first, Attn_FloatTensor:$second,
                       Attn_FloatTensor:$lambda);
  let results = (outs Attn_FloatTensor:$weights);
  let assemblyFormat = [{
    $first `,` $second `by` $lambda attr-dict `:` type($weights) `,` type($lambda)
  }];
}

def Attn_DropoutOp : Attn_GraphOp<"dropout", [
    AllTypesMatch<["weights", "result"]>]> {
  let summary = "drops weights at random";
  let description = [{
    Of the weights of an attention, each becomes 0 with this probability, and all
    others are divided by one minus it (Srivastava et al. 2014). Which ones, follows
    from the seed and the weight's place alone (Utils/Philox.h): the same on every target
    and for any number of threads. A negative seed drops nothing.

    ```mlir
    func.func @dropout(%w: tensor<2x5x7xf32>, %seed: tensor<i64>) -> tensor<2x5x7xf32> attributes {attn.dropout} {
      %kept = attn.dropout %w by 0.1 seed %seed : tensor<2x5x7xf32>, tensor<i64>
      return %kept : tensor<2x5x7xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$weights, AnyRankedTensor:$seed,
                       F64Attr:$probability);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $weights `by` custom<Factor>($probability) `seed` $seed attr-dict
    `:` type($weights) `,` type($seed)
  }];
  let hasFolder = 1;
}

def Attn_ContextOp : Attn_GraphOp<"context"> {
  let summary = "weighted sum of the values";
  let description = [{
    `out[.., i, d] = sum_j weights[.., i, j] * value[.., j, d]`. A weight of 0
    contributes nothing, even where the value is not finite.

    ```mlir
    func.func @context(%w: tensor<2x3xf32>, %v: tensor<3x4xf32>) -> tensor<2x4xf32> {
      %out = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      return %out : tensor<2x4xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$weights, Attn_FloatTensor:$value);
  let results = (outs Attn_FloatTensor:$out);
  let assemblyFormat = [{
    $weights `,` $value attr-dict `:` functional-type(operands, results)
  }];
}

def Attn_ProjectOp : Attn_GraphOp<"project"> {
  let summary = "linear projection";
  let description = [{
    `result[.., n] = sum_k input[.., k] * weight[k, n] (+ bias[n])`. A `transposed`
    weight is read as `weight[n, k]`; one of rank 3 has a matrix per batch entry.

    `schedule` holds the tile sizes; `few_rows_schedule` those for few rows, at run
    time, of a weight that `schedule` would pack in pairs first.

    ```mlir
    func.func @project(%x: tensor<?x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
      %y = attn.project %x, %w, %b : (tensor<?x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
      return %y : tensor<?x4xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$input, Attn_FloatTensor:$weight,
                       UnitAttr:$transposed, Optional<Attn_FloatTensor>:$bias,
                       OptionalAttr<Attn_ScheduleInterface>:$schedule,
                       OptionalAttr<Attn_ScheduleInterface>:$few_rows_schedule);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`transposed` $transposed^)? (`,` $bias^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input,
    "::mlir::Value":$weight, "::mlir::Value":$bias), [{
    build($_builder, $_state, result, input, weight, /*transposed=*/false, bias,
          /*schedule=*/{}, /*few_rows_schedule=*/{});
  }]>];
  let extraClassDeclaration = [{
    /// Whether each batch entry has a weight of its own.
    bool hasWeights() { return getWeight().getType().getRank() == 3; }
    /// The weight's dimensions of size K and N.
    int64_t depthDim() { return hasWeights() + getTransposed(); }
    int64_t columnDim() { return hasWeights() + !getTransposed(); }
    /// Whether batch entries of one row, which share a weight, are the rows of
    /// one product.
    bool joinsEntries() {
      return getType().getRank() == 3 && !hasWeights() &&
             getType().getDimSize(1) == 1;
    }
    /// Rows that a weight is multiplied by at once; dynamic if unknown.
    int64_t rowsOfProduct() {
      bool isBatched = getType().getRank() == 3;
      return getType().getDimSize(isBatched && !joinsEntries());
    }
  }];
}

def Attn_SplitHeadsOp : Attn_GraphOp<"split_heads"> {
  let summary = "splits the model dimension into heads";
  let description = [{
    (B, S, H*D) becomes (B, H, S, D), and (S, H*D) becomes (H, S, D); head h owns
    the columns h*D .. h*D + D - 1.

    ```mlir
    func.func @split(%x: tensor<?x?x64xf32>) -> tensor<?x4x?x16xf32> {
      %heads = attn.split_heads %x into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
      return %heads : tensor<?x4x?x16xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$input, I64Attr:$heads);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $input `into` $heads attr-dict `:` type($input) `->` type($result)
  }];
}

def Attn_MergeHeadsOp : Attn_GraphOp<"merge_heads"> {
  let summary = "joins the heads into the model dimension";
  let description = [{
    The inverse of `attn.split_heads`: (B, H, S, D) becomes (B, S, H*D).

    ```mlir
    func.func @merge(%x: tensor<?x4x?x16xf32>) -> tensor<?x?x64xf32> {
      %joined = attn.merge_heads %x : tensor<?x4x?x16xf32> -> tensor<?x?x64xf32>
      return %joined : tensor<?x?x64xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$input);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` type($input) `->` type($result)
  }];
}

def Attn_SdpaOp : Attn_GraphOp<"sdpa", [AttrSizedOperandSegments,
    AttrSizedResultSegments, IsolatedFromAbove]> {
  let summary = "scaled dot-product attention";
  let description = [{
    `out = context(softmax(mask(f(scale * scores(query, key)) + bias)), value)`,
    in this order. f is the region behind `score_mod`, as of `attn.score_mod`, and
    `sinks` are those of `attn.softmax`. Optional results: `lse`, the natural logarithm of each row's sum
    of exponentials (-inf for a row that sees no key), `weights`, and `scores` as
    they are after the step that `scores_stage` names, and the `state` of each
    row: `maximum` (m) and `sum` (l) of the exponentials `exp(s - m)`, and `acc`,
    the context before the division by l. `returning` lists the results that are
    there, in the order out, lse, weights, scores, state.

    With `normalization` sigmoid, weights are those of `attn.sigmoid`.

    After `minus` stand a second query and key and, after `by`, lambda: the weights
    are then those of `attn.subtract_weights` of two maps, that of query and key
    and that of the second ones, which have all else in common (differential
    attention). `out` is then the only result.

    After `dropout` stand a probability and a seed: `out` then has the weights of
    `attn.dropout`, all other results those in front of it.

    `schedule` holds the tile sizes for many queries per head, `decode_schedule`
    those for few; where both are there, run-time lengths decide.

    The layouts of query, key, value and out say whether heads (bhsd) or
    sequence (bshd) come first in a tensor of rank 4 (hsd or shd in rank 3).

    ```mlir
    func.func @sdpa(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>)
        -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>) {
      %out, %lse = attn.sdpa %q, %k, %v scale 0.125 where causal(bottom_right) returning(out, lse)
          : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>)
          -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>)
      return %out, %lse : tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$query, Attn_FloatTensor:$key,
    Attn_FloatTensor:$value, Optional<Attn_FloatTensor>:$bias,
    Variadic<AnyRankedTensor>:$mask_operands, Variadic<AnyType>:$captures,
    Optional<Attn_FloatTensor>:$sinks, Optional<Attn_FloatTensor>:$second_query,
    Optional<Attn_FloatTensor>:$second_key, Optional<Attn_FloatTensor>:$lambda,
    Optional<AnyRankedTensor>:$seed,
    F64Attr:$scale, OptionalAttr<AnyAttr>:$mask, OptionalAttr<F64Attr>:$dropout,
    DefaultValuedAttr<Attn_LayoutAttr, "::attn::Layout::HeadMajor">:$query_layout,
    DefaultValuedAttr<Attn_LayoutAttr, "::attn::Layout::HeadMajor">:$key_layout,
    DefaultValuedAttr<Attn_LayoutAttr, "::attn::Layout::HeadMajor">:$value_layout,
    DefaultValuedAttr<Attn_LayoutAttr, "::attn::Layout::HeadMajor">:$out_layout,
    DefaultValuedAttr<Attn_NormalizationAttr, "::attn::Normalization::Softmax">:$normalization,
    OptionalAttr<Attn_ScoresStageAttr>:$scores_stage,
    OptionalAttr<Attn_ScheduleInterface>:$schedule,
    OptionalAttr<Attn_ScheduleInterface>:$decode_schedule);
  let results = (outs Attn_FloatTensor:$out, Optional<Attn_FloatTensor>:$lse,
    Optional<Attn_FloatTensor>:$weights, Optional<Attn_FloatTensor>:$scores,
    Optional<Attn_FloatTensor>:$maximum, Optional<Attn_FloatTensor>:$sum,
    Optional<Attn_FloatTensor>:$acc);
  let regions = (region AnyRegion:$score_function);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    using Dims = ::attn::HeadDims;
    static Dims dims(int64_t rank, ::attn::Layout layout) { return Dims::of(rank, layout); }
    Dims queryDims() { return dims(getQuery().getType().getRank(), getQueryLayout()); }
    Dims keyDims() { return dims(getKey().getType().getRank(), getKeyLayout()); }
    Dims valueDims() { return dims(getValue().getType().getRank(), getValueLayout()); }
    Dims outDims() { return dims(getOut().getType().getRank(), getOutLayout()); }
    /// Shape of the scores: the leading dimensions in bhsd order, Sq, Skv.
    ::llvm::SmallVector<int64_t> scoresShape();
    bool isSigmoid() { return getNormalization() == ::attn::Normalization::Sigmoid; }
    /// Whether the weights are the difference of two maps.
    bool isDifferential() { return static_cast<bool>(getSecondQuery()); }
    /// Whether lengths are all of the mask: they bound loops over keys. Weights
    /// and scores show the keys behind them.
    bool seesLeadingKeys();
    /// Why no kernel of kind prefill splits the keys; empty if one may.
    ::llvm::StringRef whyKeysStayTogether();
  }];
}

def Attn_SdpaGradOp : Attn_GraphOp<"sdpa_grad", [AttrSizedOperandSegments,
    IsolatedFromAbove]> {
  let summary = "gradients of scaled dot-product attention";
  let description = [{
    The derivative of `attn.sdpa` with the same clauses, by the operands that
    `wrt` names, in its order: `query`, `key`, `value`, `bias`, `sinks`,
    `second_query`, `second_key`, `lambda` and `capture_N`, the captured tensor
    number N. `cotangents` holds the derivative of some number by each result of
    the attention: of `out`, of `lse` and of `weights`.

    With the scores s of visible pairs, `p = exp(s - lse)`, `u = d_out * value^T`
    (+ d_weights) and `delta = sum_d d_out * out` (+ sum_j p * d_weights):
    `ds = p * (u - delta + d_lse)`, and everything else follows from ds by the
    chain rule. `out` and `lse` are those of the attention, or of a larger one
    whose keys these are a part of. Weights by sigmoid, and those of two maps,
    have no `lse`; they are computed again. `weights` are those of the attention,
    where they have a cotangent and the sum in delta needs them.

    A pair is left out of all sums if it is excluded or its weight is 0. A row
    that sees no key is constant.

    ```mlir
    func.func @gradient(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>,
        %out: tensor<?x8x?x64xf32>, %lse: tensor<?x8x?xf32>, %d_out: tensor<?x8x?x64xf32>)
        -> (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>) {
      %dq, %dk, %dv = attn.sdpa_grad %q, %k, %v scale 0.125 where causal(bottom_right)
          out %out : tensor<?x8x?x64xf32> lse %lse : tensor<?x8x?xf32>
          cotangents %d_out wrt ["query", "key", "value"]
          : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x8x?x64xf32>)
          -> (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>)
      return %dq, %dk, %dv : tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$query, Attn_FloatTensor:$key,
    Attn_FloatTensor:$value, Optional<Attn_FloatTensor>:$bias,
    Variadic<AnyRankedTensor>:$mask_operands, Variadic<AnyType>:$captures,
    Optional<Attn_FloatTensor>:$sinks, Optional<Attn_FloatTensor>:$second_query,
    Optional<Attn_FloatTensor>:$second_key, Optional<Attn_FloatTensor>:$lambda,
    Optional<AnyRankedTensor>:$seed, Optional<Attn_FloatTensor>:$out, Optional<Attn_FloatTensor>:$lse,
    Optional<Attn_FloatTensor>:$weights,
    Attn_FloatTensor:$d_out, Optional<Attn_FloatTensor>:$d_lse,
    Optional<Attn_FloatTensor>:$d_weights,
    StrArrayAttr:$wrt, F64Attr:$scale, OptionalAttr<AnyAttr>:$mask,
    OptionalAttr<F64Attr>:$dropout,
    DefaultValuedAttr<Attn_LayoutAttr, "::attn::Layout::HeadMajor">:$query_layout,
    DefaultValuedAttr<Attn_LayoutAttr, "::attn::Layout::HeadMajor">:$key_layout,
    DefaultValuedAttr<Attn_LayoutAttr, "::attn::Layout::HeadMajor">:$value_layout,
    DefaultValuedAttr<Attn_LayoutAttr, "::attn::Layout::HeadMajor">:$out_layout,
    DefaultValuedAttr<Attn_NormalizationAttr, "::attn::Normalization::Softmax">:$normalization,
    OptionalAttr<Attn_ScheduleInterface>:$schedule);
  let results = (outs Variadic<Attn_FloatTensor>:$gradients);
  let regions = (region AnyRegion:$score_function);
  let assemblyFormat = [{
    $query `,` $key `,` $value
    (`minus` $second_query^ `,` $second_key `by` $lambda `:` type($second_query)
     `,` type($second_key) `,` type($lambda))?
    (`bias` $bias^ `:` type($bias))? `scale` custom<Factor>($scale)
    (`score_mod` custom<ScoreFunction>($score_function, $captures, type($captures))^)?
    (`where` custom<OptionalMask>($mask, $mask_operands, type($mask_operands))^)?
    (`sinks` $sinks^ `:` type($sinks))?
    (`dropout` custom<OptionalDropout>($dropout, $seed, type($seed))^)?
    (`out` $out^ `:` type($out))? (`lse` $lse^ `:` type($lse))?
    (`weights` $weights^ `:` type($weights))?
    `cotangents` $d_out (`lse` $d_lse^ `:` type($d_lse))?
    (`weights` $d_weights^ `:` type($d_weights))? `wrt` $wrt attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `,` type($d_out) `)`
    `->` `(` type($gradients) `)`
  }];
  let extraClassDeclaration = [{
    ::attn::HeadDims queryDims() { return ::attn::HeadDims::of(getQuery().getType().getRank(), getQueryLayout()); }
    ::attn::HeadDims keyDims() { return ::attn::HeadDims::of(getKey().getType().getRank(), getKeyLayout()); }
    ::attn::HeadDims valueDims() { return ::attn::HeadDims::of(getValue().getType().getRank(), getValueLayout()); }
    ::attn::HeadDims outDims() { return ::attn::HeadDims::of(getDOut().getType().getRank(), getOutLayout()); }
    /// Shape of the scores: the leading dimensions in bhsd order, Sq, Skv.
    ::llvm::SmallVector<int64_t> scoresShape();
    bool isSigmoid() { return getNormalization() == ::attn::Normalization::Sigmoid; }
    bool isDifferential() { return static_cast<bool>(getSecondQuery()); }
    /// The operand that `wrt` calls `name`; null where there is none.
    ::mlir::Value operandNamed(::llvm::StringRef name);
    /// The gradient by the operand of this name; null where `wrt` has it not.
    ::mlir::Value gradientBy(::llvm::StringRef name);
    /// How often pairs are multiplied by key features and by value features for
    /// what is asked for: the scores of each map, the cotangents of their
    /// weights, and one product for each matrix in `wrt`.
    std::pair<unsigned, unsigned> products();
    /// The attention whose gradient this is, for its clauses but the score
    /// function, of which it has none. Nothing uses it.
    ::attn::SdpaOp attention(::mlir::OpBuilder &b);
  }];
}

#endif

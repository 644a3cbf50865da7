// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile ops of gradients: what a kernel does with one tile of queries and one
// tile of keys.
#ifndef ATTN_GRAD_OPS_TD
#define ATTN_GRAD_OPS_TD

def Attn_InitGradOp : Attn_Op<"init_grad", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "gradient of queries that have seen no key";
  let description = [{
    Keeps `scale * query`, `scale * d_out` and for every row of the query tile
    its lse and `delta = sum_d d_out * out - d_lse`; the gradient by the queries
    is 0. A row whose lse is -inf sees no key: nothing of it reaches anything.
  }];
  let arguments = (ins Attn_Shaped:$query, Attn_Shaped:$out, Attn_Shaped:$d_out,
    Attn_Shaped:$lse, Optional<Attn_Shaped>:$d_lse, F64Attr:$scale,
    Attn_ScheduleInterface:$schedule);
  let results = (outs Attn_GradStateType:$state);
  let assemblyFormat = [{
    $query `out` $out `cotangents` $d_out `lse` $lse (`,` $d_lse^ `:` type($d_lse))?
    `scale` custom<Factor>($scale) attr-dict `:` type($query) `,` type($out) `,` type($d_out)
    `,` type($lse) `->` type($state)
  }];
  let hasVerifier = 1;
}

def Attn_GradStepOp : Attn_Op<"grad_step", [AttrSizedOperandSegments,
    IsolatedFromAbove, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "gradients of one tile of keys";
  let description = [{
    With the scores s of the tile as `attn.online` has them, `p = exp(s - lse)`,
    `u = d_out * value^T` and `ds = scale * p * (u - delta)`, or
    `scale * p * (1 - p) * u` where p is that of sigmoid: adds `ds * key` to the
    state's gradient by the queries, `ds^T * query` to d_key and `p^T * d_out` to
    d_value. Pairs that are excluded, or whose weight is 0, are left out of all
    three.

    A score function also yields its derivatives: by the score, with which ds is
    multiplied for the products, and by each read, in their order, of the captured
    tensors that `by` names. `ds / scale` times the latter is added to the element
    of the capture's sum that was read, the nearest one where an index is outside;
    `ds / scale` itself to the element of the sum by `bias`, whose rows are those
    of the query tile and whose columns those of the key tile. A dimension of one
    element takes everything.

    With `dropout` as that of `attn.online`, u and the p in front of d_out are
    multiplied by what `attn.dropout` multiplies the pair's weight with. Cotangents
    of the weights, `weights` of all keys, are then added to u. What they add to
    delta is in the state.

    The state is changed in place. `query` and `d_out` are the rows that
    `attn.init_grad` packed. The other operands are those of `attn.online`.
  }];
  let arguments = (ins Attn_GradStateType:$state, Attn_Shaped:$key,
    Attn_Shaped:$value, Index:$query_begin, Index:$query_end, Index:$key_begin,
    Index:$query_length, Index:$key_length,
    Optional<Attn_Shaped>:$bias, Variadic<AnyType>:$mask_operands,
    Variadic<AnyType>:$captures, Variadic<AnyType>:$dropped,
    Attn_Shaped:$query, Attn_Shaped:$d_out, Optional<Attn_Shaped>:$d_weights,
    Attn_Shaped:$d_key, Attn_Shaped:$d_value, Variadic<Attn_Shaped>:$sums,
    OptionalAttr<StrArrayAttr>:$by, OptionalAttr<F64Attr>:$scale,
    OptionalAttr<AnyAttr>:$mask, OptionalAttr<F64Attr>:$dropout,
    Attn_TileModeAttr:$mode,
    DefaultValuedAttr<Attn_NormalizationAttr, "::attn::Normalization::Softmax">:$normalization,
    Attn_ScheduleInterface:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  // Variadic as that of attn.weigh.
  let regions = (region VariadicRegion<AnyRegion>:$score_function);
  let assemblyFormat = [{
    $state `,` $key `,` $value `rows` $query_begin `to` $query_end `keys` `from` $key_begin
    `lengths` $query_length `,` $key_length
    (`score_mod` custom<TileScoreFunction>($score_function, $captures, type($captures))^)?
    (`bias` $bias^ `:` type($bias))?
    (`where` custom<OptionalMask>($mask, $mask_operands, type($mask_operands))^)?
    (`dropout` $dropout `of` $dropped^ `:` type($dropped))?
    `mode` $mode `of` $query `,` $d_out (`weights` $d_weights^ `:` type($d_weights))? `outs` `(` $d_key `,` $d_value `:` type($d_key) `,` type($d_value) `)`
    (`sums` `(` $sums^ `:` type($sums) `)` `by` $by)? (`scale` $scale^)?
    attr-dict `:` type($state) `,` type($key) `,` type($value) `,` type($query) `,` type($d_out)
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
    bool isSigmoid() { return getNormalization() == ::attn::Normalization::Sigmoid; }
    /// Whether there is a sum of what is read of this capture, of which the
    /// first is number 0.
    bool isLearned(unsigned capture);
  }];
  let hasVerifier = 1;
}

def Attn_FinishGradOp : Attn_Op<"finish_grad", [DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "gradient by the queries of a tile";
  let description = [{
    Writes what the steps have added to the state's gradient by the queries.
  }];
  let arguments = (ins Attn_GradStateType:$state, Attn_Shaped:$d_query,
                       Attn_ScheduleInterface:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $state `outs` `(` $d_query `:` type($d_query) `)` attr-dict `:` type($state)
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

#endif

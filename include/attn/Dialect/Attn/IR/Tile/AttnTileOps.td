// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile ops: what a kernel does with one tile of queries and one tile of keys.
#ifndef ATTN_TILE_OPS_TD
#define ATTN_TILE_OPS_TD

def Attn_InitStateOp : Attn_Op<"init_state", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "state of queries that have seen no key";
  let description = [{
    Keeps `scale * query` and sets m = -inf, l = 0, acc = 0 for every row of the
    query tile (rows x key_dim).

    In a block of a GPU, the queries of several heads that are packed into one
    state are read where they lie: (heads x queries x key_dim), or, with `layout =
    bshd`, (queries x heads x key_dim). Row i * heads + g of the state is query i
    of head g, whatever the number of queries is.
  }];
  let arguments = (ins Attn_Shaped:$query, F64Attr:$scale,
    Attn_ScheduleInterface:$schedule,
    DefaultValuedAttr<Attn_LayoutAttr, "::attn::Layout::HeadMajor">:$layout);
  let results = (outs Attn_StateType:$state);
  let assemblyFormat = [{
    $query `scale` custom<Factor>($scale) attr-dict `:` type($query) `->` type($state)
  }];
  let hasVerifier = 1;
}

def Attn_OnlineOp : Attn_Op<"online", [AttrSizedOperandSegments, IsolatedFromAbove,
    AllTypesMatch<["state", "next"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "one step of online softmax";
  let description = [{
    Lets the queries of a state see one tile of keys. With s = scores of the
    tile, through the score function, (+ bias), -inf where the mask excludes:
    `m' = max(m, max s)`, `p = exp(s - m')`, `a = exp(m - m')`,
    `l' = a*l + sum p`, `acc' = a*acc + p*value`; m' = -inf counts as 0 inside
    the differences (Milakov and Gimelshein 2018; Dao 2023). Associative over
    tiles of keys, in any order.

    The queries are the rows `query_begin` .. `query_end` - 1 of their sequence,
    the keys begin at `key_begin`; both are absolute, as are all indices that a
    mask or bias sees. Where `heads` are packed into one state, the queries are
    there once per head: row r of the state is query
    `query_begin + r mod (query_end - query_begin)`, or, in a block of a GPU,
    `query_begin + r / heads`. `bias` and i1 mask operands are the (queries x keys)
    matrix of this head, or a row or column of it that broadcasts; integer mask
    operands are scalars. In mode `full` every pair is visible and the mask is
    not looked at. A score function is that of `attn.score_mod`; the batch entry
    and the head stand behind `of`, captured tensors are whole.

    With `dropout`, whose `of` has the seed, the batch entry and the head, acc gets
    the weights of `attn.dropout`; l does not.

    Behind `second` stands the state of another map of the same queries, with a
    tile of keys of its own: it takes the same step with the same values, which
    are read once for both.

    Rows of the matrices behind `prefetch`, which someone needs later, come into
    the cache meanwhile: with the tile at key 0, as many as a tile of queries.
  }];
  let arguments = (ins Attn_StateType:$state, Attn_Shaped:$key,
    Attn_Shaped:$value, Index:$query_begin, Index:$query_end, Index:$key_begin,
    Index:$query_length, Index:$key_length,
    Optional<Attn_Shaped>:$bias, Variadic<AnyType>:$mask_operands,
    Variadic<AnyType>:$captures, Variadic<AnyType>:$dropped,
    Variadic<Attn_Shaped>:$prefetch,
    Optional<Attn_StateType>:$second_state, Optional<Attn_Shaped>:$second_key,
    OptionalAttr<AnyAttr>:$mask, OptionalAttr<F64Attr>:$dropout,
    Attn_TileModeAttr:$mode,
    Attn_ScheduleInterface:$schedule, DefaultValuedAttr<I64Attr, "1">:$heads);
  let regions = (region AnyRegion:$score_function);
  let results = (outs Attn_StateType:$next, Optional<Attn_StateType>:$second_next);
  let assemblyFormat = [{
    $state `,` $key `,` $value `rows` $query_begin `to` $query_end `keys` `from` $key_begin
    `lengths` $query_length `,` $key_length
    (`score_mod` custom<TileScoreFunction>($score_function, $captures, type($captures))^)?
    (`bias` $bias^ `:` type($bias))?
    (`where` custom<OptionalMask>($mask, $mask_operands, type($mask_operands))^)?
    (`dropout` $dropout `of` $dropped^ `:` type($dropped))?
    `mode` $mode
    (`prefetch` $prefetch^ `:` type($prefetch))?
    (`second` custom<SecondMap>($second_state, type($second_state), $second_key,
                                type($second_key), type($second_next))^)?
    attr-dict `:` type($state) `,` type($key) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Attn_MergeOp : Attn_Op<"merge", [Pure, SameOperandsAndResultType]> {
  let summary = "state of queries that have seen two sets of keys";
  let description = [{
    `m = max(m1, m2)`, `l = e1*l1 + e2*l2`, `acc = e1*acc1 + e2*acc2` with
    `ei = exp(mi - m)`. Commutative and associative; merging a state that has
    seen no key is exactly the identity.
  }];
  let arguments = (ins Attn_StateType:$first, Attn_StateType:$second,
                       Attn_ScheduleInterface:$schedule);
  let results = (outs Attn_StateType:$merged);
  let assemblyFormat =
      "$first `,` $second attr-dict `:` type($first)";
}

def Attn_AddSinkOp : Attn_Op<"add_sink", [Pure,
    AllTypesMatch<["state", "next"]>]> {
  let summary = "one more score in the denominator";
  let description = [{
    `m' = max(m, sink)`, `l' = a*l + exp(sink - m')`, `acc' = a*acc` with
    `a = exp(m - m')`: as if the queries had seen a key of score `sink` and of
    value 0. Once per state, after all merges.
  }];
  let arguments = (ins Attn_StateType:$state, AnyFloat:$sink,
                       Attn_ScheduleInterface:$schedule);
  let results = (outs Attn_StateType:$next);
  let assemblyFormat =
      "$state `,` $sink attr-dict `:` type($state) `,` type($sink)";
  let hasVerifier = 1;
}

def Attn_FinalizeOp : Attn_Op<"finalize", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "context, and logarithm of the sum, from a state";
  let description = [{
    `out = acc / l` and `lse = m + log l`; a row with l = 0 gives 0 and -inf.
    The state stays usable by `attn.weigh`.
  }];
  let arguments = (ins Attn_StateType:$state, Attn_Shaped:$out,
                       Optional<Attn_Shaped>:$lse, Attn_ScheduleInterface:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $state `outs` `(` $out (`,` $lse^)? `:` type($out) (`,` type($lse)^)? `)`
    attr-dict `:` type($state) (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def Attn_FinalizeDifferenceOp : Attn_Op<"finalize_difference", [
    DestinationStyleOpInterface, AllTypesMatch<["first", "second"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "context of the difference of two maps";
  let description = [{
    `out = acc1 / l1 - lambda * acc2 / l2` for the states of two maps of the same
    queries, keys and values. A row with l = 0 counts as 0, whatever lambda is.
  }];
  let arguments = (ins Attn_StateType:$first, Attn_StateType:$second,
                       AnyFloat:$lambda, Attn_Shaped:$out,
                       Attn_ScheduleInterface:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $first `,` $second `by` $lambda `outs` `(` $out `:` type($out) `)`
    attr-dict `:` type($first) `,` type($lambda) (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def Attn_SaveStateOp : Attn_Op<"save_state", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a state as numbers, to be merged with others";
  let description = [{
    Row r of `part` becomes acc of row r, then `m * log2(e)`, then l; in this
    unit m keeps all its bits.
  }];
  let arguments = (ins Attn_StateType:$state, Attn_Shaped:$part,
                       Attn_ScheduleInterface:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $state `outs` `(` $part `:` type($part) `)` attr-dict `:` type($state)
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def Attn_CombineOp : Attn_Op<"combine", [AttrSizedOperandSegments,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "context, and logarithm of the sum, from saved states";
  let description = [{
    `parts` is (states x rows x (value_dim + 2)), as `attn.save_state` wrote it
    for disjoint sets of keys. Merges them as `attn.merge` does, adds the sink as
    `attn.add_sink` does, and divides as `attn.finalize` does.
  }];
  let arguments = (ins Attn_Shaped:$parts, Optional<AnyFloat>:$sink,
                       Attn_Shaped:$out, Optional<Attn_Shaped>:$lse,
                       Attn_ScheduleInterface:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $parts (`sink` $sink^ `:` type($sink))?
    `outs` `(` $out (`,` $lse^)? `:` type($out) (`,` type($lse)^)? `)`
    attr-dict `:` type($parts) (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def Attn_WeighOp : Attn_Op<"weigh", [AttrSizedOperandSegments, IsolatedFromAbove,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "weights and scores of one tile of keys";
  let description = [{
    For a state that has seen all its keys: `weights = exp(s - m) / l` (0 for
    excluded pairs and for rows with l = 0) and `scores` as after the step
    `stage`. Operands as for `attn.online`. Written only where a function
    returns weights or scores.
  }];
  let arguments = (ins Attn_StateType:$state, Attn_Shaped:$key,
    Index:$query_begin, Index:$query_end, Index:$key_begin,
    Index:$query_length, Index:$key_length,
    Optional<Attn_Shaped>:$bias, Variadic<AnyType>:$mask_operands,
    Variadic<AnyType>:$captures,
    Optional<Attn_Shaped>:$weights, Optional<Attn_Shaped>:$scores,
    F64Attr:$scale, OptionalAttr<AnyAttr>:$mask,
    OptionalAttr<Attn_ScoresStageAttr>:$stage, Attn_ScheduleInterface:$schedule);
  // Variadic, because upstream's mlir::clone of a destination-style op does not
  // survive an empty region.
  let regions = (region VariadicRegion<AnyRegion>:$score_function);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $state `,` $key `rows` $query_begin `to` $query_end `keys` `from` $key_begin
    `lengths` $query_length `,` $key_length `scale` custom<Factor>($scale)
    (`score_mod` custom<TileScoreFunction>($score_function, $captures, type($captures))^)?
    (`bias` $bias^ `:` type($bias))?
    (`where` custom<OptionalMask>($mask, $mask_operands, type($mask_operands))^)?
    (`weights` $weights^ `:` type($weights))?
    (`scores` $scores^ `:` type($scores))?
    attr-dict `:` type($state) `,` type($key) (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def Attn_PackPanelsOp : Attn_Op<"pack_panels", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "panels of columns of a weight";
  let description = [{
    Writes columns of a weight (K x N) as panels (P x K x W), as `attn.project_tile`
    reads them: panel p holds the columns from p * W on, W is the schedule's
    `lanes * vectors`, and what lies behind the last column is 0. A `transposed`
    weight is N x K.

    Where the schedule multiplies pairs of bf16, a row holds those of two rows of
    the weight, side by side, and is twice as long (P x K/2 x 2W); what the last
    pair lacks is 0. For tiles there are 0s up to a multiple of 16 rows.
  }];
  let arguments = (ins Attn_Shaped:$weight, UnitAttr:$transposed, Attn_Shaped:$panels,
    Attn_CPUScheduleAttr:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $weight (`transposed` $transposed^)? `outs` `(` $panels `:` type($panels) `)`
    attr-dict `:` type($weight) (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def Attn_ProjectTileOp : Attn_Op<"project_tile", [
    AttrSizedOperandSegments, IsolatedFromAbove, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "one tile of a linear projection";
  let description = [{
    `out = input * weight (+ bias)` for matrices: (M x K) times (K x N), bias N.
    The weight may be packed, as `attn.pack_panels` does (P x K x W); columns behind
    N are ignored. A matrix may be `transposed`, N x K.

    An `epilogue` computes an element of out from the sum and the elements of what
    it captures: matrices like out, and rows of N elements.
  }];
  let arguments = (ins Attn_Shaped:$input, Attn_Shaped:$weight, UnitAttr:$transposed,
    Optional<Attn_Shaped>:$bias, Variadic<Attn_Shaped>:$captures, Attn_Shaped:$out,
    Attn_CPUScheduleAttr:$schedule);
  // Variadic, because upstream's mlir::clone of a destination-style op does not
  // survive an empty region.
  let regions = (region VariadicRegion<SizedRegion<1>>:$epilogue);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $input `,` $weight (`transposed` $transposed^)? (`bias` $bias^ `:` type($bias))?
    (`with` $captures^ `:` type($captures))? (`epilogue` $epilogue^)? `outs` `(` $out `:` type($out) `)`
    attr-dict `:` type($input) `,` type($weight) (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
    /// The block of the epilogue; null where there is none.
    ::mlir::Block *getEpilogueBlock();
  }];
  let hasVerifier = 1;
}

def Attn_ProjectBlockOp : Attn_Op<"project_block", [
    AttrSizedOperandSegments, IsolatedFromAbove, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the tile of a linear projection that a block of a GPU computes";
  let description = [{
    `out = input * weight (+ bias)` for matrices: (M x K) times (K x N), bias N,
    where K and N are known. M is at most the `query_tile` of the schedule, and N
    at most its `key_tile`. A matrix may be `transposed`, N x K. An `epilogue` is
    that of `attn.project_tile`.
  }];
  let arguments = (ins Attn_Shaped:$input, Attn_Shaped:$weight, UnitAttr:$transposed,
    Optional<Attn_Shaped>:$bias, Variadic<Attn_Shaped>:$captures, Attn_Shaped:$out,
    Attn_GPUScheduleAttr:$schedule);
  let regions = (region VariadicRegion<SizedRegion<1>>:$epilogue);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $input `,` $weight (`transposed` $transposed^)? (`bias` $bias^ `:` type($bias))?
    (`with` $captures^ `:` type($captures))? (`epilogue` $epilogue^)? `outs` `(` $out `:` type($out) `)`
    attr-dict `:` type($input) `,` type($weight) (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
    /// The block of the epilogue; null where there is none.
    ::mlir::Block *getEpilogueBlock();
    /// Features that input and weight share.
    int64_t getDepth();
  }];
  let hasVerifier = 1;
}

#endif

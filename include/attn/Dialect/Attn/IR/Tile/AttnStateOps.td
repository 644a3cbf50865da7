// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Partial states of attention as tensors: ops of the graph, and of tiles of rows.
#ifndef ATTN_STATE_OPS_TD
#define ATTN_STATE_OPS_TD

def Attn_MergeStatesOp : Attn_GraphOp<"merge_states", [
    AllTypesMatch<["first_maximum", "first_sum", "second_maximum", "second_sum",
                   "maximum", "sum"]>,
    AllTypesMatch<["first_acc", "second_acc", "acc"]>]> {
  let summary = "state of queries that have seen two sets of keys";
  let description = [{
    The operands are two states (m, l, acc), as `attn.sdpa` returns them for the
    same queries and two disjoint sets of keys; the result is that for all these
    keys: `m = max(m1, m2)`, `l = e1*l1 + e2*l2`, `acc = e1*acc1 + e2*acc2` with
    `ei = exp(mi - m)`. A state without a key (m = -inf) changes nothing, not
    even a bit.

    ```mlir
    func.func @merge(%m1: tensor<8x?xf32>, %l1: tensor<8x?xf32>, %a1: tensor<8x?x64xf32>,
                     %m2: tensor<8x?xf32>, %l2: tensor<8x?xf32>, %a2: tensor<8x?x64xf32>)
        -> (tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x64xf32>) {
      %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : tensor<8x?xf32>, tensor<8x?x64xf32>
      return %m, %l, %a : tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x64xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$first_maximum,
    Attn_FloatTensor:$first_sum, Attn_FloatTensor:$first_acc,
    Attn_FloatTensor:$second_maximum, Attn_FloatTensor:$second_sum,
    Attn_FloatTensor:$second_acc, OptionalAttr<Attn_ScheduleInterface>:$schedule);
  let results = (outs Attn_FloatTensor:$maximum, Attn_FloatTensor:$sum,
                      Attn_FloatTensor:$acc);
  let assemblyFormat = [{
    $first_maximum `,` $first_sum `,` $first_acc `with`
    $second_maximum `,` $second_sum `,` $second_acc attr-dict
    `:` type($maximum) `,` type($acc)
  }];
}

def Attn_FinalizeStateOp : Attn_GraphOp<"finalize_state", [
    AllTypesMatch<["maximum", "sum"]>]> {
  let summary = "context, and logarithm of the sum, from a state as tensors";
  let description = [{
    `out = acc / l` and, where there is a second result, `lse = m + log l`; a row
    without a key (l = 0) gives 0 and -inf.

    ```mlir
    func.func @finalize(%m: tensor<8x?xf32>, %l: tensor<8x?xf32>, %a: tensor<8x?x64xf32>) -> (tensor<8x?x64xf16>, tensor<8x?xf32>) {
      %out, %lse = attn.finalize_state %m, %l, %a
          : (tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x64xf32>) -> (tensor<8x?x64xf16>, tensor<8x?xf32>)
      return %out, %lse : tensor<8x?x64xf16>, tensor<8x?xf32>
    }
    ```
  }];
  let arguments = (ins Attn_FloatTensor:$maximum, Attn_FloatTensor:$sum,
    Attn_FloatTensor:$acc, OptionalAttr<Attn_ScheduleInterface>:$schedule);
  let results = (outs Attn_FloatTensor:$out, Optional<Attn_FloatTensor>:$lse);
  let assemblyFormat = [{
    $maximum `,` $sum `,` $acc attr-dict `:` functional-type(operands, results)
  }];
}

// A tile op that writes its last operands.
class Attn_RowsOp<string mnemonic> : Attn_Op<mnemonic, [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def Attn_MergeRowsOp : Attn_RowsOp<"merge_rows"> {
  let summary = "some rows of attn.merge_states";
  let description = [{
    m and l have an element per row, acc is a matrix (rows x value_dim). A
    destination may be the memory of an operand that has the same place in a
    state.
  }];
  let arguments = (ins Attn_Shaped:$first_maximum, Attn_Shaped:$first_sum,
    Attn_Shaped:$first_acc, Attn_Shaped:$second_maximum,
    Attn_Shaped:$second_sum, Attn_Shaped:$second_acc, Attn_Shaped:$maximum,
    Attn_Shaped:$sum, Attn_Shaped:$acc, Attn_ScheduleInterface:$schedule);
  let assemblyFormat = [{
    $first_maximum `,` $first_sum `,` $first_acc `with`
    $second_maximum `,` $second_sum `,` $second_acc
    `outs` `(` $maximum `,` $sum `,` $acc `:` type($maximum) `,` type($sum) `,` type($acc) `)`
    attr-dict `:` type($first_maximum) `,` type($first_sum) `,` type($first_acc) `with`
    type($second_maximum) `,` type($second_sum) `,` type($second_acc)
    (`->` type($results)^)?
  }];
}

def Attn_FinalizeRowsOp : Attn_RowsOp<"finalize_rows"> {
  let summary = "some rows of attn.finalize_state";
  let description = [{
    m, l and lse have an element per row, acc and out are matrices (rows x
    value_dim).
  }];
  let arguments = (ins Attn_Shaped:$maximum, Attn_Shaped:$sum,
    Attn_Shaped:$acc, Attn_Shaped:$out, Optional<Attn_Shaped>:$lse,
    Attn_ScheduleInterface:$schedule);
  let assemblyFormat = [{
    $maximum `,` $sum `,` $acc `outs` `(` $out (`,` $lse^)? `:` type($out) (`,` type($lse)^)? `)`
    attr-dict `:` type($maximum) `,` type($sum) `,` type($acc) (`->` type($results)^)?
  }];
}

def Attn_ReturnStateOp : Attn_RowsOp<"return_state"> {
  let summary = "a state as a caller gets it";
  let description = [{
    Writes m, in units of the natural logarithm, l and acc. The state stays
    usable, as after `attn.finalize`.
  }];
  let arguments = (ins Attn_StateType:$state, Attn_Shaped:$maximum,
    Attn_Shaped:$sum, Attn_Shaped:$acc, Attn_ScheduleInterface:$schedule);
  let assemblyFormat = [{
    $state `outs` `(` $maximum `,` $sum `,` $acc `:` type($maximum) `,` type($sum) `,` type($acc) `)`
    attr-dict `:` type($state) (`->` type($results)^)?
  }];
}

def Attn_CombineStateOp : Attn_RowsOp<"combine_state"> {
  let summary = "a state as a caller gets it, from saved states";
  let description = [{
    Merges saved states as `attn.combine` does, and writes the result as
    `attn.return_state` does.
  }];
  let arguments = (ins Attn_Shaped:$parts, Attn_Shaped:$maximum,
    Attn_Shaped:$sum, Attn_Shaped:$acc, Attn_ScheduleInterface:$schedule);
  let assemblyFormat = [{
    $parts `outs` `(` $maximum `,` $sum `,` $acc `:` type($maximum) `,` type($sum) `,` type($acc) `)`
    attr-dict `:` type($parts) (`->` type($results)^)?
  }];
}

#endif

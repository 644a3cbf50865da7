// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes from attn to attn, in the order of the pipeline.
#ifndef ATTN_TRANSFORMS_PASSES_TD
#define ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineFunctions : Pass<"attn-inline-functions", "::mlir::ModuleOp"> {
  let summary = "Replace calls by the body of what they call";
  let description = [{
    The steps of an attention may stand in several functions. Private functions,
    which nothing calls any more, are removed. Recursion, and calls of functions
    that the module does not hold, are refused at the call.
  }];
}

def NormalizeConstants : Pass<"attn-normalize-constants"> {
  let summary = "A tensor compared with itself is a constant of its sizes";
  let description = [{
    Of `arith.cmpi` and `arith.xori` of a tensor of unknown sizes with itself,
    which MLIR folds into a constant that does not know them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"];
}

def NormalizeLoops : Pass<"attn-normalize-loops"> {
  let summary = "Let parallel loops begin at 0 and take steps of 1";
  let description = [{
    The `scf.forall` of a specification may have any bounds; the number of its
    items is known to be at least 0 afterwards.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect"];
}

def RaiseAttention : Pass<"attn-raise-attention"> {
  let summary = "Turn attention in linalg into the textbook steps";
  let description = [{
    Every `linalg.softmax` between two products, of queries and keys and of
    weights and values, becomes `attn.scores` .. `attn.context`. What is done to
    the scores becomes scale, bias, masks and score functions. Each reason to
    give up is a remark at the softmax. In a function with the attribute
    `attn.lowest_excludes`, which comes from a model, the lowest finite number
    of a type excludes a pair, as -inf does.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseRope : Pass<"attn-raise-rope"> {
  let summary = "Turn rotary embedding that is written out into attn.rope";
  let description = [{
    Sums of products that rotate pairs of features, written with slices,
    negations and concats, become `attn.rope`. Remarks name rotations whose
    angles do not fit it.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseSoftmax : Pass<"attn-raise-softmax"> {
  let summary = "Turn softmax that is written out into linalg.softmax";
  let description = [{
    Powers over their sums, with or without the maximum that is taken away
    first, become `linalg.softmax`, which `attn-raise-attention` reads.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def RaiseHeads : Pass<"attn-raise-heads"> {
  let summary = "Turn transposes of heads into attn.split_heads and attn.merge_heads";
  let description = [{
    A `linalg.transpose` between (.., S, H, D) and (.., H, S, D) at a query, key,
    value or context becomes `attn.split_heads` or `attn.merge_heads`, of which
    `attn-absorb-heads` makes a layout.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::tensor::TensorDialect"];
}

def NormalizeAttention : Pass<"attn-normalize"> {
  let summary = "Bring the textbook steps to one canonical form";
  let description = [{
    Products and quotients with a constant (`arith.mulf`, `arith.divf` by a splat)
    become `attn.scale`; then the ops' own canonical forms apply. A
    `linalg.softmax` becomes the ops that it is made of.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def RaiseProjections : Pass<"attn-raise-projections"> {
  let summary = "Turn matrix products of linalg into projections";
  let description = [{
    `linalg.matmul`, `linalg.batch_matmul` and `linalg.generic` ops that multiply
    matrices become `attn.project`, with weights as they lie. Each reason to give
    up is a remark at the op.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect"];
}

def FuseAttention : Pass<"attn-fuse"> {
  let summary = "Fuse scores, scale, mask, bias, softmax and context";
  let description = [{
    Every `attn.context` whose weights come from `attn.softmax` or
    `attn.sigmoid` becomes one `attn.sdpa`. Intermediate scores or weights with other uses become its
    `scores` or `weights` results. Each reason to give up is a remark at the op.
  }];
  let dependentDialects = ["::attn::AttnDialect"];
}

def Differentiate : Pass<"attn-differentiate", "::mlir::ModuleOp"> {
  let summary = "Add the gradients of functions that learn";
  let description = [{
    A function with arguments that have the attribute `attn.gradient` gets two
    others beside it: @NAME_forward also returns what the gradient needs, and
    @NAME_gradient takes that and a cotangent per result, and returns the
    gradient by each such argument.
  }];
  let options = [Option<"only", "only", "std::string", /*default=*/"",
      "The one function of the three that stays; empty: all.">];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def CheckGradients : Pass<"attn-check-gradients"> {
  let summary = "Refuse gradients that no kernel computes";
  let description = [{
    An `attn.sdpa_grad` that has no kernel on the target is an error that names
    what has none.
  }];
}

def CheckDropout : Pass<"attn-check-dropout", "::mlir::func::FuncOp"> {
  let summary = "Refuse dropout in a function that learns nothing";
  let description = [{
    A function without `attn.gradient` that drops weights is an error, unless it
    has the attribute `attn.dropout`.
  }];
}

def ExpandGradients : Pass<"attn-expand-gradients"> {
  let summary = "Take gradients apart that need no kernel of their own";
  let description = [{
    The gradient of two maps becomes those of two attentions, and those by sinks
    and by lambda become sums over rows.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def RefineResults : Pass<"attn-refine-results"> {
  let summary = "Attention and projections have the sizes that are known";
  let description = [{
    Unknown sizes in the types of what `attn.sdpa`, `attn.finalize_state` and
    `attn.project` return become those that their operands have; so do those of
    the operands of `attn.project`.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def ReturnSteps : Pass<"attn-return-steps", "::mlir::ModuleOp"> {
  let summary = "Give a function one that returns every step of its attention";
  let description = [{
    A public function with one attention, an `attn.sdpa` of one map, gets another
    beside it, which takes the same arguments and returns what a picture shows
    and is no argument: query, key, value, the scores at every stage, weights and
    out. The attribute `attn.picture` says which result is what.
  }];
  let dependentDialects = ["::attn::AttnDialect"];
}

def CountFlops : Pass<"attn-count-flops", "::mlir::ModuleOp"> {
  let summary = "Give every function one that counts its arithmetic";
  let description = [{
    `@NAME.flops` takes the same arguments and returns the floating-point
    operations that the result needs: visible pairs only. The ops that remain in
    it are dead except for the sizes of their results.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect"];
}

def DescribePorts : Pass<"attn-describe-ports", "::mlir::ModuleOp"> {
  let summary = "State what a caller must know about arguments and results";
  let description = [{
    Every public function gets `attn.ports`, an array of `#attn.port`: per
    argument and result its name, type, and per dimension the size it must have
    or the symbol that names it. Dimensions that the ops require to be equal
    share one symbol.
  }];
  let dependentDialects = ["::attn::AttnDialect"];
}

def ResolveSizes : Pass<"attn-resolve-sizes", "::mlir::func::FuncOp"> {
  let summary = "Read sizes of tensors from the arguments";
  let description = [{
    A `tensor.dim` of a computed tensor asks the argument whose size is the same,
    as the ops between them require.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"];
}

def AbsorbHeads : Pass<"attn-absorb-heads"> {
  let summary = "Turn split_heads and merge_heads into layouts";
  let description = [{
    An `attn.sdpa` that reads split heads reads the joined tensor instead, with
    layout bshd; one whose context is only merged writes it in layout bshd. A
    split or merge that is left becomes a reshape and a transposing copy.
  }];
  let dependentDialects = ["::attn::AttnDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CheckMasks : Pass<"attn-check-masks"> {
  let summary = "Refuse masks that admit no pair";
  let description = [{
    A mask whose formula is false for all lengths and operands is an error; the
    message names the terms that contradict each other.
  }];
}

def CheckSlices : Pass<"attn-check-slices", "::mlir::ModuleOp"> {
  let summary = "Make the function that says whether slices stay inside";
  let description = [{
    `@NAME.slices` takes the arguments of a public function and returns 0 if its
    slices lie inside of their tensors and computed sizes are those that other
    ops take them for, else the number, from 1, of what is wrong in its attribute
    `attn.broken`. There is none where the types say that nothing is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect", "::mlir::func::FuncDialect",
    "::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect"];
}

def CheckUnknownSizes : Pass<"attn-check-unknown-sizes", "::mlir::func::FuncOp"> {
  let summary = "Refuse sizes that only the running kernel knows";
  let description = [{
    A size that is neither computed from sizes of arguments and loop counters nor
    the first element of an argument is an error at the op that has it.
  }];
}

def JoinBranches : Pass<"attn-join-branches", "::mlir::func::FuncOp"> {
  let summary = "Put the tensors of all branches into one place";
  let description = [{
    The branches of an `scf.if` materialize what they yield in one tensor in
    front of it. A result with a size that no tensor in front has is refused.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect"];
}

def CheckTarget : Pass<"attn-check-target"> {
  let summary = "Refuse what the target cannot run, by name";
  let description = [{
    Reports element types, static sizes and ops that the kernels of the target do
    not handle, at the op, before any lowering begins.
  }];
}

def CheckOps : Pass<"attn-check-ops", "::mlir::func::FuncOp"> {
  let summary = "Refuse ops around the attention that have no lowering";
  let description = [{
    Says by name which op of another dialect attn-opt has no lowering for, or
    which type of numbers. The IR does not change.
  }];
}

def ReplaceEmpty : Pass<"attn-replace-empty"> {
  let summary = "Give what has no features one that is 0";
  let description = [{
    Head dimensions that are known to be 0 become 1. A projection of no inputs
    becomes its bias, and ops whose results are known to be empty go.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CopyStridedSlices : Pass<"attn-copy-strided-slices"> {
  let summary = "Copy slices whose rows have gaps";
  let description = [{
    A `tensor.extract_slice` whose elements do not lie side by side in the last
    dimension is copied by `linalg.copy`; so is what a `tensor.insert_slice`
    inserts with gaps.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def YieldIntoArguments : Pass<"attn-yield-into-arguments"> {
  let summary = "Put what a loop yields where its argument lies";
  let description = [{
    Tensors that an `scf.for` or `scf.while` yields are materialized in the loop's
    argument, so that all turns share one buffer.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect"];
}

def MergeProjections : Pass<"attn-merge-projections"> {
  let summary = "Projections of one input become one product";
  let description = [{
    `attn.project` ops of one input, with constant weights and no more than a
    bias behind them, become one with the weights side by side, of which they
    are slices.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SinkReshapes : Pass<"attn-sink-reshapes"> {
  let summary = "Arithmetic moves in front of a reshape of its product";
  let description = [{
    What is computed element by element from a reshaped `attn.project` is
    computed in the product's shape, and reshaped then, so that it can be
    computed with the product's sums.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def JoinRows : Pass<"attn-join-rows"> {
  let summary = "Batch entries that share a weight are the rows of one product";
  let description = [{
    An `attn.project` of three dimensions by one matrix becomes one of two
    between reshapes, where that takes no copy or entries have few rows.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def InsertConcats : Pass<"attn-insert-concats"> {
  let summary = "Parts of a tensor are written where the whole lies";
  let description = [{
    A `tensor.concat` becomes slices that are inserted into one new tensor,
    which can be the memory of a result.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SeparateEmpties : Pass<"attn-separate-empties", "::mlir::func::FuncOp"> {
  let summary = "Give each use of an empty tensor one of its own";
  let description = [{
    Empty tensors of one size are one value to CSE, and the elimination of empty
    tensors places all that is computed in it where one result lies.
  }];
}

def ReuseOperands : Pass<"attn-reuse-operands"> {
  let summary = "Elementwise ops compute in the memory of an operand";
  let description = [{
    A `linalg` op on elements that has a new tensor for its result takes an
    operand of the same type instead, if nothing else reads that.
  }];
}

def ClampLookups : Pass<"attn-clamp-lookups", "::mlir::func::FuncOp"> {
  let summary = "Look-ups stay inside of their tensor";
  let description = [{
    Indices of `tensor.extract` that depend on elements of tensors, or that the
    body of a `linalg` op computes and no comparison before it can judge, become
    those of the nearest element.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"];
}

def GuardDivisions : Pass<"attn-guard-divisions"> {
  let summary = "Integers are divided by what a processor can divide them by";
  let description = [{
    Where an integer is divided by 0, or the least one by -1, the divisor becomes
    1: the quotient is the integer, the remainder 0.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"];
}

def LowerPrologue : Pass<"attn-lower-prologue"> {
  let summary = "Norms and rotations of rows become linalg ops";
  let description = [{
    `attn.rms_norm` and `attn.layer_norm` become sums over rows and an op on
    their elements, `attn.rope` an op on both halves of the features. An
    `attn.scale` that no attention took in becomes a `linalg.generic`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def LowerStates : Pass<"attn-lower-states"> {
  let summary = "States as tensors are merged element by element";
  let description = [{
    `attn.merge_states` and `attn.finalize_state` become `linalg.generic` ops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def SplitAttention : Pass<"attn-split-attention"> {
  let summary = "Attentions that are too much for a kernel of a GPU become several";
  let description = [{
    An attention with two maps becomes one for each and their difference, and one
    whose values have more than 256 features one for each 256 of them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def WidenAttention : Pass<"attn-widen-attention"> {
  let summary = "Queries, keys and values of a GPU's kernel are of one type";
  let description = [{
    Where queries and values have different types of up to 32 bits, those of 16
    become f32, and so does the context, which is rounded behind it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LowerGradients : Pass<"attn-lower-gradients"> {
  let summary = "Gradients of attention are loops over what they are by";
  let description = [{
    Every row of the gradient by queries, keys and values, and every element of
    that by a bias, is an item of a parallel loop, which computes the scores of its
    pairs again. To captured tensors a few items of each head add in copies.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def TileProducts : Pass<"attn-tile-products"> {
  let summary = "Products become tiles of a GPU's blocks";
  let description = [{
    `attn.project` with a schedule becomes parallel loops over tiles of its
    result, `attn.project_block`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def LowerColumns : Pass<"attn-lower-columns"> {
  let summary = "A product with one column is a sum along rows";
  let description = [{
    An `attn.project` of one column becomes a `linalg.generic` that adds up
    products along the rows of its input, in f32 or wider.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LowerProducts : Pass<"attn-lower-products"> {
  let summary = "Products are loops over the elements of their results";
  let description = [{
    Every element of an `attn.project` is an item of a parallel loop, and the sum
    of its products a loop inside, in f32 or wider.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def TileQueries : Pass<"attn-tile-queries"> {
  let summary = "One parallel item per tile of queries";
  let description = [{
    `attn.sdpa` becomes a parallel loop over batch, head and tiles of queries
    around init_state, online over all keys, and finalize; with `split_keys` over
    parts of the keys as well, whose states a second loop combines.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::scf::SCFDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def TileGradients : Pass<"attn-tile-gradients"> {
  let summary = "One parallel item per batch entry and key head of a gradient";
  let description = [{
    Each `attn.sdpa_grad` becomes a loop over batch entries, key heads and, where
    a batch entry has few key heads and a head many keys, parts of the keys; in
    it are loops over the query heads of the group and tiles of their queries, of
    `attn.init_grad`, `attn.grad_step` and `attn.finish_grad`. A second loop adds
    what the parts give the queries.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def TileKeys : Pass<"attn-tile-keys"> {
  let summary = "Visit only the tiles of keys that the mask sees";
  let description = [{
    An `attn.online` over all keys becomes loops over tiles of keys whose bounds
    follow from the mask: tiles without a visible pair are not visited, tiles
    with only visible pairs get mode `full`, the others mode `edge`.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def TileStates : Pass<"attn-tile-states"> {
  let summary = "One parallel item per tile of rows of a state";
  let description = [{
    `attn.merge_states` and `attn.finalize_state` become a parallel loop over
    batch, head and tiles of rows around `attn.merge_rows` and
    `attn.finalize_rows`.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def TileProjections : Pass<"attn-tile-projections"> {
  let summary = "One parallel item per tile of a projection";
  let description = [{
    `attn.project` becomes a parallel loop over tiles of rows and columns around
    `attn.project_tile`, which computes the elementwise ops behind it too. What
    ends a chain of them is a remark.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def WidenElements : Pass<"attn-widen-elements"> {
  let summary = "Compute with numbers of 16 bits in f32";
  let description = [{
    Scalar arithmetic of f16 and bf16 becomes that of f32, whose results are
    rounded. Conversions between 16 bits and f64 round once.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect"];
}

def FuseIntoSums : Pass<"attn-fuse-into-sums"> {
  let summary = "Sums of columns compute what they add up";
  let description = [{
    Elementwise ops and broadcasts that only a reduction of columns reads become
    part of its body.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def OrderResults : Pass<"attn-order-results", "::mlir::func::FuncOp"> {
  let summary = "Copy results before what they lie in is overwritten";
  let description = [{
    The copies to the caller's memory in front of a return take an order in
    which none overwrites what a later one reads. Of copies in a circle one is
    saved in memory of its own.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def SequenceInnerLoops : Pass<"attn-sequence-inner-loops"> {
  let summary = "Run parallel loops inside of others in order";
  let description = [{
    An `scf.forall` on buffers inside of another one becomes `scf.for`: items
    cannot start items.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

#endif

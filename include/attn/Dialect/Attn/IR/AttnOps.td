// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_OPS_TD
#define ATTN_OPS_TD

include "attn/Dialect/Attn/IR/AttnAttributes.td"
include "attn/Dialect/Attn/IR/AttnTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, mnemonic, traits>;

// A step of the graph: pure, on tensors.
class Attn_GraphOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, !listconcat([Pure,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>], traits)> {
  let hasVerifier = 1;
}

def Attn_FloatTensor : RankedTensorOf<[AnyFloat]>;
def Attn_Shaped : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>;

include "attn/Dialect/Attn/IR/Graph/AttnGraphOps.td"
include "attn/Dialect/Attn/IR/Graph/AttnScoreOps.td"
include "attn/Dialect/Attn/IR/Graph/AttnMaskOps.td"
include "attn/Dialect/Attn/IR/Tile/AttnTileOps.td"
include "attn/Dialect/Attn/IR/Tile/AttnStateOps.td"
include "attn/Dialect/Attn/IR/Tile/AttnGradOps.td"

#endif

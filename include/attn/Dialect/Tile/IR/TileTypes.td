// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_TYPES_TD
#define TILE_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::attn::tile";
  let summary = "Matrices in the registers and the shared memory of a block";
  let description = [{
    What a block of threads does together. A *fragment* is a matrix that is spread
    over the registers of all threads, *rows* are a number per row of one, a
    *buffer* is a matrix in shared memory. The state of a buffer is part of its
    type, and ops take buffers of one state and give them in another: what races
    on a GPU does not verify here.

    | | is made by | what may be done |
    | --- | --- | --- |
    | `free` | `tile.buffer`, a release | a copy may begin |
    | `loading` | `tile.copy_async` | wait |
    | `full` | a wait | read, then release |
  }];
  let useDefaultTypePrinterParser = 1;
}

def Tile_BufferStateEnum : I32EnumAttr<"BufferState",
    "what may be done with a buffer",
    [I32EnumAttrCase<"Free", 0, "free">,
     I32EnumAttrCase<"Loading", 1, "loading">,
     I32EnumAttrCase<"Full", 2, "full">]> {
  let cppNamespace = "::attn::tile";
}
def Tile_BufferStateParameter : EnumParameter<Tile_BufferStateEnum>;

class Tile_Type<string name, string typeMnemonic>
    : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_BufferType : Tile_Type<"Buffer", "buffer"> {
  let summary = "a matrix in shared memory";
  let description = [{
    Row r begins `offset + r * pitch` elements behind the begin of a block's
    shared memory; the pitch keeps the rows that one instruction reads in
    different banks. Both are multiples of 16 bytes, the unit of copies.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$element, "int64_t":$pitch,
                        "int64_t":$offset, Tile_BufferStateParameter:$state);
  let assemblyFormat = [{
    `<` $rows `x` $columns `x` $element `,` `pitch` `=` $pitch `,` `at` `=` $offset
    `,` $state `>`
  }];
  let extraClassDeclaration = [{
    BufferType in(BufferState state) const {
      return get(getContext(), getRows(), getColumns(), getElement(),
                 getPitch(), getOffset(), state);
    }
    int64_t getElementBytes() const {
      return getElement().getIntOrFloatBitWidth() / 8;
    }
    int64_t getBytes() const {
      return getRows() * getPitch() * getElementBytes();
    }
  }];
  let genVerifyDecl = 1;
}

def Tile_FragmentType : Tile_Type<"Fragment", "fragment"> {
  let summary = "a matrix in the registers of a block";
  let description = [{
    Spread over the threads of `warps` warps as mma.m16n8k16 leaves its sums:
    every warp has as many rows as every other, in blocks of 16. So many as
    `column_warps` share the columns of the same rows. In elements of 16 bits, of which a register holds two, it is laid out as a left operand of the
    same instruction, which is the same layout. In f32 it is a left operand of
    mma.m16n8k8 with the columns of each 8 in another order.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$element, "int64_t":$warps,
                        DefaultValuedParameter<"int64_t", "1">:$columnWarps);
  let assemblyFormat = [{
    `<` $rows `x` $columns `x` $element `,` `warps` `=` $warps
    (`,` `column_warps` `=` $columnWarps^)? `>`
  }];
  let builders = [TypeBuilder<(ins "int64_t":$rows, "int64_t":$columns,
                                   "::mlir::Type":$element, "int64_t":$warps,
                                   CArg<"int64_t", "1">:$columnWarps), [{
    return $_get($_ctxt, rows, columns, element, warps, columnWarps);
  }]>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// What each warp has.
    int64_t getWarpRows() const {
      return getRows() * getColumnWarps() / getWarps();
    }
    int64_t getWarpColumns() const { return getColumns() / getColumnWarps(); }
  }];
  let genVerifyDecl = 1;
}

def Tile_RowsType : Tile_Type<"Rows", "rows"> {
  let summary = "a number per row of a fragment";
  let description = [{
    f32, in every thread that holds elements of the row.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$warps);
  let assemblyFormat = "`<` $rows `,` `warps` `=` $warps `>`";
  let genVerifyDecl = 1;
}

#endif

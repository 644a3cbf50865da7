# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DSOURCE=<repository> -DMLIR_INCLUDE=<folder> -DOUTPUT=<folder> -P GenerateDocs.cmake
# writes the reference pages of the dialect and the passes from their TableGen
# files.
find_program(mlir_tblgen mlir-tblgen HINTS ${MLIR_INCLUDE}/../bin REQUIRED)

function(generate out)
  execute_process(COMMAND ${mlir_tblgen} ${ARGN} -I ${SOURCE}/include -I ${MLIR_INCLUDE}
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "[TOC]\n\n" "" text "${text}") # a directive of MLIR's own web site
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

set(attn ${SOURCE}/include/attn)
generate(dialect -gen-dialect-doc -dialect=attn ${attn}/Dialect/Attn/IR/AttnOps.td)
file(WRITE ${OUTPUT}/Dialect.md "${dialect}")
generate(tile -gen-dialect-doc -dialect=tile ${attn}/Dialect/Tile/IR/TileOps.td)
file(WRITE ${OUTPUT}/Tile.md "${tile}")

generate(transforms -gen-pass-doc ${attn}/Dialect/Attn/Transforms/Passes.td)
generate(schedule -gen-pass-doc ${attn}/Schedule/Passes.td)
generate(conversion -gen-pass-doc ${attn}/Conversion/Passes.td)
generate(interface -gen-pass-doc ${attn}/Interface/Passes.td)
file(WRITE ${OUTPUT}/Passes.md
  "# Passes\n\n## From attn to attn\n\n${transforms}\n## Choice of tile sizes\n\n${schedule}\n## From attn to other dialects\n\n${conversion}\n## To what C calls\n\n${interface}")

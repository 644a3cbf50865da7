# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How every C++ target of this project is made. LLVM's own helpers are not used:
# they set directory-wide flags, and lib/Runtime must see none of them.
include(TableGen)
include(AddLLVM) # TableGen uses it
include(AddMLIR) # mlir_tablegen

# What compiling against MLIR takes. Its headers are SYSTEM: -Werror is for ours.
separate_arguments(llvm_definitions UNIX_COMMAND "${LLVM_DEFINITIONS}")
add_library(AttnOptions INTERFACE)
target_compile_definitions(AttnOptions INTERFACE ${llvm_definitions})
target_compile_options(AttnOptions INTERFACE
  $<BUILD_INTERFACE:-fno-exceptions> # as LLVM is built
  $<BUILD_INTERFACE:-Wall> $<BUILD_INTERFACE:-Wextra>
  $<BUILD_INTERFACE:-Wno-unused-parameter> $<BUILD_INTERFACE:-Wno-missing-field-initializers>
  # False alarms in inlined headers.
  $<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>>
)
if(ATTN_QUICK_BUILD)
  # But for targets with ATTN_RUNS_LONG, whose own code works for longer than it compiles.
  set(quick "$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:$<TARGET_PROPERTY:ATTN_RUNS_LONG>>>>")
  target_compile_options(AttnOptions INTERFACE
    "$<BUILD_INTERFACE:$<${quick}:SHELL:-mllvm -inline-threshold=25 -mllvm -inlinehint-threshold=50>>")
  # gcc, which links what is in C, may not find it.
  target_link_options(AttnOptions INTERFACE "$<BUILD_INTERFACE:$<$<LINK_LANG_AND_ID:CXX,Clang>:-fuse-ld=lld>>")
endif()
target_include_directories(AttnOptions INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
target_include_directories(AttnOptions SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})

# One parse of MLIR's larger headers for the files of all libraries and programs.
if(ATTN_PRECOMPILE_HEADERS)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/AttnPrecompiled.cpp CONTENT "")
  add_library(AttnPrecompiled OBJECT ${PROJECT_BINARY_DIR}/AttnPrecompiled.cpp)
  target_link_libraries(AttnPrecompiled PRIVATE AttnOptions)
  target_precompile_headers(AttnPrecompiled PRIVATE
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h>
    <mlir/Dialect/MemRef/IR/MemRef.h>
    <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Tensor/IR/Tensor.h>
    <mlir/Dialect/Vector/IR/VectorOps.h>
    <mlir/Transforms/DialectConversion.h>)
endif()

# MLIR's archives name libLLVM.so where that was built. Ours are linked with
# LLVM's archives instead, never with both, or there would be two registries.
if(NOT ATTN_LINK_MLIR_DYLIB)
  llvm_map_components_to_libnames(llvm_archives AArch64CodeGen NVPTXCodeGen X86CodeGen)
  get_property(imported DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY IMPORTED_TARGETS)
  list(FILTER imported INCLUDE REGEX "^MLIR.")
  foreach(library IN LISTS imported)
    get_target_property(needed ${library} INTERFACE_LINK_LIBRARIES)
    if(needed)
      list(TRANSFORM needed REPLACE "^LLVM$" "${llvm_archives}")
      set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${needed}")
    endif()
  endforeach()
endif()

# Libraries of MLIR and LLVM are archives in our programs: symbols of the shared
# ones take the loader 20 ms of each run. Programs that embed the installed
# compiler get the shared ones.
function(attn_target_link target)
  set(ours ${ARGN})
  list(FILTER ours EXCLUDE REGEX "^(MLIR|LLVM)")
  set(theirs ${ARGN})
  list(FILTER theirs INCLUDE REGEX "^(MLIR|LLVM)")
  if(ATTN_LINK_MLIR_DYLIB)
    set(theirs MLIR LLVM)
  else()
    list(APPEND theirs ${llvm_archives})
  endif()
  list(TRANSFORM theirs REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>")
  target_link_libraries(${target} PUBLIC AttnOptions ${ours} ${theirs}
    $<INSTALL_INTERFACE:MLIR> $<INSTALL_INTERFACE:LLVM>)
endfunction()

# attn_add_library(<name> <sources>... [DEPENDS <tablegen targets>...] [LINK <libraries>...])
function(attn_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK")
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  attn_target_link(${name} ${arg_LINK})
  # Headers of a room inside a library: "Build/KernelBuilder.h".
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  if(ATTN_PRECOMPILE_HEADERS)
    target_precompile_headers(${name} REUSE_FROM AttnPrecompiled)
  endif()
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  install(TARGETS ${name} EXPORT AttnCompilerTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

# Programs would be compiled with -fPIE, and could not share the headers then.
function(attn_share_headers program)
  if(ATTN_PRECOMPILE_HEADERS)
    set_target_properties(${program} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${program} PRIVATE -fPIC)
    target_precompile_headers(${program} REUSE_FROM AttnPrecompiled)
  endif()
endfunction()

# attn_add_tool(<name> <sources>... [LINK <libraries>...]): a program people run.
function(attn_add_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  attn_target_link(${name} ${arg_LINK})
  attn_share_headers(${name})
  # A quarter of what comes from archives goes, and libz3, which only that needs;
  # without addresses to relocate, a program starts in three quarters of the time.
  target_link_options(${name} PRIVATE -Wl,--gc-sections -Wl,--as-needed -no-pie)
  install(TARGETS ${name} EXPORT AttnRuntimeTargets)
endfunction()

# attn_add_test_program(<name> <sources>... [LINK <libraries>...] [ARGS <arguments>...]):
# a program that is a test of ctest by its exit status.
function(attn_add_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK;ARGS")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  attn_target_link(${name} ${arg_LINK})
  attn_share_headers(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
endfunction()

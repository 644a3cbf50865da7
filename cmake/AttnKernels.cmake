# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include_guard()

# attn_add_kernel(<name> SOURCE <file.mlir | file.onnx> [TARGETS <cpu>[,<gpu>]] [DEPENDS <file>...])
# makes a static library <name> of the kernels in the file, to be linked like any
# other; its header is <name>.h. TARGETS are the processor, the one that
# compiles unless it is named, and a GPU, whose kernels run where their tensors
# lie there. DEPENDS are files that the source names, such as those of weights.
function(attn_add_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;TARGETS" "DEPENDS")
  if(NOT arg_SOURCE OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attn_add_kernel(<name> SOURCE <file> [TARGETS <cpu>[,<gpu>]] [DEPENDS <file>...])")
  endif()
  if(NOT arg_TARGETS)
    set(arg_TARGETS native)
  endif()
  cmake_path(ABSOLUTE_PATH arg_SOURCE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.kernel)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${folder}/${name}.o ${folder}/${name}.h
    COMMAND Attn::attn-opt ${arg_SOURCE} --emit=obj --target=${arg_TARGETS} -o ${folder}/${name}.o
    DEPENDS ${arg_SOURCE} ${arg_DEPENDS} Attn::attn-opt
    COMMENT "Compiling attention ${name}"
    VERBATIM)
  add_library(${name} STATIC ${folder}/${name}.o ${folder}/${name}.h)
  set_source_files_properties(${folder}/${name}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  # The library has no source of its own. Threads, which the runtime needs, is
  # found with either language, so that a project has one of them.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("C" IN_LIST languages)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  else()
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
  # A library that is made of it can be installed and exported, and so can this
  # one, with its header.
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${folder}>" "$<INSTALL_INTERFACE:include>")
  set_target_properties(${name} PROPERTIES PUBLIC_HEADER ${folder}/${name}.h)
  target_link_libraries(${name} PUBLIC Attn::Runtime)
endfunction()

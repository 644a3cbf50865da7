# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` lays down, in two parts: the runtime, the tools and
# attn_add_kernel, which need no LLVM to be found by a caller of kernels; and the
# compiler's own libraries, with which another program embeds it.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Attn)

add_library(Attn::Runtime ALIAS attn_rt)
set_target_properties(attn_rt PROPERTIES EXPORT_NAME Runtime)
install(TARGETS attn_rt EXPORT AttnRuntimeTargets)
install(TARGETS AttnOptions EXPORT AttnCompilerTargets)
install(EXPORT AttnRuntimeTargets NAMESPACE Attn:: DESTINATION ${package_dir})
install(EXPORT AttnCompilerTargets NAMESPACE Attn:: DESTINATION ${package_dir})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ ${PROJECT_BINARY_DIR}/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN CMakeFiles EXCLUDE)

configure_package_config_file(cmake/AttnConfig.cmake.in AttnConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(AttnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/AttnConfig.cmake
  ${PROJECT_BINARY_DIR}/AttnConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/AttnKernels.cmake
  DESTINATION ${package_dir})

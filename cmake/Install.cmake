# What belongs to a program but is not code: its version, man pages, and `make install`.
target_compile_definitions(ptxbench PRIVATE PTXBENCH_VERSION="${PROJECT_VERSION}")

find_program(SCDOC scdoc REQUIRED)
file(GLOB man_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.scd)
set(man_pages)
foreach(source ${man_sources})
  get_filename_component(name ${source} NAME_WLE) # ptxbench.1
  set(page ${CMAKE_BINARY_DIR}/man/${name})
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
    COMMAND sh -c "'${SCDOC}' < '${source}' > '${page}.new' && mv '${page}.new' '${page}'"
    DEPENDS ${source}
    COMMENT "scdoc ${name}" VERBATIM)
  list(APPEND man_pages ${page})
endforeach()
add_custom_target(man ALL DEPENDS ${man_pages})

# lib/ beside the program holds the shared libraries of a portable bundle (tools/bundle); in an installation it is not
# there, and the system's libraries are used.
include(GNUInstallDirs)
foreach(program ptxbench ptxbench-runner)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
    install(TARGETS ${program} RUNTIME)
  endif()
endforeach()
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY tasks kernels models packs prompts DESTINATION ${CMAKE_INSTALL_DATADIR}/ptxbench)
install(DIRECTORY include/ptxbench DESTINATION ${CMAKE_INSTALL_DATADIR}/ptxbench/include)
install(DIRECTORY ${TVM_FFI_INCLUDE}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ptxbench/tvm_ffi/include)
install(FILES ${TVM_FFI_INCLUDE}/../lib/libtvm_ffi.so DESTINATION ${CMAKE_INSTALL_DATADIR}/ptxbench/tvm_ffi/lib)
# The disassembler that tools/setup fetched; a toolkit's own is found on PATH.
install(PROGRAMS ${TVM_FFI_INCLUDE}/../../nvidia/cu13/bin/nvdisasm DESTINATION ${CMAKE_INSTALL_DATADIR}/ptxbench/bin
        OPTIONAL)
install(FILES README.md LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The CUDA look-alike libraries of the emulator (src/emu/shim): libptxemu.so holds the device, once a process;
# libcuda.so.1 and libcudart.so.13 are the two APIs in front of it. They lie together in the folder emu/ beside the
# programs, and find each other there.
set(shim ${CMAKE_SOURCE_DIR}/src/emu/shim)
file(GLOB shim_sources CONFIGURE_DEPENDS ${shim}/shim_*.c)
file(GLOB cuda_sources CONFIGURE_DEPENDS ${shim}/driver_*.c)
file(GLOB cudart_sources CONFIGURE_DEPENDS ${shim}/runtime_*.c)

# Objects, so that unit tests reach what the shared library hides.
add_library(ptxbench_shim OBJECT ${shim_sources})
target_link_libraries(ptxbench_shim PUBLIC ptxbench_options ptxbench_emu ptxbench_cuda_headers)

function(ptxbench_look_alike target soname map)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/emu
    BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN:$ORIGIN/../lib" # the latter: a bundle
    BUILD_RPATH_USE_ORIGIN ON
    PREFIX "" OUTPUT_NAME ${soname} SUFFIX "" NO_SONAME ON
    LINK_DEPENDS ${shim}/${map})
  target_link_options(${target} PRIVATE -Wl,-soname,${soname} -Wl,--version-script=${shim}/${map} -Wl,--as-needed
                      -Wl,-z,now)
  if(NOT PTXBENCH_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_DATADIR}/ptxbench/emu) # where resource_find looks
endfunction()

include(GNUInstallDirs)
add_library(ptxemu SHARED $<TARGET_OBJECTS:ptxbench_shim>)
target_link_libraries(ptxemu PRIVATE ptxbench_emu)
ptxbench_look_alike(ptxemu libptxemu.so ptxemu.map)

add_library(cuda SHARED ${cuda_sources})
target_link_libraries(cuda PRIVATE ptxbench_base ptxbench_cuda_headers ptxemu ${CMAKE_DL_LIBS})
ptxbench_look_alike(cuda libcuda.so.1 cuda.map)

add_library(cudart SHARED ${cudart_sources})
target_link_libraries(cudart PRIVATE ptxbench_options ptxbench_cuda_headers cuda ptxemu)
ptxbench_look_alike(cudart libcudart.so.13 cudart.map)

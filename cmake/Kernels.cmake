# Embeds the device code of a layer: src/LAYER/kernels/NAME.cu becomes a fat binary for sm_90a (with PTX) and sm_100a,
# linked in as `const unsigned char NAME_fatbin[]` with `const unsigned char NAME_fatbin_end[]` behind it.
function(ptxbench_embed_kernels layer)
  file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${layer}/kernels/*.cu)
  foreach(kernel ${kernels})
    get_filename_component(name ${kernel} NAME_WE)
    set(fatbin ${CMAKE_BINARY_DIR}/kernels/${name}.fatbin)
    set(assembly ${CMAKE_BINARY_DIR}/kernels/${name}.S)
    file(GLOB kernel_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${layer}/kernels/*.cuh)
    add_custom_command(
      OUTPUT ${fatbin}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/kernels
      COMMAND ${NVCC} -fatbin -O3 -std=c++17 -lineinfo -I${CMAKE_SOURCE_DIR}/src
              "-gencode=arch=compute_90a,code=[sm_90a,compute_90a]" # PTX for the emulator
              -gencode arch=compute_100a,code=sm_100a
              -o ${fatbin} ${kernel}
      DEPENDS ${kernel} ${kernel_headers}
      COMMENT "nvcc ${name}.cu" VERBATIM)
    file(CONFIGURE OUTPUT ${assembly} CONTENT
"    .section .rodata
    .balign 16
    .global @name@_fatbin
    .global @name@_fatbin_end
@name@_fatbin:
    .incbin \"@fatbin@\"
@name@_fatbin_end:
    .byte 0
    .section .note.GNU-stack,\"\",@progbits
" @ONLY)
    set_property(SOURCE ${assembly} PROPERTY LANGUAGE C)
    set_property(SOURCE ${assembly} APPEND PROPERTY OBJECT_DEPENDS ${fatbin})
    set_property(SOURCE ${assembly} PROPERTY COMPILE_OPTIONS
                 -x assembler "$<$<C_COMPILER_ID:Clang>:-Wno-unused-command-line-argument>")
    target_sources(ptxbench_${layer} PRIVATE ${assembly})
  endforeach()
endfunction()

# Text files that a layer carries in itself: src/LAYER/FOLDER/NAME.EXT becomes `const char asset_NAME_EXT[]`, ending with
# a NUL byte. So an installed program needs no files beside it for them.
function(ptxbench_embed_texts layer folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${layer}/${folder}/*)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    string(MAKE_C_IDENTIFIER asset_${name} symbol)
    set(generated ${CMAKE_BINARY_DIR}/assets/${symbol}.c)
    file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [[
__asm__(".section .rodata\n.globl @symbol@\n@symbol@:\n.incbin \"@source@\"\n.byte 0\n.previous\n"
        ".section .note.GNU-stack,\"\",@progbits\n.previous\n");
]])
    set_source_files_properties(${generated} PROPERTIES OBJECT_DEPENDS ${source})
    target_sources(ptxbench_${layer} PRIVATE ${generated})
  endforeach()
endfunction()

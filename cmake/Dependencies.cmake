# Libraries from the distribution, and headers of the CUDA toolkit and TVM-FFI (tools/setup provides them).
find_package(PkgConfig REQUIRED)
pkg_check_modules(JSON_C REQUIRED IMPORTED_TARGET json-c)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(CURL REQUIRED libcurl) # headers: the library is opened when a model is called over HTTP
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

# Static, so that a bundle carries no library that needs another one (tools/bundle).
pkg_check_modules(CYAML REQUIRED libcyaml)
find_library(CYAML_ARCHIVE NAMES libcyaml.a REQUIRED)
find_library(YAML_ARCHIVE NAMES libyaml.a REQUIRED)

find_program(NVCC nvcc HINTS ${PTXBENCH_CUDA_ROOT}/bin ENV CUDA_HOME /usr/local/cuda/bin REQUIRED)
get_filename_component(PTXBENCH_CUDA_BIN ${NVCC} DIRECTORY)
find_path(CUDA_INCLUDE cuda.h HINTS ${PTXBENCH_CUDA_BIN}/../include /usr/local/cuda/include REQUIRED)
find_path(CUPTI_INCLUDE cupti.h HINTS ${CUDA_INCLUDE} ${PTXBENCH_CUDA_BIN}/../include
          ${PTXBENCH_CUDA_BIN}/../extras/CUPTI/include REQUIRED)
find_path(TVM_FFI_INCLUDE tvm/ffi/c_api.h HINTS ${PTXBENCH_TVM_FFI_ROOT}/include REQUIRED)

add_library(ptxbench_cuda_headers INTERFACE)
target_include_directories(ptxbench_cuda_headers SYSTEM INTERFACE ${CUDA_INCLUDE} ${CUPTI_INCLUDE} ${TVM_FFI_INCLUDE})

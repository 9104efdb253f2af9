/* Screening of source text and of the names in objects. Whole candidates: tests/cli/test_screen.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "toolchain/screen_internal.h"
#include "toolchain/screen_names.h"

struct source_case {
    const char *text;
    int line; /* of the first finding; 0: no finding at all */
    const char *code;
    bool expanded; /* the text is preprocessed */
};

static const struct source_case source_cases[] = {
    /* includes */
    {"#include <cublas_v2.h>\n", 1, "vendor_include", false},
    {"\n #  include \"cudnn.h\"\n", 2, "vendor_include", false},
    {"/* x */ #include <cublasLt.h>\n", 1, "vendor_include", false},
    {"#incl\\\nude <cublas_v2.h>\n", 1, "vendor_include", false},
    {"#include_next <cufft.h>\n", 1, "vendor_include", false},
    {"#include <nppi.h>\n", 1, "vendor_include", false},
    {"#include <torch/extension.h>\n", 1, "vendor_include", false},
    {"#include <cutlass/gemm/device/gemm.h>\n", 1, "template_library", false},
    {"#include \"cute/tensor.hpp\"\n", 1, "template_library", false},
    {"#include <thrust/sort.h>\n", 1, "template_library", false},
    {"#include <cub/cub.cuh>\n", 1, "template_library", false},
    {"#include \"/etc/passwd\"\n", 1, "foreign_include", false},
    {"#embed \"blob.cubin\"\n", 1, "incbin", false},
    {"#if 1\n#include <cublas_v2.h>\n#endif\n", 2, "vendor_include", false},
    {"#if 0\n#if 1\n#endif\n#else\n#include <cublas_v2.h>\n#endif\n", 5, "vendor_include", false},
    {"const char *s = R\"x(\")y\" )\")x\";\n#include <cublas_v2.h>\n", 2, "vendor_include", false},
    /* innocent includes */
    {"#include <cuda.h>\n#include <mma.h>\n#include <cuda/barrier>\n#include <curand_kernel.h>\n", 0, NULL, false},
    {"#include \"my_cublas_like.h\"\n#include \"cutlass_like.cuh\"\n#include \"cute.h\"\n", 0, NULL, false},
    {"// #include <cublas_v2.h>\n/*\n#include <cudnn.h>\n*/\n", 0, NULL, false},
    {"// continued \\\n#include <cublas_v2.h>\n", 0, NULL, false},
    {"const char *s = \"\\\n#include <cublas_v2.h>\";\n", 0, NULL, false},
    {"const char *s = R\"x(\n#include <cublas_v2.h>\n)x\";\n", 0, NULL, false},
    {"#if 0\n#include <cublas_v2.h>\n#endif\n", 0, NULL, false},
    /* names */
    {"void f() { cublasSgemm(h); }\n", 1, "vendor_call", false},
    {"\ncudnnHandle_t handle;\n", 2, "vendor_call", false},
    {"int x = ::dlopen(name, 1);\n", 1, "loader_call", false},
    {"auto f = &dlsym;\n", 1, "loader_call", false},
    {"#define LOAD dlopen\n", 1, "loader_call", false},
    {"cuModuleLoadDataEx(&m, p, 0, 0, 0);\n", 1, "loader_call", false},
    {"__cudaRegisterFatBinary(&wrapper);\n", 1, "loader_call", false},
    {"const char *s = \"libcublas.so.13\";\n", 1, "denied_string", false},
    {"const char *s = \"lib\" \"cudnn\"\n\".so\";\n", 1, "denied_string", false},
    {"const char *s = \"/usr/lib/libcublasLt.so\";\n", 1, "denied_string", false},
    {"f(\"cuModuleLoadData\");\n", 1, "denied_string", false},
    {"f(\"dlsym\");\n", 1, "denied_string", false},
    /* innocent names */
    {"// cublasSgemm(h)\n/* dlopen(x) */\n", 0, NULL, false},
    {"int my_cudnn_like(int cublas); void cudnn_style(); int dlopen_count;\n", 0, NULL, false},
    {"puts(\"no cublasSgemm, no dlopen\"); puts(\"cuBLAS\"); puts(\"cublas\");\n", 0, NULL, false},
    {"int system, fork, clone; fork = system + clone(3); timer.execute(); exec_mma();\n", 0, NULL, false},
    {"loader.dlopen(3); loader->dlsym(4);\n", 0, NULL, false},
    {"f(\"cuTensorMapEncodeTiled\");\n", 0, NULL, false},
    {"char c = '\"'; int y = 1'000; cublas + cudnn;\n", 0, NULL, false},
    /* assembly */
    {"asm(\".incbin \\\"x\\\"\");\n", 1, "incbin", false},
    {"asm volatile(\".inc\" \"bin x\");\n", 1, "incbin", false},
    {"__asm__ __volatile__ (R\"(.include \"x\")\");\n", 1, "incbin", false},
    {"void f() {\n asm volatile(\"syscall\");\n}\n", 2, "host_assembly", true},
    {"namespace a { extern \"C\" { asm(\".text\"); } }\n", 1, "host_assembly", true},
    {"extern \"C\" int f() asm(\"system\");\n", 1, "host_assembly", true},
    {"# 1 \"k.cu\"\n__device__ int x;\nvoid f() {\n asm(\"syscall\");\n}\n", 3, "host_assembly", true},
    {"# 7 \"k.cu\"\nvoid f() { asm(\"jmp *%rax\"); }\n", 7, "host_assembly", true},
    {"struct s { __device__ void a() { } void b() { asm(\"syscall\"); } };\n", 1, "host_assembly", true},
    {"__attribute__((global)) void k() { asm volatile(\"wgmma.fence.sync.aligned;\"); }\n", 0, NULL, true},
    {"static __inline__ __attribute__((device)) void k() { if (1) { asm(\"ret;\"); } }\n", 0, NULL, true},
    {"template <class T> struct s { __attribute__((device)) static void f(T x) { asm(\"exit;\"); } };\n", 0, NULL,
     true},
    {"void f() { auto k = [=] __device__ (int i) { asm(\"exit;\"); }; }\n", 0, NULL, true},
    {"class __attribute__((aligned(8))) q { __device__ void f() { for (;;) { asm(\"bar.sync 0;\"); } } };\n", 0, NULL,
     true},
};

static void test_sources(void **state)
{
    const struct screen_policy policy = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(source_cases); i++) {
        const struct source_case *wanted = &source_cases[i];
        AUTO_ARENA *arena = arena_new();
        struct screen_report report = {0};
        print_message("%s", wanted->text);
        screen_text(arena, "k.cu", wanted->text, strlen(wanted->text), wanted->expanded, &policy, &report);
        if (!wanted->line) {
            if (report.count)
                print_message("unexpected: %s\n", report.findings[0].message);
            assert_int_equal(report.count, 0);
            continue;
        }
        assert_int_equal(report.count, 1);
        assert_string_equal(screen_code_text(report.findings[0].code), wanted->code);
        assert_int_equal(report.findings[0].line, wanted->line);
        assert_string_equal(report.findings[0].file, "k.cu");
        assert_int_equal(report.findings[0].severity, SCREEN_OFFENCE);
        assert_non_null(report.findings[0].hint);
    }
}

static void test_template_libraries_can_be_allowed(void **state)
{
    static const char text[] = "#include <cutlass/cutlass.h>\n#include <thrust/sort.h>\n#include <cublas_v2.h>\n";
    const struct screen_policy policy = {.allow_libraries = true};
    AUTO_ARENA *arena = arena_new();
    struct screen_report report = {0};

    (void)state;
    screen_text(arena, "k.cu", text, strlen(text), false, &policy, &report);
    assert_int_equal(report.count, 1);
    assert_int_equal(report.findings[0].code, SCREEN_VENDOR_INCLUDE);
}

static void test_harmless_host_assembly_is_a_note(void **state)
{
    static const char text[] = "void f() { asm volatile(\"\" ::: \"memory\"); asm(\"pause\"); }\n";
    const struct screen_policy policy = {0};
    AUTO_ARENA *arena = arena_new();
    struct screen_report report = {0};

    (void)state;
    screen_text(arena, "k.cu", text, strlen(text), true, &policy, &report);
    assert_int_equal(report.offences, 0);
    assert_int_equal(report.count, 1);
}

static void test_findings_are_bounded(void **state)
{
    const struct screen_policy policy = {0};
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER text = buffer_new(1 << 20);
    struct screen_report report = {0};

    (void)state;
    for (int i = 0; i < 3 * SCREEN_FINDINGS_MAX; i++)
        (void)buffer_printf(&text, "int a%d = dlopen%s;\n", i, "(0, 0)");
    for (int i = 0; i < 3 * SCREEN_FINDINGS_MAX; i++)
        (void)buffer_printf(&text, "cublasThing%d(0);\n", i);
    screen_text(arena, "k.cu", text.data, text.length, false, &policy, &report);
    assert_int_equal(report.count, SCREEN_FINDINGS_MAX);
    assert_true(report.dropped > 0);
    assert_int_equal(report.offences, report.count + report.dropped);
}

struct name_case {
    const char *name;
    bool denied;
};

static const struct name_case import_cases[] = {
    {"dlopen", true},
    {"dlsym", true},
    {"system", true},
    {"popen", true},
    {"execve", true},
    {"execlp", true},
    {"fork", true},
    {"vfork", true},
    {"posix_spawnp", true},
    {"ptrace", true},
    {"process_vm_writev", true},
    {"syscall", true},
    {"cuModuleLoadData", true},
    {"cuModuleLoadFatBinary", true},
    {"cuLibraryLoadFromFile", true},
    {"cudaLibraryLoadData", true},
    {"nvrtcCompileProgram", true},
    {"cublasCreate_v2", true},
    {"cudnnCreate", true},
    {"cufftExecC2C", true},
    {"cusparseCreate", true},
    {"cusolverDnCreate", true},
    {"cutensorCreate", true},
    {"_ZN3tvm3ffi6Module12LoadFromFileERKNS0_6StringE", true},
    {"cudaMalloc", false},
    {"cuGetProcAddress_v2", false},
    {"cudaGetDriverEntryPointByVersion", false},
    {"cuTensorMapEncodeTiled", false},
    {"malloc", false},
    {"_ZNSt6vectorIlSaIlEE", false},
    {"executor", false},
    {"cuModuleGetFunction", false},
    {"cloned", false},
    {"forklift", false},
    {"__cudaRegisterFatBinary", false},
    {"TVMFFIErrorSetRaised", false},
    {"printf", false},
};

static void test_imports(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(import_cases); i++) {
        print_message("%s\n", import_cases[i].name);
        assert_int_equal(screen_denied_import(import_cases[i].name) != NULL, import_cases[i].denied);
    }
}

static void test_libraries(void **state)
{
    static const char *const allowed[] = {"libcudart.so.13", "libcuda.so.1",  "libtvm_ffi.so", "libstdc++.so.6",
                                          "libm.so.6",       "libgcc_s.so.1", "libc.so.6",     "ld-linux-x86-64.so.2"};
    static const char *const refused[] = {"libcublas.so.13", "libcudnn.so.9", "libdl.so.2", "libcudartx.so",
                                          "libnvrtc.so.13",  "libc10.so",     "libc",       ""};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
        assert_true(screen_library_allowed(allowed[i]));
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        assert_false(screen_library_allowed(refused[i]));
}

static void test_object_must_be_elf(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct screen_report report = {0};
    struct error error;

    (void)state;
    assert_false(screen_object(arena, "hello", 5, &report, &error));
    assert_int_equal(error.code, ERROR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_template_libraries_can_be_allowed),
        cmocka_unit_test(test_harmless_host_assembly_is_a_note),
        cmocka_unit_test(test_findings_are_bounded),
        cmocka_unit_test(test_imports),
        cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_object_must_be_elf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

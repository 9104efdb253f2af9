#include "toolchain/screen_names.h"

#include <string.h>

#include "base/attributes.h"

struct vendor {
    const char *prefix;  /* of functions (followed by an upper-case letter), headers and libraries */
    const char *library; /* for messages */
};

static const struct vendor vendors[] = {
    {"cublas", "cuBLAS"},
    {"cudnn", "cuDNN"},
    {"cufft", "cuFFT"},
    {"cusparse", "cuSPARSE"},
    {"cusolver", "cuSOLVER"},
    {"cutensor", "cuTENSOR"},
    {"nvrtc", "NVRTC"},
    {"nvJitLink", "nvJitLink"},
    {"nvPTXCompiler", "the PTX compiler library"},
    {"nccl", "NCCL"},
    {"npp", "NPP"},
    {"nvblas", "NVBLAS"},
    {"cupti", "CUPTI"},
    {"nvml", "NVML"},
    {"nvFatbin", "nvFatbin"},
    {"cudss", "cuDSS"},
    {"cufile", "cuFile"},
    {"curand", "cuRAND"},
    {"nvshmem", "NVSHMEM"},
};

static const struct vendor template_libraries[] = {
    {"cutlass", "CUTLASS"},
    {"cute", "CuTe"},
    {"thrust", "Thrust"},
    {"cub", "CUB"},
};

/* Header folders of other people's kernels and frameworks. */
static const struct vendor foreign_folders[] = {
    {"torch", "PyTorch"},         {"ATen", "PyTorch"},         {"c10", "PyTorch"},
    {"flashinfer", "FlashInfer"}, {"cudnn_frontend", "cuDNN"}, {"raft", "RAFT"},
};

enum match { EXACT, PREFIX };

struct denied {
    const char *name;
    enum match match;
    bool in_source; /* distinctive enough to be denied by name in source text and strings */
    const char *why;
    bool generated; /* nvcc's own code imports it: denied in the candidate's text only */
};

static const char loads_code[] = "loads code at run time";
static const char starts_programs[] = "starts programs";
static const char reaches_processes[] = "reaches into processes";
static const char raw_calls[] = "makes system calls past every check";
static const char makes_code[] = "makes memory executable";

static const struct denied denied_functions[] = {
    {"dlopen", EXACT, true, loads_code},
    {"dlmopen", EXACT, true, loads_code},
    {"dlsym", EXACT, true, loads_code},
    {"dlvsym", EXACT, true, loads_code},
    {"__libc_dl", PREFIX, true, loads_code},
    {"_dl_", PREFIX, false, loads_code},
    {"dl_iterate_phdr", EXACT, true, loads_code},
    {"dladdr", PREFIX, true, loads_code},
    {"dlinfo", EXACT, true, loads_code},
    {"cuModuleLoad", PREFIX, true, loads_code},
    {"cuLibraryLoad", PREFIX, true, loads_code},
    {"cudaLibraryLoad", PREFIX, true, loads_code},
    {"cuLinkCreate", PREFIX, true, loads_code},
    {"cuLinkAdd", PREFIX, true, loads_code},
    {"__cudaRegister", PREFIX, true, "registers device code by hand", .generated = true},
    {"ffi.ModuleLoadFromFile", EXACT, true, loads_code},
    {"ffi.Module.load_from", PREFIX, true, loads_code},
    {"_ZN3tvm3ffi6Module12LoadFromFile", PREFIX, false, loads_code},
    {"system", EXACT, false, starts_programs},
    {"popen", EXACT, false, starts_programs},
    {"wordexp", EXACT, false, starts_programs},
    {"execl", PREFIX, false, starts_programs},
    {"execv", PREFIX, false, starts_programs},
    {"fexecve", EXACT, false, starts_programs},
    {"fork", EXACT, false, starts_programs},
    {"vfork", EXACT, false, starts_programs},
    {"clone", EXACT, false, starts_programs},
    {"__clone", PREFIX, false, starts_programs},
    {"posix_spawn", PREFIX, false, starts_programs},
    {"ptrace", EXACT, false, reaches_processes},
    {"process_vm_", PREFIX, true, reaches_processes},
    {"pidfd_getfd", EXACT, true, reaches_processes},
    {"syscall", EXACT, false, raw_calls},
    {"memfd_create", EXACT, true, makes_code},
    {"mprotect", EXACT, false, makes_code},
    {"pkey_mprotect", EXACT, true, makes_code},
};

/* Up to ".so": any version of the file may be linked. */
static const char *const allowed_libraries[] = {
    "libcudart",  "libcuda", "libtvm_ffi",      "libstdc++",        "libm", "libmvec", "libgcc_s", "libc",
    "libpthread", "librt",   "ld-linux-x86-64", "ld-linux-aarch64",
};

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_name_character(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool starts_with(const char *text, size_t length, const char *prefix)
{
    size_t wanted = strlen(prefix);

    return length >= wanted && memcmp(text, prefix, wanted) == 0;
}

/* First folder of an include path: "cutlass" of "cutlass/gemm/x.h", "" of "x.h". */
static bool first_folder_is(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

const char *screen_vendor_header(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < ARRAY_LEN(foreign_folders); i++)
        if (first_folder_is(path, foreign_folders[i].prefix))
            return foreign_folders[i].library;
    for (size_t i = 0; i < ARRAY_LEN(vendors); i++) {
        size_t length = strlen(vendors[i].prefix);
        if (strncmp(name, vendors[i].prefix, length) != 0)
            continue;
        /* cuRAND's device side is a header of the toolkit that computes in the kernel itself. */
        if (strncmp(name, "curand_", 7) == 0)
            return NULL;
        /* "cublas_v2.h", "cublasLt.h", "cudnn.h", "nppi.h", "cublasdx.hpp" */
        const char *rest = name + length;
        if (*rest == '.' || *rest == '_' || is_upper(*rest) || strcmp(vendors[i].prefix, "npp") == 0 ||
            strncmp(rest, "dx", 2) == 0)
            return vendors[i].library;
    }
    return NULL;
}

const char *screen_template_header(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(template_libraries); i++)
        if (first_folder_is(path, template_libraries[i].prefix))
            return template_libraries[i].library;
    return NULL;
}

const char *screen_vendor_function(const char *name, size_t length)
{
    for (size_t i = 0; i < ARRAY_LEN(vendors); i++) {
        size_t prefix = strlen(vendors[i].prefix);
        if (length > prefix && memcmp(name, vendors[i].prefix, prefix) == 0 && is_upper(name[prefix]))
            return vendors[i].library;
    }
    return NULL;
}

static const struct denied *find_denied(const char *name, size_t length)
{
    for (size_t i = 0; i < ARRAY_LEN(denied_functions); i++) {
        const struct denied *row = &denied_functions[i];
        if (starts_with(name, length, row->name) && (row->match == PREFIX || length == strlen(row->name)))
            return row;
    }
    return NULL;
}

const char *screen_denied_import(const char *name)
{
    size_t length = strlen(name);
    const struct denied *row = find_denied(name, length);

    if (row)
        return row->generated ? NULL : row->why;
    return screen_vendor_function(name, length) ? "is a vendor library's" : NULL;
}

const char *screen_loader_function(const char *name, size_t length)
{
    const struct denied *row = find_denied(name, length);

    return row && row->in_source ? row->why : NULL;
}

/* "libcublas.so.13", "/usr/lib/libcudnn.so": the last part is lib + vendor + ... + .so */
static const char *denied_library(const char *text, size_t length)
{
    static const char *const others[] = {"libdl", "libnvidia-", "libtorch", "libcutlass"};
    const char *name = text;
    const char *mark = NULL;

    for (size_t i = 0; i < length; i++)
        if (text[i] == '/')
            name = text + i + 1;
    length -= (size_t)(name - text);
    for (size_t i = 0; i + 3 <= length; i++)
        if (memcmp(name + i, ".so", 3) == 0)
            mark = name + i;
    if (!starts_with(name, length, "lib") || (length > 64))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(vendors); i++)
        if (starts_with(name + 3, length - 3, vendors[i].prefix)) {
            size_t known = 3 + strlen(vendors[i].prefix);
            if (mark || length == known || is_upper(name[known]))
                return vendors[i].library;
        }
    for (size_t i = 0; mark && i < ARRAY_LEN(others); i++)
        if (starts_with(name, length, others[i]))
            return "a library loaded at run time";
    return NULL;
}

const char *screen_denied_string(const char *text, size_t length)
{
    const char *library = denied_library(text, length);

    if (library)
        return library;
    for (size_t i = 0; i < length; i++)
        if (!is_name_character(text[i]) && text[i] != '.')
            return NULL;
    const char *vendor = screen_vendor_function(text, length);
    return vendor ? vendor : screen_loader_function(text, length);
}

bool screen_library_allowed(const char *soname)
{
    const char *mark = strstr(soname, ".so");

    for (size_t i = 0; mark && i < ARRAY_LEN(allowed_libraries); i++)
        if (strlen(allowed_libraries[i]) == (size_t)(mark - soname) &&
            memcmp(allowed_libraries[i], soname, (size_t)(mark - soname)) == 0)
            return true;
    return false;
}

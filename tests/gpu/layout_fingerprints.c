/*
 * layout_fingerprints OUT.json: what an sm_90 GPU does with layouts, as golden files for tests without a GPU.
 * layout_fingerprints --ptx FOLDER: writes the kernels instead, for `ptxas -arch=sm_90a`; needs no GPU.
 *
 * For each case of layout_cases.h a kernel of PTX text runs with probing inputs, and the answer is compared with the
 * prediction of src/emu. Prints each difference with its first position; exit status 0 when there is none. OUT.json
 * records what the GPU did, right or not: name, words, digest, first words (all of them where they differ), or the
 * error. After an error the context is lost: the program starts itself anew (--resume) behind that case.
 *
 * Run it from the build folder of a machine with an H100 or H200 and keep the result in the source tree:
 *     mkdir -p ../tests/data/layout
 *     ninja layout_fingerprints && ./tests/layout_fingerprints ../tests/data/layout/sm_90a.json
 * tests/unit/emu/test_layout_golden.c then compares src/emu with it everywhere.
 *
 * wgmma probes: the other operand is an identity, so the accumulator is the probed operand as the tensor core read it;
 * the elements of the shared image count upwards, three bits a run, because the small types hold no larger number.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "device/cuda_driver.h"
#include "layout_cases.h"

enum { BITS_PER_PASS = 3, PASSES = 5, OUT_WORDS = LAYOUT_THREADS * 128 };

typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* The device and its buffers. */
struct rig {
    const struct cuda_driver *driver;
    encode_tiled *encode;
    char name[128];
    CUdeviceptr image, registers, out, global;
};

/* Host copies of the inputs and of the output. */
struct exchange {
    uint8_t image[LAYOUT_SHARED_BYTES];
    uint32_t registers[LAYOUT_THREADS][LAYOUT_REGISTERS];
    uint32_t out[OUT_WORDS];
};

static bool open_rig(struct rig *rig, struct error *error)
{
    CUdevice device;
    CUcontext context;

    if (!cuda_driver_load(&rig->driver, error))
        return false;
    CUDA_TRY(rig->driver, error, cuDeviceGet(&device, 0));
    CUDA_TRY(rig->driver, error, cuDeviceGetName(rig->name, sizeof rig->name, device));
    CUDA_TRY(rig->driver, error, cuDevicePrimaryCtxRetain(&context, device));
    CUDA_TRY(rig->driver, error, cuCtxSetCurrent(context));
    *(void **)&rig->encode = dlsym(rig->driver->library, "cuTensorMapEncodeTiled");
    if (!rig->encode)
        return error_set(error, ERROR_UNSUPPORTED, "the driver has no cuTensorMapEncodeTiled");
    CUDA_TRY(rig->driver, error, cuMemAlloc(&rig->image, LAYOUT_SHARED_BYTES));
    CUDA_TRY(rig->driver, error, cuMemAlloc(&rig->registers, sizeof((struct exchange *)0)->registers));
    CUDA_TRY(rig->driver, error, cuMemAlloc(&rig->out, sizeof((struct exchange *)0)->out));
    CUDA_TRY(rig->driver, error, cuMemAlloc(&rig->global, LAYOUT_GLOBAL_BYTES));
    return true;
}

static bool encode_map(const struct rig *rig, const struct tensor_map *map, CUtensorMap *out, struct error *error)
{
    cuuint64_t dims[TENSOR_MAP_MAX_RANK], strides[TENSOR_MAP_MAX_RANK];

    for (int i = 0; i < TENSOR_MAP_MAX_RANK; i++) {
        dims[i] = map->dim[i];
        strides[i] = map->stride[i];
    }
    CUresult result =
        rig->encode(out, (CUtensorMapDataType)map->type, (cuuint32_t)map->rank, (void *)rig->global, dims, strides + 1,
                    map->box, map->element_stride, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)map->swizzle,
                    CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)map->fill);
    return result == CUDA_SUCCESS || cuda_error(rig->driver, error, result, "cuTensorMapEncodeTiled");
}

/* Runs the kernel of a loaded module once with the inputs of `x`, and fetches the output. */
static bool run_once(const struct rig *rig, CUmodule module, const struct layout_case *c, struct exchange *x,
                     struct error *error)
{
    CUtensorMap map = {0};
    CUfunction function;
    bool tma = c->kind == LAYOUT_TMA_LOAD || c->kind == LAYOUT_TMA_STORE, store = c->kind == LAYOUT_TMA_STORE;
    uint8_t global[LAYOUT_GLOBAL_BYTES];
    CUdeviceptr image = rig->image, registers = rig->registers, out = rig->out;
    void *arguments[] = {&image, &registers, &out, &map};

    for (uint32_t i = 0; i < sizeof global; i++)
        global[i] = store ? 0 : layout_global_byte(i);
    if (tma && !encode_map(rig, &c->map, &map, error))
        return false;
    CUDA_TRY(rig->driver, error, cuMemcpyHtoDAsync(rig->image, x->image, sizeof x->image, NULL));
    CUDA_TRY(rig->driver, error, cuMemcpyHtoDAsync(rig->registers, x->registers, sizeof x->registers, NULL));
    CUDA_TRY(rig->driver, error, cuMemcpyHtoDAsync(rig->global, global, sizeof global, NULL));
    CUDA_TRY(rig->driver, error, cuMemsetD8Async(rig->out, 0, sizeof x->out, NULL));
    CUDA_TRY(rig->driver, error, cuModuleGetFunction(&function, module, "probe"));
    CUDA_TRY(rig->driver, error, cuLaunchKernel(function, 1, 1, 1, LAYOUT_THREADS, 1, 1, 0, NULL, arguments, NULL));
    CUDA_TRY(rig->driver, error, cuCtxSynchronize());
    if (store)
        CUDA_TRY(rig->driver, error, cuMemcpyDtoH(x->out, rig->global, LAYOUT_GLOBAL_BYTES));
    else
        CUDA_TRY(rig->driver, error, cuMemcpyDtoH(x->out, rig->out, sizeof x->out));
    return true;
}

/* An accumulator element as a small integer. */
static uint32_t accumulator(const struct layout_case *c, const struct fragment *d, const uint32_t *out, int row,
                            int column)
{
    struct fragment_slot slot = fragment_find(d, row, column);
    uint32_t bits = out[slot.thread * d->registers + slot.register_index];

    if (number_is_integer(c->format))
        return bits;
    if (c->half_accumulator)
        return (uint32_t)(int)number_decode(NUMBER_F16, bits >> 16 * slot.part & 0xffff);
    return (uint32_t)(int)number_decode(NUMBER_F32, bits);
}

/* Ones on the diagonal: A in registers (for probes of B), or B in shared memory behind the image (for probes of A). */
static void fill_identity(const struct layout_case *c, struct exchange *x)
{
    int size = number_bytes(c->format), parts = 4 / size;
    struct fragment a = fragment_wgmma_a(parts);
    uint32_t one = number_encode(c->format, 1, NUMBER_RN, 0);

    for (int i = 0; i < c->k; i++) {
        struct fragment_slot slot = fragment_find(&a, i, i);
        uint32_t at = (uint32_t)(LAYOUT_IMAGE_BYTES + i / 8 * 256 + i * size / 16 * 128 + i % 8 * 16 + i * size % 16);
        x->registers[slot.thread][slot.register_index] |= one << 8 * size * slot.part;
        memcpy(x->image + at, &one, (size_t)size);
    }
}

static bool probe_wgmma(const struct rig *rig, CUmodule module, const struct layout_case *c, struct exchange *x,
                        uint32_t *fingerprint, struct error *error)
{
    uint32_t size = (uint32_t)number_bytes(c->format);
    bool shared_a = c->kind == LAYOUT_WGMMA_A;
    struct fragment d = fragment_wgmma_d(shared_a ? c->k : c->rows, c->half_accumulator ? 2 : 1);

    fill_identity(c, x);
    for (int pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < LAYOUT_IMAGE_BYTES / size; i++) {
            uint32_t digit = i >> BITS_PER_PASS * pass & ((1 << BITS_PER_PASS) - 1);
            uint32_t bits = number_encode(c->format, (double)digit, NUMBER_RN, 0);
            memcpy(x->image + i * size, &bits, size);
        }
        if (!run_once(rig, module, c, x, error))
            return false;
        for (int row = 0; row < c->rows; row++)
            for (int k = 0; k < c->k; k++) {
                uint32_t digit = shared_a ? accumulator(c, &d, x->out, row, k) : accumulator(c, &d, x->out, k, row);
                fingerprint[row * c->k + k] |= digit << BITS_PER_PASS * pass;
            }
    }
    return true;
}

static void fill_matrix_inputs(const struct layout_case *c, struct exchange *x)
{
    for (uint32_t i = 0; i < LAYOUT_IMAGE_BYTES / 2; i++) {
        uint16_t value = c->kind == LAYOUT_LDMATRIX ? (uint16_t)i : 0xcccc;
        memcpy(x->image + 2 * i, &value, sizeof value);
    }
    for (int lane = 0; lane < 32; lane++) {
        for (uint32_t r = 0; r < 4; r++)
            x->registers[lane][r] = ((uint32_t)lane << 8 | r << 1) | ((uint32_t)lane << 8 | r << 1 | 1) << 16;
        x->registers[lane][4] = layout_matrix_row(lane);
    }
}

static void fill_mma_inputs(const struct layout_case *c, struct exchange *x)
{
    struct fragment fragments[2] = {layout_mma_a(c), layout_mma_b(c)};

    for (int matrix = 0; matrix < 2; matrix++)
        for (int row = 0; row < fragments[matrix].rows; row++)
            for (int column = 0; column < fragments[matrix].columns; column++) {
                struct fragment_slot slot = fragment_find(&fragments[matrix], row, column);
                int value = layout_mma_value(matrix, row, column) + (c->format == NUMBER_U8 ? 4 : 0);
                uint32_t bits = number_encode(c->format, value, NUMBER_RN, 0);
                x->registers[slot.thread][4 * matrix + slot.register_index] |=
                    bits << 8 * number_bytes(c->format) * slot.part;
            }
}

static bool probe(const struct rig *rig, CUmodule module, const struct layout_case *c, struct exchange *x,
                  uint32_t *fingerprint, struct error *error)
{
    memset(x, 0, sizeof *x);
    memset(fingerprint, 0, c->words * sizeof *fingerprint);
    switch (c->kind) {
    case LAYOUT_WGMMA_A:
    case LAYOUT_WGMMA_B:
        return probe_wgmma(rig, module, c, x, fingerprint, error);
    case LAYOUT_TMA_LOAD:
        memset(x->image, 0xcc, sizeof x->image);
        break;
    case LAYOUT_TMA_STORE:
        for (uint32_t i = 0; i < LAYOUT_IMAGE_BYTES; i++)
            x->image[i] = layout_global_byte(i);
        break;
    case LAYOUT_LDMATRIX:
    case LAYOUT_STMATRIX:
        fill_matrix_inputs(c, x);
        break;
    case LAYOUT_MMA:
        fill_mma_inputs(c, x);
        break;
    }
    if (!run_once(rig, module, c, x, error))
        return false;
    memcpy(fingerprint, x->out, c->words * sizeof *fingerprint);
    if (c->kind == LAYOUT_MMA && !number_is_integer(c->format))
        for (uint32_t i = 0; i < c->words; i++)
            fingerprint[i] = (uint32_t)(int)number_decode(NUMBER_F32, fingerprint[i]);
    return true;
}

static bool compare(const struct layout_case *c, const uint32_t *found)
{
    static uint32_t expected[LAYOUT_MAX_WORDS];

    layout_case_expect(c, expected);
    for (uint32_t i = 0; i < c->words; i++) {
        if (found[i] != expected[i]) {
            printf("DIFFERS %s: word %u is 0x%08x, src/emu says 0x%08x\n", c->name, i, found[i], expected[i]);
            return false;
        }
    }
    return true;
}

static json_object *record(const struct layout_case *c, const uint32_t *found, bool same)
{
    json_object *entry = json_object_new_object(), *head = json_object_new_array();
    char digest[17];

    (void)snprintf(digest, sizeof digest, "%016llx", (unsigned long long)layout_digest(found, c->words));
    for (uint32_t i = 0; i < c->words && (i < LAYOUT_HEAD_WORDS || !same); i++)
        (void)json_object_array_add(head, json_object_new_int64(found[i]));
    json_put_string(entry, "name", c->name);
    json_put_u64(entry, "words", c->words);
    json_put_string(entry, "digest", digest);
    json_put(entry, "head", head);
    return entry;
}

static bool run_case(const struct rig *rig, const struct layout_case *c, json_object *cases, int *differences,
                     struct error *error)
{
    static struct exchange x;
    static uint32_t fingerprint[LAYOUT_MAX_WORDS];
    char *text = NULL;
    size_t size;
    CUmodule module;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return error_set(error, ERROR_MEMORY, "%s: no memory", c->name);
    layout_case_write_ptx(c, stream);
    (void)fclose(stream);
    CUresult loaded = rig->driver->cuModuleLoadData(&module, text);
    free(text);
    if (loaded != CUDA_SUCCESS)
        return cuda_error(rig->driver, error, loaded, c->name);
    bool done = probe(rig, module, c, &x, fingerprint, error);
    (void)rig->driver->cuModuleUnload(module);
    if (!done)
        return error_prefix(error, "%s", c->name);
    bool same = compare(c, fingerprint);
    *differences += !same;
    (void)json_object_array_add(cases, record(c, fingerprint, same));
    return true;
}

static json_object *record_error(const struct layout_case *c, const struct error *error)
{
    json_object *entry = json_object_new_object();

    json_put_string(entry, "name", c->name);
    json_put_u64(entry, "words", c->words);
    json_put_string(entry, "error", error->message);
    return entry;
}

/* The cases of an earlier process, or an empty array. Returns new. */
static json_object *earlier_cases(const char *path, bool resume)
{
    AUTO_JSON_OBJECT *document = resume ? json_object_from_file(path) : NULL;

    return document ? json_object_get(json_object_object_get(document, "cases")) : json_object_new_array();
}

static bool run_all(const char *path, bool resume, int *differences, struct error *error)
{
    AUTO_JSON_OBJECT *document = json_object_new_object();
    json_object *cases = earlier_cases(path, resume);
    size_t done = json_object_array_length(cases), present = 0;
    struct rig rig = {0};

    json_put_string(document, "format", "ptxbench.layout.v1");
    json_put(document, "cases", cases);
    if (!open_rig(&rig, error))
        return false;
    json_put_string(document, "device", rig.name);
    json_put_i64(document, "driver", rig.driver->version);
    for (int i = 0; i < layout_case_count(); i++) {
        struct layout_case c = layout_case_at(i);
        if (!c.words || present++ < done)
            continue;
        if (run_case(&rig, &c, cases, differences, error))
            continue;
        printf("ERROR %s\n", error->message);
        (void)json_object_array_add(cases, record_error(&c, error));
        if (!json_write_file(document, path, error))
            return false;
        (void)fflush(stdout);
        (void)execl("/proc/self/exe", "layout_fingerprints", path, "--resume", (char *)NULL);
        return error_set(error, ERROR_SYSTEM, "cannot start anew: %s", strerror(errno));
    }
    printf("%zu cases, %d differ since the last error\n", json_object_array_length(cases), *differences);
    return json_write_file(document, path, error);
}

static bool write_ptx(const char *folder, struct error *error)
{
    for (int i = 0; i < layout_case_count(); i++) {
        struct layout_case c = layout_case_at(i);
        char path[512];
        if (!c.words)
            continue;
        (void)snprintf(path, sizeof path, "%s/%04d.ptx", folder, i);
        AUTO_FCLOSE FILE *file = fopen(path, "we");
        if (!file)
            return error_set(error, ERROR_SYSTEM, "%s: cannot be written", path);
        (void)fprintf(file, "// %s\n", c.name);
        layout_case_write_ptx(&c, file);
    }
    return true;
}

int main(int argc, char **argv)
{
    struct error error = {0};
    int differences = 0;
    bool ptx = argc == 3 && strcmp(argv[1], "--ptx") == 0;
    bool resume = argc == 3 && strcmp(argv[2], "--resume") == 0;

    if (argc != 2 && !ptx && !resume) {
        (void)fprintf(stderr, "usage: layout_fingerprints OUT.json | --ptx FOLDER\n");
        return 64;
    }
    if (!(ptx ? write_ptx(argv[2], &error) : run_all(argv[1], resume, &differences, &error))) {
        (void)fprintf(stderr, "layout_fingerprints: %s\n", error.message);
        return 2;
    }
    return differences ? 1 : 0;
}

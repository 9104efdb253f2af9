/* Fat binaries made by hand, good and damaged. Real ones: test_compile.c. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "toolchain/fatbin.h"

enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

static void put(struct buffer *buffer, uint64_t value, size_t bytes)
{
    (void)buffer_append(buffer, &value, bytes); /* little endian, as the format */
}

static void put_entry(struct buffer *out, uint16_t kind, uint32_t arch, uint64_t flags, const void *bytes,
                      size_t length, size_t plain_length)
{
    size_t padded = (length + 7) & ~(size_t)7;

    put(out, kind, 2);
    put(out, 0x101, 2);
    put(out, 64, 4);
    put(out, padded, 8);
    put(out, flags & (FLAG_LZ4 | FLAG_ZSTD) ? length : 0, 4);
    put(out, 0, 8);
    put(out, arch, 4);
    put(out, 0, 8);
    put(out, flags, 8);
    put(out, 0, 8);
    put(out, plain_length, 8);
    (void)buffer_append(out, bytes, length);
    put(out, 0, padded - length);
}

static void put_container(struct buffer *out, const struct buffer *entries)
{
    put(out, 0xBA55ED50, 4);
    put(out, 1, 2);
    put(out, 16, 2);
    put(out, entries->length, 8);
    (void)buffer_append(out, entries->data, entries->length);
}

/* An ELF file with the bytes as .nv_fatbin. */
static void put_elf(struct buffer *out, const void *bytes, size_t length)
{
    static const char names[] = "\0.nv_fatbin\0.shstrtab";
    const Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_shoff = sizeof header,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 3,
        .e_shstrndx = 2,
    };
    const size_t start = sizeof header + 3 * sizeof(Elf64_Shdr);
    const Elf64_Shdr sections[3] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = start, .sh_size = length},
        {.sh_name = 12, .sh_type = SHT_STRTAB, .sh_offset = start + length, .sh_size = sizeof names},
    };

    (void)buffer_append(out, &header, sizeof header);
    (void)buffer_append(out, sections, sizeof sections);
    (void)buffer_append(out, bytes, length);
    (void)buffer_append(out, names, sizeof names);
}

static const char ptx[] = ".version 9.0\n.target sm_90a\n.address_size 64\n";

static void make_good(struct buffer *object)
{
    AUTO_BUFFER entries = buffer_new(1 << 16), section = buffer_new(1 << 16);
    char packed[512];
    size_t length = ZSTD_compress(packed, sizeof packed, ptx, sizeof ptx, 3);

    put_entry(&entries, 2, 90, 0x11, "\177ELFcubin", 9, 0);
    put_entry(&entries, 1, 90, 0x11 | FLAG_ZSTD, packed, length, sizeof ptx);
    put_entry(&entries, 1, 100, 0x11 | FLAG_LZ4, "????", 4, 100);
    put_container(&section, &entries);
    buffer_reset(&entries);
    put_entry(&entries, 1, 100, 0x11, ptx, sizeof ptx, 0);
    put_container(&section, &entries);
    put_elf(object, section.data, section.length);
}

static void test_good(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER object = buffer_new(1 << 16);
    struct fatbin fatbin;
    struct error error;

    (void)state;
    make_good(&object);
    assert_true(fatbin_read_object(arena, object.data, object.length, &fatbin, &error));
    assert_int_equal(fatbin.container_count, 2);
    assert_int_equal(fatbin.count, 4);
    assert_int_equal(fatbin.entries[0].kind, FATBIN_CUBIN);
    assert_memory_equal(fatbin.entries[0].bytes, "\177ELFcubin", 9);
    assert_true(fatbin.entries[1].compressed);
    assert_string_equal((const char *)fatbin.entries[1].bytes, ptx);
    assert_int_equal(fatbin.entries[1].length, strlen(ptx));
    assert_null(fatbin.entries[2].bytes);
    assert_non_null(strstr(fatbin.entries[2].problem, "CUDA 13"));
    assert_int_equal(fatbin.entries[3].container, 1);
    assert_ptr_equal(fatbin_find_ptx(&fatbin, 90), &fatbin.entries[1]);
    assert_ptr_equal(fatbin_find_ptx(&fatbin, 100), &fatbin.entries[3]);
    assert_null(fatbin_find_ptx(&fatbin, 80));
}

/* Every truncation, and every byte of the object set to 0, 0xff and one more: no crash, and a reason when refused. */
static void test_damaged(void **state)
{
    AUTO_BUFFER object = buffer_new(1 << 16);

    (void)state;
    make_good(&object);
    for (size_t i = 0; i < object.length; i++) {
        for (int how = 0; how < 4; how++) {
            AUTO_ARENA *arena = arena_new();
            char *copy = arena_alloc(arena, object.length);
            size_t length = how == 3 ? i : object.length;
            struct fatbin fatbin;
            struct error error = {0};
            memcpy(copy, object.data, object.length);
            if (how < 3)
                copy[i] = how == 0 ? 0 : how == 1 ? (char)0xff : (char)(copy[i] + 1);
            AUTO_FREE char *exact = malloc(length ? length : 1);
            assert_non_null(exact);
            memcpy(exact, copy, length);
            if (!fatbin_read_object(arena, exact, length, &fatbin, &error))
                assert_true(error.message[0]);
        }
    }
}

static void test_lies_about_size(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER entries = buffer_new(1 << 16), image = buffer_new(1 << 16);
    char packed[512];
    size_t length = ZSTD_compress(packed, sizeof packed, ptx, sizeof ptx, 3);
    struct fatbin fatbin;
    struct error error;

    (void)state;
    put_entry(&entries, 1, 90, FLAG_ZSTD, packed, length, 1ull << 40);
    put_entry(&entries, 1, 90, FLAG_ZSTD, packed, length, sizeof ptx - 1);
    put_entry(&entries, 1, 90, FLAG_ZSTD, packed, length / 2, sizeof ptx);
    put_container(&image, &entries);
    assert_true(fatbin_read_image(arena, image.data, image.length, &fatbin, &error));
    assert_int_equal(fatbin.count, 3);
    for (size_t i = 0; i < fatbin.count; i++) {
        assert_null(fatbin.entries[i].bytes);
        assert_non_null(fatbin.entries[i].problem);
    }
}

static void test_no_device_code(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER object = buffer_new(1 << 16);
    struct fatbin fatbin;
    struct error error;

    (void)state;
    put_elf(&object, "", 0);
    assert_true(fatbin_read_object(arena, object.data, object.length, &fatbin, &error));
    assert_int_equal(fatbin.count, 0);
    assert_false(fatbin_read_object(arena, "no elf", 6, &fatbin, &error));
    assert_int_equal(error.code, ERROR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_lies_about_size),
        cmocka_unit_test(test_no_device_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

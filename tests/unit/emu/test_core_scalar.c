/* Every scalar instruction, on corner cases and random values, against independent computations in C. */
#include "emu_run.h"

#include <math.h>

/*
 * A snippet computes %rd0 from a (%rd1, or %r1, %h1, %f1, %d1: its low bits in registers of other types), b and c likewise.
 * `result` says where the value is: 'd' %rd0, 'r' %r0, 'h' %h0, 'p' %p0.
 */
struct scalar {
    const char *code;
    char result;
    uint64_t (*expect)(uint64_t a, uint64_t b, uint64_t c);
};

static const char prologue[] =
    ".reg .b64 %rd<16>; .reg .b32 %r<16>; .reg .b16 %h<16>; .reg .pred %p<8>; .reg .b64 %x<8>; .reg .b32 %t;\n"
    "ld.param.u64 %x0, [p0];\n mov.u32 %t, %tid.x;\n mad.wide.u32 %x1, %t, 32, %x0;\n"
    "ld.global.b64 %rd1, [%x1];\n ld.global.b64 %rd2, [%x1+8];\n ld.global.b64 %rd3, [%x1+16];\n"
    "cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, %rd3;\n"
    "cvt.u16.u64 %h1, %rd1; cvt.u16.u64 %h2, %rd2; cvt.u16.u64 %h3, %rd3;\n";

#define S32(x) ((int32_t)(uint32_t)(x))
#define U32(x) ((uint32_t)(x))
#define S16(x) ((int16_t)(uint16_t)(x))
#define U16(x) ((uint16_t)(x))
#define S64(x) ((int64_t)(x))

#define EXPECT(name, expression)                                                                                       \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c)                                                           \
    {                                                                                                                  \
        (void)a, (void)b, (void)c;                                                                                     \
        return (uint64_t)(expression);                                                                                 \
    }

static float f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof value);
    return value;
}
static uint64_t f32_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fffffff : bits;
}
static double f64(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint64_t f64_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The C library's fmin lets a signalling NaN win; PTX lets every NaN lose. */
static float pick_number(uint64_t a, uint64_t b, bool larger)
{
    if (isnan(f32(a)) || isnan(f32(b)))
        return isnan(f32(a)) ? f32(b) : f32(a);
    return (f32(a) > f32(b)) == larger ? f32(a) : f32(b);
}

/* bit by bit, for what the core does with shifts and masks */
static uint64_t field_by_bits(uint64_t x, unsigned start, unsigned length, unsigned width, bool sign)
{
    uint64_t result = 0;
    unsigned last = start + length - 1 < width - 1 ? start + length - 1 : width - 1;

    start &= 0xff, length &= 0xff;
    last = start + length - 1 < width - 1 ? start + length - 1 : width - 1;
    for (unsigned i = 0; i < width; i++) {
        bool bit =
            i < length && start + i < width ? x >> (start + i) & 1 : sign && length && last < width && x >> last & 1;
        result |= (uint64_t)bit << i;
    }
    return result;
}
static uint64_t insert_by_bits(uint64_t a, uint64_t b, unsigned start, unsigned length)
{
    uint64_t result = b;

    start &= 0xff, length &= 0xff;
    for (unsigned i = 0; i < length && start + i < 32; i++)
        result = (result & ~(UINT64_C(1) << (start + i))) | (a >> i & 1) << (start + i);
    return result & UINT32_MAX;
}
static uint64_t lop3_by_bits(uint32_t a, uint32_t b, uint32_t c, unsigned table)
{
    uint32_t result = 0;

    for (int i = 0; i < 32; i++)
        result |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return result;
}
static uint64_t prmt_by_bytes(uint32_t a, uint32_t b, uint32_t c)
{
    uint8_t bytes[8];
    uint32_t result = 0;

    memcpy(bytes, &a, 4), memcpy(bytes + 4, &b, 4);
    for (int i = 0; i < 4; i++) {
        uint8_t byte = bytes[c >> (4 * i) & 7];

        if (c >> (4 * i) & 8)
            byte = byte >= 128 ? 255 : 0;
        result |= (uint32_t)byte << (8 * i);
    }
    return result;
}

/* X(name, code, where the result is, expression of a, b, c) */
#define SCALARS(X)                                                                                                     \
    X(add_u32, "add.u32 %r0, %r1, %r2;", 'r', U32(a + b))                                                              \
    X(add_s64, "add.s64 %rd0, %rd1, %rd2;", 'd', a + b)                                                                \
    X(add_u16, "add.u16 %h0, %h1, %h2;", 'h', U16(a + b))                                                              \
    X(add_immediate, "add.s32 %r0, %r1, -5;", 'r', U32(a - 5))                                                         \
    X(add_sat, "add.sat.s32 %r0, %r1, %r2;", 'r',                                                                      \
      U32(fmin(fmax((double)S32(a) + S32(b), INT32_MIN), INT32_MAX) < 0                                                \
              ? (uint32_t)(int32_t)fmax((double)S32(a) + S32(b), INT32_MIN)                                            \
              : (uint32_t)fmin((double)S32(a) + S32(b), INT32_MAX)))                                                   \
    X(sub_s32, "sub.s32 %r0, %r1, %r2;", 'r', U32(a - b))                                                              \
    X(mul_lo, "mul.lo.s32 %r0, %r1, %r2;", 'r', U32(U32(a) * U32(b)))                                                  \
    X(mul_hi_u32, "mul.hi.u32 %r0, %r1, %r2;", 'r', (uint64_t)U32(a) * U32(b) >> 32)                                   \
    X(mul_hi_s32, "mul.hi.s32 %r0, %r1, %r2;", 'r', U32((int64_t)S32(a) * S32(b) >> 32))                               \
    X(mul_wide_s32, "mul.wide.s32 %rd0, %r1, %r2;", 'd', (int64_t)S32(a) * S32(b))                                     \
    X(mul_wide_u16, "mul.wide.u16 %r0, %h1, %h2;", 'r', U32(U16(a)) * U16(b))                                          \
    X(mul_wide_s16, "mul.wide.s16 %r0, %h1, %h2;", 'r', U32(S16(a) * S16(b)))                                          \
    X(mul_hi_u64, "mul.hi.u64 %rd0, %rd1, %rd2;", 'd', (unsigned __int128)a *b >> 64)                                  \
    X(mul_hi_s64, "mul.hi.s64 %rd0, %rd1, %rd2;", 'd', (__int128)S64(a) * S64(b) >> 64)                                \
    X(mad_lo, "mad.lo.s32 %r0, %r1, %r2, %r3;", 'r', U32(U32(a) * U32(b) + U32(c)))                                    \
    X(mad_wide_s32, "mad.wide.s32 %rd0, %r1, %r2, %rd3;", 'd', (uint64_t)((int64_t)S32(a) * S32(b)) + c)               \
    X(mad_hi_u32, "mad.hi.u32 %r0, %r1, %r2, %r3;", 'r', U32(((uint64_t)U32(a) * U32(b) >> 32) + U32(c)))              \
    X(sad_s32, "sad.s32 %r0, %r1, %r2, %r3;", 'r', U32(llabs((int64_t)S32(a) - S32(b)) + (int64_t)U32(c)))             \
    X(div_u32, "div.u32 %r0, %r1, %r2;", 'r', U32(b) ? U32(a) / U32(b) : UINT32_MAX)                                   \
    X(div_s32, "div.s32 %r0, %r1, %r2;", 'r', U32(S32(b) ? (int64_t)S32(a) / S32(b) : -1))                             \
    X(rem_s32, "rem.s32 %r0, %r1, %r2;", 'r', U32(S32(b) ? (int64_t)S32(a) % S32(b) : S32(a)))                         \
    X(rem_u64, "rem.u64 %rd0, %rd1, %rd2;", 'd', b ? a % b : a)                                                        \
    X(min_s32, "min.s32 %r0, %r1, %r2;", 'r', U32(S32(a) < S32(b) ? a : b))                                            \
    X(max_u64, "max.u64 %rd0, %rd1, %rd2;", 'd', a > b ? a : b)                                                        \
    X(abs_s32, "abs.s32 %r0, %r1;", 'r', U32(llabs((int64_t)S32(a))))                                                  \
    X(neg_s64, "neg.s64 %rd0, %rd1;", 'd', 0 - a)                                                                      \
    X(and_b32, "and.b32 %r0, %r1, 0xFEFFFFF8;", 'r', U32(a) & 0xFEFFFFF8)                                              \
    X(or_b64, "or.b64 %rd0, %rd1, %rd2;", 'd', a | b)                                                                  \
    X(xor_b16, "xor.b16 %h0, %h1, %h2;", 'h', U16(a ^ b))                                                              \
    X(not_b32, "not.b32 %r0, %r1;", 'r', U32(~a))                                                                      \
    X(not_b16, "not.b16 %h0, %h1;", 'h', U16(~a))                                                                      \
    X(shl_b32, "shl.b32 %r0, %r1, %r2;", 'r', U32(b) > 31 ? 0 : U32(a << U32(b)))                                      \
    X(shr_s32, "shr.s32 %r0, %r1, %r2;", 'r', U32(S32(a) >> (U32(b) > 31 ? 31 : U32(b))))                              \
    X(shr_u64, "shr.u64 %rd0, %rd1, %r2;", 'd', U32(b) > 63 ? 0 : a >> U32(b))                                         \
    X(shf_l, "shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 'r', U32(((uint64_t)U32(b) << 32 | U32(a)) << (c & 31) >> 32))      \
    X(shf_r, "shf.r.clamp.b32 %r0, %r1, %r2, %r3;", 'r',                                                               \
      U32(((uint64_t)U32(b) << 32 | U32(a)) >> (U32(c) > 32 ? 32 : U32(c))))                                           \
    X(popc_b64, "popc.b64 %r0, %rd1;", 'r', __builtin_popcountll(a))                                                   \
    X(clz_b32, "clz.b32 %r0, %r1;", 'r', U32(a) ? __builtin_clz(U32(a)) : 32)                                          \
    X(bfind_s32, "bfind.s32 %r0, %r1;", 'r',                                                                           \
      U32(S32(a) < 0 ? U32(~a) : U32(a)) ? U32(31 - __builtin_clz(S32(a) < 0 ? U32(~a) : U32(a))) : UINT32_MAX)        \
    X(brev_b32, "brev.b32 %r0, %r1; brev.b32 %r0, %r0;", 'r', U32(a))                                                  \
    X(bfe_u32, "bfe.u32 %r0, %r1, %r2, %r3;", 'r', field_by_bits(U32(a), U32(b), U32(c), 32, false))                   \
    X(bfe_s32, "bfe.s32 %r0, %r1, %r2, %r3;", 'r', field_by_bits(U32(a), U32(b), U32(c), 32, true))                    \
    X(bfi_b32, "bfi.b32 %r0, %r1, %r2, %r3, 7;", 'r', insert_by_bits(U32(a), U32(b), U32(c), 7))                       \
    X(lop3, "lop3.b32 %r0, %r1, %r2, %r3, 0x96;", 'r', lop3_by_bits(U32(a), U32(b), U32(c), 0x96))                     \
    X(lop3_other, "lop3.b32 %r0, %r1, %r2, %r3, 0xE2;", 'r', lop3_by_bits(U32(a), U32(b), U32(c), 0xe2))               \
    X(prmt, "prmt.b32 %r0, %r1, %r2, %r3;", 'r', prmt_by_bytes(U32(a), U32(b), U32(c)))                                \
    X(carry, "add.cc.u32 %r4, %r1, %r2; addc.u32 %r0, 0, 0;", 'r', ((uint64_t)U32(a) + U32(b)) >> 32)                  \
    X(borrow, "sub.cc.u32 %r4, %r1, %r2; subc.u32 %r0, 0, 0;", 'r', U32(U32(a) < U32(b) ? -1 : 0))                     \
    X(dp4a, "dp4a.s32.s32 %r0, %r1, %r2, %r3;", 'r',                                                                   \
      U32((int8_t)a *(int8_t)b + (int8_t)(a >> 8) * (int8_t)(b >> 8) + (int8_t)(a >> 16) * (int8_t)(b >> 16) +         \
          (int8_t)(a >> 24) * (int8_t)(b >> 24) + S64(U32(c))))                                                        \
    X(setp_lt_s32, "setp.lt.s32 %p0, %r1, %r2;", 'p', S32(a) < S32(b))                                                 \
    X(setp_hi_u32, "setp.hi.u32 %p0, %r1, %r2;", 'p', U32(a) > U32(b))                                                 \
    X(setp_pair, "setp.ge.s64 %p1|%p0, %rd1, %rd2;", 'p', S64(a) < S64(b))                                             \
    X(setp_and, "setp.ne.s32 %p1, %r3, 0; setp.lt.and.s32 %p0, %r1, %r2, !%p1;", 'p', S32(a) < S32(b) && !U32(c))      \
    X(setp_f32, "setp.geu.f32 %p0, %r1, %r2;", 'p', !(f32(a) < f32(b)))                                                \
    X(setp_f32_ne, "setp.ne.f32 %p0, %r1, %r2;", 'p', f32(a) < f32(b) || f32(a) > f32(b))                              \
    X(setp_num, "setp.num.f64 %p0, %rd1, %rd2;", 'p', f64(a) == f64(a) && f64(b) == f64(b))                            \
    X(set_u32, "set.lt.u32.s32 %r0, %r1, %r2;", 'r', S32(a) < S32(b) ? UINT32_MAX : 0)                                 \
    X(set_f16,                                                                                                         \
      "set.gt.f16x2.f16x2 %r0, 0x3c004000, 0x40003c00; set.gt.bf16.bf16 %h1, 0x4000, 0x3f80; "                         \
      "cvt.u32.u16 %r4, %h1; shl.b32 %r4, %r4, 16; or.b32 %r0, %r0, %r4; set.le.u32.f16x2 %r4, 0x3c004000, "           \
      "0x40003c00; and.b32 %r4, %r4, 0x80000000; or.b32 %r0, %r0, %r4;",                                               \
      'r', 0xbf803c00)                                                                                                 \
    X(selp, "setp.lt.u64 %p1, %rd1, %rd2; selp.b64 %rd0, %rd1, %rd3, %p1;", 'd', a < b ? a : c)                        \
    X(slct, "slct.s32.s32 %r0, %r1, %r2, %r3;", 'r', S32(c) >= 0 ? U32(a) : U32(b))                                    \
    X(logic, "setp.ne.b32 %p1, %r1, 0; setp.gt.s32 %p2, %r2, 5; xor.pred %p0, %p1, %p2;", 'p',                         \
      (U32(a) != 0) != (S32(b) > 5))                                                                                   \
    X(pack, "mov.b32 %r0, {%h1, %h2};", 'r', U16(a) | U32(U16(b)) << 16)                                               \
    X(unpack, "mov.b64 {%r4, %r0}, %rd1;", 'r', a >> 32)                                                               \
    X(unpack_sink, "mov.b32 {_, %h0}, %r1;", 'h', U16(a >> 16))                                                        \
    X(pack64, "mov.b64 %rd0, {%h1, %h2, %h3, %h1};", 'd',                                                              \
      (uint64_t)U16(a) | (uint64_t)U16(b) << 16 | (uint64_t)U16(c) << 32 | (uint64_t)U16(a) << 48)                     \
    X(cvt_s64_s32, "cvt.s64.s32 %rd0, %r1;", 'd', (int64_t)S32(a))                                                     \
    X(cvt_s32_s8, "cvt.s32.s8 %r0, %r1;", 'r', U32((int8_t)a))                                                         \
    X(cvt_u8_wide, "cvt.u64.u8 %rd0, %r1;", 'd', (uint8_t)a)                                                           \
    X(cvt_sat, "cvt.sat.s8.s32 %r0, %r1;", 'r', U32(S32(a) < -128 ? -128 : S32(a) > 127 ? 127 : S32(a)))               \
    X(cvt_sat_u, "cvt.sat.u16.s64 %h0, %rd1;", 'h', S64(a) < 0 ? 0 : S64(a) > 65535 ? 65535 : S64(a))                  \
    X(cvt_f32_s32, "cvt.rn.f32.s32 %r0, %r1;", 'r', f32_bits((float)S32(a)))                                           \
    X(cvt_f32_u64, "cvt.rn.f32.u64 %r0, %rd1;", 'r', f32_bits((float)a))                                               \
    X(cvt_f32_s64, "cvt.rn.f32.s64 %r0, %rd1;", 'r', f32_bits((float)S64(a)))                                          \
    X(cvt_f64_u64, "cvt.rn.f64.u64 %rd0, %rd1;", 'd', f64_bits((double)a))                                             \
    X(cvt_s32_f32, "cvt.rzi.s32.f32 %r0, %r1;", 'r',                                                                   \
      isnan(f32(a))        ? 0                                                                                         \
      : f32(a) >= 0x1p31f  ? 0x7fffffff                                                                                \
      : f32(a) <= -0x1p31f ? 0x80000000                                                                                \
                           : U32((int32_t)f32(a)))                                                                     \
    X(cvt_round, "cvt.rmi.f32.f32 %r0, %r1;", 'r', f32_bits(floorf(f32(a))))                                           \
    X(cvt_f64_f32, "cvt.f64.f32 %rd0, %r1; cvt.rn.f32.f64 %r0, %rd0;", 'r', f32_bits(f32(a)))                          \
    X(cvt_bf16, "cvt.f32.bf16 %r0, %h1; cvt.rn.bf16.f32 %h0, %r0;", 'h', (U16(a) & 0x7fff) > 0x7f80 ? 0x7fff : U16(a)) \
    X(cvt_f16, "cvt.f32.f16 %r0, %h1; cvt.rn.f16.f32 %h0, %r0;", 'h', (U16(a) & 0x7fff) > 0x7c00 ? 0x7fff : U16(a))    \
    X(cvt_bf16x2,                                                                                                      \
      "cvt.rn.bf16x2.f32 %r4, %r1, %r2; mov.b32 {%h0, _}, %r4; cvt.f32.bf16 %r0, %h0; "                                \
      "sub.f32 %r0, %r0, %r2; abs.f32 %r0, %r0; abs.f32 %r5, %r2; mul.f32 %r5, %r5, 0f3B800000; "                      \
      "setp.le.f32 %p1, %r0, %r5; abs.f32 %r6, %r2; setp.lt.f32 %p2, %r6, 0f00800000; "                                \
      "setp.geu.f32 %p3, %r6, 0f7F000000; or.pred %p0, %p1, %p2; or.pred %p0, %p0, %p3;",                              \
      'p', 1)                                                                                                          \
    X(add_f32, "add.rn.f32 %r0, %r1, %r2;", 'r', f32_bits(f32(a) + f32(b)))                                            \
    X(mul_f32, "mul.f32 %r0, %r1, %r2;", 'r', f32_bits(f32(a) * f32(b)))                                               \
    X(fma_f32, "fma.rn.f32 %r0, %r1, %r2, %r3;", 'r', f32_bits(fmaf(f32(a), f32(b), f32(c))))                          \
    X(div_f32, "div.rn.f32 %r0, %r1, %r2;", 'r', f32_bits(f32(a) / f32(b)))                                            \
    X(sqrt_f32, "sqrt.rn.f32 %r0, %r1;", 'r', f32_bits(sqrtf(f32(a))))                                                 \
    X(min_f32, "min.f32 %r0, %r1, %r2;", 'r',                                                                          \
      f32(a) == 0 && f32(b) == 0 ? (U32(a) | U32(b)) : f32_bits(pick_number(a, b, false)))                             \
    X(max_f32, "max.f32 %r0, %r1, %r2;", 'r',                                                                          \
      f32(a) == 0 && f32(b) == 0 ? (U32(a) & U32(b)) : f32_bits(pick_number(a, b, true)))                              \
    X(neg_f32, "neg.f32 %r0, %r1;", 'r', U32(a) ^ 0x80000000)                                                          \
    X(abs_f32, "abs.f32 %r0, %r1;", 'r', U32(a) & 0x7fffffff)                                                          \
    X(add_f64, "add.rn.f64 %rd0, %rd1, %rd2; setp.num.f64 %p1, %rd0, %rd0; selp.b64 %rd0, %rd0, 0, %p1;", 'd',         \
      isnan(f64(a) + f64(b)) ? 0 : f64_bits(f64(a) + f64(b)))                                                          \
    X(f32x2, "add.rn.f32x2 %rd0, %rd1, %rd2;", 'd',                                                                    \
      f32_bits(f32(a) + f32(b)) | f32_bits(f32(a >> 32) + f32(b >> 32)) << 32)                                         \
    X(fma_f16, "mov.b16 %h4, 0x3C00; fma.rn.f16 %h0, %h1, %h4, 0x8000;", 'h',                                          \
      (U16(a) & 0x7fff) > 0x7c00 ? 0x7fff : U16(a))                                                                    \
    X(guard, "mov.u32 %r0, 7; setp.lt.s32 %p1, %r1, %r2; @!%p1 mov.u32 %r0, %r3;", 'r', S32(a) < S32(b) ? 7 : U32(c))  \
    X(local,                                                                                                           \
      ".local .align 8 .b8 buffer[16]; .reg .b64 %at; mov.u64 %at, buffer; cvta.local.u64 %at, %at; "                  \
      "st.u64 [%at+8], %rd1; ld.local.u32 %r0, [buffer+12];",                                                          \
      'r', a >> 32)                                                                                                    \
    X(shared,                                                                                                          \
      "mov.u32 %r4, room; mad.lo.u32 %r4, %t, 8, %r4; st.shared.v2.b32 [%r4], {%r1, %r2}; "                            \
      "ld.shared.u16 %r0, [%r4+6];",                                                                                   \
      'r', U16(b >> 16))                                                                                               \
    X(load_signed,                                                                                                     \
      "mov.u32 %r4, room; mad.lo.u32 %r4, %t, 8, %r4; st.shared.b8 [%r4], %r1; "                                       \
      "ld.shared.s8 %rd0, [%r4];",                                                                                     \
      'd', (int64_t)(int8_t)a)

#define X(name, code, result, expression) EXPECT(expect_##name, expression)
SCALARS(X)
#undef X

static const struct scalar scalars[] = {
#define X(name, code, result, expression) {code, result, expect_##name},
    SCALARS(X)
#undef X
};

enum { THREADS = 256 };

static const uint64_t corners[] = {0,
                                   1,
                                   2,
                                   5,
                                   31,
                                   32,
                                   33,
                                   64,
                                   0x7f,
                                   0x80,
                                   0x7fff,
                                   0x8000,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   UINT64_MAX,
                                   INT64_MAX,
                                   UINT64_C(1) << 63,
                                   0x3f800000,
                                   0x7f800000,
                                   0xff800000,
                                   0x7fc00000,
                                   0x00400000,
                                   UINT64_C(0x3ff0000000000000),
                                   UINT64_C(0x7ff8000000000000),
                                   UINT64_C(0x4000000040400000)};

static uint64_t pick_value(uint64_t *random)
{
    if (random_below(random, 2))
        return corners[random_below(random, ARRAY_LEN(corners))];
    return next_random(random) >> random_below(random, 60);
}

static void check(struct emulator *emulator, const struct scalar *scalar, uint64_t (*cells)[4])
{
    struct run run = {
        .block = THREADS, .variables = ".shared .align 8 .b8 room[2048];", .parameters[0] = (uintptr_t)cells};
    char body[4096];
    const char *store = scalar->result == 'd'   ? "st.global.b64 [%x1+24], %rd0;"
                        : scalar->result == 'r' ? "cvt.u64.u32 %x2, %r0; st.global.b64 [%x1+24], %x2;"
                        : scalar->result == 'h' ? "cvt.u64.u16 %x2, %h0; st.global.b64 [%x1+24], %x2;"
                                                : "selp.b64 %x2, 1, 0, %p0; st.global.b64 [%x1+24], %x2;";

    snprintf(body, sizeof body, "%s%s\n%s", prologue, scalar->code, store);
    run.body = body;
    run_snippet(emulator, &run);
    if (run.outcome != EMULATOR_COMPLETED)
        fail_msg("%s: %s", scalar->code, run.findings);
    for (int i = 0; i < THREADS; i++) {
        uint64_t expected = scalar->expect(cells[i][0], cells[i][1], cells[i][2]);

        if (cells[i][3] != expected)
            fail_msg("%s: a=0x%lx b=0x%lx c=0x%lx: 0x%lx, expected 0x%lx", scalar->code, cells[i][0], cells[i][1],
                     cells[i][2], cells[i][3], expected);
    }
}

static void test_scalars(void **state)
{
    struct emulator *emulator = run_emulator();
    uint64_t(*cells)[4] = run_memory(emulator, THREADS * sizeof *cells);
    uint64_t random = 88172645463325252;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scalars); i++) {
        for (int t = 0; t < THREADS; t++) {
            for (int k = 0; k < 3; k++)
                cells[t][k] = pick_value(&random);
            cells[t][3] = UINT64_C(0xdeadbeef);
        }
        check(emulator, &scalars[i], cells);
    }
    emulator_free(emulator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

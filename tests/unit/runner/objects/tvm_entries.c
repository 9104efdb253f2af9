/* Entries of binding `tvm-ffi` in plain C. A check that fails raises an error with its text. */
#include <tvm/ffi/c_api.h>

#define EXPECT(condition)                                                                                              \
    do                                                                                                                 \
        if (!(condition)) {                                                                                            \
            TVMFFIErrorSetRaisedFromCStr("TestError", #condition);                                                     \
            return -1;                                                                                                 \
        }                                                                                                              \
    while (0)

#define ENTRY __attribute__((visibility("default")))

ENTRY int __tvm_ffi_run(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result);
ENTRY int __tvm_ffi_raise(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result);
ENTRY int __tvm_ffi_fail_silently(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result);

/* in bfloat16[3, 4, 5]; float32 0.5; int32 -7; bool true; out float8_e4m3fn[2]; out float32[] */
int __tvm_ffi_run(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result)
{
    const DLTensor *in, *out, *scalar;

    EXPECT(!self && count == 6 && result->type_index == kTVMFFINone);
    EXPECT(args[0].type_index == kTVMFFIDLTensorPtr && args[0].zero_padding == 0);
    in = args[0].v_ptr;
    EXPECT(in->device.device_type == kDLCUDA && in->device.device_id == 2);
    EXPECT(in->ndim == 3 && in->shape[0] == 3 && in->shape[1] == 4 && in->shape[2] == 5);
    EXPECT(in->strides[0] == 20 && in->strides[1] == 5 && in->strides[2] == 1);
    EXPECT(in->dtype.code == kDLBfloat && in->dtype.bits == 16 && in->dtype.lanes == 1);
    EXPECT(in->byte_offset == 0 && *(const int *)in->data == 1234);
    EXPECT(args[1].type_index == kTVMFFIFloat && args[1].v_float64 >= 0.5 && args[1].v_float64 <= 0.5);
    EXPECT(args[2].type_index == kTVMFFIInt && args[2].v_int64 == -7);
    EXPECT(args[3].type_index == kTVMFFIBool && args[3].v_int64 == 1);
    EXPECT(args[4].type_index == kTVMFFIDLTensorPtr);
    out = args[4].v_ptr;
    EXPECT(out != in && out->ndim == 1 && out->shape[0] == 2 && out->strides[0] == 1);
    EXPECT(out->dtype.code == kDLFloat8_e4m3fn && out->dtype.bits == 8);
    scalar = args[5].v_ptr;
    EXPECT(scalar->ndim == 0 && scalar->dtype.code == kDLFloat && scalar->dtype.bits == 32);
    *(float *)scalar->data = 2.5f;
    return 0;
}

int __tvm_ffi_raise(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result)
{
    (void)self;
    (void)args;
    (void)count;
    (void)result;
    TVMFFIErrorSetRaisedFromCStr("ValueError", "M must be a multiple of 128");
    return -1;
}

int __tvm_ffi_fail_silently(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result)
{
    (void)self;
    (void)args;
    (void)count;
    (void)result;
    return -1;
}

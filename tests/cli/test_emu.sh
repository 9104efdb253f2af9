#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

t_run "$PTXBENCH" emu
t_status 64 'without --census it is a usage error'
t_err_like 'say --census FILE, or -- PROGRAM' 'which says what there is'
t_run "$PTXBENCH" emu --help
t_out_like 'ptxbench emu -- PROGRAM' '--help says it too'

cat >"$T_DIR/good.ptx" <<'END'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry add_one(.param .u64 p)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    add.s32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
END
t_run "$PTXBENCH" emu --census "$T_DIR/good.ptx"
t_status 0 'plain PTX is emulated'
t_out_like '^kernel add_one$' 'the kernel is named'
t_out_like '^ *5 instructions, 2 virtual registers' 'and counted'
t_out_like 'all opcodes and modifiers are emulated$' 'all of it'

sed 's/add\.s32/addx.s32/' "$T_DIR/good.ptx" >"$T_DIR/unknown.ptx"
t_run "$PTXBENCH" emu --census "$T_DIR/unknown.ptx"
t_status 1 'an unknown opcode is not supported'
t_out_like 'addx\.s32 \(1x\): unknown opcode' 'and named'
t_out_like 'line 10 of the PTX' 'with its line'
t_run "$PTXBENCH" emu --census --json "$T_DIR/unknown.ptx"
t_status 1 'JSON: same status'
t_json 'v["schema"], v["supported"], v["executed"]' "('ptxbench.census.v1', False, False)" 'JSON: schema'
t_json 'v["modules"][0]["functions"][0]["problems"][0]["ptx_line"]' 10 'JSON: line'

sed 's/%r1, 1;/%r7, 1;/' "$T_DIR/good.ptx" >"$T_DIR/broken.ptx"
t_run "$PTXBENCH" emu --census "$T_DIR/broken.ptx"
t_status 64 'malformed PTX is told apart'
t_err_like "broken\.ptx:10:18: '%r7' is not declared" 'with file, line and column'
head -c 5000 "$PTXBENCH" >"$T_DIR/cut.so"
t_run "$PTXBENCH" emu --census "$T_DIR/cut.so"
t_status 64 'a damaged object is malformed'
t_run "$PTXBENCH" emu --census "$T_DIR/absent.ptx"
t_status 64 'a missing file is an error of the user'

# The corpus: every kernel of ours, through the compiler.
t_run "$PTXBENCH" emu --census "$PTXBENCH_SOURCE/kernels/hopper/gemm_wgmma.cu"
case $stderr in *'nvcc not found'*)
    t_done
    exit
    ;;
esac
t_status 0 'the WGMMA GEMM is emulated'
t_out_like 'target instructions in the text: wgmma [1-9][0-9]*, cp\.async\.bulk\.tensor [1-9]' 'with its target instructions'
for source in "$PTXBENCH_SOURCE"/kernels/hopper/*.cu "$PTXBENCH_SOURCE"/kernels/bad/*.cu; do
    name=${source##*/}
    wanted=0
    case $name in
    # do not compile, or break the compiler's limits
    compile_error.cu | ptx_error.cu | template_bomb.cu | banned_cublas.cu | banned_dlopen.cu) continue ;;
    gemm_wgmma.cu) continue ;;
    esac
    t_run "$PTXBENCH" emu --census --json "$source"
    t_status $wanted "$name is emulated"
done
for source in "$PTXBENCH_SOURCE"/kernels/blackwell/*.cu; do
    t_run "$PTXBENCH" emu --census --json --arch sm_100a "$source"
    t_status 1 "${source##*/} waits for a later stage"
    t_json 'all(p["support"] == "later" for m in v["modules"] for f in m["functions"] for p in f["problems"])' True \
        "${source##*/}: nothing in it is unknown"
done

t_run "$PTXBENCH" emu --census "$PTXBENCH_SOURCE/kernels/bad/compile_error.cu"
t_status 64 'source that does not compile is malformed'
t_err_like 'compile' 'and sent to ptxbench compile'

# A shared object, whose PTX is compressed.
t_run "$PTXBENCH" compile --keep "$T_DIR/kept.so" "$PTXBENCH_SOURCE/kernels/hopper/gemm_wgmma.cu"
t_run "$PTXBENCH" emu --census "$T_DIR/kept.so"
t_status 0 'a shared object holds the same'
t_out_like 'target instructions in the text: wgmma [1-9]' 'with the same kernels'
t_done

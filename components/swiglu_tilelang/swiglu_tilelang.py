"""silu(gate) · up on the accumulators of a matrix product whose columns alternate 8 gates and 8 ups, stored as bfloat16.

The component swiglu, in TileLang, for tiles of 128 rows and whole parts. A call takes a part, 64 x 128 accumulators of a warpgroup,
and stores 64 x 64 results. Each part has a stage in shared memory, and is waited for only when its stage is written again.
"""
import pipelink_tilelang as pipelink
import tilelang.language as T

rows, columns = T.dynamic("rows"), T.dynamic("columns")


def quads(i, j):
    """The thread that holds row i of results and column j, and in which register: as the accumulators of a matrix product."""
    return i // 16 * 32 + i % 8 * 4 + j % 8 // 2, j // 8 * 4 + i % 16 // 8 * 2 + j % 2


@T.prim_func
def epilogue(acc: T.Tensor((64, 128), "float32"), m0: T.uint32, n0: T.uint32, part: T.uint32, warpgroup: T.uint32,
             tile_n: T.int32, out: T.Tensor((rows, columns), "bfloat16")):
    with T.Kernel(1, threads=128):
        gate, up = T.alloc_fragment((64, 64), "float32"), T.alloc_fragment((64, 64), "float32")
        stage = T.alloc_shared((128, 64), "bfloat16")
        T.annotate_layout({gate: T.Fragment((64, 64), forward_fn=quads)})
        row, column = T.Cast("int32", m0 + 64 * warpgroup), T.Cast("int32", n0) // 2
        turn = T.Cast("int32", part) % 2 * 64
        for i, j in T.Parallel(64, 64):
            gate[i, j] = acc[i, j // 8 * 16 + j % 8]
        for i, j in T.Parallel(64, 64):
            up[i, j] = acc[i, j // 8 * 16 + j % 8 + 8]
        for i, j in T.Parallel(64, 64):
            gate[i, j] = gate[i, j] * T.fast_rcp(1 + T.__exp(-gate[i, j])) * up[i, j]
        # Of two parts in a tile, calls take turns: the store before the last one had this stage.
        if tile_n == 256:
            T.tma_store_wait(1)
        else:
            T.tma_store_wait(0)
        T.sync_threads()
        T.copy(gate, stage[turn : turn + 64, :])
        T.tma_copy(stage[turn : turn + 64, :], out[row : row + 64, column : column + 64])


@T.prim_func
def finish():  # the stages must outlive the last store
    with T.Kernel(1, threads=128):
        T.tma_store_wait(0)


component = pipelink.Component(
    exports=[pipelink.Export(epilogue, "acc", "m0", "n0", "part", "warpgroup", registers="acc", copies={"warpgroup": 2}),
             pipelink.Export(finish)],
    facts={"interleave": 8},
    uses={"tile_m": None, "tile_n": None, "part_n": None},
    require={"two_warpgroups": "tile_m == 128 && part_n == 128", "whole_parts": "tile_n == part_n || tile_n == 2 * part_n"})

import pipelink_tilelang as pipelink
import tilelang.language as T

rows = T.dynamic("rows")


@T.prim_func
def scale(x: T.Tensor((rows, 64), "float32"), y: T.Tensor((rows, 64), "float32"), factor: T.int32):
    with T.Kernel(T.ceildiv(rows, 512), threads=128) as block:
        tile = T.alloc_shared((128, 64), "float32")
        held = T.alloc_fragment((128, 64), "float32")
        for k in T.Pipelined(4, num_stages=2):
            T.copy(x[(block * 4 + k) * 128, 0], tile)
            T.copy(tile, held)
            for i, j in T.Parallel(128, 64):
                held[i, j] = held[i, j] * T.Cast("float32", factor)
            T.copy(held, y[(block * 4 + k) * 128, 0])


component = pipelink.Component(roles=[pipelink.Role(scale)], facts={"factor": 3})

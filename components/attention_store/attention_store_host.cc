// The host provider: the tensor map of the output.
#include <pipelink/provider.hpp>

#include "attention_store.h"

PIPELINK_HOST_PROVIDER(attention_store, attention_store::Arguments, attention_store::Parameters) {
  const auto dim = host.fact<unsigned>("head_dim");
  const attention_store::Arguments& a = arguments;
  if (a.sequences == 0 || a.rows == 0 || a.heads == 0)
    host.fail("sequences, rows and heads must be at least 1");
  parameters.out = host.tensor_map({.address = a.out,
                                    .rank = 5,
                                    .extent = {64, a.rows, dim / 64, a.heads, a.sequences},
                                    .stride = {a.row * 2, 128, a.head * 2, a.sequence * 2},
                                    .box = {64, 64, dim / 64, 1, 1},
                                    .swizzle = pipelink::Swizzle::k128B});
}

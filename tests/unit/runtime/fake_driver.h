// A driver without a GPU: a library with the functions of libcuda.so.1 that the runtime uses, and what they
// saw.
#pragma once

#include <cstddef>
#include <string>

#include "pipelink/runtime.h"

/// In the library, reached through `fake_state`. Plain data with fixed room, so that recording a launch
/// allocates nothing.
struct FakeState {
  // what the machine is
  int init_status = 0;
  int device_count = 1;
  int major = 9, minor = 0;
  int multiprocessors = 132;
  int blocks_fit = 1;
  int clusters_fit = 66;
  std::size_t parameter_bytes = 0;  // of the kernel in every image; 0: it takes none
  void* current = nullptr;          // context
  int load_status = 0, launch_status = 0, encode_status = 0;
  char entry[64] = "sample";
  // what happened
  int retained = 0, released = 0, loaded = 0, unloaded = 0, launched = 0, synchronised = 0, pushed = 0,
      popped = 0;
  pipelink::runtime_internal::LaunchConfig config{};
  pipelink::runtime_internal::LaunchAttribute attributes[4]{};
  unsigned char parameters[4096]{};
  bool had_parameters = false;
  unsigned long long zeroed_at = 0;
  std::size_t zeroed_bytes = 0;
  int pinned_taken = 0, pinned_freed = 0;
  alignas(64) unsigned char pinned[4096]{};
};

extern "C" FakeState* fake_state();

// For callers in other languages: how many launches there were, and the last one's parameters and stream.
extern "C" int fake_launched();
extern "C" const unsigned char* fake_parameters();
extern "C" void* fake_stream();

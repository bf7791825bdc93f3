// A composition for the tests: a loader with a provider, a scaler whose arguments are its parameters, and a
// mask that takes none.
#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

#include "fake_driver.h"
#include "pipelink/launch_description.h"
#include "pipelink/provider.hpp"
#include "pipelink/runtime.h"
#include "sample_component.h"

extern "C" int pipelink_host_loader_v1(const pipelink_host_context_v1*, const void*, size_t, void*, size_t,
                                       pipelink_host_result_v1*);

namespace sample {

inline pipelink::LaunchDescription description(const std::string& arch = "sm_90a") {
  pipelink::LaunchDescription d;
  d.composition = "sample";
  d.arch = arch;
  d.entry = "sample";
  d.threads = 384;
  d.parameter_size = 320;
  d.parameter_align = 64;
  pipelink::LaunchInstance loader;
  loader.name = "load";
  loader.component = "loader";
  loader.region_offset = 64;
  loader.region_size = 192;
  loader.region_align = 64;
  loader.region_type = "loader::Parameters";
  loader.region_header = "sample_component.h";
  loader.fields = {
      {"map", 0, 128}, {"tiles", 128, 4}, {"blocks", 132, 4, "unsigned"}, {"scratch", 136, 8, "pointer"}};
  loader.provider = "pipelink_host_loader_v1";
  loader.provider_abi = 1;
  loader.arguments_type = "loader::Arguments";
  loader.arguments_header = "sample_component.h";
  loader.arguments_size = 24;
  loader.arguments_align = 8;
  loader.arguments = {{"data", 0, 8, "pointer"},
                      {"rows", 8, 4, "unsigned"},
                      {"columns", 12, 4, "unsigned"},
                      {"ask_blocks", 16, 4, "unsigned"},
                      {"ask_scratch", 20, 4, "unsigned"}};
  loader.facts = {{"tile_m", PIPELINK_FACT_INTEGER, 128, "128"},
                  {"operands.stages", PIPELINK_FACT_INTEGER, 4, "4"},
                  {"scale", PIPELINK_FACT_REAL, 0, "0.5"},
                  {"order", PIPELINK_FACT_TEXT, 0, "row\nmajor \\ here"}};
  pipelink::LaunchInstance mask;
  mask.name = "mask";
  mask.component = "mask";
  pipelink::LaunchInstance scaler;
  scaler.name = "new";  // a C++ keyword
  scaler.component = "scaler";
  scaler.region_offset = 0;
  scaler.region_size = 16;
  scaler.region_align = 8;
  scaler.region_type = "scaler::Parameters";
  scaler.region_header = "sample_component.h";
  scaler.fields = {{"factor", 0, 4}, {"out", 8, 8}};
  d.instances = {loader, mask, scaler};
  return d;
}

/// The fake driver's table; its state is as new.
inline const pipelink::runtime_internal::Driver& driver() {
  static const pipelink::runtime_internal::Driver table =
      *pipelink::runtime_internal::load_driver(FAKE_DRIVER);
  return table;
}

inline FakeState& state() {
  static void* library = dlopen(FAKE_DRIVER, RTLD_NOW);
  static auto* get = reinterpret_cast<FakeState* (*)()>(dlsym(library, "fake_state"));
  return *get();
}

/// An image that passes for a cubin, with its description, and the table of providers.
struct Machine {
  std::vector<std::string> launches, archs;
  std::vector<pipelink::Image> images;
  std::string elf = std::string("\177ELF", 4) + std::string(100, 'x');
  pipelink::Provider providers[1] = {{"pipelink_host_loader_v1", &pipelink_host_loader_v1}};

  explicit Machine(const std::vector<pipelink::LaunchDescription>& descriptions = {description()});
  pipelink::Result<pipelink::Kernel> load() {
    pipelink::LoadOptions options;
    options.driver = &driver();
    options.providers = providers;
    return pipelink::Kernel::load(images, options);
  }
};

}  // namespace sample

#include <doctest/doctest.h>

#include <tuple>

#include "pipelink/c_api.h"
#include "sample.h"

using namespace pipelink;
using runtime_internal::arch_fit;

namespace sample {

Machine::Machine(const std::vector<LaunchDescription>& descriptions) {
  state() = FakeState();
  state().parameter_bytes = descriptions.empty() ? 0 : descriptions[0].parameter_size;
  extern std::string text_of(const LaunchDescription&);
  for (const LaunchDescription& d : descriptions) {
    launches.push_back(text_of(d));
    archs.push_back(d.arch);
  }
  for (std::size_t i = 0; i < launches.size(); ++i)
    images.push_back({archs[i], elf.data(), elf.size(), launches[i]});
}

}  // namespace sample

using sample::Machine;
using sample::state;

TEST_CASE("without a driver, loading says so") {
  const auto missing = runtime_internal::load_driver("libpipelink_no_such_driver.so.1");
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::kDriverMissing);
  CHECK(missing.error().message ==
        "no CUDA driver: libpipelink_no_such_driver.so.1: cannot open shared object file: No such file or "
        "directory");
}

TEST_CASE("a library without the functions is an old driver") {
  const auto old = runtime_internal::load_driver("libdl.so.2");
  REQUIRE(!old);
  CHECK(old.error().code == ErrorCode::kDriverTooOld);
  CHECK(old.error().message.find("has no cuInit, cuGetErrorName") != std::string::npos);
}

TEST_CASE("no device") {
  Machine machine;
  state().device_count = 0;
  const auto kernel = machine.load();
  REQUIRE(!kernel);
  CHECK(kernel.error().code == ErrorCode::kNoDevice);
  CHECK(kernel.error().message == "no GPU: the CUDA driver lists no device");
}

TEST_CASE("a device number that is not there") {
  Machine machine;
  LoadOptions options;
  options.driver = &sample::driver();
  options.device = 3;
  const auto kernel = Kernel::load(machine.images, options);
  REQUIRE(!kernel);
  CHECK(kernel.error().message == "no GPU 3: the CUDA driver lists 1 device");
}

TEST_CASE("which code runs where") {
  CHECK(arch_fit("sm_90a", 9, 0) > arch_fit("sm_90", 9, 0));
  CHECK(arch_fit("sm_90", 9, 0) > 0);
  CHECK(arch_fit("sm_90a", 10, 0) == 0);
  CHECK(arch_fit("sm_100a", 10, 3) == 0);
  CHECK(arch_fit("sm_103a", 10, 3) > arch_fit("sm_103f", 10, 3));
  CHECK(arch_fit("sm_103f", 10, 3) > arch_fit("sm_103", 10, 3));
  CHECK(arch_fit("sm_103", 10, 3) > arch_fit("sm_100f", 10, 3));
  CHECK(arch_fit("sm_100f", 10, 3) > arch_fit("sm_100", 10, 3));
  CHECK(arch_fit("sm_86", 8, 9) > arch_fit("sm_80", 8, 9));
  CHECK(arch_fit("sm_89", 8, 6) == 0);
  CHECK(arch_fit("sm_120a", 12, 0) > 0);
  for (const char* bad : {"", "sm_", "sm_9", "sm_a", "compute_90", "sm_90b", "sm_999999", "90a"})
    CHECK_MESSAGE(arch_fit(bad, 9, 0) == 0, bad);
}

TEST_CASE("the image for the device is loaded") {
  Machine machine(
      {sample::description("sm_100a"), sample::description("sm_90"), sample::description("sm_90a")});
  const auto kernel = machine.load();
  REQUIRE_MESSAGE(kernel, kernel.error().message);
  CHECK(kernel->launch().arch == "sm_90a");
  CHECK(kernel->device().name == "Fake GPU");
  CHECK(kernel->default_blocks() == 132);
}

TEST_CASE("of four architectures each device gets its own image") {
  const struct {
    int major, minor;
    const char* arch;
  } cases[] = {{9, 0, "sm_90a"}, {10, 0, "sm_100a"}, {10, 3, "sm_103a"}, {12, 0, "sm_120a"}};
  for (const auto& c : cases) {
    Machine machine({sample::description("sm_120a"), sample::description("sm_103a"),
                     sample::description("sm_90a"), sample::description("sm_100a")});
    state().major = c.major;
    state().minor = c.minor;
    const auto kernel = machine.load();
    REQUIRE_MESSAGE(kernel, kernel.error().message);
    CHECK(kernel->launch().arch == c.arch);
  }
  for (const auto& [major, minor, device] :
       {std::tuple{8, 0, "sm_80"}, {10, 1, "sm_101"}, {12, 1, "sm_121"}, {11, 0, "sm_110"}}) {
    Machine machine({sample::description("sm_90a"), sample::description("sm_100a"),
                     sample::description("sm_103a"), sample::description("sm_120a")});
    state().major = major;
    state().minor = minor;
    const auto kernel = machine.load();
    REQUIRE(!kernel);
    CHECK(kernel.error().code == ErrorCode::kNoImage);
    CHECK(kernel.error().message == std::string("no image of sample runs on ") + device +
                                        " (Fake GPU): it was built for sm_90a, sm_100a, sm_103a, sm_120a");
  }
}

TEST_CASE("no image fits: those that are there are listed") {
  Machine machine({sample::description("sm_100a"), sample::description("sm_120a")});
  const auto kernel = machine.load();
  REQUIRE(!kernel);
  CHECK(kernel.error().code == ErrorCode::kNoImage);
  CHECK(kernel.error().message ==
        "no image of sample runs on sm_90 (Fake GPU): it was built for sm_100a, sm_120a");
  Machine none(std::vector<LaunchDescription>{});
  CHECK(none.load().error().message ==
        "no image of the composition runs on sm_90 (Fake GPU): it was built for nothing");
}

TEST_CASE("images that do not fit their description") {
  Machine machine;
  SUBCASE("another arch") {
    machine.images[0].arch = "sm_90";
    CHECK(machine.load().error().message ==
          "image and launch description of sample for sm_90 disagree: the description is for sm_90a");
  }
  SUBCASE("no cubin") {
    machine.images[0].data =
        "nothing of the kind, but long enough to hold the head of an ELF file, certainly";
    CHECK(machine.load().error().message == "the image of sample for sm_90a is not a cubin");
  }
  SUBCASE("empty") {
    machine.images[0].size = 0;
    CHECK(machine.load().error().code == ErrorCode::kBadImage);
  }
  SUBCASE("refused by the driver") {
    state().load_status = 209;
    const auto kernel = machine.load();
    CHECK(kernel.error().message ==
          "cannot load sample for sm_90a: CUDA_ERROR_NO_BINARY_FOR_GPU (as the test wants)");
    CHECK(kernel.error().driver == 209);
    CHECK(state().released == state().retained);
  }
  SUBCASE("no such kernel") {
    std::strcpy(state().entry, "other");
    CHECK(machine.load().error().message ==
          "the image of sample for sm_90a has no kernel sample: CUDA_ERROR_NOT_FOUND (as the test wants)");
    CHECK(state().unloaded == 1);
  }
  SUBCASE("another parameter block") {
    state().parameter_bytes = 256;
    CHECK(machine.load().error().message ==
          "image and launch description of sample for sm_90a disagree: the kernel takes 256 bytes of "
          "parameters, "
          "described are 320");
  }
  SUBCASE("too large for the multiprocessor") {
    state().blocks_fit = 0;
    CHECK(machine.load().error().message ==
          "sample for sm_90a was linked for 1 block(s) per multiprocessor, but 0 fit on Fake GPU");
  }
  SUBCASE("a provider is missing") {
    machine.providers[0].symbol = "pipelink_host_other_v1";
    CHECK(machine.load().error().message ==
          "no host provider pipelink_host_loader_v1 for component loader: its host library is not linked "
          "into this "
          "program");
  }
}

TEST_CASE("a provider of a later ABI") {
  auto d = sample::description();
  d.instances[0].provider_abi = 2;
  Machine machine({d});
  CHECK(machine.load().error().message ==
        "the host provider of component loader has ABI 2; this runtime speaks ABI 1");
}

TEST_CASE("contexts: the current one is shared, else the primary one is held") {
  SUBCASE("none is current") {
    Machine machine;
    {
      const auto kernel = machine.load();
      REQUIRE(kernel);
      CHECK(state().retained == 1);
      CHECK(state().released == 0);
      CHECK(state().current == nullptr);
    }
    CHECK(state().unloaded == 1);
    CHECK(state().released == 1);
  }
  SUBCASE("one is current") {
    Machine machine;
    int foreign = 0;
    state().current = &foreign;
    {
      const auto kernel = machine.load();
      REQUIRE(kernel);
      CHECK(static_cast<void*>(kernel->device().context) == &foreign);
    }
    CHECK(state().retained == 0);
    CHECK(state().pushed == 0);
    CHECK(state().unloaded == 1);
  }
}

TEST_CASE("clusters: whole ones, and only those that fit at once") {
  auto d = sample::description();
  d.cluster[0] = 4;
  Machine machine({d});
  state().clusters_fit = 30;
  auto kernel = machine.load();
  REQUIRE_MESSAGE(kernel, kernel.error().message);
  CHECK(kernel->default_blocks() == 120);
  state().clusters_fit = 99;
  CHECK(machine.load()->default_blocks() == 132);
  state().clusters_fit = 0;
  CHECK(machine.load().error().message == "no cluster of 4 blocks of sample for sm_90a fits on Fake GPU");
}

TEST_CASE("launch descriptions that cannot be read") {
  const auto message = [](std::string_view text) {
    const auto parsed = parse_launch(text);
    return parsed ? std::string() : parsed.error().message;
  };
  const std::string head = "pipelink-launch/1\ncomposition=c\narch=sm_90a\nentry=c\nthreads=128\n";
  CHECK(message(head) == "");
  CHECK(message("") == "launch description, line 1: the text is empty");
  CHECK(message("pipelink-launch/2\n") ==
        "launch description, line 1: expected `pipelink-launch/1`, found `pipelink-launch/2`");
  CHECK(message(head + "colour=red\n") == "launch description, line 6: cannot read `colour=red`");
  CHECK(message(head + "cluster=2 1\n") == "launch description, line 6: cannot read `cluster=2 1`");
  CHECK(message(head + "threads=-1\n") == "launch description, line 6: cannot read `threads=-1`");
  CHECK(message(head + "threads=2048\n") == "launch description of c: threads must be 1 to 1024");
  CHECK(message(head + "nonsense\n") == "launch description, line 6: expected key=value");
  CHECK(message(head + "instance=a\ncomponent=a\nregion=0 8 8\n") ==
        "launch description of c: the region of a leaves the parameter block");
  CHECK(message(head + "parameters=64 8\ninstance=a\ncomponent=a\nregion=4 8 8\n") ==
        "launch description of c: the region of a is not aligned");
  CHECK(message(head + "parameters=64 8\ninstance=a\ncomponent=a\nregion=0 16 "
                       "8\ninstance=b\ncomponent=b\nregion=8 8 8\n") ==
        "launch description of c: the regions of a and b overlap");
  CHECK(message(head + "parameters=18446744073709551615 8\n") ==
        "launch description of c: the parameter block exceeds 32764 bytes");
  CHECK(message(head + "instance=a\ncomponent=a\nfact=boolean f 2\n") ==
        "launch description, line 8: cannot read `fact=boolean f 2`");
  CHECK(message("pipelink-launch/1\narch=sm_90a\n") ==
        "launch description of : composition, arch or entry is missing");
}

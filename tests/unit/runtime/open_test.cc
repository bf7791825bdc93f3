#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "sample.h"

using namespace pipelink;
using sample::Machine;
using sample::state;

namespace {

thread_local long allocations = 0;

struct Lent {
  alignas(16) char data[16] = {};
  loader::Arguments load{data, 256, 64, 0, 0};
  scaler::Parameters scale{2.5f, data};

  std::vector<Argument> list() const { return {{"load", &load, sizeof load}, {"new", &scale, sizeof scale}}; }
};

loader::Parameters region_of_load(const Session& session) {
  loader::Parameters p;
  std::memcpy(&p, session.parameters().data() + 64, sizeof p);
  return p;
}

}  // namespace

// Not inlined: the compiler would see malloc and free, and take them for a mismatch with new and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size,
                                     const std::nothrow_t&) noexcept {  // std::stable_sort's
  ++allocations;
  return std::malloc(size ? size : 1);
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

TEST_CASE("open fills the regions: from the provider's facts, or with the arguments as they are") {
  Machine machine;
  const auto kernel = machine.load();
  REQUIRE(kernel);
  const Lent lent;
  const auto session = kernel->open(lent.list());
  REQUIRE_MESSAGE(session, session.error().message);
  REQUIRE(session->parameters().size() == 320);
  CHECK(reinterpret_cast<std::uintptr_t>(session->parameters().data()) % 64 == 0);
  CHECK(std::memcmp(session->parameters().data(), &lent.scale, sizeof lent.scale) == 0);
  const loader::Parameters p = region_of_load(*session);
  CHECK(p.tiles == 256 / 128 * 4);
  CHECK(p.blocks == 132);
  CHECK(p.scratch == nullptr);
  CHECK(p.map.opaque[0] == reinterpret_cast<std::uintptr_t>(lent.data));
  CHECK(p.map.opaque[1] == 64);
  CHECK(p.map.opaque[2] == 128);  // packed: 64 elements of 2 bytes
  CHECK(p.map.opaque[3] == 64);
  CHECK(p.map.opaque[4] == 903);
  for (std::size_t i = 256; i < 320; ++i) CHECK(session->parameters()[i] == std::byte{0});
  CHECK(state().synchronised == 0);
}

TEST_CASE("launch passes grid, block, stream and parameters, allocates nothing and does not wait") {
  Machine machine;
  const auto kernel = machine.load();
  const Lent lent;
  const auto session = kernel->open(lent.list());
  REQUIRE(session);
  auto* stream = reinterpret_cast<Stream>(std::uintptr_t{0x5ea});
  const long before = allocations;
  const bool done = session->launch(stream).ok();
  CHECK(allocations == before);
  CHECK(done);
  const auto& config = state().config;
  CHECK(config.grid[0] == 132);
  CHECK(config.grid[1] * config.grid[2] == 1);
  CHECK(config.block[0] == 384);
  CHECK(config.shared_bytes == 0);
  CHECK(config.stream == stream);  // a capturing stream is a stream like any other
  CHECK(config.attribute_count == 0);
  CHECK(std::memcmp(state().parameters, session->parameters().data(), 320) == 0);
  CHECK(state().synchronised == 0);
  CHECK(state().current == nullptr);
  CHECK(state().pushed == state().popped);
}

TEST_CASE("launch passes the cluster, and rounds requests up to whole clusters") {
  auto d = sample::description();
  d.cluster[0] = 2;
  Machine machine({d});
  const auto kernel = machine.load();
  Lent lent;
  lent.load.ask_blocks = 7;
  auto session = kernel->open(lent.list());
  REQUIRE_MESSAGE(session, session.error().message);
  const Session moved = std::move(*session);
  CHECK(moved.blocks() == 8);
  CHECK(region_of_load(moved).blocks == 8);  // the filling pass sees the final grid
  REQUIRE(moved.launch(nullptr));
  CHECK(state().config.grid[0] == 8);
  REQUIRE(state().config.attribute_count == 1);
  CHECK(state().attributes[0].id == 4);
  CHECK(state().attributes[0].value.cluster.x == 2);
  CHECK(state().attributes[0].value.cluster.y == 1);
  CHECK(state().attributes[0].value.cluster.z == 1);
}

TEST_CASE("blocks that wait for each other: no more than fit at one time") {
  auto d = sample::description();
  d.resident = 1;
  Machine machine({d});
  const auto kernel = machine.load();
  REQUIRE_MESSAGE(kernel, kernel.error().message);
  Lent lent;
  CHECK(kernel->open(lent.list()));
  lent.load.ask_blocks = 100'000;
  const auto refused = kernel->open(lent.list());
  REQUIRE(!refused);
  CHECK(refused.error().message ==
        "the blocks of sample wait for each other: 132 fit on Fake GPU at one time, asked for are 100000");
  const std::vector<std::byte> block(d.parameter_size);
  CHECK(kernel->open_raw(block, 132));
  CHECK(!kernel->open_raw(block, 133));
  d.resident = 0;
  Machine free({d});
  CHECK(free.load()->open(lent.list()));
}

TEST_CASE("a session outlives its kernel") {
  Machine machine;
  const Lent lent;
  {
    std::optional<Session> session;
    {
      const auto kernel = machine.load();
      session.emplace(*kernel->open(lent.list()));
    }
    CHECK(state().unloaded == 0);
    CHECK(session->launch(nullptr));
  }
  CHECK(state().unloaded == 1);
}

TEST_CASE("scratch is lent, handed out and zeroed") {
  Machine machine;
  const auto kernel = machine.load();
  Lent lent;
  lent.load.ask_scratch = 1000;
  CHECK(*kernel->scratch_bytes(lent.list()) == 1000);
  CHECK(kernel->open(lent.list()).error().message == "sample needs 1000 bytes of scratch, lent are 0");
  CHECK(kernel->open(lent.list(), {0x10000, 999}).error().code == ErrorCode::kScratch);
  CHECK(kernel->open(lent.list(), {0x10010, 4096}).error().message == "scratch must be aligned to 256 bytes");
  const auto session = kernel->open(lent.list(), {0x10000, 1000});
  REQUIRE_MESSAGE(session, session.error().message);
  CHECK(region_of_load(*session).scratch == reinterpret_cast<void*>(0x10000));
  CHECK(state().zeroed_at == 0x10000);
  CHECK(state().zeroed_bytes == 1000);
}

TEST_CASE("scratch that components claim is lent, handed out and zeroed") {
  auto d = sample::description();
  d.instances[0].scratch = {{"sums", 136, 100, false, false}};  // of the loader, which has a provider
  d.instances[2].scratch = {{"parts", 8, 512, true, true}};     // of the scaler, which has none
  Machine machine({d});
  const auto kernel = machine.load();
  REQUIRE_MESSAGE(kernel, kernel.error().message);
  Lent lent;
  lent.load.ask_scratch = 1000;
  lent.load.ask_blocks = 7;
  CHECK(*kernel->scratch_bytes(lent.list()) == 1280 + 512 * 7);
  CHECK(kernel->open(lent.list(), {0x10000, 1280 + 512 * 7 - 1}).error().code == ErrorCode::kScratch);
  const auto session = kernel->open(lent.list(), {0x10000, 1280 + 512 * 7});
  REQUIRE_MESSAGE(session, session.error().message);
  const auto pointer = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, session->parameters().data() + at, sizeof value);
    return value;
  };
  CHECK(pointer(64 + 136) == 0x10000 + 1024);
  CHECK(pointer(0 + 8) == 0x10000 + 1280);
  CHECK(state().zeroed_at == 0x10000 + 1280);
  CHECK(state().zeroed_bytes == 512 * 7);
  d.instances[2].scratch[0].bytes = std::uint64_t{1} << 47;
  Machine huge({d});
  const auto refused = huge.load()->open(lent.list(), {0x10000, 4096});
  REQUIRE(!refused);
  CHECK(refused.error().message ==
        "the scratch parts of new has 140737488355328 bytes for each of 7 blocks: more than any GPU has");
}

TEST_CASE("arguments that do not fit") {
  Machine machine;
  const auto kernel = machine.load();
  const Lent lent;
  auto list = lent.list();
  const auto message = [&] { return kernel->open(list).error().message; };
  SUBCASE("missing") {
    list.pop_back();
    CHECK(message() == "no arguments for instance new (component scaler)");
  }
  SUBCASE("unknown") {
    list[0].instance = "lode";
    CHECK(message() == "arguments for `lode`: the instances of sample with arguments are load, new");
  }
  SUBCASE("optional and unknown") {
    list.push_back({"elsewhere", &lent, 8, true});
    CHECK(kernel->open(list));
  }
  SUBCASE("an instance without parameters") {
    list[0].instance = "mask";
    CHECK(message() == "arguments for `mask`: the instances of sample with arguments are load, new");
  }
  SUBCASE("twice") {
    list.push_back(list[0]);
    CHECK(message() == "arguments for `load` were given twice");
  }
  SUBCASE("null") {
    list[0].data = nullptr;
    CHECK(message() == "arguments for `load` are null");
  }
  SUBCASE("another size, without a provider") {
    list[1].size = 8;
    CHECK(message() == "arguments for new have 8 bytes; scaler::Parameters has 16");
  }
  SUBCASE("another size, with a provider") {
    list[0].size = 8;
    CHECK(message() ==
          "instance load (component loader): the caller's arguments have 8 bytes, the host provider was "
          "compiled for 24");
  }
  SUBCASE("the provider refuses") {
    loader::Arguments odd = lent.load;
    odd.rows = 100;
    list[0].data = &odd;
    CHECK(message() == "instance load (component loader): rows must be a multiple of tile_m (128)");
  }
  SUBCASE("the driver refuses the tensor map") {
    state().encode_status = 1;
    CHECK(message().starts_with(
        "instance load (component loader): the driver refuses a tensor map (status 1): extents "
        "64 256, strides 128, box 64 128, element bytes 2, address modulo 128 "));
  }
}

TEST_CASE("a provider that asks for a fact that is not there") {
  auto d = sample::description();
  d.instances[0].facts.erase(d.instances[0].facts.begin());
  Machine machine({d});
  const auto kernel = machine.load();
  CHECK(kernel->open(Lent().list()).error().message ==
        "instance load (component loader): no fact tile_m; there are: operands.stages, scale, order");
}

TEST_CASE("facts of each type") {
  const pipelink_host_fact_v1 facts[] = {{"big", PIPELINK_FACT_INTEGER, 0, 300, "300"},
                                         {"yes", PIPELINK_FACT_BOOLEAN, 0, 1, "1"},
                                         {"half", PIPELINK_FACT_REAL, 0, 0, "0.5"},
                                         {"word", PIPELINK_FACT_TEXT, 0, 0, "row"}};
  pipelink_host_context_v1 context{};
  context.facts = facts;
  context.fact_count = 4;
  pipelink_host_result_v1 result{};
  const ProviderHost host(context, result);
  CHECK(host.fact("big") == 300);
  CHECK(host.fact<bool>("yes"));
  CHECK(host.real("half") == 0.5);
  CHECK(host.real("big") == 300);
  CHECK(host.text("word") == "row");
  CHECK(host.has_fact("word"));
  CHECK_FALSE(host.has_fact("words"));
  CHECK_THROWS_WITH(host.fact<unsigned char>("big"), "fact big is 300: too large for its C++ type");
  CHECK_THROWS_WITH(host.fact("word"), "fact word is row, not a number");
  CHECK_THROWS_WITH(host.real("word"), "fact word is a text, not a number");
}

TEST_CASE("a caller with another ABI is refused without touching its context") {
  pipelink_host_context_v1 context{};
  context.abi = 7;
  pipelink_host_result_v1 result{};
  CHECK(pipelink_host_loader_v1(&context, nullptr, 0, nullptr, 0, &result) == 2);
  CHECK(pipelink_host_loader_v1(nullptr, nullptr, 0, nullptr, 0, nullptr) == 2);
}

TEST_CASE("a raw block") {
  Machine machine;
  const auto kernel = machine.load();
  std::vector<std::byte> block(320, std::byte{7});
  const auto session = kernel->open_raw(block, 5);
  REQUIRE(session);
  CHECK(session->blocks() == 5);
  REQUIRE(session->launch(nullptr));
  CHECK(state().parameters[319] == 7);
  CHECK(kernel->open_raw({block.data(), 8}).error().message ==
        "the parameter block of sample has 320 bytes, given are 8");
}

TEST_CASE("a launch that the driver refuses") {
  Machine machine;
  const auto session = machine.load()->open(Lent().list());
  state().launch_status = 1;
  const auto done = session->launch(nullptr);
  REQUIRE(!done);
  CHECK(done.error().code == ErrorCode::kLaunch);
  CHECK(done.error().message == "cannot launch sample: CUDA_ERROR (as the test wants)");
}

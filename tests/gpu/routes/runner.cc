// Runs every kernel of a matrix of layouts on random tiles and compares every element with what the tables of
// producer and consumer say. Exit status: 0 all right, 1 not, 2 usage, 77 there is no GPU.
#include <pipelink/runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "compositions/device.h"
#include "routes.h"

namespace {

constexpr int kSkipped = 77;
constexpr std::size_t kTile = 64 * 64;
constexpr std::size_t kMostCopies = 4;    // of a tile, by all consumers
constexpr std::size_t kMostTiles = 1201;  // several for each warpgroup of the device, and no multiple

struct Consumer {
  std::string name;
  bool shared = false, role = false;  // it writes the tile as it lies in shared memory; it is another role
};

struct Pair {
  std::string name, give;
  std::size_t bytes = 0;
  std::vector<Consumer> takes;
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::int32_t> table(const std::string& path) {
  const std::string text = read(path);
  std::vector<std::int32_t> out(text.size() / 4);
  std::memcpy(out.data(), text.data(), out.size() * 4);
  if (out.empty() || out.size() % kTile != 0) throw std::runtime_error(path + " is no table of a tile");
  return out;
}

std::vector<Pair> pairs(const std::string& folder) {
  std::istringstream lines(read(folder + "/pairs"));
  std::vector<Pair> out;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Pair p;
    words >> p.name >> p.give >> p.bytes;
    for (std::string name, how; words >> how >> name;)
      p.takes.push_back({name, how == "shared", how == "role"});
    if (p.takes.empty()) throw std::runtime_error("no consumer in: " + line);
    out.push_back(p);
  }
  return out;
}

/// Device memory that all pairs share.
struct Memory {
  runner::Device device{nullptr};
  std::uint64_t in = device.allocate(kMostTiles * kTile * 8),
                out = device.allocate(kMostTiles * kTile * 8 * kMostCopies),
                held = device.allocate(kTile * 4);
};

/// What is wrong, or nothing.
std::string run(const std::string& folder, const Pair& pair, std::size_t tiles, Memory& memory,
                std::mt19937_64& random) {
  const std::string cubin = read(folder + "/" + pair.name + ".cubin"),
                    launch = read(folder + "/" + pair.name + ".launch");
  const pipelink::Image image{"sm_90a", cubin.data(), cubin.size(), launch};
  const auto kernel = pipelink::Kernel::load({&image, 1});
  if (!kernel) return kernel.error().message;
  const std::vector<std::int32_t> held = table(folder + "/" + pair.give + ".table");
  std::vector<std::vector<std::int32_t>> tables;
  std::size_t slot = 0;  // elements of each tile
  for (const Consumer& take : pair.takes) {
    tables.push_back(table(folder + "/" + take.name + ".table"));
    slot += tables.back().size();
  }
  if (slot > kMostCopies * kTile) throw std::runtime_error(pair.name + " has too many consumers");
  std::string in(tiles * kTile * pair.bytes, '\0'), out(tiles * slot * pair.bytes, '\0');
  for (std::size_t i = 0; i < in.size(); i += 8) {
    const std::uint64_t word = random();
    std::memcpy(in.data() + i, &word, 8);
  }
  memory.device.write(memory.in, in.data(), in.size());
  memory.device.write(memory.held, held.data(), held.size() * 4);
  memory.device.set(memory.out, 0xa5, out.size());
  const routes::Parameters parameters{
      reinterpret_cast<const unsigned char*>(memory.in), reinterpret_cast<const int*>(memory.held),
      reinterpret_cast<unsigned char*>(memory.out), static_cast<unsigned>(tiles)};
  std::vector<pipelink::Argument> arguments{{pair.give, &parameters, sizeof parameters}};
  for (const Consumer& take : pair.takes)
    if (take.role) arguments.push_back({take.name, &parameters, sizeof parameters});
  const auto session = kernel->open({arguments.data(), arguments.size()});
  if (!session) return session.error().message;
  if (const auto done = session->launch(nullptr); !done) return done.error().message;
  memory.device.synchronize();
  memory.device.read(out.data(), memory.out, out.size());
  std::size_t offset = 0;
  for (std::size_t c = 0; c < tables.size(); ++c) {
    const std::vector<std::int32_t>& wanted = tables[c];
    const bool shared = pair.takes[c].shared;
    for (std::size_t t = 0; t < tiles; ++t)
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        // Registers: place i of the output is element wanted[i]. Shared memory: element i lies at wanted[i].
        const auto want = static_cast<std::size_t>(wanted[i]);
        const char* got = out.data() + (t * slot + offset + (shared ? want : i)) * pair.bytes;
        const char* right = in.data() + (t * kTile + (shared ? i : want)) * pair.bytes;
        if (std::memcmp(got, right, pair.bytes) != 0)
          return pair.takes[c].name + ", tile " + std::to_string(t) + ": place " + std::to_string(i) +
                 " is wrong";
      }
    offset += wanted.size();
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: %s FOLDER [BEGINNING-OF-A-NAME [TILES]]\n", argv[0]);
    return 2;
  }
  try {
    const std::string folder = argv[1], beginning = argc > 2 ? argv[2] : "";
    const std::size_t tiles = argc > 3 ? std::stoul(argv[3]) : kMostTiles;
    if (tiles < 1 || tiles > kMostTiles)
      throw std::runtime_error("1 to " + std::to_string(kMostTiles) + " tiles");
    if (const auto driver = pipelink::runtime_internal::machine_driver(); !driver) {
      std::printf("SKIPPED: %s\n", driver.error().message.c_str());
      return kSkipped;
    }
    std::random_device seed;
    const std::uint64_t seed_value = (std::uint64_t{seed()} << 32) | seed();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_value));
    std::mt19937_64 random(seed_value);
    Memory memory;
    std::size_t passed = 0, failed = 0;
    for (const Pair& pair : pairs(folder)) {
      if (!pair.name.starts_with(beginning)) continue;
      const std::string fault = run(folder, pair, tiles, memory, random);
      ++(fault.empty() ? passed : failed);
      if (!fault.empty()) std::printf("%s: %s\n", pair.name.c_str(), fault.c_str());
    }
    std::printf("%zu passed, %zu failed: every element of %zu tiles of each pair\n", passed, failed, tiles);
    return passed != 0 && failed == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}

#include "machine.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace pipelink::transfer::test {
namespace {

using Word = std::uint32_t;

struct Machine {
  const Request& request;
  const Transfer& transfer;
  int threads = 0;
  std::vector<std::vector<Word>> registers;  // [thread][register]
  std::vector<std::uint8_t> shared, source;

  std::vector<std::uint8_t>& memory(const Address& a) {
    return a.buffer == Address::Buffer::kProducer ? source : shared;
  }
  std::size_t byte(const Address& a, int thread) const {
    return static_cast<std::size_t>((transfer.values.at(static_cast<std::size_t>(a.value))(thread) ^ a.flip) +
                                    a.plus);
  }
  Word& reg(int thread, Register r) {
    return registers.at(static_cast<std::size_t>(thread)).at(static_cast<std::size_t>(r));
  }

  void operator()(const Permute& s) {
    for (int t = 0; t < threads; ++t) {
      const std::uint64_t both = reg(t, s.low) | std::uint64_t{reg(t, s.high)} << 32;
      const Word selector =
          s.selector_value < 0
              ? s.selector
              : static_cast<Word>(transfer.values[static_cast<std::size_t>(s.selector_value)](t));
      Word out = 0;
      for (int i = 0; i < 4; ++i)
        out |= static_cast<Word>(both >> (8 * (selector >> (4 * i) & 7)) & 255) << (8 * i);
      reg(t, s.result) = out;
    }
  }
  void operator()(const Select& s) {
    for (int t = 0; t < threads; ++t)
      reg(t, s.result) =
          reg(t, transfer.conditions.at(static_cast<std::size_t>(s.condition))(t) ? s.yes : s.no);
  }
  void operator()(const Shuffle& s) {
    for (int t = 0; t < threads; ++t)
      reg(t, s.result) = reg(t / 32 * 32 + transfer.values.at(static_cast<std::size_t>(s.lane))(t), s.source);
  }
  void operator()(const Store& s) {
    for (int t = 0; t < threads; ++t) {
      if (s.condition != kAlways && !transfer.conditions.at(static_cast<std::size_t>(s.condition))(t))
        continue;
      for (int b = 0; b < s.bytes; ++b)
        memory(s.address).at(byte(s.address, t) + static_cast<std::size_t>(b)) =
            static_cast<std::uint8_t>(reg(t, s.sources.at(static_cast<std::size_t>(b / 4))) >> (8 * (b % 4)));
    }
  }
  void operator()(const Load& s) {
    for (int t = 0; t < threads; ++t) {
      for (const Register r : s.results) reg(t, r) = 0;
      for (int b = 0; b < s.bytes; ++b)
        reg(t, s.results.at(static_cast<std::size_t>(b / 4))) |=
            Word{memory(s.address).at(byte(s.address, t) + static_cast<std::size_t>(b))} << (8 * (b % 4));
    }
  }
  /// Calls with thread, matrix, half, byte of the half.
  template <typename Visit>
  void matrices(const Address& rows, std::size_t count, bool transposed, Visit visit) {
    for (int t = 0; t < threads; ++t)
      for (int m = 0; m < static_cast<int>(count); ++m)
        for (int h = 0; h < 2; ++h) {
          const int lane = t % 32;
          int row = lane / 4, column = lane % 4 * 2 + h;
          if (transposed) std::swap(row, column);
          visit(t, m, h, byte(rows, t / 32 * 32 + m * 8 + row) + static_cast<std::size_t>(column) * 2);
        }
  }
  void operator()(const StoreMatrix& s) {
    matrices(s.rows, s.sources.size(), s.transposed, [&](int t, int m, int h, std::size_t at) {
      const Word word = reg(t, s.sources[static_cast<std::size_t>(m)]) >> (16 * h);
      memory(s.rows).at(at) = static_cast<std::uint8_t>(word);
      memory(s.rows).at(at + 1) = static_cast<std::uint8_t>(word >> 8);
    });
  }
  void operator()(const LoadMatrix& s) {
    matrices(s.rows, s.results.size(), s.transposed, [&](int t, int m, int h, std::size_t at) {
      Word& word = reg(t, s.results[static_cast<std::size_t>(m)]);
      if (h == 0) word = 0;
      word |= (Word{memory(s.rows).at(at)} | Word{memory(s.rows).at(at + 1)} << 8) << (16 * h);
    });
  }
  void operator()(const WarpBarrier&) {}
  void operator()(const NamedBarrier&) {}
  void operator()(const AsyncFence&) {}
  void operator()(const TensorWait&) {}
  void operator()(const TensorLoad& s) {
    // `source` holds the tile as 128 lanes of words.
    const auto pitch = source.size() / static_cast<std::size_t>(request.from.map.threads);
    const int n = static_cast<int>(s.results.size());
    for (int t = 0; t < threads; ++t)
      for (int r = 0; r < n; ++r) {
        const int l = t % 32;
        int row = l, column = r;
        switch (s.shape) {
          case TensorShape::k32x32b:
            break;
          case TensorShape::k16x64b:
            row = (l >> 2) + 8 * (l & 1);
            column = (l >> 1 & 1) + 2 * r;
            break;
          case TensorShape::k16x128b:
            row = (l >> 2) + 8 * (r & 1);
            column = (l & 3) + 4 * (r >> 1);
            break;
          case TensorShape::k16x256b:
            row = (l >> 2) + 8 * (r >> 1 & 1);
            column = 2 * (l & 3) + (r & 1) + 8 * (r >> 2);
            break;
        }
        const auto at = static_cast<std::size_t>(t / 32 % 4 * 32 + s.lane + row) * pitch +
                        static_cast<std::size_t>(s.column + column) * 4;
        Word word = 0;
        for (std::size_t b = 0; b < 4; ++b) word |= Word{source.at(at + b)} << (8 * b);
        reg(t, s.results[static_cast<std::size_t>(r)]) = word;
      }
  }

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) std::visit(*this, step);
  }
};

}  // namespace

std::string run_on_bytes(const Request& request, const Transfer& transfer, std::uint32_t seed) {
  const auto eb = static_cast<std::size_t>(request.from.map.element_bytes);
  std::size_t size = 1;
  for (const Endpoint* side : {&request.from, &request.to}) {
    for (const std::int32_t e : side->map.element) size = std::max(size, static_cast<std::size_t>(e + 1));
    size = std::max(size, side->address.offset.size());
  }
  std::mt19937 random(seed);
  Machine machine{request, transfer, 0, {}, {}, {}};
  machine.shared.resize(static_cast<std::size_t>(transfer.buffer_bytes));
  for (int tile = 0; tile < 2; ++tile) {
    std::vector<std::uint8_t> data(size * eb);
    for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
    const auto element_byte = [&](std::int32_t e, std::size_t b) {
      return data[static_cast<std::size_t>(e) * eb + b];
    };
    const TileMap& from = request.from.map;
    machine.threads = transfer.threads;
    machine.registers.assign(static_cast<std::size_t>(transfer.threads),
                             std::vector<Word>(static_cast<std::size_t>(transfer.registers), 0xDEADBEEF));
    // The producer's array, byte by byte, as it would lie in memory.
    const auto lay_out = [&](const TileMap& map, int thread) {
      std::vector<std::uint8_t> bytes((static_cast<std::size_t>(map.values) * eb + 3) / 4 * 4, 0xA5);
      for (int v = 0; v < map.values; ++v)
        for (std::size_t b = 0; b < eb && map(thread, v) != kNothing; ++b)
          bytes[static_cast<std::size_t>(v) * eb + b] = element_byte(map(thread, v), b);
      return bytes;
    };
    if (request.from.space == Space::kRegisters)
      for (int t = 0; t < from.threads; ++t) {
        const std::vector<std::uint8_t> bytes = lay_out(from, t);
        for (std::size_t b = 0; b < bytes.size(); ++b) {
          Word& word = machine.reg(t, static_cast<Register>(b / 4));
          if (b % 4 == 0) word = 0;
          word |= Word{bytes[b]} << (8 * (b % 4));
        }
      }
    if (request.from.space == Space::kTensorMemory) {
      machine.source.clear();
      for (int t = 0; t < from.threads; ++t)
        for (const std::uint8_t byte : lay_out(from, t)) machine.source.push_back(byte);
    }
    if (request.from.space == Space::kShared) {
      machine.source.assign(static_cast<std::size_t>(request.from.address.bytes), 0x5A);
      for (std::size_t e = 0; e < request.from.address.offset.size(); ++e)
        for (std::size_t b = 0; b < eb; ++b)
          machine.source[static_cast<std::size_t>(request.from.address.offset[e]) * eb + b] =
              element_byte(static_cast<std::int32_t>(e), b);
    }
    machine.run(transfer.steps);
    if (request.two_roles) {
      machine.threads = transfer.consumer_threads;
      machine.registers.assign(static_cast<std::size_t>(transfer.consumer_threads),
                               std::vector<Word>(static_cast<std::size_t>(transfer.registers), 0xDEADBEEF));
      machine.run(transfer.receive);
    }
    const TileMap& to = request.to.map;
    const auto wrong = [&](const std::string& where) {
      return "tile " + std::to_string(tile) + ": " + where + " is wrong";
    };
    if (request.to.space == Space::kRegisters)
      for (int t = 0; t < to.threads; ++t)
        for (int v = 0; v < to.values; ++v)
          for (std::size_t b = 0; b < eb && to(t, v) != kNothing; ++b) {
            const std::size_t place = static_cast<std::size_t>(v) * eb + b;
            const Word word = machine.reg(t, transfer.outputs.at(place / 4));
            if (static_cast<std::uint8_t>(word >> (8 * (place % 4))) != element_byte(to(t, v), b))
              return wrong("thread " + std::to_string(t) + " value " + std::to_string(v));
          }
    if (request.to.space == Space::kShared) {
      const auto& memory = transfer.kind == Kind::kInPlace ? machine.source : machine.shared;
      for (std::size_t e = 0; e < request.to.address.offset.size(); ++e)
        for (std::size_t b = 0; b < eb; ++b)
          if (memory.at(static_cast<std::size_t>(request.to.address.offset[e]) * eb + b) !=
              element_byte(static_cast<std::int32_t>(e), b))
            return wrong("element " + std::to_string(e));
    }
  }
  return {};
}

namespace {

/// Bytes of lanes that are served together: as many wavefronts as the busiest bank has different words.
int conflicts(const std::vector<std::pair<std::size_t, int>>& accesses) {
  std::map<std::size_t, std::set<std::size_t>> words;
  for (const auto& [begin, bytes] : accesses)
    for (std::size_t b = begin; b < begin + static_cast<std::size_t>(bytes); ++b)
      words[b / 4 % 32].insert(b / 4);
  std::size_t most = 0;
  for (const auto& [bank, set] : words) most = std::max(most, set.size());
  return static_cast<int>(most);
}

}  // namespace

Wavefronts count_wavefronts(const Transfer& transfer) {
  Wavefronts out;
  const auto byte = [&](const Address& a, int thread) {
    return static_cast<std::size_t>((transfer.values.at(static_cast<std::size_t>(a.value))(thread) ^ a.flip) +
                                    a.plus);
  };
  const auto vectors = [&](const Address& address, int bytes, int condition, int threads) {
    const int together = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
    int total = 0;
    for (int begin = 0; begin < threads; begin += together) {
      std::vector<std::pair<std::size_t, int>> accesses;
      for (int t = begin; t < std::min(begin + together, threads); ++t)
        if (condition == kAlways || transfer.conditions.at(static_cast<std::size_t>(condition))(t))
          accesses.emplace_back(byte(address, t), bytes);
      total += conflicts(accesses);
    }
    return total;
  };
  const auto rows = [&](const Address& address, std::size_t count, int threads) {
    int total = 0;
    for (int warp = 0; warp < threads; warp += 32)
      for (int m = 0; m < static_cast<int>(count); ++m) {
        std::vector<std::pair<std::size_t, int>> accesses;
        for (int r = 0; r < 8; ++r) accesses.emplace_back(byte(address, warp + m * 8 + r), 16);
        total += conflicts(accesses);
      }
    return total;
  };
  const auto count = [&](const std::vector<Step>& steps, int threads) {
    for (const Step& step : steps) {
      if (const auto* s = std::get_if<Store>(&step))
        out.stores += vectors(s->address, s->bytes, s->condition, threads);
      if (const auto* s = std::get_if<Load>(&step))
        out.loads += vectors(s->address, s->bytes, kAlways, threads);
      if (const auto* s = std::get_if<StoreMatrix>(&step))
        out.stores += rows(s->rows, s->sources.size(), threads);
      if (const auto* s = std::get_if<LoadMatrix>(&step))
        out.loads += rows(s->rows, s->results.size(), threads);
    }
  };
  count(transfer.steps, transfer.threads);
  count(transfer.receive, transfer.consumer_threads);
  return out;
}

}  // namespace pipelink::transfer::test

#include "linker/route/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace pipelink::transfer {
namespace {

constexpr int kTiles = 3;
constexpr int kLanes = 32;

/// Between two steps that order something a thread is in one segment; they are counted from 0. All threads of
/// a role are in the same one, since all do the same steps.
using Segment = std::int32_t;

/// What the threads of a role do, one after the other; where the other side's accesses lie between the steps.
struct Action {
  enum class What { kStep, kProduce, kConsume, kPrearrive } what = What::kStep;
  const Step* step = nullptr;
  int barrier = 0;  ///< kPrearrive
  int tile = 0;
};

struct Role {
  int first = 0, threads = 0;  ///< in the list of all threads
  std::vector<Action> actions;
  std::size_t next = 0;
  Segment segment = 0;
  std::vector<Segment> fences;  ///< segments that a proxy fence ends
  std::vector<int> arrivals;    ///< at each barrier, so far
  int end() const { return first + threads; }
};

/// An access to a byte: of one thread, or of all threads of a role each of which may be the one.
struct Access {
  std::int32_t thread = -1;  ///< -1: nobody; else the first thread of the role, if `all`
  Segment segment = 0;
  std::int32_t tile = 0;
  bool all = false;
};

/// One unit of a buffer: its last write, and the reads since.
struct Shadow {
  Access write;
  std::int32_t reads = -1;  ///< first in the pool
};

struct Read {
  Access access;
  std::int32_t next = -1;
};

/// The arrivals at one barrier for one completion of it.
struct Generation {
  std::vector<std::vector<Segment>> clocks;  ///< of each thread that arrived
  std::vector<int> threads;
};

class Checker {
 public:
  Checker(const Request& request, const Transfer& transfer)
      : request_(request), transfer_(transfer), unit_(std::min(request.to.map.element_bytes, 4)) {}

  std::string run();

 private:
  void fail(std::string why) {
    if (fault_.empty()) fault_ = std::move(why);
  }
  void make_roles();
  std::string barrier_fault() const;
  bool advance(Role& role);
  bool step(Role& role, const Action& action);
  bool arrive(Role& role, int barrier, bool waits, int tile);
  bool complete(int barrier, int generation) const;
  void warp_barrier(Role& role);

  bool before(const Access& access, int thread) const;
  bool before(const Access& access, const Role& role) const;
  bool fenced(const Access& access, int thread) const;
  const Role& role_of(int thread) const {
    return roles_.size() > 1 && thread >= roles_[1].first ? roles_[1] : roles_[0];
  }

  void access_step(Role& role, const Step& step, int tile);
  void touch(std::vector<Shadow>& memory, std::int64_t byte, int bytes, int thread, bool writes, int tile);
  void touch_all(std::vector<Shadow>& memory, const AddressMap& map, Role& role, bool writes, bool async,
                 int tile);
  std::int64_t byte_of(const Address& address, int thread) const {
    return (transfer_.values.at(static_cast<std::size_t>(address.value))(thread) ^ address.flip) +
           address.plus;
  }
  std::string text(const Access& access, const char* what) const;

  const Request& request_;
  const Transfer& transfer_;
  int unit_;
  std::string fault_;
  std::vector<Role> roles_;
  std::vector<std::vector<Segment>> clocks_;  ///< [thread][other]: segments of the other that are over for it
  std::vector<std::vector<Generation>> generations_;  ///< [barrier]
  std::vector<int> arriving_;                         ///< [barrier]: threads of the roles that use it
  std::vector<Shadow> shared_, source_;
  std::vector<Read> reads_;
};

std::string Checker::text(const Access& access, const char* what) const {
  const Role& role = role_of(access.thread);
  const std::string who =
      access.all ? std::string("the call") : fmt::format("thread {}", access.thread - role.first);
  return fmt::format("tile {}: {} by {}{}", access.tile, what, who,
                     roles_.size() == 1         ? ""
                     : &role == &roles_.front() ? " of the producer"
                                                : " of the consumer");
}

/// Whether the access is over before what the thread does now.
bool Checker::before(const Access& access, int thread) const {
  if (access.thread < 0) return true;
  const std::vector<Segment>& clock = clocks_[static_cast<std::size_t>(thread)];
  if (!access.all)
    return access.thread == thread || clock[static_cast<std::size_t>(access.thread)] > access.segment;
  for (int u = access.thread; u < role_of(access.thread).end(); ++u)
    if (u != thread && clock[static_cast<std::size_t>(u)] <= access.segment) return false;
  return true;
}

bool Checker::before(const Access& access, const Role& role) const {
  for (int t = role.first; t < role.end(); ++t)
    if (!before(access, t)) return false;
  return true;
}

/// Whether the writer has fenced the write, before what the thread does now.
bool Checker::fenced(const Access& access, int thread) const {
  if (access.thread < 0) return true;
  const Role& role = role_of(access.thread);
  const auto fence = std::lower_bound(role.fences.begin(), role.fences.end(), access.segment);
  if (fence == role.fences.end()) return false;
  Access fenced = access;
  fenced.segment = *fence;
  return before(fenced, thread);
}

void Checker::make_roles() {
  const bool two = request_.two_roles;
  roles_.resize(two ? 2 : 1);
  roles_[0].threads = transfer_.threads;
  if (two) {
    roles_[1].first = transfer_.threads;
    roles_[1].threads = transfer_.consumer_threads;
    for (const int barrier : transfer_.prearrive)
      roles_[1].actions.push_back({Action::What::kPrearrive, nullptr, barrier, 0});
  }
  Role& producer = roles_.front();
  Role& consumer = roles_.back();
  const auto add = [](Role& role, const std::vector<Step>& steps, int tile) {
    for (const Step& step : steps) role.actions.push_back({Action::What::kStep, &step, 0, tile});
  };
  for (int tile = 0; tile < kTiles; ++tile) {
    producer.actions.push_back({Action::What::kProduce, nullptr, 0, tile});
    add(producer, transfer_.steps, tile);
    if (two) add(consumer, transfer_.receive, tile);
    consumer.actions.push_back({Action::What::kConsume, nullptr, 0, tile});
    add(consumer, two ? transfer_.release : transfer_.after, tile);
  }
  const auto all = static_cast<std::size_t>(roles_.back().end());
  clocks_.assign(all, std::vector<Segment>(all, 0));
  for (Role& role : roles_) role.arrivals.assign(transfer_.barriers.size(), 0);
  generations_.resize(transfer_.barriers.size());
}

/// Counts that cannot be right, whatever the order.
std::string Checker::barrier_fault() const {
  std::vector<int> arriving(transfer_.barriers.size(), 0);
  for (const Role& role : roles_) {
    std::set<int> used;
    for (const Action& action : role.actions) {
      int barrier = -1;
      if (action.what == Action::What::kPrearrive) barrier = action.barrier;
      if (action.step != nullptr)
        if (const auto* named = std::get_if<NamedBarrier>(action.step)) barrier = named->barrier;
      if (action.what != Action::What::kPrearrive &&
          (action.step == nullptr || !std::holds_alternative<NamedBarrier>(*action.step)))
        continue;
      if (barrier < 0 || static_cast<std::size_t>(barrier) >= transfer_.barriers.size())
        return fmt::format("barrier {} is not claimed", barrier);
      const BarrierClaim& claim = transfer_.barriers[static_cast<std::size_t>(barrier)];
      if (action.step != nullptr) {
        const auto& named = std::get<NamedBarrier>(*action.step);
        if (named.threads != claim.threads)
          return fmt::format("barrier {}: a step counts {} threads, the claim {}", claim.name, named.threads,
                             claim.threads);
      }
      if (used.insert(barrier).second) arriving[static_cast<std::size_t>(barrier)] += role.threads;
    }
  }
  for (std::size_t b = 0; b < arriving.size(); ++b) {
    const BarrierClaim& claim = transfer_.barriers[b];
    if (arriving[b] == 0) return fmt::format("barrier {} is claimed and not used", claim.name);
    if (arriving[b] != claim.threads)
      return fmt::format("barrier {} waits for {} threads, {} arrive", claim.name, claim.threads,
                         arriving[b]);
    if (claim.threads % kLanes != 0)
      return fmt::format("barrier {} counts {} threads, which are no whole warps", claim.name, claim.threads);
  }
  return {};
}

bool Checker::complete(int barrier, int generation) const {
  const auto& of = generations_[static_cast<std::size_t>(barrier)];
  return generation < static_cast<int>(of.size()) &&
         static_cast<int>(of[static_cast<std::size_t>(generation)].threads.size()) ==
             transfer_.barriers[static_cast<std::size_t>(barrier)].threads;
}

/// False if the role has to wait for others first. The n-th arrival of each thread makes completion n, if no
/// thread can arrive before completion n - 1: which is checked.
bool Checker::arrive(Role& role, int barrier, bool waits, int tile) {
  auto& of = generations_[static_cast<std::size_t>(barrier)];
  int& count = role.arrivals[static_cast<std::size_t>(barrier)];
  const int generation = count;
  if (static_cast<int>(of.size()) <= generation) of.resize(static_cast<std::size_t>(generation) + 1);
  Generation& now = of[static_cast<std::size_t>(generation)];
  const bool arrived = std::find(now.threads.begin(), now.threads.end(), role.first) != now.threads.end();
  if (!arrived) {
    if (generation > 0) {
      const Generation& last = of[static_cast<std::size_t>(generation) - 1];
      for (int t = role.first; t < role.end(); ++t) {
        const std::vector<Segment>& clock = clocks_[static_cast<std::size_t>(t)];
        bool over = complete(barrier, generation - 1);
        for (std::size_t i = 0; over && i < last.threads.size(); ++i) {
          const auto u = static_cast<std::size_t>(last.threads[i]);
          over = last.threads[i] == t || clock[u] >= last.clocks[i][u];
        }
        if (!over) {
          fail(fmt::format(
              "tile {}: thread {} can arrive at barrier {} before the threads of the last time have", tile,
              t - role.first, transfer_.barriers[static_cast<std::size_t>(barrier)].name));
          return true;
        }
      }
    }
    for (int t = role.first; t < role.end(); ++t) {
      std::vector<Segment>& clock = clocks_[static_cast<std::size_t>(t)];
      clock[static_cast<std::size_t>(t)] = role.segment + 1;
      now.threads.push_back(t);
      now.clocks.push_back(clock);
    }
    ++role.segment;
    if (!waits) {
      ++count;
      return true;
    }
  }
  if (!complete(barrier, generation)) return false;
  std::vector<Segment> merged = now.clocks.front();
  for (const std::vector<Segment>& clock : now.clocks)
    for (std::size_t u = 0; u < merged.size(); ++u) merged[u] = std::max(merged[u], clock[u]);
  for (int t = role.first; t < role.end(); ++t) {
    std::vector<Segment>& clock = clocks_[static_cast<std::size_t>(t)];
    for (std::size_t u = 0; u < merged.size(); ++u) clock[u] = std::max(clock[u], merged[u]);
  }
  ++count;
  return true;
}

void Checker::warp_barrier(Role& role) {
  if (role.threads % kLanes != 0) return fail("a warp barrier in a part of a warp");
  for (int begin = role.first; begin < role.end(); begin += kLanes) {
    std::vector<Segment> merged(clocks_.size(), 0);
    for (int t = begin; t < begin + kLanes; ++t) {
      std::vector<Segment>& clock = clocks_[static_cast<std::size_t>(t)];
      clock[static_cast<std::size_t>(t)] = role.segment + 1;
      for (std::size_t u = 0; u < merged.size(); ++u) merged[u] = std::max(merged[u], clock[u]);
    }
    for (int t = begin; t < begin + kLanes; ++t) clocks_[static_cast<std::size_t>(t)] = merged;
  }
  ++role.segment;
}

/// One thread's access to some bytes.
void Checker::touch(std::vector<Shadow>& memory, std::int64_t byte, int bytes, int thread, bool writes,
                    int tile) {
  const Segment segment = role_of(thread).segment;
  const Access now{thread, segment, tile, false};
  for (std::int64_t unit = byte / unit_; unit < (byte + bytes) / unit_; ++unit) {
    if (unit < 0 || unit >= static_cast<std::int64_t>(memory.size()))
      return fail(fmt::format("thread {} accesses byte {} of a buffer of {}", thread, unit * unit_,
                              memory.size() * static_cast<std::size_t>(unit_)));
    Shadow& shadow = memory[static_cast<std::size_t>(unit)];
    const auto race = [&](const Access& other, const char* what) {
      fail(fmt::format("byte {}: {} races with {}", unit * unit_, text(now, writes ? "write" : "read"),
                       text(other, what)));
    };
    if (!before(shadow.write, thread)) return race(shadow.write, "write");
    if (!writes) {
      reads_.push_back({now, shadow.reads});
      shadow.reads = static_cast<std::int32_t>(reads_.size()) - 1;
      continue;
    }
    for (std::int32_t r = shadow.reads; r >= 0; r = reads_[static_cast<std::size_t>(r)].next)
      if (!before(reads_[static_cast<std::size_t>(r)].access, thread))
        return race(reads_[static_cast<std::size_t>(r)].access, "read");
    shadow.write = now;
    shadow.reads = -1;
  }
}

/// A side's own accesses to its tile: any thread may be the one, so all must be ordered.
void Checker::touch_all(std::vector<Shadow>& memory, const AddressMap& map, Role& role, bool writes,
                        bool async, int tile) {
  const int parts = std::max(request_.to.map.element_bytes / 4, 1);
  const Access now{role.first, role.segment, tile, true};
  // The latest segment of each thread (and of all threads of its role) whose accesses were found to be over.
  std::vector<Segment> over(clocks_.size(), -1), all_over(clocks_.size(), -1), fence_seen(clocks_.size(), -1),
      all_fences_seen(clocks_.size(), -1);
  const auto is_over = [&](const Access& access) {
    if (access.thread < 0) return true;
    Segment& known = (access.all ? all_over : over)[static_cast<std::size_t>(access.thread)];
    if (access.segment <= known) return true;
    if (!before(access, role)) return false;
    known = access.segment;
    return true;
  };
  const auto is_fenced = [&](const Access& access) {
    if (access.thread < 0) return true;
    Segment& known = (access.all ? all_fences_seen : fence_seen)[static_cast<std::size_t>(access.thread)];
    if (access.segment <= known) return true;
    for (int t = role.first; t < role.end(); ++t)
      if (!fenced(access, t)) return false;
    known = access.segment;
    return true;
  };
  for (const std::int32_t offset : map.offset)
    for (int p = 0; p < parts; ++p) {
      const auto unit = flat(offset, parts, p);
      if (unit >= memory.size()) return fail("the tile is larger than its buffer");
      Shadow& shadow = memory[unit];
      const std::size_t byte = unit * static_cast<std::size_t>(unit_);
      const auto race = [&](const Access& other, const char* what) {
        fail(fmt::format("byte {}: {} races with {}", byte, text(now, writes ? "write" : "read"),
                         text(other, what)));
      };
      if (!is_over(shadow.write)) return race(shadow.write, "write");
      if (async && !is_fenced(shadow.write))
        return fail(fmt::format("byte {}: {} through the async proxy, and {} was not fenced", byte,
                                text(now, "read"), text(shadow.write, "write")));
      if (!writes) {
        reads_.push_back({now, shadow.reads});
        shadow.reads = static_cast<std::int32_t>(reads_.size()) - 1;
        continue;
      }
      for (std::int32_t r = shadow.reads; r >= 0; r = reads_[static_cast<std::size_t>(r)].next)
        if (!is_over(reads_[static_cast<std::size_t>(r)].access))
          return race(reads_[static_cast<std::size_t>(r)].access, "read");
      shadow.write = now;
      shadow.reads = -1;
    }
}

void Checker::access_step(Role& role, const Step& step, int tile) {
  const auto memory = [&](const Address& address) -> std::vector<Shadow>& {
    return address.buffer == Address::Buffer::kTransfer ? shared_ : source_;
  };
  for (int t = role.first; t < role.end() && fault_.empty(); ++t) {
    const int thread = t - role.first;
    if (const auto* store = std::get_if<Store>(&step)) {
      if (store->condition != kAlways &&
          !transfer_.conditions.at(static_cast<std::size_t>(store->condition))(thread))
        continue;
      touch(memory(store->address), byte_of(store->address, thread), store->bytes, t, true, tile);
    } else if (const auto* load = std::get_if<Load>(&step)) {
      touch(memory(load->address), byte_of(load->address, thread), load->bytes, t, false, tile);
    } else {
      const auto* to = std::get_if<StoreMatrix>(&step);
      const auto* from = std::get_if<LoadMatrix>(&step);
      if (to == nullptr && from == nullptr) return;
      const Address& rows = to != nullptr ? to->rows : from->rows;
      const bool transposed = to != nullptr ? to->transposed : from->transposed;
      const std::size_t count = to != nullptr ? to->sources.size() : from->results.size();
      const int lane = thread % kLanes;
      for (int m = 0; m < static_cast<int>(count); ++m)
        for (int h = 0; h < 2; ++h) {
          // Its two halves of matrix m: in a row, or one below the other.
          const int row = transposed ? lane % 4 * 2 + h : lane / 4;
          const int column = transposed ? lane / 4 : lane % 4 * 2 + h;
          touch(memory(rows), byte_of(rows, thread - lane + m * 8 + row) + 2 * std::int64_t{column}, 2, t,
                to != nullptr, tile);
        }
    }
  }
}

/// False if the role cannot go on yet.
bool Checker::step(Role& role, const Action& action) {
  switch (action.what) {
    case Action::What::kPrearrive:
      return arrive(role, action.barrier, false, action.tile);
    case Action::What::kProduce:
      if (request_.from.space == Space::kShared)
        touch_all(source_, request_.from.address, role, true, false, action.tile);
      return true;
    case Action::What::kConsume:
      if (request_.to.space == Space::kShared)
        touch_all(transfer_.kind == Kind::kInPlace ? source_ : shared_, request_.to.address, role, false,
                  request_.to.async, action.tile);
      return true;
    case Action::What::kStep:
      break;
  }
  const Step& step = *action.step;
  if (const auto* barrier = std::get_if<NamedBarrier>(&step))
    return arrive(role, barrier->barrier, barrier->waits, action.tile);
  if (std::holds_alternative<WarpBarrier>(step)) {
    warp_barrier(role);
  } else if (std::holds_alternative<AsyncFence>(step)) {
    role.fences.push_back(role.segment++);
    for (int t = role.first; t < role.end(); ++t)
      clocks_[static_cast<std::size_t>(t)][static_cast<std::size_t>(t)] = role.segment;
  } else {
    access_step(role, step, action.tile);
  }
  return true;
}

/// Goes on until the role waits or has ended; false if it could not move.
bool Checker::advance(Role& role) {
  bool moved = false;
  while (role.next < role.actions.size() && fault_.empty()) {
    const Segment segment = role.segment;
    if (!step(role, role.actions[role.next])) return moved || role.segment != segment;
    ++role.next;
    moved = true;
  }
  return moved;
}

std::string Checker::run() {
  make_roles();
  if (std::string fault = barrier_fault(); !fault.empty()) return fault;
  if (request_.from.space == Space::kShared)
    source_.resize(static_cast<std::size_t>(request_.from.address.bytes / unit_));
  shared_.resize(static_cast<std::size_t>(std::max<std::int64_t>(transfer_.buffer_bytes, 0) / unit_));
  bool moved = true;
  while (moved && fault_.empty()) {
    moved = false;
    for (Role& role : roles_) moved = advance(role) || moved;
  }
  if (!fault_.empty()) return fault_;
  for (const Role& role : roles_)
    if (role.next < role.actions.size()) {
      const Action& action = role.actions[role.next];
      return fmt::format(
          "tile {}: {} waits for ever at \"{}\"", action.tile,
          &role == &roles_.front() ? "the producer" : "the consumer",
          action.step == nullptr ? std::string("its start") : text_of(transfer_, *action.step));
    }
  return {};
}

}  // namespace

std::string ordering_fault(const Request& request, const Transfer& transfer) {
  return Checker(request, transfer).run();
}

}  // namespace pipelink::transfer

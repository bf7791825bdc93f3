// Within each warp, by shuffles: elements are packed into words, words are scheduled in rounds (rounds.h),
// and what each lane publishes and where the words go becomes selects and byte permutes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "linker/route/planners.h"
#include "linker/route/rounds.h"

namespace pipelink::transfer {
namespace {

constexpr int kLanes = 32;
/// Of a word, on the average. A linear demand needs at most ten: five bits of the lane on each side.
constexpr int kMostSelects = 12;

/// A unit of the demand: unit `unit` of thread `thread`.
struct Source {
  std::int32_t thread = -1, unit = -1;
  bool operator==(const Source&) const = default;
  auto operator<=>(const Source&) const = default;
};
using Column = std::vector<Source>;  // by thread

/// Units that travel in one word: units of the demand (columns), and the same for the source.
struct Packing {
  std::vector<std::vector<int>> words;    ///< of the demand: columns
  std::vector<std::vector<int>> items;    ///< of the source: units, sorted, in the order of the packed word
  std::vector<int> item_of, position_of;  ///< source unit → item, place in it; -1: is not demanded
};

class Shuffler {
 public:
  Shuffler(Builder& builder, const Held& from, const TileMap& to)
      : builder_(builder),
        from_(from),
        to_(to),
        threads_(builder.threads()),
        k_(builder.units()),
        parts_(std::max(to.element_bytes / 4, 1)) {}

  std::string find_sources();
  Attempt write(Cost& cost, bool any_effort);

 private:
  Unit unit_of(int unit) const { return {from_.words[static_cast<std::size_t>(unit / k_)], unit % k_}; }
  int bound() const;
  std::optional<Packing> packing() const;
  bool pairs_by(int direction, std::vector<int>& partner) const;
  Demand demand_of(const Packing& packing) const;
  Schedule schedule_of(const Demand& demand) const;
  int effort(const Schedule& schedule) const;
  std::string effort_fault(const Schedule& schedule, bool any_effort) const;
  Demand loose_demand(std::vector<std::vector<int>>& recipes, std::vector<std::vector<Unit>>& places) const;
  Attempt write_packed(const Packing& packing, const Schedule& schedule);
  Attempt write_loose(const std::vector<std::vector<int>>& recipes,
                      const std::vector<std::vector<Unit>>& places, const Schedule& schedule);
  std::vector<Register> outputs(const std::vector<std::vector<Unit>>& unit_places);
  std::vector<std::int32_t> lanes_of(const Round& round) const;

  Builder& builder_;
  const Held& from_;
  const TileMap& to_;
  int threads_, k_, parts_;
  int bound_ = 0;
  bool replicated_ = false;      ///< some element has two holders
  std::vector<Column> columns_;  ///< different ones
  std::vector<int> column_of_;   ///< unit of the demand → column; -1: nothing is demanded
};

/// Who is asked for each unit: the thread itself if it holds it, else the nearest lane (by XOR of the
/// numbers).
std::string Shuffler::find_sources() {
  const TileMap& from = from_.map;
  // Holders by element: those of element e are numbers first[e] … first[e + 1] - 1, as thread * values +
  // value.
  const auto elements = static_cast<std::size_t>(std::max(tile_size(from), tile_size(to_)));
  std::vector<std::int32_t> first(elements + 1, 0), holders(from.element.size());
  for (const std::int32_t e : from.element)
    if (e != kNothing) ++first[static_cast<std::size_t>(e) + 1];
  for (std::size_t e = 0; e < elements; ++e) first[e + 1] += first[e];
  std::vector<std::int32_t> next(first.begin(), first.end() - 1);
  for (std::size_t i = 0; i < from.element.size(); ++i)
    if (from.element[i] != kNothing)
      holders[static_cast<std::size_t>(next[static_cast<std::size_t>(from.element[i])]++)] =
          static_cast<std::int32_t>(i);
  replicated_ = false;
  for (std::size_t e = 0; e < elements; ++e) replicated_ = replicated_ || first[e + 1] - first[e] > 1;

  std::map<Column, int> known;
  column_of_.assign(flat(to_.values, parts_), -1);
  for (int v = 0; v < to_.values; ++v) {
    Column column(static_cast<std::size_t>(threads_));
    bool demanded = false;
    for (int t = 0; t < threads_; ++t) {
      const std::int32_t element = to_(t, v);
      if (element == kNothing) continue;
      demanded = true;
      const auto begin = holders.begin() + first[static_cast<std::size_t>(element)];
      const auto end = holders.begin() + first[static_cast<std::size_t>(element) + 1];
      if (begin == end)
        return fmt::format("thread {} demands element {} as value {}, which no thread holds", t, element, v);
      // In the order of threads, then of values: the first at the least distance.
      std::int32_t nearest = *begin;
      for (auto at = begin + 1; at != end; ++at)
        if ((*at / from.values ^ t) < (nearest / from.values ^ t)) nearest = *at;
      if (nearest / from.values / kLanes != t / kLanes)
        return fmt::format("thread {} demands element {} as value {}; thread {}, of another warp, holds it",
                           t, element, v, nearest / from.values);
      column[static_cast<std::size_t>(t)] = {nearest / from.values, nearest % from.values * parts_};
    }
    if (!demanded) continue;
    for (int p = 0; p < parts_; ++p) {
      const auto [at, fresh] = known.try_emplace(column, static_cast<int>(columns_.size()));
      if (fresh) columns_.push_back(column);
      column_of_[flat(v, parts_, p)] = at->second;
      for (Source& s : column)
        if (s.thread >= 0) ++s.unit;
    }
  }
  return {};
}

/// The most words that a lane must get or, if nothing is held twice, give.
int Shuffler::bound() const {
  const auto words = [&](std::size_t count) { return (static_cast<int>(count) + k_ - 1) / k_; };
  const bool free = replicated_;
  std::vector<std::vector<std::int32_t>> given(static_cast<std::size_t>(threads_));
  std::vector<Source> got;
  int bound = 0;
  for (int t = 0; t < threads_; ++t) {
    got.clear();
    for (const Column& column : columns_) {
      const Source& s = column[static_cast<std::size_t>(t)];
      if (s.thread >= 0 && s.thread != t) got.push_back(s);
    }
    std::sort(got.begin(), got.end());
    got.erase(std::unique(got.begin(), got.end()), got.end());
    int count = free ? words(got.size()) : 0;
    for (std::size_t begin = 0, end = 0; begin < got.size(); begin = end) {
      while (end < got.size() && got[end].thread == got[begin].thread) ++end;
      if (!free) count += words(end - begin);
    }
    bound = std::max(bound, count);
    for (const Source& s : got) given[static_cast<std::size_t>(s.thread)].push_back(s.unit);
  }
  if (free) return bound;
  for (std::vector<std::int32_t>& units : given) {
    std::sort(units.begin(), units.end());
    const auto end = std::unique(units.begin(), units.end());
    bound = std::max(bound, words(static_cast<std::size_t>(end - units.begin())));
  }
  return bound;
}

/// Whether columns c and c ^ direction always come from one thread, each from different units, and the units
/// pair up in the same way in all threads: then `partner` is that of each source unit.
bool Shuffler::pairs_by(int direction, std::vector<int>& partner) const {
  const auto count = static_cast<int>(columns_.size());
  partner.assign(flat(from_.map.values, parts_), -1);
  for (int c = 0; c < count; ++c) {
    const int other = c ^ direction;
    if (other >= count) return false;
    if (other < c) continue;
    for (std::size_t t = 0; t < static_cast<std::size_t>(threads_); ++t) {
      const Source &a = columns_[static_cast<std::size_t>(c)][t],
                   &b = columns_[static_cast<std::size_t>(other)][t];
      if (a.thread != b.thread) return false;
      if (a.thread < 0) continue;
      if (a.unit == b.unit) return false;
      for (const auto& [x, y] : {std::pair{a.unit, b.unit}, std::pair{b.unit, a.unit}}) {
        int& known = partner[static_cast<std::size_t>(x)];
        if (known >= 0 && known != y) return false;
        known = y;
      }
    }
  }
  return true;
}

/// One direction, or two for bytes, in which columns pair up; else each column by itself, in the natural
/// words of the source.
std::optional<Packing> Shuffler::packing() const {
  const auto count = static_cast<int>(columns_.size());
  const int units = from_.map.values * parts_;
  Packing packing;
  packing.item_of.assign(static_cast<std::size_t>(units), -1);
  packing.position_of.assign(static_cast<std::size_t>(units), -1);

  struct Direction {
    int flip = 0, effort = 0;
    std::vector<int> partner;
  };
  std::vector<Direction> found;
  for (int d = 1; d < count && k_ > 1; ++d) {
    Direction direction{d, 0, {}};
    if (!pairs_by(d, direction.partner)) continue;
    // Pairs that are halves of a word already need no permute.
    for (int u = 0; u < units; ++u) {
      const int p = direction.partner[static_cast<std::size_t>(u)];
      if (p >= 0 && p / k_ != u / k_) direction.effort = 1;
    }
    direction.effort += d < k_ ? 0 : 1;
    found.push_back(std::move(direction));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Direction& a, const Direction& b) { return a.effort < b.effort; });
  std::vector<Direction> chosen;
  std::set<int> spanned{0};
  for (Direction& direction : found) {
    if (static_cast<int>(spanned.size()) == k_) break;
    if (spanned.contains(direction.flip)) continue;
    for (const int s : std::set<int>(spanned)) spanned.insert(s ^ direction.flip);
    chosen.push_back(std::move(direction));
  }

  std::vector<bool> taken(static_cast<std::size_t>(count), false);
  for (int c = 0; c < count; ++c) {
    if (taken[static_cast<std::size_t>(c)]) continue;
    std::vector<int> word;
    for (const int s : spanned) {
      word.push_back(c ^ s);
      taken[static_cast<std::size_t>(c ^ s)] = true;
    }
    packing.words.push_back(std::move(word));
  }
  const auto add_item = [&](std::vector<int> item) {
    std::sort(item.begin(), item.end());
    for (std::size_t i = 0; i < item.size(); ++i) {
      packing.item_of[static_cast<std::size_t>(item[i])] = static_cast<int>(packing.items.size());
      packing.position_of[static_cast<std::size_t>(item[i])] = static_cast<int>(i);
    }
    packing.items.push_back(std::move(item));
  };
  if (chosen.empty()) {
    for (int u = 0; u < units; u += k_) {
      std::vector<int> item;
      for (int i = u; i < std::min(u + k_, units); ++i) item.push_back(i);
      add_item(std::move(item));
    }
    return packing;
  }
  for (int u = 0; u < units; ++u) {
    if (packing.item_of[static_cast<std::size_t>(u)] >= 0) continue;
    std::set<int> item{u};
    for (const Direction& direction : chosen)
      for (const int member : std::set<int>(item)) {
        const int p = direction.partner[static_cast<std::size_t>(member)];
        if (p >= 0) item.insert(p);
      }
    if (item.size() == 1) continue;  // is not demanded
    if (item.size() != spanned.size()) return std::nullopt;
    for (const int member : item)
      if (packing.item_of[static_cast<std::size_t>(member)] >= 0) return std::nullopt;
    add_item({item.begin(), item.end()});
  }
  return packing;
}

Demand Shuffler::demand_of(const Packing& packing) const {
  Demand demand;
  demand.threads = threads_;
  for (const std::vector<int>& word : packing.words) {
    std::vector<Wanted> column(static_cast<std::size_t>(threads_));
    for (std::size_t t = 0; t < column.size(); ++t) {
      const Source& s = columns_[static_cast<std::size_t>(word.front())][t];
      if (s.thread >= 0) column[t] = {s.thread, packing.item_of[static_cast<std::size_t>(s.unit)]};
    }
    demand.columns.push_back(std::move(column));
  }
  return demand;
}

/// The linear schedule unless colouring needs fewer rounds.
Schedule Shuffler::schedule_of(const Demand& demand) const {
  std::optional<Schedule> linear = linear_schedule(demand);
  if (linear && linear->shuffles() <= bound_) return std::move(*linear);
  Schedule coloured = coloured_schedule(demand);
  if (linear && linear->shuffles() <= coloured.shuffles()) return std::move(*linear);
  return coloured;
}

/// Words packed for each pair of lanes by itself, two units of one natural word first. An item is a recipe:
/// the source units of the word. `places[column][thread]` is filled with item and position as register and
/// index.
Demand Shuffler::loose_demand(std::vector<std::vector<int>>& recipes,
                              std::vector<std::vector<Unit>>& places) const {
  Demand demand;
  demand.threads = threads_;
  std::map<std::vector<int>, int> known;
  places.assign(columns_.size(), std::vector<Unit>(static_cast<std::size_t>(threads_)));
  for (int t = 0; t < threads_; ++t) {
    std::map<int, std::map<int, std::vector<int>>> wanted;  // source thread → unit → columns
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Source& s = columns_[c][static_cast<std::size_t>(t)];
      if (s.thread >= 0 && s.thread != t) wanted[s.thread][s.unit].push_back(static_cast<int>(c));
    }
    std::size_t next = 0;
    for (const auto& [thread, units] : wanted) {
      std::vector<std::vector<int>> words;
      std::vector<int> rest;
      std::map<int, std::vector<int>> natural;
      for (const auto& [unit, columns] : units) natural[unit / k_].push_back(unit);
      for (auto& [word, members] : natural) {
        if (static_cast<int>(members.size()) == k_)
          words.push_back(members);
        else
          rest.insert(rest.end(), members.begin(), members.end());
      }
      for (std::size_t i = 0; i < rest.size(); i += static_cast<std::size_t>(k_))
        words.emplace_back(rest.begin() + static_cast<std::ptrdiff_t>(i),
                           rest.begin() + static_cast<std::ptrdiff_t>(
                                              std::min(i + static_cast<std::size_t>(k_), rest.size())));
      for (const std::vector<int>& word : words) {
        const auto [at, fresh] = known.try_emplace(word, static_cast<int>(recipes.size()));
        if (fresh) recipes.push_back(word);
        if (demand.columns.size() == next) demand.columns.emplace_back(static_cast<std::size_t>(threads_));
        demand.columns[next][static_cast<std::size_t>(t)] = {thread, at->second};
        for (std::size_t i = 0; i < word.size(); ++i)
          for (const int c : units.at(word[i]))
            places[static_cast<std::size_t>(c)][static_cast<std::size_t>(t)] = {static_cast<int>(next),
                                                                                static_cast<int>(i)};
        ++next;
      }
    }
  }
  return demand;
}

std::vector<std::int32_t> Shuffler::lanes_of(const Round& round) const {
  std::vector<std::int32_t> lanes;
  lanes.reserve(round.lane.size());
  for (const std::int32_t thread : round.lane) lanes.push_back(thread < 0 ? kAny : thread % kLanes);
  return lanes;
}

/// The consumer's words, given where each column's unit is in each thread.
std::vector<Register> Shuffler::outputs(const std::vector<std::vector<Unit>>& unit_places) {
  std::vector<Register> out;
  const int words = word_count(to_.values, to_.element_bytes);
  for (int w = 0; w < words; ++w) {
    std::vector<Unit> word(flat(threads_, k_));
    for (int i = 0; i < k_; ++i) {
      const auto unit = flat(w, k_, i);
      if (unit >= column_of_.size() || column_of_[unit] < 0) continue;
      const auto& places = unit_places[static_cast<std::size_t>(column_of_[unit])];
      for (int t = 0; t < threads_; ++t) word[flat(t, k_, i)] = places[static_cast<std::size_t>(t)];
    }
    out.push_back(builder_.compose(word));
  }
  return out;
}

Attempt Shuffler::write_packed(const Packing& packing, const Schedule& schedule) {
  std::vector<Register> items;
  bool natural = true;
  for (const std::vector<int>& item : packing.items) {
    std::vector<Unit> word(flat(threads_, k_));
    for (int t = 0; t < threads_; ++t)
      for (std::size_t i = 0; i < item.size(); ++i) word[flat(t, k_) + i] = unit_of(item[i]);
    items.push_back(builder_.compose(word));
    natural = natural && std::find(from_.words.begin(), from_.words.end(), items.back()) != from_.words.end();
  }
  if (!natural) builder_.bank(items);
  std::vector<Register> arrived;
  for (const Round& round : schedule.rounds) {
    std::vector<Register> choice;
    for (const std::int32_t item : round.publish)
      choice.push_back(item < 0 ? kNoRegister : items[static_cast<std::size_t>(item)]);
    const Register source = builder_.choose(choice);
    arrived.push_back(round.local ? source : builder_.shuffle(source, lanes_of(round)));
  }
  for (const std::vector<int>& bank : schedule.banks) {
    std::vector<Register> members;
    for (const int r : bank) members.push_back(arrived[static_cast<std::size_t>(r)]);
    builder_.bank(std::move(members));
  }
  std::vector<std::vector<Unit>> places(columns_.size(),
                                        std::vector<Unit>(static_cast<std::size_t>(threads_)));
  for (std::size_t w = 0; w < packing.words.size(); ++w) {
    std::vector<Register> choice;
    const Column& first = columns_[static_cast<std::size_t>(packing.words[w].front())];
    for (std::size_t t = 0; t < first.size(); ++t) {
      const std::int32_t round = schedule.arrival[w][t];
      if (round >= 0)
        choice.push_back(arrived[static_cast<std::size_t>(round)]);
      else if (first[t].thread >= 0)
        choice.push_back(
            items[static_cast<std::size_t>(packing.item_of[static_cast<std::size_t>(first[t].unit)])]);
      else
        choice.push_back(kNoRegister);
    }
    const Register word = builder_.choose(choice);
    for (const int c : packing.words[w])
      for (std::size_t t = 0; t < first.size(); ++t) {
        const Source& s = columns_[static_cast<std::size_t>(c)][t];
        if (s.thread >= 0)
          places[static_cast<std::size_t>(c)][t] = {word,
                                                    packing.position_of[static_cast<std::size_t>(s.unit)]};
      }
  }
  Attempt attempt;
  attempt.method = schedule.method;
  attempt.outputs = outputs(places);
  return attempt;
}

Attempt Shuffler::write_loose(const std::vector<std::vector<int>>& recipes,
                              const std::vector<std::vector<Unit>>& places, const Schedule& schedule) {
  std::vector<Register> arrived;
  for (const Round& round : schedule.rounds) {
    std::vector<Unit> word(flat(threads_, k_));
    for (int t = 0; t < threads_; ++t) {
      const std::int32_t item = round.publish[static_cast<std::size_t>(t)];
      if (item < 0) continue;
      const std::vector<int>& recipe = recipes[static_cast<std::size_t>(item)];
      for (std::size_t i = 0; i < recipe.size(); ++i) word[flat(t, k_) + i] = unit_of(recipe[i]);
    }
    const Register source = builder_.compose(word);
    arrived.push_back(round.local ? source : builder_.shuffle(source, lanes_of(round)));
  }
  for (const std::vector<int>& bank : schedule.banks) {
    std::vector<Register> members;
    for (const int r : bank) members.push_back(arrived[static_cast<std::size_t>(r)]);
    builder_.bank(std::move(members));
  }
  std::vector<std::vector<Unit>> where(columns_.size(),
                                       std::vector<Unit>(static_cast<std::size_t>(threads_)));
  for (std::size_t c = 0; c < columns_.size(); ++c)
    for (std::size_t t = 0; t < static_cast<std::size_t>(threads_); ++t) {
      const Source& s = columns_[c][t];
      if (s.thread == static_cast<std::int32_t>(t)) {
        where[c][t] = unit_of(s.unit);
      } else if (s.thread >= 0) {
        const Unit& place = places[c][t];
        const std::int32_t round = schedule.arrival[static_cast<std::size_t>(place.reg)][t];
        where[c][t] = {arrived[static_cast<std::size_t>(round)], place.index};
      }
    }
  Attempt attempt;
  attempt.method = schedule.method + ", words packed by pairs of lanes";
  attempt.outputs = outputs(where);
  return attempt;
}

/// Selects, if choices were chains: for what is published, and for what arrives.
int Shuffler::effort(const Schedule& schedule) const {
  if (!schedule.banks.empty()) return 0;  // networks
  const auto different = [](std::vector<std::int32_t> numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    const auto count = static_cast<int>(numbers.size());
    return std::max(count - 1 - (!numbers.empty() && numbers.front() < 0 ? 1 : 0), 0);
  };
  int selects = 0;
  for (const Round& round : schedule.rounds) selects += different(round.publish);
  for (const auto& arrival : schedule.arrival) selects += different(arrival);
  return selects;
}

std::string Shuffler::effort_fault(const Schedule& schedule, bool any_effort) const {
  const auto words = static_cast<int>(std::max(from_.words.size(), schedule.arrival.size()));
  const int selects = effort(schedule);
  if (any_effort || selects <= kMostSelects * words) return {};
  return fmt::format(
      "{} shuffles would need {} selects of what lanes publish and of what they got: more than {}"
      " for each of {} words",
      schedule.shuffles(), selects, kMostSelects, words);
}

Attempt Shuffler::write(Cost& cost, bool any_effort) {
  cost.shuffle_bound = bound_ = bound();
  const std::optional<Packing> packed = packing();
  std::optional<Schedule> schedule;
  if (packed) schedule = schedule_of(demand_of(*packed));
  Attempt attempt;
  if (k_ > 1 && (!schedule || schedule->shuffles() > cost.shuffle_bound)) {
    std::vector<std::vector<int>> recipes;
    std::vector<std::vector<Unit>> places;
    const Demand loose = loose_demand(recipes, places);
    const Schedule by_pairs = coloured_schedule(loose);
    if (!schedule || by_pairs.shuffles() < schedule->shuffles()) {
      attempt.reason = effort_fault(by_pairs, any_effort);
      if (!attempt) return attempt;
      cost.shuffles = by_pairs.shuffles();
      attempt = write_loose(recipes, places, by_pairs);
      attempt.kind = cost.shuffles == 0 ? Kind::kPermuted : Kind::kShuffle;
      return attempt;
    }
  }
  attempt.reason = effort_fault(*schedule, any_effort);
  if (!attempt) return attempt;
  cost.shuffles = schedule->shuffles();
  attempt = write_packed(*packed, *schedule);
  attempt.kind = cost.shuffles == 0 ? Kind::kPermuted : Kind::kShuffle;
  return attempt;
}

}  // namespace

Attempt plan_shuffle(Builder& builder, const Held& from, const TileMap& to, Cost& cost, bool any_effort) {
  Attempt attempt;
  if (from.map.threads != to.threads || from.map.element_bytes != to.element_bytes) {
    attempt.reason =
        fmt::format("{} threads hold elements of {} bytes, {} threads demand elements of {} bytes",
                    from.map.threads, from.map.element_bytes, to.threads, to.element_bytes);
    return attempt;
  }
  if (to.threads % kLanes != 0) {
    attempt.reason = fmt::format("{} threads are no whole warps", to.threads);
    return attempt;
  }
  Shuffler shuffler(builder, from, to);
  attempt.reason = shuffler.find_sources();
  if (!attempt.reason.empty()) return attempt;
  return shuffler.write(cost, any_effort);
}

}  // namespace pipelink::transfer

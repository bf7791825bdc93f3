// Through shared memory: stores and loads, as planned in access.h, in the layout of staging_layout.h that is
// best for both.
#include <algorithm>
#include <tuple>

#include "linker/route/planners.h"

namespace pipelink::transfer {
namespace {

std::vector<std::int8_t> active(const Access& access) {
  std::vector<std::int8_t> out;
  for (const std::int32_t byte : access.at) out.push_back(byte == kAny ? std::int8_t{0} : std::int8_t{1});
  return out;
}

}  // namespace

UnitPlaces places_of(const TileMap& map, const std::vector<std::int32_t>& byte, bool store) {
  UnitPlaces places;
  places.threads = map.threads;
  places.unit_bytes = unit_bytes(map.element_bytes);
  const int parts = std::max(map.element_bytes / 4, 1);
  places.columns = map.values * parts;
  places.bytes.assign(static_cast<std::size_t>(places.columns) * static_cast<std::size_t>(map.threads), kAny);
  std::vector<bool> stored(byte.size(), false);
  for (int t = 0; t < map.threads; ++t)
    for (int v = 0; v < map.values; ++v) {
      const std::int32_t e = map(t, v);
      if (e == kNothing || static_cast<std::size_t>(e) >= byte.size()) continue;
      const std::int32_t at = byte[static_cast<std::size_t>(e)];
      if (at == kAny || (store && stored[static_cast<std::size_t>(e)])) continue;
      stored[static_cast<std::size_t>(e)] = true;
      for (int p = 0; p < parts; ++p)
        places
            .bytes[flat(v, parts, p) * static_cast<std::size_t>(map.threads) + static_cast<std::size_t>(t)] =
            at + p * places.unit_bytes;
    }
  return places;
}

void store_tile(Builder& builder, const Held& from, const Accesses& accesses) {
  const auto k = static_cast<std::size_t>(builder.units());
  for (const Access& access : accesses.list) {
    std::vector<Register> sources;
    for (std::size_t i = 0; i < access.columns.size(); i += k) {
      std::vector<Unit> word;
      for (std::size_t j = i; j < std::min(i + k, access.columns.size()); ++j) {
        const int c = access.columns[j];
        word.push_back({from.words[static_cast<std::size_t>(c) / k], c % static_cast<int>(k)});
      }
      sources.push_back(builder.compose_same(word));
    }
    const Address address = builder.address(access.at);
    if (access.how == Access::How::kVector)
      builder.add(Store{std::move(sources), access.bytes, address, builder.condition(active(access))});
    else
      builder.add(StoreMatrix{std::move(sources), access.how == Access::How::kTransposed, address});
  }
}

std::vector<Register> load_tile(Builder& builder, const TileMap& to, const Accesses& accesses,
                                Address::Buffer buffer) {
  const auto k = static_cast<std::size_t>(builder.units());
  std::vector<Unit> where(accesses.same_as.size());
  for (const Access& access : accesses.list) {
    std::vector<Register> results;
    for (std::size_t i = 0; i < access.columns.size(); ++i) {
      if (i % k == 0) results.push_back(builder.fresh());
      where[static_cast<std::size_t>(access.columns[i])] = {results.back(), static_cast<int>(i % k)};
    }
    const Address address = builder.address(access.at, buffer);
    if (access.how == Access::How::kVector)
      builder.add(Load{std::move(results), access.bytes, address});
    else
      builder.add(LoadMatrix{std::move(results), access.how == Access::How::kTransposed, address});
  }
  std::vector<Register> out;
  const auto words = static_cast<std::size_t>(word_count(to.values, to.element_bytes));
  for (std::size_t w = 0; w < words; ++w) {
    std::vector<Unit> word;
    for (std::size_t c = w * k; c < std::min((w + 1) * k, accesses.same_as.size()); ++c)
      word.push_back(where[static_cast<std::size_t>(accesses.same_as[c])]);
    out.push_back(builder.compose_same(word));
  }
  return out;
}

std::optional<Staging> choose_staging(const TileMap& from, const TileMap& to, const Request& request,
                                      std::int64_t most_bytes) {
  std::vector<bool> demanded(static_cast<std::size_t>(std::max(tile_size(from), tile_size(to))), false);
  for (const std::int32_t e : to.element)
    if (e != kNothing) demanded[static_cast<std::size_t>(e)] = true;
  std::optional<Staging> best;
  for (StagingLayout& layout :
       staging_layouts(from, to, request.columns, request.stmatrix || request.ldmatrix)) {
    if (layout.bytes > most_bytes) continue;
    std::vector<std::int32_t> byte = layout.byte;
    for (std::size_t e = 0; e < byte.size(); ++e)
      if (!demanded[e]) byte[e] = kAny;
    Staging staging;
    staging.stores = plan_accesses(places_of(from, byte, true), {16, request.stmatrix, true});
    staging.loads = plan_accesses(places_of(to, byte, false), {16, request.ldmatrix, false});
    staging.layout = std::move(layout);
    const auto rank = [](const Staging& s) {
      return std::tuple(s.stores.wavefronts + s.loads.wavefronts,
                        s.stores.instructions + s.loads.instructions, s.layout.bytes);
    };
    if (!best || rank(staging) < rank(*best)) best = std::move(staging);
  }
  return best;
}

TileMap copy_map(const AddressMap& address, int element_bytes, int threads) {
  std::vector<std::pair<std::int32_t, std::int32_t>> order;  // place, element
  for (std::size_t e = 0; e < address.offset.size(); ++e)
    order.emplace_back(address.offset[e], static_cast<std::int32_t>(e));
  std::sort(order.begin(), order.end());
  const int run = 16 / element_bytes;
  TileMap map;
  map.threads = threads;
  map.element_bytes = element_bytes;
  // Runs in turn to the threads.
  std::vector<std::vector<std::int32_t>> runs;
  std::int32_t chunk = -1;
  for (const auto& [place, element] : order) {
    if (place / run != chunk) runs.emplace_back(static_cast<std::size_t>(run), kNothing);
    chunk = place / run;
    runs.back()[static_cast<std::size_t>(place % run)] = element;
  }
  const int each = (static_cast<int>(runs.size()) + threads - 1) / threads;
  map.values = each * run;
  map.element.assign(static_cast<std::size_t>(threads) * static_cast<std::size_t>(map.values), kNothing);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t thread = i % static_cast<std::size_t>(threads),
                      turn = i / static_cast<std::size_t>(threads);
    std::copy(
        runs[i].begin(), runs[i].end(),
        map.element.begin() + static_cast<std::ptrdiff_t>(thread * static_cast<std::size_t>(map.values) +
                                                          turn * static_cast<std::size_t>(run)));
  }
  return map;
}

}  // namespace pipelink::transfer

// A map read back: complete, from older linkers, and damaged in every place.
#include "linker/report/link_map.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "linker/report/map.h"
#include "linker/report/page.h"
#include "sample.h"

using namespace pipelink;
using namespace pipelink::test;
using json = nlohmann::ordered_json;

namespace {

std::string reason(const std::string& text) {
  const Outcome<LinkMap> map = parse_link_map(text, "x.map.json");
  if (map) return "";
  REQUIRE(map.diagnostics.size() == 1);
  CHECK(map.diagnostics[0].clause == "I-JSON");
  CHECK(map.diagnostics[0].title == "x.map.json is no link map");
  return map.diagnostics[0].reason;
}

std::string changed(const char* pointer, json value) {
  json map = json::parse(sample_map());
  map[json::json_pointer(pointer)] = std::move(value);
  return map.dump();
}

/// Calls `visit` with a pointer to each value below `value`.
void each(const json& value, const json::json_pointer& at,
          const std::function<void(const json::json_pointer&)>& visit) {
  if (!at.empty()) visit(at);
  std::size_t n = 0;
  if (value.is_object())
    for (const auto& [key, inner] : value.items()) each(inner, at / key, visit);
  else if (value.is_array())
    for (const json& inner : value) each(inner, at / n++, visit);
}

}  // namespace

TEST_CASE("the sample's map says what was placed") {
  const Outcome<LinkMap> map = parse_link_map(sample_map(), "x.map.json");
  REQUIRE(map);
  CHECK(map->name == "fused");
  CHECK(map->instances.size() == 3);
  CHECK(map->shared.size() == 7);
  const auto claim = [&](const std::string& name) {
    for (const MapShared& c : map->shared)
      if (c.name == name) return c;
    FAIL("no claim " << name);
    return MapShared{};
  };
  CHECK(claim("driver.tiles").kind == "ring");
  CHECK(claim("driver.tiles.empty").kind == "empty barriers");
  CHECK(claim("driver.tiles.empty").arrivals == 128);
  CHECK(claim("driver.once").kind == "barriers");
  CHECK(claim("driver.once").arrivals == 32);
  CHECK(claim("driver.loaded").live == std::vector<std::string>{"driver.load"});
  // Each points at lines of the glue that hold its offset.
  for (const MapShared& c : map->shared) {
    REQUIRE_FALSE(c.glue.empty());
    bool offset = false;
    for (int line : c.glue)
      offset = offset || map->glue.at(static_cast<std::size_t>(line) - 1)
                                 .find("pl_shared + " + std::to_string(c.offset) + ";") != std::string::npos;
    CHECK_MESSAGE(offset, c.name);
  }
  REQUIRE(map->rings.size() == 1);
  REQUIRE(map->rings[0].why);
  CHECK(map->rings[0].why->text.find("sum to") != std::string::npos);
  CHECK_FALSE(map->rings[0].why->facts.empty());
}

TEST_CASE("what shares bytes or an id, with the orders that allow it") {
  const Outcome<LinkMap> map = parse_link_map(sample_map(), "x.map.json");
  REQUIRE(map);
  REQUIRE(map->reuse.size() == 3);
  const MapReuse& bytes = map->reuse[0];
  CHECK(bytes.first == "driver.loaded");
  CHECK(bytes.size > 0);
  const MapReuse& id = map->reuse[2];
  CHECK(id.of == MapReuse::Of::kBarrier);
  CHECK(id.first == "driver.full");
  CHECK(id.second == "driver.drained");
  REQUIRE(id.within.size() == 1);
  CHECK(id.within[0].path == std::vector<std::string>{"driver.load", "driver.store"});
  REQUIRE(id.across.size() == 1);
  CHECK(id.across[0].path == std::vector<std::string>{"driver.store", "driver.load"});
  CHECK(id.across[0].next_iteration_at == 1);
  // A callee's phase lies in its caller's.
  bool found = false;
  for (const MapPhase& p : map->phases)
    if (p.name == "last.body") {
      found = true;
      CHECK(p.called_in == std::vector<std::string>{"driver.store"});
      CHECK(p.after == std::vector<std::string>{"driver.load"});
    }
  CHECK(found);
}

TEST_CASE("bindings carry their protocols") {
  const Outcome<LinkMap> map = parse_link_map(sample_map(), "x.map.json");
  REQUIRE(map);
  std::string kinds;
  for (const MapBinding& b : map->bindings) {
    kinds += b.kind + " ";
    if (b.kind == "ring") {
      REQUIRE(b.protocol);
      CHECK(b.protocol->producer == "loader");
      CHECK(b.protocol->consumer == "driver");
      CHECK(b.protocol->transaction_bytes == 4096);
    } else if (b.kind == "callable") {
      CHECK(b.signature == "void(float (&)[1])");
      CHECK(b.glue.size() >= 1);
    } else {
      REQUIRE(b.tile);
      CHECK(b.tile->via == "finish");
    }
  }
  CHECK(kinds == "callable ring tensor ");
}

TEST_CASE("the same bytes, whatever the order of the components") {
  CHECK(sample_map() == sample_map(true));
}

TEST_CASE("a map of an earlier linker has a page too") {
  json map = json::parse(sample_map());
  map.erase("glue");
  for (const char* key : {"phases", "reuse", "target"}) map["placement"].erase(key);
  for (json& row : map["placement"]["shared"])
    for (const char* key : {"kind", "arrivals", "glue"}) row.erase(key);
  for (json& row : map["placement"]["rings"])
    for (const char* key : {"tier", "weight", "why_not_deeper"}) row.erase(key);
  for (json& row : map["placement"]["roles"]) row.erase("why_not_larger");
  for (json& row : map["bindings"])
    for (const char* key : {"import_at", "export_at", "signature", "protocol", "tile", "glue"})
      row.erase(key);
  const Outcome<std::string> page = page_of_map(map.dump(), "x.map.json");
  REQUIRE(page);
  CHECK(page->find("This map holds no glue.") != std::string::npos);
}

TEST_CASE("what is no map is refused by the row") {
  CHECK(reason("{").starts_with("line 1, column 2: syntax error"));
  CHECK(reason("{\"schema\": 1,\n \"placement\": 1e400}") ==
        "line 2, column 15: 1e400 is beyond all 64-bit floats");
  CHECK(reason("{\"schema\": 1, \"schema\": 1}") == "the key 'schema' stands twice in one object");
  CHECK(reason("[]") == "it has no placement of schema 1");
  CHECK(reason(R"({"schema":"1","placement":{}})") == "it has no placement of schema 1");
  CHECK(reason(R"({"schema":1,"placement":{}})") == "name is missing");
  CHECK(reason(changed("/placement/shared/0/offset", -1)) ==
        "placement.shared[0].offset is not a number from 0 to 1099511627776");
  CHECK(reason(changed("/placement/shared/0/bytes", 1'000'000'000)).starts_with("claim "));
  CHECK(reason(changed("/placement/shared/0/bytes", 1.5))
            .starts_with("placement.shared[0].bytes is not a number"));
  CHECK(reason(changed("/placement/shared/0/bytes", std::uint64_t{1} << 63))
            .starts_with("placement.shared[0].bytes"));
  CHECK(
      reason(changed("/placement/rings/0/stages", 1 << 30)).starts_with("placement.rings[0].stages is not"));
  CHECK(reason(changed("/placement/roles/0/warps", 500)).starts_with("placement.roles[0].warps is not"));
  CHECK(reason(changed("/placement/warpgroup_registers", json::array())) ==
        "placement.warpgroup_registers does not have one number for each warpgroup");
  CHECK(reason(changed("/placement/shared", json(std::vector<int>(5000, 0)))) ==
        "placement.shared is not a list of at most 4096");
  CHECK(reason(changed("/facts/0/readers", json{1})) ==
        "facts[0].readers holds something that is not a text");
}

TEST_CASE("any value damaged: a page or a refusal, never a death") {
  const json map = json::parse(sample_map());
  const json wrong[] = {nullptr,       true,          -7, std::int64_t{1} << 62, 0.5, "\x1b\"<text>",
                        json::array(), json::object()};
  int pages = 0, refused = 0;
  each(map, json::json_pointer(), [&](const json::json_pointer& at) {
    if (at.to_string().starts_with("/glue/lines/")) return;  // all alike
    for (const json& value : wrong) {
      json bad = map;
      bad[at] = value;
      const std::string text = bad.dump();
      const Outcome<std::string> page = page_of_map(text, "x");
      CHECK((page || page.diagnostics.size() == 1));
      (page ? pages : refused)++;
      if (!page) CHECK_MESSAGE(page.diagnostics[0].clause == "I-JSON", at.to_string());
      const Outcome<std::string> summary = summary_of_map(text, "x");
      CHECK((summary || summary.diagnostics[0].clause == "I-JSON"));
    }
  });
  CHECK(pages > 100);
  CHECK(refused > 1000);
}

#include "linker/report/page.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "linker/report/page_parts.h"
#include "sample.h"

using namespace pipelink;
using namespace pipelink::test;
using json = nlohmann::ordered_json;

namespace {

std::string sample_page() {
  const Outcome<std::string> page = page_of_map(sample_map(), "x.map.json");
  REQUIRE(page);
  return *page;
}

std::vector<std::string> all(const std::string& text, const char* pattern) {
  std::vector<std::string> out;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    out.push_back((*at)[1]);
  return out;
}

/// Every text but the few words that the reader of maps tells rows apart by.
void spoil(json& value, const std::string& with) {
  if (value.is_string())
    value = value.get<std::string>() + with;
  else if (value.is_array())
    for (json& inner : value) spoil(inner, with);
  else if (value.is_object())
    for (auto& [key, inner] : value.items())
      if (key != "of" && key != "kind") spoil(inner, with);
}

}  // namespace

TEST_CASE("the same map gives the same bytes") {
  CHECK(sample_page() == sample_page());
}

TEST_CASE("the page needs nothing but itself") {
  const std::string page = sample_page();
  CHECK(page.find("://") == std::string::npos);
  CHECK(all(page, R"((src|srcset|@import|data-src)\s*=)").empty());
  for (const std::string& target : all(page, R"(url\(([^)]*)\))")) CHECK(target.starts_with("#"));
  CHECK(all(page, R"(href="([^#][^"]*)\")") == std::vector<std::string>{"data:,"});
}

TEST_CASE("ids are unique and every link has its end") {
  const std::string page = sample_page();
  const std::vector<std::string> list = all(page, R"re( id="([^"]*)")re");
  const std::set<std::string> ids(list.begin(), list.end());
  CHECK(ids.size() == list.size());
  const std::vector<std::string> links = all(page, R"re(href="#([^"]*)")re");
  CHECK(links.size() > 50);
  for (const std::string& link : links) CHECK_MESSAGE(ids.contains(link), link);
  for (const std::string& names : all(page, R"re(aria-labelledby="([^"]*)")re"))
    for (std::size_t begin = 0; begin < names.size();) {
      const std::size_t end = std::min(names.find(' ', begin), names.size());
      CHECK_MESSAGE(ids.contains(names.substr(begin, end - begin)), names);
      begin = end + 1;
    }
}

TEST_CASE("every claim, its owner and its lines are there") {
  const Outcome<LinkMap> map = parse_link_map(sample_map(), "x");
  REQUIRE(map);
  const std::string page = sample_page();
  const page::Context context(*map);
  const auto holds = [&](const std::string& text) { return page.find(text) != std::string::npos; };
  for (const MapShared& c : map->shared) {
    const std::string id = context.shared.at(c.name);
    CHECK(holds("<tr id=\"" + id + "\""));
    CHECK(holds("<a href=\"#" + id + "\" class=\"block"));
    for (int line : c.glue) CHECK(holds("<tr id=\"L" + std::to_string(line) + "\""));
    CHECK(holds(grouped(c.bytes)));
  }
  for (const MapFact& f : map->facts) CHECK(holds(f.name));
  for (const LinkMap::Input& i : map->inputs) CHECK(holds(i.sha256));
  CHECK(holds("driver.unused"));
  CHECK(holds(map->glue_sha256));
}

TEST_CASE("names from packages are text, wherever they stand") {
  const std::string plain = sample_page();
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  for (const std::string with : {"<script>alert(1)</script>", "\"'><img onerror=alert(1)>",
                                 "</style></title></svg>", "--><!--", "{{name}}{{{name}}}", "&lt;"}) {
    json map = json::parse(sample_map());
    spoil(map, with);
    const Outcome<std::string> page = page_of_map(map.dump(), "x");
    REQUIRE_MESSAGE(page, with);
    for (const char* tag : {"<script", "</script", "<img", "</style", "</title>", "-->", "<!--"})
      CHECK_MESSAGE(count(*page, tag) <= count(plain, tag), tag << " with " << with);
    const bool raw = page->find("fused" + with) != std::string::npos;
    CHECK(raw == (with.find_first_of("<>\"'&") == std::string::npos));
    CHECK(all(*page, R"((onerror)=[^<]*<[^/a-z])").empty());
  }
}

TEST_CASE("control characters of names are not passed on") {
  json map = json::parse(sample_map());
  map["placement"]["shared"][0]["file"] = "a\x1b[31m\x01.cu";
  const Outcome<std::string> page = page_of_map(map.dump(), "x");
  REQUIRE(page);
  CHECK(page->find('\x1b') == std::string::npos);
  CHECK(page->find('\x01') == std::string::npos);
}

TEST_CASE("a block lies where its claim does") {
  const Outcome<LinkMap> map = parse_link_map(sample_map(), "x");
  REQUIRE(map);
  const Outcome<std::string> text = page::memory(page::Context(*map));
  REQUIRE(text);
  const page::Context context(*map);
  const double capacity = static_cast<double>(map->shared_capacity);
  for (const MapShared& c : map->shared) {
    const std::string block = "<a href=\"#" + context.shared.at(c.name) + "\" class=\"block";
    const std::size_t at = text->find(block);
    REQUIRE(at != std::string::npos);
    const std::string rect = "<rect class=\"fill\" x=\"" +
                             page::percent(static_cast<double>(c.offset), capacity) + "%\" width=\"" +
                             page::percent(static_cast<double>(c.bytes), capacity) + "%\"";
    CHECK_MESSAGE(text->find(rect, at) == text->find("<rect class=\"fill\"", at), c.name);
  }
}

TEST_CASE("a tile is drawn as both sides hold it") {
  const std::string page = sample_page();
  CHECK(page.find("row 1, column 1: thread 3, value 0") != std::string::npos);
  const std::string grid = "class=\"tile-grid\"";
  CHECK(page.find(grid, page.find(grid) + 1) == page.rfind(grid));  // two
  json map = json::parse(sample_map());
  for (json& b : map["bindings"])
    if (b.contains("tile")) {
      b["tile"]["space"] = "shared";
      b["tile"]["layout"] = "(64,2):(4,1)";
    }
  const Outcome<std::string> spread = page_of_map(map.dump(), "x");
  REQUIRE(spread);
  // Beyond the tile's size: there may be gaps in memory, and a map may be anybody's.
  CHECK(spread->find("row 1, column 1: offset 5") != std::string::npos);
  for (const char* layout : {"(64,2):(1,9999999)", "64:1", "(4,4):(1,4)", "nonsense", "(128,64):(64,1)"}) {
    for (json& b : map["bindings"])
      if (b.contains("tile")) b["tile"]["layout"] = b["tile"]["from_layout"] = layout;
    CHECK_MESSAGE(page_of_map(map.dump(), "x"), layout);
  }
}

TEST_CASE("tensor memory has a picture if something claims it") {
  CHECK(sample_page().find("id=\"tensor-memory\"") == std::string::npos);
  json map = json::parse(sample_map());
  const auto claim = [](const char* name, int column, const char* phase) {
    return json{{"claim", name},  {"owner", "driver"}, {"column", column},
                {"columns", 128}, {"live", {phase}},   {"glue", {20}}};
  };
  map["placement"]["tensor_memory"] = {
      {"allocated", 128},
      {"capacity", 512},
      {"claims", {claim("driver.acc", 0, "driver.load"), claim("driver.sum", 0, "driver.store")}}};
  map["placement"]["reuse"].push_back({{"of", "tensor_memory"},
                                       {"column", 0},
                                       {"columns", 128},
                                       {"first", "driver.acc"},
                                       {"second", "driver.sum"},
                                       {"first_then_second", json::array()},
                                       {"second_then_first", json::array()}});
  const Outcome<std::string> page = page_of_map(map.dump(), "x");
  REQUIRE(page);
  for (const char* text :
       {"id=\"tensor-memory\"", "The block allocates 128 columns of 512.", "<tr id=\"columns-2\"",
        "href=\"#columns-1\" class=\"block", "data-shares=\"columns-2\"", "128 columns at 0"})
    CHECK_MESSAGE(page->find(text) != std::string::npos, text);
  map["placement"]["tensor_memory"]["claims"][0]["columns"] = 129;
  CHECK(page_of_map(map.dump(), "x")
            .diagnostics[0]
            .reason.starts_with("placement.tensor_memory.claims[0].columns is not"));
}

TEST_CASE("labels: the best that fits, from the width at which it does") {
  const std::vector<page::Label> list = page::labels({{"owner.claim", 100}, {"claim", 50}, {"1", 12}}, 0.12);
  REQUIRE(list.size() == 3);
  CHECK(list[0].classes == "w960");       // 115 of 960
  CHECK(list[1].classes == "w520 u960");  // 62 of 520
  CHECK(list[2].classes == "w240 u520");  // 29 of 240
  CHECK(page::labels({{"long", 1000}}, 0.5).empty());
  CHECK(page::labels({{"a", 10}, {"b", 5}}, 1).size() == 1);
}

TEST_CASE("numbers as people read them") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(grouped(123) == "123");
  CHECK(page::kibibytes(1536) == "1.5\u00a0KiB");
  CHECK(page::kibibytes(196608) == "192\u00a0KiB");
  CHECK(page::percent(1, 0) == "0.000");
  CHECK(page::plural(1, "stage") == "1 stage");
}

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "packager/base/render.h"
#include "packager/contract/json.h"
#include "tests/unit/packager/fixture.h"

namespace pipelink::contract {
namespace {

using Json = nlohmann::ordered_json;

std::string messages(const std::string& text) {
  return render_text(from_json(text, "contract.json").diagnostics);
}

std::string changed(std::string_view from, std::string_view to) {
  std::string text = to_json(test::sample_contract());
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

const std::string kTitle = "error[I-JSON]: 'contract.json' is not a contract of schema 1\n  = reason: ";

/// Visits every value of a JSON text by pointer.
void each_value(const Json& json, const Json::json_pointer& at, std::vector<Json::json_pointer>& out) {
  out.push_back(at);
  if (json.is_object())
    for (const auto& item : json.items()) each_value(item.value(), at / item.key(), out);
  if (json.is_array())
    for (std::size_t i = 0; i < json.size(); ++i) each_value(json[i], at / i, out);
}

}  // namespace

TEST_SUITE_BEGIN("json");

TEST_CASE("a list that came later is absent when it is empty") {
  Contract contract = test::sample_contract();
  CHECK(to_json(contract).find("\"tensor_memory\"") != std::string::npos);
  contract.tensor_memory.clear();
  const std::string text = to_json(contract);
  CHECK(text.find("\"tensor_memory\"") == std::string::npos);
  Outcome<Contract> read = from_json(text, "contract.json");
  REQUIRE(read);
  CHECK(read->tensor_memory.empty());
}

TEST_CASE("calls came later: absent when there are none") {
  Contract contract = test::sample_contract();
  contract.callables[0].calls = {"mask"};
  CHECK(to_json(contract).find("\"calls\": [\n        \"mask\"\n      ]") != std::string::npos);
  CHECK(from_json(to_json(contract), "contract.json")->callables[0].calls ==
        std::vector<std::string>{"mask"});
  contract.callables[0].calls.clear();
  const std::string text = to_json(contract);
  CHECK(text.find("\"calls\"") == std::string::npos);
  CHECK(from_json(text, "contract.json")->callables[0].calls.empty());
}

TEST_CASE("round trip") {
  Contract contract = test::sample_contract();
  contract.mutable_data = {"counter"};
  contract.weak = {"_Z1fv 00"};
  contract.host->library = "libdemo.a";
  contract.host->sha256 = std::string(64, 'a');
  const std::string text = to_json(contract);
  Outcome<Contract> read = from_json(text, "contract.json");
  CAPTURE(render_text(read.diagnostics));
  REQUIRE(read);
  CHECK(to_json(*read) == text);
  CHECK(read->rings[0].stage_bytes == contract.rings[0].stage_bytes);
  CHECK(read->rings[1].stage_bytes == std::nullopt);
  CHECK(read->callables[0].parameters == contract.callables[0].parameters);
  CHECK(read->parameters->fields == contract.parameters->fields);
  CHECK(read->tensors[0].layout == contract.tensors[0].layout);
  Contract empty;
  CHECK(to_json(*from_json(to_json(empty), "x")) == to_json(empty));
}

TEST_CASE("tensors: numbers stay numbers, expressions are text, a replication of one is not said") {
  Contract contract = test::sample_contract();
  const std::string text = to_json(contract);
  CHECK(text.find("\"tile\": [\n        64,\n        256\n      ]") != std::string::npos);
  CHECK(text.find("replicas") == std::string::npos);
  contract.tensors[0].tile[0] = Amount{0, "tile_m"};
  contract.tensors[0].replicas = Amount{4, ""};
  const std::string changed_text = to_json(contract);
  CHECK(changed_text.find("\"tile\": [\n        \"tile_m\",\n        256\n      ]") != std::string::npos);
  const Outcome<Contract> read = from_json(changed_text, "contract.json");
  REQUIRE(read);
  CHECK(read->tensors[0].tile == contract.tensors[0].tile);
  CHECK(read->tensors[0].replicas == contract.tensors[0].replicas);
  CHECK(to_json(*read) == changed_text);
}

TEST_CASE("form") {
  CHECK(to_json(test::sample_contract())
            .starts_with("{\n  \"schema\": 1,\n  \"component\": \"demo\",\n  \"version\": \"1.2.0\",\n"
                         "  \"arch\": \"sm_90a\",\n  \"toolkit\": \"13.0\",\n  \"file\": \"demo.cu\",\n"
                         "  \"line\": 1,\n  \"roles\": [\n    {\n      \"name\": \"consumer\",\n"));
}

TEST_CASE("messages") {
  CHECK(messages(changed("\"warps\"", "\"wraps\"")) ==
        kTitle + "roles[0] has no key 'warps'\n\n" + kTitle + "roles[0] has the unknown key 'wraps'\n");
  CHECK(messages(changed("\"schema\": 1", "\"schema\": 2")) ==
        "error[I-FORMAT]: contract schema 2 is not known\n  contract.json: states schema 2\n  = reason: this "
        "PipeLink reads schema 1\n"
        "  = help: pack the component with this PipeLink, or use the one that packed it\n");
  CHECK(messages(changed("\"schema\": 1,", "")) == kTitle + "the contract has no key 'schema'\n");
  CHECK(messages(changed("\"warps\": 4", "\"warps\": \"4\"")) ==
        kTitle + "roles[0] has a value of 'warps' that is no 64-bit integer\n");
  CHECK(messages(changed("\"warps\": 4", "\"warps\": 4.5")) ==
        kTitle + "roles[0] has a value of 'warps' that is no 64-bit integer\n");
  CHECK(messages(changed("\"warps\": 4", "\"warps\": 18446744073709551615")) ==
        kTitle + "roles[0] has a value of 'warps' that is no 64-bit integer\n");
  CHECK(messages(changed("\"warps\": 4", "\"warps\": 4294967296")) ==
        kTitle + "roles[0] has a value of 'warps' out of range\n");
  CHECK(messages(changed("\"direction\": \"export\"", "\"direction\": \"out\"")) ==
        kTitle + "callables[0] has the unknown value 'out' of 'direction'; it takes export, import\n");
  CHECK(messages(changed("\"component\": \"demo\"", "\"component\": 3")) ==
        kTitle + "the contract has a value of 'component' that is no string\n");
  CHECK(messages("[]") == kTitle + "the contract is not an object\n");
  CHECK(messages("{\"schema\": 1, \"schema\": 1}") ==
        "error[I-JSON]: 'contract.json' is not valid JSON\n  = reason: the key 'schema' stands twice in one "
        "object\n");
}

TEST_CASE("every value of another type or left out is refused by one clear error") {
  const Json json = Json::parse(to_json(test::sample_contract()));
  std::vector<Json::json_pointer> all;
  each_value(json, Json::json_pointer(), all);
  CHECK(all.size() > 150);
  for (const auto& pointer : all) {
    CAPTURE(pointer.to_string());
    for (const Json& other :
         {Json(), Json(true), Json(1.5), Json("%"), Json::array({Json::array()}), Json{{"x", 1}}}) {
      Json copy = json;
      copy[pointer] = other;
      const Outcome<Contract> read = from_json(copy.dump(), "x");
      if (!read)
        CHECK(!read.diagnostics.empty());
      else
        CHECK((other.is_string() || other.is_boolean()));
    }
    if (pointer.empty() || !json[pointer.parent_pointer()].is_object()) continue;
    Json copy = json;
    copy[pointer.parent_pointer()].erase(pointer.back());
    const std::string key = pointer.back();
    const bool of_host = pointer.parent_pointer().to_string() == "/host";
    const bool came_later =
        key == "tensor_memory" || key == "kind" || key == "steps" || key == "counters" || key == "grid" ||
        key == "scratch" || key == "texts" || key == "first_parity" ||
        (key == "scope" && pointer.parent_pointer().to_string().find("tensors") == std::string::npos) ||
        (of_host && (key == "fields" || key == "size" || key == "align"));
    const bool may_be_absent = key == "parameters" || key == "host" || key.ends_with("_arrivals") ||
                               key.ends_with("_parity") || key == "initial" ||
                               pointer.to_string().ends_with("counters/0/arrivals") || key == "stage_bytes" ||
                               key == "transaction_bytes" || key == "value";
    if (came_later) continue;  // absent is empty
    if (!may_be_absent || json[pointer].is_array()) CHECK(!from_json(copy.dump(), "x"));
  }
}

TEST_CASE("every truncation is refused") {
  const std::string text = to_json(test::sample_contract());
  for (std::size_t n = 0; n + 1 < text.size(); n += 7) CHECK(!from_json(text.substr(0, n), "x"));
}

TEST_SUITE_END();

}  // namespace pipelink::contract

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "packager/base/render.h"
#include "packager/contract/json.h"
#include "packager/contract/records.h"
#include "pipelink/records.h"
#include "tests/unit/packager/fixture.h"

namespace pipelink::contract {
namespace {

std::string text_of(const Outcome<Record>& outcome) {
  return render_text(outcome.diagnostics);
}

Record record(std::initializer_list<std::pair<std::string, std::string>> entries) {
  Record made{{{"component", "demo"}, {"kind", ""}, {"name", "x"}, {"file", "demo.cu"}, {"line", "7"}}};
  for (const auto& [key, value] : entries) {
    if (key == "kind")
      made.entries[1].second = value;
    else
      made.entries.emplace_back(key, value);
  }
  return made;
}

const Record kComponent = record({{"kind", "component"}});

std::string messages(std::vector<Record> records) {
  records.push_back(kComponent);
  return render_text(contract_from_records(records).diagnostics);
}

/// A record as the authoring headers write it, compiled by the host's compiler.
struct Definition {
  static constexpr const char* component = "demo";
  static constexpr const char* kind = "callable";
  static constexpr const char* name = "act";
  static constexpr const char* file = "/somewhere/else/demo.cu";
  static constexpr long long line = 42;
  static constexpr void write(detail::RecordWriter& w) {
    w.field("direction", "import");
    detail::Signature<float(int, float(&)[4], const double*)>::write(w);
    w.list("phase", "load, work ,store");
  }
};

template <class Options>
Record written(const char* kind, const Options& options) {
  std::string bytes(4096, '\0');
  detail::RecordWriter w{bytes.data()};
  options.write(w);
  Outcome<Record> parsed = parse_record(std::string(kRecordMagic) + bytes.substr(0, w.size));
  REQUIRE(parsed);
  Record made = record({{"kind", kind}});
  made.entries.insert(made.entries.end(), parsed->entries.begin(), parsed->entries.end());
  return made;
}

Contract accepted(Record made, const char* direction = nullptr) {
  if (direction != nullptr) made.entries.emplace_back("direction", direction);
  Outcome<Contract> contract = contract_from_records({kComponent, made});
  CAPTURE(render_text(contract.diagnostics));
  REQUIRE(contract);
  return *contract;
}

}  // namespace

TEST_SUITE_BEGIN("records");

TEST_CASE("text") {
  const Outcome<Record> parsed =
      parse_record(std::string("pipelink-record/1\nname=a=b\ntext=one\\ntwo\\\\\nempty=\n\0rest", 52));
  REQUIRE(parsed);
  CHECK(parsed->entries == decltype(parsed->entries){{"name", "a=b"}, {"text", "one\ntwo\\"}, {"empty", ""}});
  CHECK(*parsed->find("name") == "a=b");
  CHECK(parsed->find("none") == nullptr);
  CHECK(parse_record(record_text(*parsed))->entries == parsed->entries);
}

TEST_CASE("damaged text") {
  const auto reason = [](std::string_view text) { return parse_record(text).diagnostics.at(0).reason; };
  CHECK(reason("") == "it does not begin with 'pipelink-record/1'");
  CHECK(reason("pipelink-record/1\na=b") == "line 2 has no end");
  CHECK(reason("pipelink-record/1\nab\n") == "line 2 is not key=value");
  CHECK(reason("pipelink-record/1\na=b\n=c\n") == "line 3 is not key=value");
  CHECK(reason("pipelink-record/1\nA=b\n") == "line 2 is not key=value");
  CHECK(reason("pipelink-record/1\na=\\x\n") == "line 2 has a '\\' before neither 'n' nor '\\'");
  CHECK(reason("pipelink-record/1\na=\\\n") == "line 2 has a '\\' before neither 'n' nor '\\'");
  CHECK(reason(std::string(2 << 20, 'x')).ends_with("the bound is 1048576"));
  CHECK(text_of(parse_record("pipelink-record/2\na=b\n")) ==
        "error[I-FORMAT]: record format 'pipelink-record/2' is not known\n"
        "  = reason: this PipeLink reads 'pipelink-record/1'\n"
        "  = help: use the PipeLink whose authoring headers were compiled\n");
}

TEST_CASE("a contract and its records say the same") {
  Contract contract = test::sample_contract();
  std::vector<Record> records = records_from_contract(contract);
  for (int order = 0; order < 4; ++order) {
    std::reverse(records.begin(), records.end());
    if (order >= 2) std::rotate(records.begin(), records.begin() + 5, records.end());
    Outcome<Contract> read = contract_from_records(records);
    CAPTURE(render_text(read.diagnostics));
    REQUIRE(read);
    read->arch = contract.arch;
    read->toolkit = contract.toolkit;
    CHECK(to_json(*read) == to_json(contract));
  }
  std::vector<Record> twice = records;
  twice.insert(twice.end(), records.begin(), records.end());  // one header in two objects
  Outcome<Contract> read = contract_from_records(twice);
  REQUIRE(read);
  CHECK(read->facts.size() == contract.facts.size());
}

TEST_CASE("what the authoring headers write is read") {
  constexpr auto text = detail::record<Definition>();
  const Outcome<Record> parsed = parse_record({text.bytes, sizeof text.bytes});
  REQUIRE(parsed);
  CHECK(*parsed->find("file") == "demo.cu");
  const Contract contract = accepted(*parsed);
  REQUIRE(contract.callables.size() == 1);
  const Callable& act = contract.callables[0];
  CHECK(act.direction == Direction::kImport);
  CHECK(act.where == SourceSpan{"demo.cu", 42});
  CHECK(act.result == Type{"float", 4, 4});
  CHECK(act.parameters == std::vector<Type>{{"float (&)[4]", 16, 4}, {"const double*", 8, 8}});
  CHECK(act.phases == std::vector<std::string>{"load", "work", "store"});

  const Role role = accepted(written("role", detail::RoleOptions{8, {40, 232}, 0})).roles[0];
  CHECK(role.warps == 8);
  CHECK(role.align_warps == 4);
  CHECK(role.registers_min == 40);
  CHECK(role.registers_max == 232);

  const Buffer buffer =
      accepted(written("buffer", detail::BufferOptions{"tile_m * 2", 1024, "load"})).buffers[0];
  CHECK(buffer.bytes == Amount{0, "tile_m * 2"});
  CHECK(buffer.align == 1024);
  CHECK(buffer.live == std::vector<std::string>{"load"});

  detail::RingOptions options;
  options.side = detail::Side::kProducer;
  options.stages = {2, 8};
  options.stage_bytes = 49152;
  options.transaction_bytes = "stage";
  const Ring ring = accepted(written("ring", options), "export").rings[0];
  CHECK(ring.side == RingSide::kProducer);
  CHECK(ring.stages_max == Amount{8, ""});
  CHECK(*ring.stage_bytes == Amount{49152, ""});
  CHECK(*ring.transaction_bytes == Amount{0, "stage"});
  CHECK(!ring.full_arrivals);
  const Ring bare = accepted(written("ring", detail::RingOptions{}), "import").rings[0];
  CHECK(bare.stages_min == Amount{});
  CHECK(!bare.stage_bytes);

  CHECK(accepted(written("mbarriers", detail::MbarriersOptions{2, 1})).mbarriers[0].count.number == 2);
  CHECK(accepted(written("named_barrier", detail::NamedBarrierOptions{128, "load"}))
            .named_barriers[0]
            .threads.number == 128);
  const TensorMemory memory =
      accepted(written("tensor_memory", detail::TensorMemoryOptions{"2 * tile_n", "load"})).tensor_memory[0];
  CHECK(memory.columns == Amount{0, "2 * tile_n"});
  CHECK(memory.live == std::vector<std::string>{"load"});
  detail::TensorOptions tensor;
  tensor.element = "f32";
  tensor.tile = {64, "tile_n"};
  tensor.layout = "(1,2):(3,4)";
  tensor.replicas = "group";
  tensor.generations = 2;
  const TensorPort port = accepted(written("tensor", tensor), "export").tensors[0];
  CHECK(port.tile == std::vector<Amount>{Amount{64, ""}, Amount{0, "tile_n"}});
  CHECK(*port.replicas == Amount{0, "group"});
  CHECK(*port.generations == Amount{2, ""});
  CHECK(port.scope == "warpgroup");
  const Mbarriers free = accepted(written("mbarriers", detail::MbarriersOptions{2, 1, 1})).mbarriers[0];
  CHECK(free.first_parity == 1);
  detail::RingOptions first;
  first.empty_parity = 0;
  first.scope = "cluster";
  const Ring reaching = accepted(written("ring", first), "import").rings[0];
  CHECK(*reaching.empty_parity == Amount{0, ""});
  CHECK(!reaching.full_parity);
  CHECK(reaching.scope == "cluster");
  const Counter counter =
      accepted(written("counter", detail::CounterOptions{"word", 0, "n", "device"}), "export").counters[0];
  CHECK(counter.field == "word");
  CHECK(*counter.initial == Amount{0, ""});
  CHECK(*counter.arrivals == Amount{0, "n"});
  CHECK(counter.scope == "device");
  const Scratch scratch =
      accepted(written("scratch", detail::ScratchOptions{"word", "n * 4", true, 128, true})).scratch[0];
  CHECK(scratch.field == "word");
  CHECK(scratch.bytes == Amount{0, "n * 4"});
  CHECK(scratch.align == 128);
  CHECK(scratch.per_block);
  CHECK(scratch.zeroed);
  const Contract pairs = accepted(written("grid", detail::GridOptions{{2, 1, 1}, true}));
  REQUIRE(pairs.grid);
  CHECK(pairs.grid->cluster == std::vector<std::int64_t>{2, 1, 1});
  CHECK(pairs.grid->resident);
  const Steps steps = accepted(written("steps", detail::StepsOptions{"wait a", "wait b; call c"})).steps[0];
  CHECK(steps.once == "wait a");
  CHECK(steps.loop == "wait b; call c");
  CHECK(accepted(written("phase", detail::PhaseOptions{"load", "work, load"}))
            .phases[0]
            .after_previous.size() == 2);
}

TEST_CASE("a real of the device pass is read exactly") {
  const auto read = [](double value) {
    char bytes[256] = {};
    detail::RecordWriter w{bytes};
    detail::write_real(w, "text_value", value);
    const std::string text(bytes, w.size);
    CAPTURE(text);
    const std::size_t equals = text.find('=');
    const Contract contract =
        accepted(record({{"kind", "fact"},
                         {"direction", "export"},
                         {"type", "real"},
                         {"cpp_type", "double"},
                         {"settable", "0"},
                         {"text_value", text.substr(equals + 1, text.size() - equals - 2)}}));
    return contract.facts[0].text_value;
  };
  CHECK(read(0.5) == "0.5");
  CHECK(read(-1.25) == "-1.25");
  CHECK(read(0) == "0");
  CHECK(read(1) == "1");
  CHECK(read(0.1) == "0.1");
  CHECK(read(3e38) == "3e+38");
  CHECK(read(1.0 / 3) == "0.3333333333333333");
  CHECK(read(2.5e-310) == "2.5e-310");
  CHECK(read(static_cast<double>(0.1f)) == "0.10000000149011612");
}

TEST_CASE("a domain is sorted") {
  const Contract contract = accepted(record({{"kind", "fact"},
                                             {"direction", "export"},
                                             {"type", "integer"},
                                             {"cpp_type", "int"},
                                             {"settable", "1"},
                                             {"value", "4"},
                                             {"domain", "8"},
                                             {"domain", "4"}}));
  CHECK(contract.facts[0].domain == std::vector<std::int64_t>{4, 8});
}

TEST_CASE("messages") {
  CHECK(messages({record({{"kind", "role"}, {"warps", "4"}, {"warp", "4"}, {"warp", "5"}})}) ==
        "error[P-RECORD]: key 'warp' is not known\n"
        "  demo: role x (demo.cu:7)\n"
        "  = reason: the record's kind is 'role'\n");
  CHECK(messages({record({{"kind", "roll"}})}) ==
        "error[P-RECORD]: record kind 'roll' is not known\n  demo: roll x (demo.cu:7)\n");
  CHECK(messages({record({{"kind", "role"}})}) ==
        "error[P-RECORD]: key 'warps' is missing\n  demo: role x (demo.cu:7)\n");
  CHECK(messages({record({{"kind", "role"}, {"warps", "four"}})}) ==
        "error[P-RECORD]: key 'warps' has no integer value\n  demo: role x (demo.cu:7)\n  = reason: its "
        "value is 'four'\n");
  CHECK(messages({record({{"kind", "role"}, {"warps", "99999999999"}})}) ==
        "error[P-RECORD]: key 'warps' has no integer value\n  demo: role x (demo.cu:7)\n  = reason: its "
        "value is '99999999999'\n");
  CHECK(messages({record({{"kind", "role"}, {"warps", "4"}, {"warps", "4"}})}) ==
        "error[P-RECORD]: key 'warps' stands 2 times\n  demo: role x (demo.cu:7)\n");
  CHECK(messages({record({{"kind", "callable"}, {"direction", "both"}, {"result", "void"}})}) ==
        "error[P-RECORD]: key 'direction' has the unknown value 'both'\n  demo: callable x (demo.cu:7)\n  = "
        "reason: it takes export, import\n");
  CHECK(messages({record({{"kind", "callable"},
                          {"direction", "export"},
                          {"result", "void"},
                          {"parameter", "int"},
                          {"parameter_size", "4"}})}) ==
        "error[P-RECORD]: key 'parameter_align' stands 0 times\n  demo: callable x (demo.cu:7)\n"
        "  = reason: the list that it belongs to has 1 entries\n");
  CHECK(messages({record({{"kind", "fact"},
                          {"direction", "export"},
                          {"type", "integer"},
                          {"cpp_type", "int"},
                          {"settable", "2"}})}) ==
        "error[P-RECORD]: key 'settable' is neither 0 nor 1\n  demo: fact x (demo.cu:7)\n  = reason: its "
        "value is '2'\n");
  CHECK(messages({Record{{{"component", "demo"}, {"kind", "role"}, {"name", "x"}}}}) ==
        "error[P-RECORD]: key 'file' is missing\n  demo: role x\n\nerror[P-RECORD]: key 'line' is missing\n  "
        "demo: role x\n");
  Record other = record({{"kind", "requirement"}, {"expression", "1"}});
  other.entries[0].second = "demo_two";
  CHECK(messages({other}) ==
        "error[P-NAME]: the objects of one package belong to two components\n"
        "  demo: the component (demo.cu:7)\n"
        "  demo_two: requirement x (demo.cu:7)\n"
        "  = help: pack each component by itself\n");
  CHECK(messages({record({{"kind", "component"}, {"toolkit", "13.1"}})}) ==
        "error[P-TOOLKIT]: the objects are compiled by different toolkits\n  demo: compiled by  (demo.cu:7)\n"
        "  demo: compiled by 13.1 (demo.cu:7)\n  = reason: the package states one toolkit, and its link-time "
        "code needs it\n"
        "  = help: compile all sources of the component with one nvcc\n");
  other = kComponent;
  other.entries[0].second = "zoo";
  CHECK(
      messages({other}).starts_with("error[P-NAME]: the objects of one package belong to two components\n"));
  Record again = record({{"kind", "parameters"}, {"type", "T"}, {"size", "4"}, {"align", "4"}});
  Record third = again;
  third.entries[4].second = "9";
  CHECK(messages({again, third}) ==
        "error[P-DUPLICATE]: parameters declared twice\n  demo: declared here (demo.cu:7)\n  demo: and here "
        "(demo.cu:9)\n");
  CHECK(render_text(contract_from_records({}).diagnostics) ==
        "error[P-RECORD]: the objects hold no record\n"
        "  = reason: no annotation was found in any of them\n"
        "  = help: include <pipelink/component.h> and declare the component\n");
  CHECK(render_text(
            contract_from_records({record({{"kind", "requirement"}, {"expression", "1"}})}).diagnostics) ==
        "error[P-RECORD]: component 'demo' is not declared\n  demo: its first record (demo.cu:7)\n"
        "  = reason: no record has the kind 'component'\n");
}

TEST_CASE("every record without one of its keys, or with one more, is read or refused, never worse") {
  const std::vector<Record> all = records_from_contract(test::sample_contract());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < all[i].entries.size(); ++k) {
      std::vector<Record> changed = all;
      changed[i].entries.erase(changed[i].entries.begin() + static_cast<std::ptrdiff_t>(k));
      contract_from_records(changed);
      changed = all;
      changed[i].entries[k].first += "_x";
      CHECK(!contract_from_records(changed));
    }
}

TEST_SUITE_END();

}  // namespace pipelink::contract

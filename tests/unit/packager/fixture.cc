#include "tests/unit/packager/fixture.h"

#include <elf.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "packager/capture/capture.h"
#include "packager/contract/records.h"

namespace pipelink::test {
namespace {

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Entry>
Entry& add(std::vector<Entry>& list, const char* name, int line) {
  Entry& entry = list.emplace_back();
  entry.name = name;
  entry.where.file = "demo.cu";
  entry.where.line = line;
  return entry;
}

void add_code(contract::Contract& c) {
  using namespace contract;
  Role& consumer = add(c.roles, "consumer", 10);
  consumer.warps = consumer.align_warps = 4;
  consumer.registers_min = 160;
  consumer.registers_max = 240;
  Role& producer = add(c.roles, "producer", 20);
  producer.warps = producer.align_warps = 4;
  producer.registers_min = 24;
  producer.registers_max = 40;
  Callable& act = add(c.callables, "act", 30);
  act.result = {"float", 4, 4};
  act.parameters = {{"float (&)[4]", 16, 4}, {"int", 4, 4}};
  act.phases = {"work"};
  Callable& mask = add(c.callables, "mask", 31);
  mask.direction = Direction::kImport;
  mask.result = {"void", 0, 0};
  mask.parameters = {{"float (&)[128]", 512, 4}};
  TensorPort& acc = add(c.tensors, "acc", 90);
  acc.element = "f32";
  acc.tile = {Amount{64, ""}, Amount{256, ""}};
  acc.space = "registers";
  acc.scope = "warpgroup";
  acc.layout = "((4,8,4),(2,2,32)):((2,256,4096),(1,2048,8))";
  acc.via = "mask";
}

void add_shared(contract::Contract& c) {
  using namespace contract;
  Buffer& stage = add(c.buffers, "stage", 40);
  stage.bytes.expression = "tile_m * 4 * group";
  stage.align = 128;
  stage.live = {"load", "work"};
  add(c.buffers, "table", 41).bytes.number = 512;
  Ring& owned = add(c.rings, "operands", 50);
  owned.stages_min.number = 2;
  owned.stages_max.number = 8;
  owned.stage_bytes = Amount{16384, ""};
  owned.full_arrivals = Amount{1, ""};
  owned.transaction_bytes = Amount{0, "tile_m * 128 * 2"};
  owned.empty_arrivals = Amount{2, ""};
  owned.full_parity = Amount{0, ""};
  owned.empty_parity = Amount{1, ""};
  owned.scope = "cluster";
  Ring& used = add(c.rings, "pages", 51);
  used.direction = Direction::kImport;
  used.side = RingSide::kProducer;
  used.tier = 1;
  used.weight = 2;
  used.live = {"load"};
  Mbarriers& done = add(c.mbarriers, "done", 60);
  done.count.number = 2;
  done.arrivals.number = 1;
  done.first_parity = 1;
  done.scope = "block";
  TensorMemory& cells = add(c.tensor_memory, "cells", 62);
  cells.columns.expression = "tile_m * 2";
  cells.live = {"work"};
  NamedBarrier& sync = add(c.named_barriers, "sync", 61);
  sync.threads.number = 128;
  sync.live = {"work"};
}

void add_facts(contract::Contract& c) {
  using namespace contract;
  Fact& group = add(c.facts, "group", 70);
  group.cpp_type = "int";
  group.settable = true;
  group.value = Amount{8, ""};
  group.domain = {4, 8, 16};
  Fact& interleave = add(c.facts, "interleave", 71);
  interleave.type = FactType::kBoolean;
  interleave.cpp_type = "bool";
  interleave.direction = Direction::kImport;
  interleave.value = Amount{0, ""};
  Fact& scale = add(c.facts, "scale", 72);
  scale.type = FactType::kReal;
  scale.cpp_type = "float";
  scale.text_value = "0.125";
  Fact& tile_m = add(c.facts, "tile_m", 73);
  tile_m.cpp_type = "int";
  tile_m.value = Amount{64, ""};
  Fact& word = add(c.facts, "word", 74);
  word.type = FactType::kText;
  word.cpp_type = "unsigned int";
  word.settable = true;
  word.text_value = "bf16";
  word.texts = {"f32", "bf16"};
  add(c.requirements, "whole", 80).expression = "tile_m % group == 0 && operands.stages >= 2";
}

}  // namespace

contract::Contract sample_contract() {
  using namespace contract;
  Contract c;
  c.component = "demo";
  c.version = "1.2.0";
  c.arch = "sm_90a";
  c.toolkit = "13.0";
  c.where = {"demo.cu", 1};
  add_code(c);
  add_shared(c);
  add_facts(c);
  add(c.phases, "load", 100).after_previous = {"load"};
  Phase& work = add(c.phases, "work", 101);
  work.after = {"load"};
  work.after_previous = {"work"};
  Counter& signal = add(c.counters, "signal", 120);
  signal.field = "out";
  signal.initial = Amount{0, ""};
  signal.arrivals = Amount{0, "group"};
  signal.scope = "device";
  add(c.counters, "tiles_done", 121).field = "in";
  c.counters.back().direction = Direction::kImport;
  Scratch& partials = add(c.scratch, "partials", 122);
  partials.field = "out";
  partials.bytes.expression = "tile_m * 4";
  partials.align = 128;
  partials.per_block = true;
  Grid& grid = c.grid.emplace();
  grid.where = {"demo.cu", 4};
  grid.cluster = {2, 1, 1};
  grid.resident = true;
  Steps& consumes = add(c.steps, "consumer", 110);
  consumes.once = "wait operands";
  consumes.loop = "wait operands x group; sync sync; release operands; call mask?";
  add(c.steps, "producer", 111).loop = "acquire pages; arrive pages; (arrive done)*";
  ParameterRegion& region = c.parameters.emplace();
  region.type = "demo::Parameters";
  region.header = "demo.h";
  region.where = {"demo.cu", 5};
  region.size = 24;
  region.align = 8;
  region.fields = {{"in", 0, 8, FieldKind::kPointer},
                   {"out", 8, 8, FieldKind::kPointer},
                   {"n", 16, 4, FieldKind::kUnsigned}};
  HostProvider& host = c.host.emplace();
  host.symbol = "pipelink_host_demo_v1";
  host.arguments = "demo::Arguments";
  host.header = "demo.h";
  host.abi = 1;
  host.size = 16;
  host.align = 8;
  host.fields = {{"in", 0, 8, FieldKind::kPointer}, {"scale", 8, 4, FieldKind::kReal}, {"on", 12, 1}};
  host.where = {"demo.cu", 6};
  return c;
}

std::string record_variable(std::string_view name, std::string_view bytes) {
  std::vector<int> values;
  for (const char c : bytes) values.push_back(static_cast<unsigned char>(c));
  while (!values.empty() && values.back() == 0) values.pop_back();  // as the compiler does
  return fmt::format(".global .align 1 .b8 {}[{}] = {{{}}};\n", name, bytes.size(), fmt::join(values, ", "));
}

static const contract::Callable* callable_of(const contract::Contract& contract, std::string_view symbol) {
  for (const contract::Callable& c : contract.callables)
    if (symbol.ends_with((c.direction == contract::Direction::kExport ? "__export__" : "__import__") +
                         c.name))
      return &c;
  return nullptr;
}

/// Results and parameters as PTX passes them, Self first.
static std::string header_of(const contract::Callable& callable, std::string_view symbol) {
  const auto passed = [](const contract::Type& type, std::string_view name) {
    const std::int64_t bytes =
        type.name.find('&') != std::string::npos ? 8 : std::max<std::int64_t>(type.size, 4);
    return bytes > 8 ? fmt::format(".param .align {} .b8 {}[{}]", type.align, name, bytes)
                     : fmt::format(".param .b{} {}", bytes * 8, name);
  };
  std::string out =
      callable.result.size == 0 ? "" : fmt::format("({}) ", passed(callable.result, "func_retval0"));
  out += fmt::format("{0}(\n.param .align 8 .b8 {0}_param_0[16]", symbol);
  int n = 1;
  for (const contract::Type& type : callable.parameters)
    out += ",\n" + passed(type, fmt::format("{}_param_{}", symbol, n++));
  return out + "\n)";
}

std::string twin_of(const contract::Contract& contract, std::string_view more) {
  std::string text = "\n\n.version 9.0\n.target sm_90a\n.address_size 64\n\n";
  int index = 0;
  for (const contract::Record& record : contract::records_from_contract(contract))
    text += record_variable(fmt::format("__nv_static_9__0a_4_d_cu_record_{}", index++),
                            contract::record_text(record));
  std::string calls;
  for (const std::string& handle : handle_symbols(contract)) {
    const contract::Callable* callable = callable_of(contract, handle);
    text += callable ? fmt::format(".extern .func {}\n;\n", header_of(*callable, handle))
                     : fmt::format(
                           ".extern .func (.param .b64 func_retval0) {0}\n(\n.param .b32 {0}_param_0\n)\n;\n",
                           handle);
    calls += fmt::format("call.uni (retval0), \n{}, \n(\nparam0\n);\n", handle);
  }
  text += more;
  for (const std::string& symbol : defined_symbols(contract)) {
    const contract::Callable* callable = callable_of(contract, symbol);
    text += fmt::format(".visible .func {}\n{{\n{}ret;\n\n}}\n",
                        callable ? header_of(*callable, symbol)
                                 : fmt::format("{0}(\n.param .align 8 .b8 {0}_param_0[16]\n)", symbol),
                        calls);
  }
  return text;
}

std::string ltoir(int arch, bool variant, std::string_view payload) {
  std::string out;
  put<std::uint32_t>(out, 0x7F4E43ED);
  for (const int byte : {1, 65, 2, 98, 3, 2, 7, 0}) put(out, static_cast<char>(byte));
  put<std::uint32_t>(out, 0x00010018);
  put<std::uint32_t>(out, 0x28);
  put<std::uint32_t>(out, 0x2c);
  put<std::uint16_t>(out, 1);
  put(out, static_cast<std::uint16_t>(arch * 10));
  put<std::uint16_t>(out, 0x20);
  put<std::uint16_t>(out, variant ? 1 : 0);
  put<std::uint32_t>(out, 0x63);
  put<std::uint32_t>(out, 0);
  out += payload;
  return out;
}

std::string fatbin(const std::vector<FatbinPart>& parts) {
  std::string body;
  for (const FatbinPart& part : parts) {
    std::string payload = part.payload;
    payload.resize((payload.size() + 7) / 8 * 8);
    put(body, static_cast<std::uint16_t>(part.kind));
    put<std::uint16_t>(body, 0x101);
    put<std::uint32_t>(body, 64);
    put<std::uint64_t>(body, payload.size());
    put<std::uint64_t>(body, 0);
    put<std::uint32_t>(body, 0x00090000);
    put<std::uint32_t>(body, part.arch);
    put<std::uint64_t>(body, 0);
    put<std::uint64_t>(body, part.flags);
    body.append(16, '\0');
    body += payload;
  }
  std::string out;
  put<std::uint32_t>(out, 0xBA55ED50);
  put<std::uint16_t>(out, 1);
  put<std::uint16_t>(out, 16);
  put<std::uint64_t>(out, body.size());
  return out + body;
}

std::string object(const contract::Contract& contract, std::string_view more) {
  return fatbin({{1, twin_of(contract, more)}, {8, ltoir()}});
}

std::string elf(const std::string& fatbin, std::string_view section) {
  std::string names(1, '\0');
  const auto name_at = static_cast<Elf64_Word>(names.size());
  names += section;
  names += '\0';
  const auto names_at = static_cast<Elf64_Word>(names.size());
  names += ".shstrtab";
  names += '\0';
  names.resize((names.size() + 7) / 8 * 8);
  Elf64_Ehdr header{};
  std::copy_n(
      "\x7f"
      "ELF\2\1\1",
      7, header.e_ident);
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  header.e_shoff = sizeof header + fatbin.size() + names.size();
  Elf64_Shdr code{}, strings{};
  code.sh_name = name_at;
  code.sh_type = SHT_PROGBITS;
  code.sh_offset = sizeof header;
  code.sh_size = fatbin.size();
  code.sh_addralign = 8;
  strings.sh_name = names_at;
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = sizeof header + fatbin.size();
  strings.sh_size = names.size();
  strings.sh_addralign = 1;
  std::string out;
  put(out, header);
  out += fatbin + names;
  put(out, Elf64_Shdr{});
  put(out, code);
  put(out, strings);
  return out;
}

Directory::Directory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "pipelink-test-XXXXXX").string();
  root_ = ::mkdtemp(pattern.data());
}

Directory::~Directory() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

std::string Directory::path(std::string_view name) const {
  return fmt::format("{}/{}", root_, name);
}

std::string Directory::write(std::string_view name, std::string_view bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

std::vector<std::string> Directory::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace pipelink::test

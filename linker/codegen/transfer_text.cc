#include "linker/codegen/transfer_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "packager/contract/type_text.h"

namespace pipelink {
namespace {

using namespace transfer;

/// What differs between the two: how a type takes a tile.
bool is_pointer(const contract::Type& type) {
  return type.name.ends_with('*');
}

bool uses_tensor_loads(const Transfer& t) {
  for (const Step& step : t.steps)
    if (std::holds_alternative<TensorLoad>(step)) return true;
  return false;
}

bool reads_producer_tile(const Transfer& t) {
  for (const Step& step : t.steps) {
    if (const auto* load = std::get_if<Load>(&step))
      if (load->address.buffer == Address::Buffer::kProducer) return true;
    if (const auto* load = std::get_if<LoadMatrix>(&step))
      if (load->rows.buffer == Address::Buffer::kProducer) return true;
  }
  return false;
}

/// Writes the steps of one role, in which so many threads have a tile.
class Writer {
 public:
  using Lists = std::vector<const std::vector<Step>*>;

  Writer(const Transfer& transfer, const TransferContext& context, int threads, Lists lists)
      : t_(transfer), c_(context), threads_(threads), lists_(std::move(lists)) {}

  std::vector<std::string> lines;

  void line(std::string text) { lines.push_back(std::move(text)); }

  std::string name(const char* kind, int index) const {
    return fmt::format("{}{}{}", c_.prefix, kind, index);
  }
  std::string reg(Register r) const { return name("r", r); }
  std::string value(int v) const { return name("v", v); }
  std::string condition(int k) const { return name("c", k); }

  /// What depends on the thread, once for all steps.
  void prologue() {
    const auto [values, conditions] = used();
    const auto some = [](const std::vector<bool>& list) {
      return std::find(list.begin(), list.end(), true) != list.end();
    };
    const int begin = c_.first_warp * 32;
    if (some(values) || some(conditions))
      line(fmt::format("const unsigned {}thread = {} % {}u;", c_.prefix,
                       begin % threads_ == 0 ? "threadIdx.x" : of_role(), threads_));
    if (t_.buffer_bytes > 0 || !t_.barriers.empty()) group();
    for (std::size_t v = 0; v < t_.values.size(); ++v)
      if (values[v])
        line(fmt::format("const unsigned {} = {};", value(static_cast<int>(v)), text(t_.values[v])));
    for (std::size_t k = 0; k < t_.conditions.size(); ++k)
      if (conditions[k])
        line(fmt::format("const bool {} = {};", condition(static_cast<int>(k)), text(t_.conditions[k])));
    if (t_.buffer_bytes > 0) {
      std::string group;
      if (t_.groups > 1) group = fmt::format(" + {}group * {}u", c_.prefix, c_.placed.group_bytes);
      line(fmt::format("unsigned char* const {0}buffer = pl_shared + {1}{2};", c_.prefix, c_.placed.buffer,
                       group));
      line(fmt::format(
          "const unsigned {0}shared = static_cast<unsigned>(__cvta_generic_to_shared({0}buffer));",
          c_.prefix));
    }
  }

  /// Which of the tiles side by side is the thread's.
  void group() {
    if (t_.groups > 1)
      line(fmt::format("const unsigned {}group = {} / {}u;", c_.prefix, of_role(), threads_));
  }

  /// What the producer gives, as registers or as an address.
  void inputs(const Carried& from) {
    const std::string& p = c_.prefix;
    if (uses_tensor_loads(t_)) {
      line(fmt::format("const unsigned {}given = static_cast<unsigned>({});", p, from.argument));
      line(fmt::format("const unsigned {}warp_lane = threadIdx.x / 32 % 4 * 32;", p));
    } else if (reads_producer_tile(t_)) {
      std::string at = fmt::format("static_cast<unsigned>({})", from.argument);
      if (is_pointer(*from.type) || contract::is_reference(*from.type))
        at = fmt::format("static_cast<unsigned>(__cvta_generic_to_shared({}{}))",
                         is_pointer(*from.type) ? "" : "&", from.argument);
      line(fmt::format("const unsigned {}given = {};", p, at));
    } else {
      for (int w = 0; w < t_.inputs; ++w)
        line(fmt::format("const unsigned {} = pl_word(&{}, {}, {});", reg(w), from.argument, w,
                         from.type->size));
    }
  }

  /// Into the consumer's array.
  void outputs(const std::string& array, const Carried& to) {
    for (std::size_t w = 0; w < t_.outputs.size(); ++w)
      if (t_.outputs[w] != kNoRegister)
        line(fmt::format("pl_set_word({}, {}, {}, {});", array, w, to.type->size, reg(t_.outputs[w])));
  }

  void step(const Step& any) {
    std::visit([&](const auto& one) { write(one); }, any);
  }
  void steps() {
    for (const std::vector<Step>* list : lists_)
      for (const Step& one : *list) step(one);
  }

 private:
  std::string of_role() const {
    return c_.first_warp == 0 ? "threadIdx.x" : fmt::format("(threadIdx.x - {}u)", c_.first_warp * 32);
  }

  /// The values and conditions that the steps use; not those that only say with which lane to exchange: that
  /// is in the instruction.
  std::pair<std::vector<bool>, std::vector<bool>> used() const {
    std::vector<bool> used(t_.values.size()), conditions(t_.conditions.size());
    const auto use = [&](int v) { used[static_cast<std::size_t>(v)] = true; };
    const auto ask = [&](int k) {
      if (k != kAlways) conditions[static_cast<std::size_t>(k)] = true;
    };
    for (const std::vector<Step>* list : lists_)
      for (const Step& step : *list) {
        if (const auto* s = std::get_if<Select>(&step)) ask(s->condition);
        if (const auto* s = std::get_if<Store>(&step)) ask(s->condition);
        if (const auto* s = std::get_if<Shuffle>(&step);
            s && !xor_lane(t_.values[static_cast<std::size_t>(s->lane)]))
          use(s->lane);
        if (const auto* s = std::get_if<Permute>(&step); s && s->selector_value >= 0) use(s->selector_value);
        if (const auto* s = std::get_if<Store>(&step)) use(s->address.value);
        if (const auto* s = std::get_if<Load>(&step)) use(s->address.value);
        if (const auto* s = std::get_if<StoreMatrix>(&step)) use(s->rows.value);
        if (const auto* s = std::get_if<LoadMatrix>(&step)) use(s->rows.value);
      }
    return {std::move(used), std::move(conditions)};
  }

  std::string text(const ThreadValue& v) const {
    const std::string thread = c_.prefix + "thread";
    switch (v.form) {
      case ThreadValue::Form::kXor: {
        std::string out = v.constant != 0 || v.xors.empty() ? fmt::format("{}u", v.constant) : "";
        for (const ThreadValue::XorTerm& term : v.xors) {
          std::string part = fmt::format("({} & {}u)", thread, term.mask);
          if (term.left > 0) part = fmt::format("({} << {})", part, term.left);
          if (term.left < 0) part = fmt::format("({} >> {})", part, -term.left);
          out += (out.empty() ? "" : " ^ ") + part;
        }
        return out;
      }
      case ThreadValue::Form::kSum: {
        std::string out = v.constant != 0 || v.sums.empty() ? fmt::format("{}", v.constant) : "";
        for (const ThreadValue::SumTerm& term : v.sums) {
          std::string part = "static_cast<int>(" + thread;
          if (term.divide != 1) part += fmt::format(" / {}u", term.divide);
          part += fmt::format(" % {}u)", term.modulo);
          if (term.multiply != 1) part += fmt::format(" * {}", term.multiply);
          out += (out.empty() ? "" : " + ") + part;
        }
        return fmt::format("static_cast<unsigned>({})", out);
      }
      case ThreadValue::Form::kTable:
        break;
    }
    const std::vector<ThreadGroup> all = groups(v, threads_);
    std::string out = fmt::format("{}u", static_cast<std::uint32_t>(all.back().number));
    for (std::size_t g = all.size() - 1; g-- > 0;)
      out = fmt::format("({}) ? {}u : {}", text(all[g].condition), static_cast<std::uint32_t>(all[g].number),
                        out);
    return out;
  }

  std::string text(const ThreadCondition& k) const {
    const std::string thread = c_.prefix + "thread";
    switch (k.form) {
      case ThreadCondition::Form::kMasked:
        return fmt::format("({} & {}u) == {}u", thread, k.mask, k.equal);
      case ThreadCondition::Form::kParity:
        return fmt::format("(__popc({} & {}u) & 1) == {}", thread, k.mask, k.equal);
      case ThreadCondition::Form::kLess:
        return fmt::format("{} < {}u", thread, k.bound);
      case ThreadCondition::Form::kLanes:
        break;
    }
    std::string word = fmt::format("{:#x}u", k.lanes.back());
    for (std::size_t w = k.lanes.size() - 1; w-- > 0;)
      word = fmt::format("({} / 32 == {}u ? {:#x}u : {})", thread, w, k.lanes[w], word);
    return fmt::format("({} >> ({} % 32) & 1u) != 0", word, thread);
  }

  std::string address(const Address& a) const {
    std::string offset = value(a.value);
    if (a.flip != 0) offset = fmt::format("({} ^ {}u)", offset, a.flip);
    return fmt::format("{}{} + {}", c_.prefix, a.buffer == Address::Buffer::kTransfer ? "shared" : "given",
                       offset);
  }

  /// "%0, %1", and the operands of an asm statement.
  static std::string numbers(std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    return out;
  }
  std::string operands(const char* constraint, const std::vector<Register>& registers) const {
    std::string out;
    for (const Register r : registers)
      out += fmt::format("{}\"{}\"({})", out.empty() ? "" : ", ", constraint, reg(r));
    return out;
  }
  void declare(const std::vector<Register>& registers) {
    std::string out;
    for (const Register r : registers) out += (out.empty() ? "unsigned " : ", ") + reg(r);
    line(out + ";");
  }

  void write(const Permute& p) {
    const std::string selector =
        p.selector_value >= 0 ? value(p.selector_value) : fmt::format("{:#x}u", p.selector);
    line(fmt::format("const unsigned {} = __byte_perm({}, {}, {});", reg(p.result), reg(p.low), reg(p.high),
                     selector));
  }
  void write(const Select& s) {
    line(fmt::format("const unsigned {} = {} ? {} : {};", reg(s.result), condition(s.condition), reg(s.yes),
                     reg(s.no)));
  }
  void write(const Shuffle& s) {
    if (const std::optional<int> lane = xor_lane(t_.values[static_cast<std::size_t>(s.lane)]))
      line(fmt::format("const unsigned {} = __shfl_xor_sync(0xffffffffu, {}, {});", reg(s.result),
                       reg(s.source), *lane));
    else
      line(fmt::format("const unsigned {} = __shfl_sync(0xffffffffu, {}, {});", reg(s.result), reg(s.source),
                       value(s.lane)));
  }

  static std::string type_of(int bytes, std::size_t words) {
    if (bytes < 4) return fmt::format("b{}", 8 * bytes);
    return words == 1 ? "b32" : fmt::format("v{}.b32", words);
  }

  void write(const Store& s) {
    const std::size_t n = s.sources.size();
    std::string text;
    if (s.bytes < 4) {  // no 8-bit or 16-bit operand takes a 32-bit register
      text = fmt::format(
          "asm volatile(\"{{ .reg .b{1} t; cvt.u{1}.u32 t, %0; st.shared.{0} [%1 + {2}], t; }}\" "
          "::{3}, \"r\"({4}) : \"memory\");",
          type_of(s.bytes, n), s.bytes == 1 ? 16 : 8 * s.bytes, s.address.plus, operands("r", s.sources),
          address(s.address));
    } else {
      text = fmt::format("asm volatile(\"st.shared.{} [%{} + {}], {};\" ::{}, \"r\"({}) : \"memory\");",
                         type_of(s.bytes, n), n, s.address.plus, n == 1 ? numbers(n) : "{" + numbers(n) + "}",
                         operands("r", s.sources), address(s.address));
    }
    line(s.condition == kAlways ? text : fmt::format("if ({}) {}", condition(s.condition), text));
  }
  void write(const Load& l) {
    const std::size_t n = l.results.size();
    declare(l.results);
    if (l.bytes < 4)
      line(fmt::format("asm volatile(\"ld.shared.u{} %0, [%1 + {}];\" : {} : \"r\"({}) : \"memory\");",
                       8 * l.bytes, l.address.plus, operands("=r", l.results), address(l.address)));
    else
      line(fmt::format("asm volatile(\"ld.shared.{} {}, [%{} + {}];\" : {} : \"r\"({}) : \"memory\");",
                       type_of(l.bytes, n), n == 1 ? numbers(n) : "{" + numbers(n) + "}", n, l.address.plus,
                       operands("=r", l.results), address(l.address)));
  }
  void write(const StoreMatrix& s) {
    const std::size_t n = s.sources.size();
    line(
        fmt::format("asm volatile(\"stmatrix.sync.aligned.m8n8.x{}{}.shared.b16 [%{} + {}], {{{}}};\" ::{}, "
                    "\"r\"({}) : \"memory\");",
                    n, s.transposed ? ".trans" : "", n, s.rows.plus, numbers(n), operands("r", s.sources),
                    address(s.rows)));
  }
  void write(const LoadMatrix& l) {
    const std::size_t n = l.results.size();
    declare(l.results);
    line(
        fmt::format("asm volatile(\"ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {{{}}}, [%{} + {}];\" : {} : "
                    "\"r\"({}) : \"memory\");",
                    n, l.transposed ? ".trans" : "", numbers(n), n, l.rows.plus, operands("=r", l.results),
                    address(l.rows)));
  }
  void write(const WarpBarrier&) { line("__syncwarp();"); }
  void write(const AsyncFence&) { line("asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");"); }

  /// Ids are immediates, so that the kernel has no more barriers than it uses.
  void write(const NamedBarrier& b) {
    const std::vector<int>& ids = c_.placed.barriers[static_cast<std::size_t>(b.barrier)];
    for (std::size_t g = 0; g < ids.size(); ++g) {
      std::string text = fmt::format("asm volatile(\"barrier.{} {}, {};\" ::: \"memory\");",
                                     b.waits ? "sync" : "arrive", ids[g], b.threads);
      if (c_.guarded) text = fmt::format("pl__guard__barrier({}u, {}u, {});", ids[g], b.threads, b.waits);
      std::string when;
      if (ids.size() > 1 && g + 1 < ids.size()) when = fmt::format("if ({}group == {}u) ", c_.prefix, g);
      line((g > 0 ? "else " : "") + when + text);
    }
  }

  void write(const TensorLoad& l) {
    static constexpr int kRegisters[] = {1, 1, 2, 4};
    const std::size_t n = l.results.size();
    declare(l.results);
    line(fmt::format(
        "asm volatile(\"tcgen05.ld.sync.aligned.{}.x{}.b32 {{{}}}, [%{}];\" : {} : \"r\"({}));",
        name_of(l.shape), n / static_cast<std::size_t>(kRegisters[static_cast<int>(l.shape)]), numbers(n), n,
        operands("=r", l.results),
        fmt::format("{0}given + (({0}warp_lane + {1}u) << 16) + {2}u", c_.prefix, l.lane, l.column)));
    loaded_.insert(loaded_.end(), l.results.begin(), l.results.end());
  }
  void write(const TensorWait&) {
    line("asm volatile(\"tcgen05.wait::ld.sync.aligned;\" ::: \"memory\");");
    // Nothing reads the registers above the wait: not a copy that the compiler makes either.
    for (const Register r : loaded_) line(fmt::format("asm volatile(\"\" : \"+r\"({}));", reg(r)));
    loaded_.clear();
  }

  const Transfer& t_;
  const TransferContext& c_;
  const int threads_;
  const Lists lists_;
  std::vector<Register> loaded_;
};

/// A tile in shared memory as a callable takes it: a pointer, a reference to its first element, or its
/// address within shared memory.
std::string shared_argument(const contract::Type& type, const std::string& name, const std::string& prefix) {
  if (is_pointer(type)) return fmt::format("reinterpret_cast<{}>({}buffer)", name, prefix);
  if (contract::is_reference(type)) return fmt::format("reinterpret_cast<{}>(*{}buffer)", name, prefix);
  return fmt::format("static_cast<{}>({}shared)", name, prefix);
}

/// The argument as it is.
std::string passed_on(const Carried& from, const Carried& to) {
  return fmt::format("{}_cast<{}>({})", *from.type == *to.type ? "static" : "reinterpret", to.alias,
                     from.argument);
}

/// Bytes, as the type of a component may be known to it alone.
std::string array_of(const Carried& carried, const std::string& name) {
  return fmt::format("alignas(16) unsigned char {}[{}];", name, carried.type->size);
}

enum class Copy { kToConsumer, kToProducer };

/// Value by value, between the producer's array `from` and the consumer's array `name`, of type `to`.
void rename(const Transfer& transfer, const std::string& from, const Carried& to, const std::string& name,
            Copy copy, std::vector<std::string>& lines) {
  const auto bytes = to.type->size / static_cast<std::int64_t>(transfer.renamed.size());
  for (std::size_t v = 0; v < transfer.renamed.size(); ++v) {
    if (transfer.renamed[v] == kNothing) continue;
    lines.push_back(
        copy == Copy::kToConsumer
            ? fmt::format("pl_move<{}>(&{}, {}, &{}, {});", bytes, name, v, from, transfer.renamed[v])
            : fmt::format("pl_move<{}>(&{}, {}, &{}, {});", bytes, from, transfer.renamed[v], name, v));
  }
}

}  // namespace

TransferText transfer_text(const Transfer& transfer, const TransferContext& context, const Carried& from,
                           const Carried& to, bool hands_back) {
  TransferText out;
  const std::string& p = context.prefix;
  if (transfer.kind == Kind::kSame || transfer.kind == Kind::kInPlace) {
    out.argument = passed_on(from, to);
    return out;
  }
  if (transfer.kind == Kind::kRenamed) {
    out.before.push_back(array_of(to, p + "out"));
    rename(transfer, from.argument, to, p + "out", Copy::kToConsumer, out.before);
    if (hands_back) rename(transfer, from.argument, to, p + "out", Copy::kToProducer, out.after);
    out.argument = fmt::format("reinterpret_cast<{}>({}out)", to.alias, p);
    return out;
  }
  Writer before(transfer, context, transfer.threads, {&transfer.steps});
  Writer after(transfer, context, transfer.threads, {&transfer.after});
  before.prologue();
  before.inputs(from);
  before.steps();
  if (transfer.kind == Kind::kStore) {
    out.argument = shared_argument(*to.type, to.alias, p);
  } else {
    before.line(array_of(to, p + "out"));
    before.outputs(p + "out", to);
    out.argument = fmt::format("reinterpret_cast<{}>({}out)", to.alias, p);
  }
  out.before = std::move(before.lines);
  after.steps();  // barriers alone
  out.after = std::move(after.lines);
  return out;
}

TransferText transfer_text_on_return(const Transfer& transfer, const TransferContext& context,
                                     const Carried& from, const Carried& to) {
  TransferText out;
  const std::string& p = context.prefix;
  if (transfer.kind == Kind::kSame || transfer.kind == Kind::kInPlace) {
    out.argument = passed_on(to, from);
    return out;
  }
  out.argument = fmt::format("reinterpret_cast<{}>({}in)", from.alias, p);
  out.before.push_back(array_of(from, p + "in"));
  if (transfer.kind == Kind::kRenamed) {
    // The producer may add to what it is given.
    rename(transfer, p + "in", to, to.argument, Copy::kToProducer, out.before);
    rename(transfer, p + "in", to, to.argument, Copy::kToConsumer, out.after);
    return out;
  }
  Writer after(transfer, context, transfer.threads, {&transfer.steps});
  after.prologue();
  after.inputs({p + "in[0]", from.alias, from.type});
  after.steps();
  after.outputs("&" + to.argument, to);
  for (const Step& step : transfer.after) after.step(step);
  out.after = std::move(after.lines);
  return out;
}

std::vector<std::string> give_text(const Transfer& transfer, const TransferContext& context,
                                   const Carried& from) {
  Writer writer(transfer, context, transfer.threads, {&transfer.steps});
  writer.prologue();
  writer.inputs(from);
  writer.steps();
  return std::move(writer.lines);
}

std::vector<std::string> take_text(const Transfer& transfer, const TransferContext& context,
                                   const Carried& to) {
  Writer writer(transfer, context, transfer.consumer_threads, {&transfer.receive, &transfer.release});
  writer.prologue();
  writer.steps();
  writer.outputs("&" + to.argument, to);
  return std::move(writer.lines);
}

std::vector<std::string> prearrive_text(const Transfer& transfer, const TransferContext& context) {
  Writer writer(transfer, context, transfer.consumer_threads, {});
  writer.group();
  for (const int barrier : transfer.prearrive)
    writer.step(NamedBarrier{barrier, transfer.barriers[static_cast<std::size_t>(barrier)].threads, false});
  return std::move(writer.lines);
}

std::string transfer_helpers() {
  return R"(// What takes tiles from layout to layout.
template <int kBytes>
[[maybe_unused]] static __device__ __forceinline__ void pl_move(void* to, int at, const void* from, int of) {
  memcpy(static_cast<char*>(to) + at * kBytes, static_cast<const char*>(from) + of * kBytes, kBytes);
}
/// The `word`-th 32 bits of an array of `bytes` bytes.
[[maybe_unused]] static __device__ __forceinline__ unsigned pl_word(const void* from, int word, int bytes) {
  unsigned out = 0;
  if (bytes - 4 * word >= 4)
    memcpy(&out, static_cast<const char*>(from) + 4 * word, 4);
  else
    for (int i = 0; i < bytes - 4 * word; ++i)
      out |= static_cast<unsigned>(static_cast<const unsigned char*>(from)[4 * word + i]) << (8 * i);
  return out;
}
[[maybe_unused]] static __device__ __forceinline__ void pl_set_word(void* to, int word, int bytes, unsigned value) {
  if (bytes - 4 * word >= 4)
    memcpy(static_cast<char*>(to) + 4 * word, &value, 4);
  else
    for (int i = 0; i < bytes - 4 * word; ++i)
      static_cast<unsigned char*>(to)[4 * word + i] = static_cast<unsigned char>(value >> (8 * i));
})";
}

}  // namespace pipelink

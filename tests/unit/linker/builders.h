// Contracts and compositions in a line each. Every entry is given the line on which it is added, in
// COMPONENT.cu.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "linker/bind/bindings.h"
#include "linker/compose/composition_file.h"

namespace pipelink::test {

using contract::Amount;
using contract::Contract;
using contract::Direction;
using contract::Fact;
using contract::RingSide;
using contract::Type;

inline constexpr Direction kIn = Direction::kImport, kOut = Direction::kExport;
inline constexpr RingSide kProducer = RingSide::kProducer, kConsumer = RingSide::kConsumer;

Amount number(std::int64_t n);
Amount expression(std::string text);

/// "float[4]" of 16 bytes aligned to 4, and so on: sizes come from a small table.
Type type(const std::string& name);

class Component {
 public:
  explicit Component(std::string name);

  Component& role(const std::string& name, int warps);
  Component& callable(Direction direction, const std::string& name,
                      const std::vector<std::string>& parameters = {}, const std::string& result = "void");
  Component& ring(Direction direction, const std::string& name, RingSide side,
                  Amount stage_bytes = number(1024));
  Component& buffer(const std::string& name, Amount bytes);
  Component& tensor(Direction direction, const std::string& name, const std::string& via, int parameter = 0,
                    const std::string& element = "f32");
  /// Of the last tensor.
  Component& layout(const std::string& text);
  Component& fact(const std::string& name, Amount value);
  Component& settable(const std::string& name, std::int64_t value, std::vector<std::int64_t> domain);
  Component& text(const std::string& name, const std::string& value);
  /// Settable to any of them; the first is the default.
  Component& texts(const std::string& name, const std::vector<std::string>& texts);
  Component& reads_text(const std::string& name, const std::vector<std::string>& texts);
  Component& reads(const std::string& name);
  Component& reads(const std::string& name, Amount fallback);
  Component& requires_that(const std::string& name, const std::string& expression);
  Component& mbarriers(const std::string& name, std::int64_t count = 1, std::int64_t first_parity = 0);
  Component& barrier(const std::string& name, std::int64_t threads);
  Component& counter(Direction direction, const std::string& name, const std::string& scope);
  Component& cluster(std::int64_t blocks);
  Component& steps(const std::string& name, const std::string& loop, const std::string& once = {});
  Component& change(void (*edit)(Contract&));

  const Contract& contract() const { return contract_; }

 private:
  SourceSpan next();
  Contract contract_;
};

struct Use {
  Component component;
  std::string as;
};

struct Links {
  std::vector<std::pair<std::string, std::string>> bind;
  std::map<std::string, std::string> set;
};

/// The composition `fused` of the components, BIND and SET entries on line 9 of fused.json. It must assemble.
Composition compose(const std::vector<Use>& uses, const Links& links = {});

/// The same without the claim that it assembles.
Outcome<Composition> try_compose(const std::vector<Use>& uses, const Links& links = {});

/// All messages of bind(), then of check() if bind() gives a value.
std::string messages(const Composition& composition);

/// "importer -> exporter" for every callable, ring and tensor, then "instance.fact = value", one line each.
std::string picture(const Composition& composition, const Bindings& bindings);
std::string picture(const Composition& composition);

}  // namespace pipelink::test

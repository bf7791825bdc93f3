#include "builders.h"

#include <doctest/doctest.h>

#include "linker/bind/fact_type.h"
#include "linker/check/check.h"
#include "packager/base/render.h"

namespace pipelink::test {

Amount number(std::int64_t n) {
  return {n, {}};
}
Amount expression(std::string text) {
  return {0, std::move(text)};
}

Type type(const std::string& name) {
  if (name == "void") return {name, 0, 0};
  if (name == "int" || name == "float") return {name, 4, 4};
  if (name == "double") return {name, 8, 8};
  if (name == "float (&)[1]") return {name, 4, 4};
  return {name, 16, 16};
}

Component::Component(std::string name) {
  contract_.component = std::move(name);
  contract_.version = "1.0";
  contract_.arch = "sm_90a";
  contract_.toolkit = "13.0";
  contract_.where = next();
}

SourceSpan Component::next() {
  const Contract& c = contract_;
  const std::size_t line = 1 + c.roles.size() + c.callables.size() + c.rings.size() + c.buffers.size() +
                           c.tensors.size() + c.facts.size() + c.requirements.size() + c.mbarriers.size() +
                           c.named_barriers.size() + c.steps.size() + c.counters.size();
  return {c.component + ".cu", static_cast<int>(line)};
}

Component& Component::role(const std::string& name, int warps) {
  const SourceSpan where = next();
  auto& r = contract_.roles.emplace_back();
  r.name = name;
  r.where = where;
  r.warps = warps;
  return *this;
}

Component& Component::callable(Direction direction, const std::string& name,
                               const std::vector<std::string>& parameters, const std::string& result) {
  const SourceSpan where = next();
  auto& c = contract_.callables.emplace_back();
  c.name = name;
  c.where = where;
  c.direction = direction;
  c.result = type(result);
  for (const std::string& p : parameters) c.parameters.push_back(type(p));
  return *this;
}

Component& Component::ring(Direction direction, const std::string& name, RingSide side, Amount stage_bytes) {
  const SourceSpan where = next();
  auto& r = contract_.rings.emplace_back();
  r.name = name;
  r.where = where;
  r.direction = direction;
  r.side = side;
  r.stages_min = number(2);
  r.stages_max = number(8);
  r.stage_bytes = std::move(stage_bytes);
  return *this;
}

Component& Component::buffer(const std::string& name, Amount bytes) {
  const SourceSpan where = next();
  auto& b = contract_.buffers.emplace_back();
  b.name = name;
  b.where = where;
  b.bytes = std::move(bytes);
  return *this;
}

Component& Component::tensor(Direction direction, const std::string& name, const std::string& via,
                             int parameter, const std::string& element) {
  const SourceSpan where = next();
  auto& t = contract_.tensors.emplace_back();
  t.name = name;
  t.where = where;
  t.direction = direction;
  t.element = element;
  t.tile = {number(64), number(2)};
  t.space = "registers";
  t.scope = "warpgroup";
  t.layout = "128:1";
  t.via = via;
  t.parameter = parameter;
  return *this;
}

Component& Component::layout(const std::string& text) {
  contract_.tensors.back().layout = text;
  return *this;
}

Component& Component::fact(const std::string& name, Amount value) {
  const SourceSpan where = next();
  auto& f = contract_.facts.emplace_back();
  f.name = name;
  f.where = where;
  f.cpp_type = "int";
  f.value = std::move(value);
  return *this;
}

Component& Component::settable(const std::string& name, std::int64_t value,
                               std::vector<std::int64_t> domain) {
  fact(name, number(value));
  contract_.facts.back().settable = true;
  contract_.facts.back().domain = std::move(domain);
  return *this;
}

Component& Component::text(const std::string& name, const std::string& value) {
  fact(name, {});
  contract_.facts.back().value.reset();
  contract_.facts.back().type = contract::FactType::kText;
  contract_.facts.back().cpp_type = "unsigned int";
  contract_.facts.back().text_value = value;
  return *this;
}

Component& Component::texts(const std::string& name, const std::vector<std::string>& texts) {
  text(name, texts.front());
  contract_.facts.back().settable = true;
  contract_.facts.back().texts = texts;
  return *this;
}

Component& Component::reads_text(const std::string& name, const std::vector<std::string>& texts) {
  text(name, "");
  contract_.facts.back().direction = kIn;
  contract_.facts.back().texts = texts;
  return *this;
}

Component& Component::reads(const std::string& name) {
  fact(name, {});
  contract_.facts.back().direction = kIn;
  contract_.facts.back().value.reset();
  return *this;
}

Component& Component::reads(const std::string& name, Amount fallback) {
  reads(name);
  contract_.facts.back().value = std::move(fallback);
  return *this;
}

Component& Component::requires_that(const std::string& name, const std::string& text) {
  const SourceSpan where = next();
  contract_.requirements.push_back({name, where, text});
  return *this;
}

Component& Component::mbarriers(const std::string& name, std::int64_t count, std::int64_t first_parity) {
  contract_.mbarriers.push_back({name, next(), number(count), number(1), first_parity, {}});
  return *this;
}

Component& Component::barrier(const std::string& name, std::int64_t threads) {
  contract_.named_barriers.push_back({name, next(), number(threads), {}});
  return *this;
}

Component& Component::counter(Direction direction, const std::string& name, const std::string& scope) {
  const SourceSpan where = next();
  auto& c = contract_.counters.emplace_back();
  c.name = name;
  c.where = where;
  c.direction = direction;
  c.field = "word";
  c.initial = number(0);
  c.arrivals = number(1);
  c.scope = scope;
  return *this;
}

Component& Component::cluster(std::int64_t blocks) {
  contract_.grid.emplace().where = next();
  contract_.grid->cluster = {blocks, 1, 1};
  return *this;
}

Component& Component::steps(const std::string& name, const std::string& loop, const std::string& once) {
  contract_.steps.push_back({name, next(), once, loop});
  return *this;
}

Component& Component::change(void (*edit)(Contract&)) {
  edit(contract_);
  return *this;
}

Outcome<Composition> try_compose(const std::vector<Use>& uses, const Links& links) {
  CompositionFile file;
  file.name = "fused";
  file.arch = "sm_90a";
  file.file = "fused.json";
  std::vector<PackageInput> packages;
  for (const Use& use : uses) {
    const Contract& c = use.component.contract();
    file.components.push_back({c.component + ".plk", use.as, {file.file, 3}});
    packages.push_back({c.component + ".plk", c.component + ".plk", {}, c});
  }
  file.bind = links.bind;
  file.set = links.set;
  for (const auto& [a, b] : links.bind) file.lines["BIND " + a + "=" + b] = 9;
  for (const auto& [name, value] : links.set) file.lines["SET " + name] = 9;
  return assemble(file, packages);
}

Composition compose(const std::vector<Use>& uses, const Links& links) {
  Outcome<Composition> composition = try_compose(uses, links);
  INFO(render_text(composition.diagnostics));
  REQUIRE(composition);
  return std::move(*composition);
}

std::string messages(const Composition& composition) {
  Outcome<Bindings> bindings = bind(composition);
  Diagnostics all = bindings.diagnostics;
  if (bindings) append(all, check(composition, *bindings));
  return render_text(all);
}

std::string picture(const Composition& composition, const Bindings& bindings) {
  std::string out;
  const auto add = [&](const std::vector<Binding>& list, auto member) {
    for (const Binding& b : list) {
      const auto name = [&](PortRef r) {
        return composition.instances[r.instance].name + "." +
               (composition.contract(r.instance).*member)[r.index].name;
      };
      out += name(b.importer) + " -> " + name(b.exporter) + "\n";
    }
  };
  add(bindings.callables, &Contract::callables);
  add(bindings.handovers, &Contract::callables);
  add(bindings.rings, &Contract::rings);
  add(bindings.counters, &Contract::counters);
  add(bindings.tensors, &Contract::tensors);
  for (std::size_t i = 0; i < composition.instances.size(); ++i) {
    for (std::size_t k = 0; k < bindings.fact_of[i].size(); ++k) {
      const FactValue& v = bindings.facts.at(bindings.fact_of[i][k]);
      out += composition.instances[i].name + "." + composition.contract(i).facts[k].name + " = " +
             (v.from_placement ? "?" : binding::value_text(v)) + "\n";
    }
  }
  for (const PortRef r : bindings.dropped) {
    out += "dropped " + composition.instances[r.instance].name + "." +
           composition.contract(r.instance).callables[r.index].name + "\n";
  }
  return out;
}

std::string picture(const Composition& composition) {
  Outcome<Bindings> bindings = bind(composition);
  INFO(render_text(bindings.diagnostics));
  REQUIRE(bindings);
  return picture(composition, *bindings);
}

}  // namespace pipelink::test

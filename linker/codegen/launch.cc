#include "linker/codegen/launch.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "packager/contract/fields.h"

namespace pipelink {
namespace {

LaunchFact launch_fact(const contract::Fact& declared, const FactValue& value) {
  LaunchFact out;
  out.name = declared.name;
  switch (declared.type) {
    case contract::FactType::kInteger:
      out.type = PIPELINK_FACT_INTEGER;
      break;
    case contract::FactType::kBoolean:
      out.type = PIPELINK_FACT_BOOLEAN;
      break;
    case contract::FactType::kReal:
      out.type = PIPELINK_FACT_REAL;
      break;
    case contract::FactType::kText:
      out.type = PIPELINK_FACT_TEXT;
      break;
  }
  out.value = value.integer;
  const bool number =
      declared.type == contract::FactType::kInteger || declared.type == contract::FactType::kBoolean;
  out.text = number ? std::to_string(out.value) : value.text;
  return out;
}

std::vector<LaunchField> launch_fields(const std::vector<contract::Field>& fields) {
  std::vector<LaunchField> out;
  for (const contract::Field& f : fields)
    out.push_back({f.name, static_cast<std::size_t>(f.offset), static_cast<std::size_t>(f.size),
                   std::string(contract::enum_name(f.kind))});
  return out;
}

LaunchInstance launch_instance(const Composition& composition, const Bindings& bindings, const Plan& plan,
                               std::size_t i) {
  const contract::Contract& c = composition.contract(i);
  LaunchInstance out;
  out.name = composition.instances[i].name;
  out.component = c.component;
  if (c.parameters) {
    out.region_offset = static_cast<std::size_t>(plan.instances[i].parameters);
    out.region_size = static_cast<std::size_t>(c.parameters->size);
    out.region_align = static_cast<std::size_t>(c.parameters->align);
    out.region_type = c.parameters->type;
    out.region_header = c.parameters->header;
    out.fields = launch_fields(c.parameters->fields);
  }
  if (c.host) {
    out.provider = c.host->symbol;
    out.provider_abi = static_cast<std::uint32_t>(c.host->abi);
    out.arguments_type = c.host->arguments;
    out.arguments_header = c.host->header;
    if (c.host->size != 0) {
      out.arguments_size = static_cast<std::size_t>(c.host->size);
      out.arguments_align = static_cast<std::size_t>(c.host->align);
      out.arguments = launch_fields(c.host->fields);
    }
  }
  for (std::size_t k = 0; k < c.scratch.size(); ++k) {
    const PlacedScratch& at = plan.instances[i].scratch[k];
    out.scratch.push_back({c.scratch[k].name, static_cast<std::size_t>(at.field),
                           static_cast<std::uint64_t>(at.bytes), c.scratch[k].per_block,
                           c.scratch[k].zeroed});
  }
  for (std::size_t k = 0; k < c.facts.size(); ++k)
    out.facts.push_back(launch_fact(c.facts[k], bindings.facts[bindings.fact_of[i][k]]));
  for (std::size_t r = 0; r < c.rings.size(); ++r) {
    const std::int64_t stages = plan.instances[i].rings[r].stages;
    out.facts.push_back({c.rings[r].name + ".stages", PIPELINK_FACT_INTEGER, stages, std::to_string(stages)});
  }
  return out;
}

LaunchGuard launch_guard(const Composition& composition, const Plan& plan) {
  LaunchGuard out;
  out.parameter = static_cast<std::size_t>(plan.guard->parameter);
  out.milliseconds = static_cast<std::uint32_t>(composition.options.guard_ms);
  const auto u32 = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  // By claim: "gemm.operands.full" is the ring gemm.operands.
  std::map<std::string, LaunchGuard::Claim> uses;
  for (std::size_t i = 0; i < composition.instances.size(); ++i) {
    const contract::Contract& c = composition.contract(i);
    const std::string prefix = composition.instances[i].name + ".";
    for (const contract::Buffer& b : c.buffers)
      uses[prefix + b.name] = {.kind = "buffer", .name = prefix + b.name};
    for (std::size_t r = 0; r < c.rings.size(); ++r) {
      if (c.rings[r].direction != contract::Direction::kExport) continue;
      const std::string ring = prefix + c.rings[r].name;
      const PlacedRing& at = plan.instances[i].rings[r];
      uses[ring] = {.kind = "ring", .name = ring};
      uses[ring + ".full"] = {.kind = "full", .name = ring, .arrivals = u32(at.full_arrivals)};
      uses[ring + ".empty"] = {.kind = "empty", .name = ring, .arrivals = u32(at.empty_arrivals)};
    }
    for (std::size_t m = 0; m < c.mbarriers.size(); ++m)
      uses[prefix + c.mbarriers[m].name] = {.kind = "mbarriers",
                                            .name = prefix + c.mbarriers[m].name,
                                            .arrivals = u32(plan.instances[i].mbarriers[m].arrivals)};
  }
  for (const place::BufferPlacement& b : plan.solution.buffers) {
    const auto use = uses.find(b.name);
    LaunchGuard::Claim claim =
        use == uses.end() ? LaunchGuard::Claim{.kind = "kernel", .name = b.name} : use->second;
    claim.offset = u32(b.offset);
    claim.bytes = u32(b.bytes);
    out.claims.push_back(std::move(claim));
  }
  std::sort(out.claims.begin(), out.claims.end(), [](const auto& a, const auto& b) {
    return std::pair(a.offset, a.name) < std::pair(b.offset, b.name);
  });
  for (const place::RolePlacement& r : plan.solution.roles)
    out.roles.push_back({r.name, u32(r.first_warp), u32(r.warps)});
  for (const place::BarrierPlacement& b : plan.solution.barriers) out.barriers.push_back({b.name, u32(b.id)});
  return out;
}

}  // namespace

LaunchDescription launch_description(const Composition& composition, const Bindings& bindings,
                                     const Plan& plan) {
  LaunchDescription out;
  out.composition = composition.name;
  out.arch = composition.arch;
  out.entry = composition.name;
  out.threads = static_cast<std::uint32_t>(plan.threads);
  for (int d = 0; d < 3; ++d) out.cluster[d] = static_cast<std::uint32_t>(composition.launch.cluster[d]);
  out.blocks_per_sm = static_cast<std::uint32_t>(composition.launch.blocks_per_sm);
  for (std::size_t i = 0; i < composition.instances.size(); ++i)
    if (const auto& grid = composition.contract(i).grid; grid && grid->resident) out.resident = 1;
  out.parameter_size = static_cast<std::size_t>(plan.parameter_bytes);
  out.parameter_align = static_cast<std::size_t>(plan.parameter_align);
  if (plan.guard) out.guard = launch_guard(composition, plan);
  for (std::size_t i = 0; i < composition.instances.size(); ++i)
    out.instances.push_back(launch_instance(composition, bindings, plan, i));
  return out;
}

}  // namespace pipelink

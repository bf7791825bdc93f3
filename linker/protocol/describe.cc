#include "linker/bind/words.h"
#include "linker/protocol/sequences.h"

namespace pipelink::protocol {

using binding::quoted;

std::string ordinal(std::int64_t number) {
  const std::int64_t tens = number / 10 % 10, ones = number % 10;
  const char* const end = tens == 1 ? "th" : ones == 1 ? "st" : ones == 2 ? "nd" : ones == 3 ? "rd" : "th";
  return std::to_string(number) + end;
}

std::string times(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " time" : " times");
}

std::string barrier_text(const Sequences& sequences, std::size_t place) {
  const Protocol& protocol = sequences.protocols[sequences.places[place].protocol];
  if (protocol.kind != Kind::kRing && protocol.kind != Kind::kHandover) return quoted(protocol.name);
  const bool empty = place > 0 && sequences.places[place - 1].protocol == sequences.places[place].protocol;
  if (protocol.kind == Kind::kHandover)
    return std::string(empty ? "the empty" : "the full") + " staging of " + quoted(protocol.name);
  return std::string(empty ? "the empty" : "the full") + " barriers of " + quoted(protocol.name);
}

std::string step_text(const Composition& composition, const Sequences& sequences, std::size_t role,
                      const Operation& operation) {
  const StepText& text = sequences.texts[operation.text];
  const Sequence& sequence = sequences.roles[role];
  const std::string of = text.instance == sequence.instance
                             ? sequence.name
                             : composition.instances[text.instance].name + " in " + sequence.name;
  return quoted(text.text) + " of " + of;
}

}  // namespace pipelink::protocol

// Scores as they are.
#define PIPELINK_COMPONENT plain_scores
#include <pipelink/component.h>

namespace plain_scores {

PIPELINK_EXPORT(score, void, pipelink::Self, float (&)[64], int, int, unsigned, float) {}

}  // namespace plain_scores

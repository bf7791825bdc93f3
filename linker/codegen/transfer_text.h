// A transfer's steps as straight-line CUDA.
#pragma once

#include <string>
#include <vector>

#include "linker/plan/plan.h"
#include "linker/route/transfer.h"

namespace pipelink {

/// Where the code stands.
struct TransferContext {
  std::string prefix;  ///< of every name that the code declares, e.g. "t0_"
  int first_warp = 0;  ///< of the role whose threads run it
  PlacedTransfer placed;
  bool guarded = false;  ///< named barriers are the guard's
};

struct TransferText {
  std::vector<std::string> before, after;  ///< statements around the call of the consumer
  std::string argument;                    ///< what the consumer is given
};

/// What carries the tile on one side: an argument or an array, and its type, under the alias that the glue
/// declares.
struct Carried {
  std::string argument, alias;
  const contract::Type* type = nullptr;
};

/// The producer calls the consumer. `hands_back`: what the consumer leaves in its registers is the producer's
/// again, which only renaming can do.
TransferText transfer_text(const transfer::Transfer& transfer, const TransferContext& context,
                           const Carried& from, const Carried& to, bool hands_back);

/// The consumer calls the producer: from registers to registers, when the producer returns. The argument is
/// for the producer.
TransferText transfer_text_on_return(const transfer::Transfer& transfer, const TransferContext& context,
                                     const Carried& from, const Carried& to);

/// Two roles: the body of what the producer calls, that of what the consumer calls to have `to` filled, and
/// what each thread of the consumer's role does before its first call.
std::vector<std::string> give_text(const transfer::Transfer& transfer, const TransferContext& context,
                                   const Carried& from);
std::vector<std::string> take_text(const transfer::Transfer& transfer, const TransferContext& context,
                                   const Carried& to);
std::vector<std::string> prearrive_text(const transfer::Transfer& transfer, const TransferContext& context);

/// Device functions that the text of any transfer may use.
std::string transfer_helpers();

}  // namespace pipelink

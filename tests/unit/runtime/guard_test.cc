// What a guarded kernel wrote, in words; and that it is not launched again.
#include <doctest/doctest.h>

#include <cstring>

#include "sample.h"

using namespace pipelink;
using namespace pipelink::runtime_internal;
using sample::Machine;
using sample::state;

namespace sample {
extern std::string text_of(const LaunchDescription&);
}

namespace {

LaunchDescription guarded() {
  LaunchDescription d = sample::description();
  LaunchGuard g;
  g.parameter = 256;
  g.milliseconds = 2000;
  g.claims = {{"kernel", "kernel:guard", 0, 208, 0}, {"buffer", "load.odd", 336, 101, 0},
              {"ring", "new.queue", 1024, 4096, 0},  {"full", "new.queue", 5248, 32, 1},
              {"empty", "new.queue", 5408, 32, 128}, {"mbarriers", "load.turns", 5568, 24, 2}};
  g.roles = {{"load.run", 0, 4}, {"new.scale", 4, 8}};
  g.barriers = {{"load.all", 1}, {"new.rows", 2}, {"new.columns", 2}};
  d.guard = g;
  return d;
}

std::string text(const std::vector<GuardRecord>& records) {
  return GuardReport(*guarded().guard, records).text();
}

}  // namespace

TEST_CASE("the description of a guarded kernel is read as it was written") {
  const auto back = parse_launch(sample::text_of(guarded()));
  REQUIRE_MESSAGE(back, back.error().message);
  CHECK(*back == guarded());
  for (const char* bad :
       {"guard=256", "guard=256 0 1", "guard_claim=heap 0 1 0 a.b", "guard_claim=buffer 0 1 0",
        "guard_role=0 1", "guard_barrier=x a.b", "guard=256 2000\nguard=256 2000"})
    CHECK_FALSE_MESSAGE(parse_launch("pipelink-launch/1\ncomposition=a\narch=sm_90a\nentry=a\nthreads=128\n"
                                     "parameters=320 64\n" +
                                     std::string(bad) + "\n"),
                        bad);
  LaunchDescription outside = guarded();
  outside.guard->parameter = 320;
  CHECK(launch_fault(outside) == "the guard's parameter leaves the parameter block, or it has no time");
}

TEST_CASE("waits are named by claim, protocol, role and thread") {
  CHECK(text({}) == "");
  CHECK(text({{kGuardMbarrier, 7, 133, 5248 + 16, 1, 1, 2000123, 5}}) ==
        "timeout: role new.scale (block 7, warp 4, thread 133) waited 2.000 s for the full barrier of ring "
        "new.queue, stage 2, parity 1, which takes 1 arrival\n");
  CHECK(text({{kGuardMbarrier, 7, 133, 5248, 1, 0, 2000123, 5}})
            .ends_with("stage 0, parity 1, which takes 1 arrival\n"));
  CHECK(text({{kGuardBarrier, 0, 128, 2, 256, 7, 2000123, 5}}) ==
        "timeout: role new.scale (block 0, warp 4, thread 128) waited 2.000 s for named barrier new.rows or "
        "new.columns: 7 of 8 warps came\n");
  CHECK(text({{kGuardMbarrier, 0, 400, 336, 0, 2, 2000123, 5}}) ==
        "timeout: no role (block 0, warp 12, thread 400) waited 2.000 s for an mbarrier at offset 336, which "
        "nobody "
        "claims\n");
  CHECK(text({{kGuardStuck, 3, 0, 0x12, 8, 4, 0, 0}, {kGuardStuck, 3, 0, 0, 8, 6, 0, 0}}) ==
        "stuck: in block 3 warp 1 (role load.run), warp 4 (role new.scale) did not end after that: the code "
        "waits "
        "where no guard sees it\nstuck: 2 of 8 blocks did not end after that\n");
}

TEST_CASE("the likely cause comes first: what was waited for first") {
  constexpr std::uint32_t also_mbarrier = kGuardMbarrier | kGuardAlso,
                          also_barrier = kGuardBarrier | kGuardAlso;
  const GuardRecord nobody{kGuardMbarrier, 7, 0, 5248, 1, 1, 2000123, 100},
      some{also_mbarrier, 7, 128, 5408, 0, 3, 1990000, 300},
      named{also_barrier, 7, 160, 1, 128, 3, 1990000, 200}, begun{also_mbarrier, 7, 192, 5408, 0, 3, 999, 50};
  const std::string
      some_line =
          "role new.scale (block 7, warp 4, thread 128) waited 1.990 s for the empty barrier of ring "
          "new.queue, stage 0, parity 0, which takes 128 arrivals\n",
      named_line =
          "role new.scale (block 7, warp 5, thread 160) waited 1.990 s for named barrier load.all: "
          "3 of 4 warps came\n",
      nobody_line =
          "role load.run (block 7, warp 0, thread 0) waited 2.000 s for the full barrier of ring "
          "new.queue, stage 0, parity 1, which takes 1 arrival\n";
  CHECK(text({nobody, some, named, begun}) ==
        "timeout: " + nobody_line + "  also: " + named_line + "  also: " + some_line);
  CHECK(text({named, begun, nobody}) == "timeout: " + nobody_line + "  also: " + named_line);
  // Of two alike, the one that began first; the clock's low half may wrap.
  GuardRecord late = some, early = some;
  early.block = 8;
  early.d = 0xfffffff0;
  CHECK(text({late, early}).starts_with("timeout: role new.scale (block 8"));
  CHECK(text({early, late}).starts_with("timeout: role new.scale (block 8"));
}

TEST_CASE("overruns are named by the nearest claim") {
  CHECK(text({{kGuardOverrun, 0, 9, 437, 437, 437, 1, 0x5c005c00}}) ==
        "overrun: byte 1 after buffer load.odd of 101 bytes; 0x00 instead of 0x5c in block 0\n");
  CHECK(text({{kGuardOverrun, 0, 9, 208, 335, 335, 1, 0x60ff60ff}}) ==
        "overrun: byte 1 before buffer load.odd of 101 bytes; 0xff instead of 0x60 in block 0\n");
  CHECK(text({{kGuardOverrun, 0, 9, 437, 438, 445, 8, 0x5c015c02}}) ==
        "overrun: byte 2 after buffer load.odd of 101 bytes, 8 wrong bytes up to byte 9 after it; 0x02 "
        "instead of 0x5c in "
        "block 0\n");
  CHECK(text({{kGuardOverrun, 0, 9, 437, 1000, 1022, 23, 0x5c015c02}}) ==
        "overrun: byte 2 before ring new.queue of 4096 bytes, 23 wrong bytes up to byte 24 before it; 0x01 "
        "instead of "
        "0x5c in block 0\n");
  CHECK(text({{kGuardOverrun, 0, 9, 5120, 5120, 5120, 1, 0x5c015c02}})
            .starts_with("overrun: byte 1 after ring new.queue of 4096 bytes;"));
  CHECK(text({{kGuardOverrun, 0, 9, 5280, 5407, 5407, 1, 0x5c015c02}})
            .starts_with("overrun: byte 1 before the empty barriers of ring new.queue;"));
  CHECK(text({{kGuardOverrun, 0, 9, 208, 208, 208, 1, 0x5c015c02}})
            .starts_with("overrun: byte 1 after the kernel's own words (kernel:guard);"));
  // The same in several blocks is one line; the pattern is another in each.
  CHECK(
      text({{kGuardOverrun, 5, 9, 437, 437, 437, 1, 0x5c005c00},
            {kGuardOverrun, 2, 9, 437, 437, 437, 1, 0x61006100},
            {kGuardOverrun, 9, 9, 437, 437, 437, 1, 0x62006200}}) ==
      "overrun: byte 1 after buffer load.odd of 101 bytes; 0x00 instead of 0x61 in block 2, and in 2 more\n");
  CHECK(text(std::vector<GuardRecord>(kGuardRecords, {kGuardOverrun, 5, 9, 437, 437, 437, 1, 0x5c005c00}))
            .ends_with("there may be more: the record is full\n"));
}

TEST_CASE("the kernel is told where its findings go, and is not launched again after one") {
  Machine machine({guarded()});
  {
    const auto kernel = machine.load();
    REQUIRE_MESSAGE(kernel, kernel.error().message);
    CHECK(state().pinned_taken == 1);
    const std::vector<std::byte> parameters(320);
    const auto session = kernel->open_raw(parameters);
    REQUIRE(session);
    std::uint64_t address = 0;
    std::memcpy(&address, session->parameters().data() + 256, sizeof address);
    CHECK(address == reinterpret_cast<std::uintptr_t>(state().pinned) + 1);
    CHECK(session->launch(nullptr));
    CHECK(session->guard_report() == "");
    const GuardRecord record{kGuardOverrun, 0, 9, 437, 437, 437, 1, 0x5c005c00};
    std::memcpy(state().pinned, &record, sizeof record);
    CHECK(session->guard_report() ==
          "overrun: byte 1 after buffer load.odd of 101 bytes; 0x00 instead of 0x5c in block 0\n");
    const auto again = session->launch(nullptr);
    REQUIRE_FALSE(again);
    CHECK(again.error().code == ErrorCode::kGuard);
    CHECK(again.error().message ==
          "sample is guarded, and an earlier launch failed: overrun: byte 1 after buffer load.odd of 101 "
          "bytes; 0x00 "
          "instead of 0x5c in block 0");
    CHECK(state().launched == 1);
    CHECK(kernel->open_raw(parameters)->guard_report() == session->guard_report());
  }
  CHECK(state().pinned_freed == 1);
}

TEST_CASE("without a guard nothing is taken") {
  Machine machine;
  {
    const auto kernel = machine.load();
    REQUIRE(kernel);
    const std::vector<std::byte> parameters(320);
    CHECK(kernel->open_raw(parameters)->guard_report() == "");
  }
  CHECK(state().pinned_taken + state().pinned_freed == 0);
}

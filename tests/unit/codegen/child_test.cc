// Work in a child process: its result, its death, its time and its memory.
#include "linker/backend/child.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace pipelink::test {

TEST_CASE("what work returns comes back whole") {
  for (const std::string& bytes : {std::string(), std::string("x"), std::string("\n."),
                                   std::string("a\0b\n.", 5), std::string(5 << 20, 'z')}) {
    const ChildResult result = run_in_child({10, 0}, [&] { return bytes; });
    CHECK(result.finished);
    CHECK(result.bytes == bytes);
    CHECK(result.death.empty());
  }
}

TEST_CASE("a child that dies says how, and gives nothing") {
  const ChildResult killed = run_in_child({10, 0}, []() -> std::string {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return "never";
  });
  CHECK_FALSE(killed.finished);
  CHECK(killed.bytes.empty());
  CHECK(killed.death == "signal 11 (Segmentation fault)");

  const ChildResult left = run_in_child({10, 0}, []() -> std::string { _exit(7); });
  CHECK_FALSE(left.finished);
  CHECK(left.death == "exit status 7");

  // Even with status 0: without the end mark a result is not whole.
  const ChildResult quiet = run_in_child({10, 0}, []() -> std::string { _exit(0); });
  CHECK_FALSE(quiet.finished);
}

TEST_CASE("an exception of the work is a death with its text") {
  const ChildResult result =
      run_in_child({10, 0}, []() -> std::string { throw std::runtime_error("no such thing"); });
  CHECK_FALSE(result.finished);
  CHECK(result.death == "exit status 1");
  CHECK(result.standard_error == "no such thing\n");
}

TEST_CASE("a child that stalls is ended in time") {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult result = run_in_child({1, 0}, []() -> std::string {
    for (;;) pause();
  });
  CHECK_FALSE(result.finished);
  CHECK(result.death == "no result within 1 s");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("standard output is not the child's; standard error is kept, up to a bound") {
  const ChildResult result = run_in_child({10, 0}, [] {
    std::puts("noise");
    std::fflush(stdout);
    for (int i = 0; i < 20000; ++i) std::fputs("0123456789", stderr);
    return std::string("done");
  });
  CHECK(result.finished);
  CHECK(result.bytes == "done");
  CHECK(result.standard_error.size() == 64 * 1024);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a child that wants too much memory ends alone") {
  const ChildResult result = run_in_child({10, std::uint64_t{1} << 30}, [] {
    std::vector<char> much(std::size_t{4} << 30, 'x');
    return std::string(much.data(), 1);
  });
  CHECK_FALSE(result.finished);
  CHECK(result.standard_error.find("bad_alloc") != std::string::npos);
}
#endif

}  // namespace pipelink::test

// Work in a child process: its result, its death, its time and its memory.
#include "linker/backend/child.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
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

  // Even with status 0: without its length a result is not whole.
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

TEST_CASE("what is sent arrives whole, however large and whatever its bytes") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{16}, std::size_t{5'000'000}}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 % 251);
    Child child({10, 0}, [](const Receive& receive) { return receive() + "!"; });
    child.send(bytes);
    const ChildResult result = child.wait();
    REQUIRE(result.finished);
    CHECK(result.bytes == bytes + "!");
  }
}

TEST_CASE("a child that dies before it reads what is sent is told by its death") {
  Child child({10, 0}, [](const Receive&) -> std::string { _exit(9); });
  child.send(std::string(5'000'000, 'x'));
  const ChildResult result = child.wait();
  CHECK_FALSE(result.finished);
  CHECK(result.death == "exit status 9");
}

TEST_CASE("a child that never reads is stopped at its limit") {
  Child child({1, 0}, [](const Receive&) -> std::string {
    for (;;) pause();
  });
  child.send(std::string(5'000'000, 'x'));
  CHECK(child.wait().death == "no result within 1 s");
}

TEST_CASE("an answer that is cut short is none") {
  // The first digits of a length, and the end.
  Child child({10, 0}, [](const Receive&) -> std::string {
    for (int fd = 3; fd < 64; ++fd) (void)!write(fd, "00000000000000ff", 16);
    _exit(0);
  });
  const ChildResult result = child.wait();
  CHECK_FALSE(result.finished);
  CHECK(result.death == "exit status 0");
}

TEST_CASE("children wait at the same time, and one works in another") {
  Child outer({10, 0}, [](const Receive& receive) {
    Child inner({10, 0}, [](const Receive& from) { return "<" + from() + ">"; });
    inner.send(receive());
    return inner.wait().bytes;
  });
  Child other({10, 0}, [](const Receive& receive) { return receive(); });
  outer.send("a");
  other.send("b");
  CHECK(other.wait().bytes == "b");
  CHECK(outer.wait().bytes == "<a>");
}

TEST_CASE("a child that nobody waits for is ended") {
  pid_t pid = 0;
  {
    Child child({10, 0}, [](const Receive& receive) { return receive(); });
    // Its process is the youngest child of this one.
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    while (children >> pid) {
    }
    REQUIRE(pid > 0);
  }
  CHECK(kill(pid, 0) != 0);
}

}  // namespace pipelink::test

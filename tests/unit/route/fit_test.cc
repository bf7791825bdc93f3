#include <doctest/doctest.h>

#include <functional>
#include <random>

#include "linker/route/fit.h"

using namespace pipelink::transfer;

namespace {

std::vector<std::int32_t> table(int threads, const std::function<std::int32_t(int)>& number) {
  std::vector<std::int32_t> out;
  for (int t = 0; t < threads; ++t) out.push_back(number(t));
  return out;
}

ThreadValue fitted(const std::vector<std::int32_t>& numbers) {
  ThreadValue value = fit_value(numbers);
  for (std::size_t t = 0; t < numbers.size(); ++t)
    if (numbers[t] != kAny) REQUIRE(value(static_cast<int>(t)) == numbers[t]);
  return value;
}

}  // namespace

TEST_SUITE_BEGIN("fit");

TEST_CASE("forms of values") {
  CHECK(text_of(fitted(table(32, [](int) { return 7; }))) == "7");
  CHECK(text_of(fitted(table(32, [](int t) { return t ^ 5; }))) == "(thread & 31) ^ 5");
  CHECK(xor_lane(fitted(table(128, [](int t) { return t % 32 ^ 5; }))) == 5);
  CHECK(text_of(fitted(table(128, [](int t) { return t * 16; }))) == "(thread & 127) << 4");
  CHECK(text_of(fitted(table(128, [](int t) { return t * 16 ^ (t / 8 % 8) * 16; }))) ==
        "(thread & 56) << 1 ^ (thread & 127) << 4");
  // A pitch that is no power of two, and threads that are none.
  CHECK(text_of(fitted(table(128, [](int t) { return t / 4 * 144 + t % 4 * 16; }))) ==
        "thread / 1 % 4 * 16 + thread / 4 % 32 * 144");
  CHECK(text_of(fitted(table(96, [](int t) { return 3 + t / 24 * 100 + t % 24 * 4; }))) ==
        "thread / 1 % 24 * 4 + thread / 24 % 4 * 100 + 3");
  CHECK(fitted(table(32, [](int t) { return t * t % 32; })).form == ThreadValue::Form::kTable);
}

TEST_CASE("threads that do not care") {
  std::vector<std::int32_t> numbers = table(64, [](int t) { return t * 8 + 4; });
  for (std::size_t t = 0; t < numbers.size(); ++t)
    if (t % 3 == 1) numbers[t] = kAny;
  CHECK(fitted(numbers).form == ThreadValue::Form::kXor);
  CHECK(fitted(std::vector<std::int32_t>(32, kAny)).form == ThreadValue::Form::kXor);
}

TEST_CASE("forms of conditions") {
  const auto condition = [](int threads, const std::function<bool(int)>& wanted) {
    std::vector<std::int8_t> list;
    for (int t = 0; t < threads; ++t) list.push_back(wanted(t) ? std::int8_t{1} : std::int8_t{0});
    const ThreadCondition out = fit_condition(list);
    for (int t = 0; t < threads; ++t) REQUIRE(out(t) == wanted(t));
    return text_of(out);
  };
  CHECK(condition(32, [](int t) { return t % 2 == 1; }) == "(thread & 1) == 1");
  CHECK(condition(128, [](int t) { return t / 4 % 4 == 2; }) == "(thread & 12) == 8");
  CHECK(condition(128, [](int t) { return (t ^ t / 4) % 2 == 1; }) == "parity(thread & 5) == 1");
  CHECK(condition(128, [](int t) { return (t ^ t / 4) % 2 == 0; }) == "parity(thread & 5) == 0");
  CHECK(condition(96, [](int t) { return t < 70; }) == "thread < 70");
  CHECK(condition(64, [](int t) { return t % 32 == 3 || t % 32 == 8; }) == "lanes(0x00000108)");
  CHECK(condition(64, [](int t) { return t == 3 || t == 40; }) == "lanes(0x00000008,0x00000100)");
}

TEST_CASE("random tables are kept") {
  std::mt19937 random(1);
  for (int n = 0; n < 500; ++n) {
    const int threads = 1 + static_cast<int>(random() % 128);
    std::vector<std::int32_t> numbers;
    std::vector<std::int8_t> wanted;
    for (int t = 0; t < threads; ++t) {
      numbers.push_back(random() % 4 == 0 ? kAny : static_cast<std::int32_t>(random() % 4 * 16));
      wanted.push_back(static_cast<std::int8_t>(static_cast<int>(random() % 3) - 1));
    }
    wanted.front() = 1;
    fitted(numbers);
    const ThreadCondition condition = fit_condition(wanted);
    for (int t = 0; t < threads; ++t)
      if (wanted[static_cast<std::size_t>(t)] >= 0)
        REQUIRE(condition(t) == (wanted[static_cast<std::size_t>(t)] == 1));
  }
}

TEST_CASE("threads by number") {
  ThreadValue value;
  value.form = ThreadValue::Form::kTable;
  for (int t = 0; t < 64; ++t) value.table.push_back(t % 32 == 5 ? 2 : t % 2);
  const std::vector<ThreadGroup> list = groups(value, 64);
  REQUIRE(list.size() == 3);
  CHECK(list.back().number == 0);  // the most frequent
  for (int t = 0; t < 64; ++t) {
    int count = 0;
    for (const ThreadGroup& group : list)
      if (group.condition(t)) {
        ++count;
        CHECK(group.number == value(t));
      }
    CHECK(count == 1);
  }
}

TEST_SUITE_END();

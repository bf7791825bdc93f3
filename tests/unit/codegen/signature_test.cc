// Types of callables as the glue spells them.
#include "linker/codegen/signature.h"

#include <doctest/doctest.h>

#include "packager/contract/type_text.h"

namespace pipelink::test {
namespace {

contract::Type type(const std::string& name) {
  return {name, 8, 8};
}

}  // namespace

TEST_CASE("types that every compiler knows") {
  for (const char* name :
       {"void", "int", "unsigned int", "const float *", "float (&)[64]", "float4", "const uint2 &", "bool",
        "unsigned long long", "double *__restrict__", "float (*)[4]", "signed char", "longlong2"})
    CHECK_MESSAGE(contract::is_builtin_type(name), name);
  for (const char* name :
       {"exchange::Wide", "const exchange::Wide &", "float5", "Vector<float, 4>", "__half", "integer"})
    CHECK_MESSAGE(!contract::is_builtin_type(name), name);
}

TEST_CASE("nvcc's spelling of bool") {
  CHECK(contract::spelt_type("__nv_bool *") == "bool *");
  CHECK(contract::spelt_type("Pair<__nv_bool, __nv_bool>") == "Pair<bool, bool>");
}

TEST_CASE("what the glue cannot pass on") {
  for (const char* name :
       {"exchange::Wide", "exchange::Mode", "const exchange::Wide", "__half", "Vector<float *, 4>"})
    CHECK_MESSAGE(contract::needs_definition(type(name)), name);
  for (const char* name :
       {"exchange::Wide &", "const exchange::Wide *", "exchange::Wide *__restrict__", "exchange::Wide (&)[4]",
        "exchange::Wide *const", "int", "float (&)[64]", "bool", "exchange::Wide &&"})
    CHECK_MESSAGE(!contract::needs_definition(type(name)), name);
}

TEST_CASE("a signature") {
  contract::Callable callable;
  callable.name = "f";
  callable.result = {"bool", 1, 1};
  callable.parameters = {type("const float (&)[4]"), type("exchange::Wide &"), type("const exchange::Wide *"),
                         type("bool *")};
  const SignatureText text = signature_text("pl__a__export__f", callable);
  CHECK(text.result == "bool");
  CHECK(text.parameters == std::vector<std::string>{"pl__a__export__f__p0", "pl__a__export__f__p1",
                                                    "pl__a__export__f__p2", "pl__a__export__f__p3"});
  CHECK(text.aliases == std::vector<std::string>{
                            "using pl__a__export__f__p0 = const float (&)[4];", "#ifdef PIPELINK_CONTROL",
                            "using pl__a__export__f__p1 = exchange::Wide &;", "#else",
                            "using pl__a__export__f__p1 = unsigned char&;", "#endif",
                            "#ifdef PIPELINK_CONTROL", "using pl__a__export__f__p2 = const exchange::Wide *;",
                            "#else", "using pl__a__export__f__p2 = void*;", "#endif",
                            "using pl__a__export__f__p3 = bool *;"});
}

}  // namespace pipelink::test

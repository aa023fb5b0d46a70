// The core's own tests, without Python. Each file tests the header of the same name against a plain twin.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

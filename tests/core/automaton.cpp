#include "automaton.hpp"

#include <algorithm>

#include "lexer.hpp"
#include "plain_scanners.hpp"
#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

std::vector<std::size_t> run(const Automaton& automaton, const u8* s, std::size_t n, std::size_t wanted = 512) {
  std::vector<std::size_t> ends;
  Cursor cursor;
  while (const std::size_t k = automaton.fill(cursor, s, n, true, wanted))
    ends.insert(ends.end(), cursor.ends.begin(), cursor.ends.begin() + static_cast<std::ptrdiff_t>(k));
  return ends;
}
std::vector<std::size_t> run(const Automaton& automaton, const Exact& text, std::size_t wanted = 512) {
  return run(automaton, text.data(), text.size(), wanted);
}

}  // namespace

TEST_CASE("every automaton equals its lexer") {
  Random random(100);
  for (const Pattern& pattern : patterns()) {
    CAPTURE(pattern.name);
    const Automaton automaton = pattern.automaton();
    for (int round = 0; round < 400; ++round) {
      const std::string text = random_text(random, random.one_in(4) ? 700 : 40);
      CAPTURE(text);
      const Exact exact(text);
      REQUIRE(run(automaton, exact, random.between(1, 20)) == lex(pattern, exact.data(), exact.size()));
    }
  }
}

TEST_CASE("every automaton equals its lexer on all short strings over a few characters") {
  const std::vector<std::string> alphabet = {"a", "b", "B", " ", "\n", "1", "'", utf8(0x3042)};
  for (const Pattern& pattern : patterns()) {
    CAPTURE(pattern.name);
    const Automaton automaton = pattern.automaton();
    std::size_t wrong = 0;
    for (std::size_t code = 0; code < 8 * 8 * 8 * 8; ++code) {
      std::string text;
      for (std::size_t rest = code; rest > 0; rest /= 8) text += alphabet[rest % 8];
      const Exact exact(text);
      wrong += run(automaton, exact) != lex(pattern, exact.data(), exact.size());
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("gpt2 and cl100k, automaton and lexer, equal scanners written by hand") {
  Random random(101);
  const Pattern &gpt2 = pattern_named("gpt2"), &cl100k = pattern_named("cl100k");
  const PlainScanner plain_gpt2(gpt2), plain_cl100k(cl100k);
  const Automaton automaton_gpt2 = gpt2.automaton(), automaton_cl100k = cl100k.automaton();
  for (int round = 0; round < 6000; ++round) {
    const Exact text(random.one_in(3) ? tricky_text(random, random.between(1, 12)) : random_text(random, 100));
    CAPTURE(std::string(text.data(), text.data() + text.size()));
    std::vector<std::size_t> by_gpt2, by_cl100k;
    for (std::size_t at = 0; at < text.size();) by_gpt2.push_back(at = plain_gpt2.gpt2(text.data(), at, text.size()));
    for (std::size_t at = 0; at < text.size();) by_cl100k.push_back(at = plain_cl100k.cl100k(text.data(), at, text.size()));
    REQUIRE(lex(gpt2, text.data(), text.size()) == by_gpt2);
    REQUIRE(lex(cl100k, text.data(), text.size()) == by_cl100k);
    REQUIRE(run(automaton_gpt2, text) == by_gpt2);
    REQUIRE(run(automaton_cl100k, text) == by_cl100k);
  }
}

TEST_CASE("a text that goes on behind another is cut as if both were one, where a pretoken begins") {
  Random random(102);
  for (const Pattern& pattern : patterns()) {
    if (pattern.stages.size() > 1) continue;  // within a piece of an earlier stage nothing begins anew
    CAPTURE(pattern.name);
    const Automaton automaton = pattern.automaton();
    for (int round = 0; round < 100; ++round) {
      const Exact text(random_text(random, 60));
      const std::vector<std::size_t> whole = run(automaton, text);
      if (whole.size() < 2) continue;
      const std::size_t k = random.below(whole.size() - 1);
      Cursor cursor;
      automaton.restart(cursor, text.data(), 0, whole[k]);
      std::vector<std::size_t> rest;
      while (const std::size_t n = automaton.fill(cursor, text.data(), text.size(), true, 7))
        rest.insert(rest.end(), cursor.ends.begin(), cursor.ends.begin() + static_cast<std::ptrdiff_t>(n));
      REQUIRE(rest == std::vector<std::size_t>(whole.begin() + static_cast<std::ptrdiff_t>(k) + 1, whole.end()));
    }
  }
}

TEST_CASE("a weak pair is always a border") {
  Random random(103);
  for (const Pattern& pattern : patterns()) {
    CAPTURE(pattern.name);
    const u32 n_classes = pattern.classes.n_classes();
    for (int round = 0; round < 150; ++round) {
      const Exact text(random_text(random, 120));
      const std::vector<std::size_t> ends = lex(pattern, text.data(), text.size());
      u32 before = kNone, length = 0;
      for (std::size_t at = 0; at < text.size(); at += length) {
        const u32 behind = pattern.classes.at(text.data(), at, text.size(), length);
        if (before != kNone && pattern.weak[before * n_classes + behind])
          REQUIRE(std::find(ends.begin(), ends.end(), at) != ends.end());
        before = behind;
      }
    }
  }
}

TEST_CASE("where a cut is safe, both parts alone give what the whole gives") {
  Random random(104);
  for (const Pattern& pattern : patterns()) {
    CAPTURE(pattern.name);
    const Automaton automaton = pattern.automaton();
    std::size_t cuts = 0;
    for (int round = 0; round < 150; ++round) {
      const std::string text = random_text(random, 200);
      CAPTURE(text);
      const Exact exact(text);
      const std::vector<std::size_t> whole = run(automaton, exact);
      for (std::size_t from = 0; from < text.size();) {
        const std::size_t at = automaton.safe_cut(exact.data(), from, exact.size());
        REQUIRE(at > from);
        REQUIRE(at <= text.size());
        if (at == text.size()) break;
        ++cuts;
        std::vector<std::size_t> both = run(automaton, Exact(text.substr(0, at)));
        for (const std::size_t end : run(automaton, Exact(text.substr(at)))) both.push_back(at + end);
        REQUIRE(both == whole);
        from = at;
      }
    }
    if (pattern.name == "cl100k" || pattern.name == "o200k" || pattern.name == "deepseek-v3") CHECK(cuts > 100);
  }
}

TEST_CASE("runs that have no safe cut are not cut") {
  for (const char* name : {"gpt2", "cl100k", "o200k", "deepseek-v3"}) {
    const Automaton automaton = pattern_named(name).automaton();
    for (const char c : {'a', ' ', '\n', '\'', '.'}) {
      const std::string text(5000, c);
      CHECK(automaton.safe_cut(bytes_of(text), 0, text.size()) == text.size());
    }
  }
}

TEST_CASE("an empty text has no pretokens, and a text that has ended stays ended") {
  for (const Pattern& pattern : patterns()) {
    const Automaton automaton = pattern.automaton();
    CHECK(run(automaton, nullptr, 0).empty());
    Cursor cursor;
    const std::string text = "ab 1\n";
    while (automaton.fill(cursor, bytes_of(text), text.size(), true, 1) > 0) {}
    CHECK(automaton.fill(cursor, bytes_of(text), text.size(), true, 1) == 0);
  }
}

TEST_CASE("a pretoken of many ends in flight: marks move and are taken back") {
  // a*b|a: each a is a pretoken if no b comes, or they are all one.
  const Automaton automaton = pattern_named("a*b|a").automaton();
  const std::string many(1000, 'a');
  CHECK(run(automaton, Exact(many)).size() == 1000);
  CHECK(run(automaton, Exact(many + "b")).size() == 1);
  CHECK(run(automaton, Exact(many + "xx" + many + "b" + many)).size() == 1000 + 1 + 1 + 1000);
}

TEST_CASE("tables that do not fit together are refused") {
  const Pattern& pattern = pattern_named("a*b|a");
  const auto refused = [&](auto spoil) {
    Automaton::Tables tables = pattern.tables;
    spoil(tables);
    return error_of([&] { Automaton(pattern.classes, tables); }) == ErrorKind::value;
  };
  using T = Automaton::Tables;
  CHECK_FALSE(refused([](T&) {}));
  // sizes
  CHECK(refused([](T& t) { t.next.pop_back(); }));
  CHECK(refused([](T& t) { t.next.clear(); }));
  CHECK(refused([](T& t) { t.action.pop_back(); }));
  CHECK(refused([](T& t) { t.levels.clear(); }));
  CHECK(refused([](T& t) { t.levels.push_back(1); }));
  CHECK(refused([](T& t) { t.begin.pop_back(); }));
  CHECK(refused([](T& t) { t.begin.clear(); }));
  CHECK(refused([](T& t) { t.strong.pop_back(); }));
  CHECK(refused([](T& t) { t.width = 0; }));
  CHECK(refused([](T& t) { t.width = 1024; }));
  CHECK(refused([](T& t) { t.width = 1; }));
  CHECK(refused([&](T& t) {
    const std::size_t states = (std::size_t{1} << 18) / (pattern.classes.n_classes() + 1) + 1;
    t.levels.assign(states, 1);
    t.next.assign(states * (pattern.classes.n_classes() + 1), 0);
    t.action.assign(t.next.size(), 0);
  }));
  // actions
  CHECK(refused([](T& t) { t.actions.clear(); }));
  CHECK(refused([](T& t) { t.actions.resize(1); }));
  CHECK(refused([](T& t) { t.actions.resize(1u << 10, t.actions[0]); }));
  CHECK(refused([](T& t) { std::swap(t.actions[0], t.actions[1]); }));
  CHECK(refused([](T& t) { t.actions[1] = t.actions[0]; }));
  CHECK(refused([](T& t) { t.actions[2] = {}; }));
  CHECK(refused([](T& t) { t.actions[2] = {1, 0}; }));
  CHECK(refused([](T& t) { t.actions[2] = {1, 0, 1, 0}; }));
  CHECK(refused([](T& t) { t.actions[2] = {1, 0, 0, 0, 0}; }));
  CHECK(refused([](T& t) { t.actions[2] = {static_cast<u16>(t.width + 1), 0, 0}; }));
  CHECK(refused([](T& t) { t.actions[2] = {1, 3, 0}; }));
  CHECK(refused([](T& t) { t.actions[2] = {1, 0, 1, static_cast<u16>(t.width), 0}; }));
  CHECK(refused([](T& t) { t.actions[2] = {1, 0, 1, 0, static_cast<u16>(t.width)}; }));
  // numbers
  CHECK(refused([](T& t) { t.next[0] = static_cast<u16>(t.levels.size()); }));
  CHECK(refused([](T& t) { t.action[0] = static_cast<u16>(t.actions.size()); }));
  CHECK(refused([](T& t) { t.begin[0] = static_cast<u16>(t.levels.size()); }));
  CHECK(refused([](T& t) { t.levels[0] = 0; }));
  CHECK(refused([](T& t) { t.levels[1] = static_cast<u16>(t.width + 1); }));
  CHECK(refused([](T& t) {
    for (u16 state = 0; state < t.levels.size(); ++state) {
      if (t.levels[state] > 1) t.begin[0] = state;
    }
  }));
  CHECK(refused([&](T& t) { t.action[t.begin.back() * (pattern.classes.n_classes() + 1)] = 1; }));  // an empty pretoken
}

TEST_CASE("tables that fit but mean nothing run to the end of the text, within their bounds") {
  Random random(105);
  const Pattern& pattern = pattern_named("[ab]*c[ab]{0,2}d|a|b");
  for (int round = 0; round < 2000; ++round) {
    Automaton::Tables tables = pattern.tables;
    for (int k = 0; k < 4; ++k) {
      tables.next[random.below(tables.next.size())] = static_cast<u16>(random.below(tables.levels.size()));
      tables.action[random.below(tables.action.size())] = static_cast<u16>(random.below(tables.actions.size()));
    }
    if (error_of([&] { Automaton(pattern.classes, tables); })) continue;  // it began with an empty pretoken
    const Automaton automaton(pattern.classes, tables);
    std::string text;
    for (std::size_t n = random.below(200); n > 0; --n) text += "abcdx"[random.below(5)];
    const Exact exact(text);
    Cursor cursor;
    std::size_t calls = 0, before = 0;
    while (const std::size_t k = automaton.fill(cursor, exact.data(), exact.size(), true, random.between(1, 9))) {
      for (std::size_t i = 0; i < k; before = cursor.ends[i++]) REQUIRE(cursor.ends[i] > before);
      REQUIRE(before <= text.size());
      if (++calls > text.size()) break;
    }
    REQUIRE(calls <= text.size() + 1);
  }
}

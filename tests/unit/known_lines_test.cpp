#include "lib/known_lines.h"

#include "lib/fingerprint.h"

#include <catch2/catch.hpp>
#include <map>
#include <rapidcheck.h>
#include <set>
#include <string>

using namespace aegis;

namespace {

// As MetricMapper uses it: the expected line, else a look-up, else a new one.
struct Reader {
    KnownLines known{7};
    std::uint32_t next = 0;
    std::size_t expected = 0, found = 0, added = 0;

    std::uint32_t read(const std::string& series) {
        if (const auto match = known.expected(series + " 5")) {
            ++expected;
            REQUIRE(match->bytes == series.size());
            return match->meaning;
        }
        if (const auto meaning = known.find(series)) {
            ++found;
            return *meaning;
        }
        ++added;
        known.add(series, next);
        return next++;
    }
};

} // namespace

TEST_CASE("a scrape in the order of the last one needs no look-up") {
    Reader reader;
    const std::vector<std::string> series{"a{p=\"1\"}", "a{p=\"2\"}", "b", "b2", "c{}"};
    for (int scrape = 0; scrape < 3; ++scrape) {
        reader.known.rewind();
        for (std::uint32_t i = 0; i < series.size(); ++i) CHECK(reader.read(series[i]) == i);
    }
    CHECK(reader.added == 5);
    CHECK(reader.found == 0);
    CHECK(reader.expected == 10);
}

TEST_CASE("a new or a missing line costs one look-up, not the rest of the order") {
    Reader reader;
    for (const char* name : {"a", "b", "c", "d", "e"}) reader.read(name);
    reader.known.rewind();
    for (const char* name : {"a", "b", "new", "c", "e"}) reader.read(name); // d is gone
    CHECK(reader.added == 6);
    CHECK(reader.found == 1); // e, behind the line that is gone
    reader.known.rewind();
    for (const char* name : {"a", "b", "new", "c", "d", "e"}) reader.read(name);
    CHECK(reader.added == 6);
    CHECK(reader.found == 2); // and the new one, which stands elsewhere
}

TEST_CASE("a name is not taken for the beginning of a longer one") {
    KnownLines known(1);
    known.add("up", 4);
    known.rewind();
    CHECK_FALSE(known.expected("uptime 5"));
    CHECK_FALSE(known.expected("up{a=\"b\"} 5"));
    CHECK_FALSE(known.expected("up {a=\"b\"} 5"));
    CHECK_FALSE(known.expected("up"));
    CHECK(known.expected("up\t5")->meaning == 4);
}

TEST_CASE("lines not seen for a while are forgotten, the others keep their meaning") {
    Reader reader;
    for (const char* name : {"a", "b", "c"}) reader.read(name);
    reader.known.forget_unseen();
    CHECK(reader.known.size() == 3); // all had been seen
    for (const char* name : {"a", "c"}) reader.read(name);
    reader.known.forget_unseen();
    CHECK(reader.known.size() == 2);
    CHECK(reader.known.find("a") == 0u);
    CHECK_FALSE(reader.known.find("b"));
    CHECK(reader.known.find("c") == 2u);
}

TEST_CASE("in any order, with any lines gone or new, a line has the meaning it was given") {
    CHECK(rc::check("against a map", [] {
        Reader reader;
        std::map<std::string, std::uint32_t> model;
        const int scrapes = *rc::gen::inRange(1, 6);
        for (int scrape = 0; scrape < scrapes; ++scrape) {
            reader.known.rewind();
            const auto lines = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 60));
            for (int line : lines) {
                const std::string series = line % 3 ? "m{l=\"" + std::to_string(line) + "\"}" : "n" + std::to_string(line);
                const std::uint32_t meaning = reader.read(series);
                RC_ASSERT(model.emplace(series, meaning).first->second == meaning);
            }
            if (*rc::gen::arbitrary<bool>()) reader.known.settle();
        }
        RC_ASSERT(reader.known.size() == model.size());
    }));
}

TEST_CASE("fingerprints of texts that differ anywhere differ") {
    std::set<std::uint64_t> prints;
    std::size_t texts = 0;
    for (std::size_t length = 0; length < 70; ++length)
        for (std::size_t changed = 0; changed <= length; ++changed)
            for (char c : {'\0', 'x', '\x7f'}) {
                std::string text(length, 'a');
                if (changed < length) text[changed] = c;
                if (changed == length && c) continue; // unchanged, once
                prints.insert(fingerprint(text, 3));
                ++texts;
            }
    CHECK(prints.size() == texts);
    CHECK(fingerprint("a", 1) != fingerprint("a", 2));
}

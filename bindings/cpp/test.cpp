/* SPDX-License-Identifier: MIT */
/* firn.hpp: every class once, with exceptions and without them. Prints what failed; the exit status counts. */
#include <firn/firn.hpp>

#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>
#include <unordered_set>

static int failures, checks;

#define CHECK(truth)                                                                                                   \
    do {                                                                                                               \
        checks++;                                                                                                      \
        if (!(truth)) {                                                                                                \
            failures++;                                                                                                \
            std::printf("line %d: %s\n", __LINE__, #truth);                                                            \
        }                                                                                                              \
    } while (0)

#ifdef FIRN_NO_EXCEPTIONS
/* The value of a result that must not be an error. */
template <typename T> static T take(firn::result<T> got) {
    CHECK(bool(got));
    if (!got) {
        std::printf("%s\n", got.what());
    }
    return std::move(*got);
}
#define CODE(expression) ((expression).code())
#else
template <typename T> static T take(T got) {
    return got;
}
template <typename F> static int code_of(F call) {
    try {
        call();
    } catch (const firn::error &why) {
        CHECK(std::string(why.what()).size() > 10);
        CHECK(std::string(why.name()) != "?");
        return why.code();
    }
    return 0;
}
#define CODE(expression) code_of([&] { (void)(expression); })
#endif

static void issue() {
    auto gen = take(firn::generator::open("snowflake", "nodes=4", "memory:"));
    const auto first = take(gen.next());
    const auto second = take(gen.next_u64());
    CHECK(first.low() != second);
    CHECK(first.text() == std::to_string(first.low()));
    std::set<std::uint64_t> seen;
    for (auto one : take(gen.many_u64(1000))) {
        seen.insert(one);
    }
    auto ahead = take(firn::block::open(gen));
    for (int i = 0; i < 1000; i++) {
        seen.insert(take(ahead.next_u64()));
    }
    CHECK(seen.size() == 2000);
    CHECK(gen.status().held);
    CHECK(take(gen.scheme()).name() == "snowflake");
    const auto when = firn::time_point(std::chrono::seconds(1600000000) + std::chrono::milliseconds(123));
    const auto dated = take(gen.at(when, 3));
    CHECK(dated.size() == 3);
    CHECK(take(take(gen.scheme()).time(firn::id(dated[0]))) == when);
    firn::generator moved = std::move(gen);
    CHECK(take(moved.next()) != first);
    CHECK(take(moved.close()));
    CHECK(CODE(firn::generator::open("snowflak")) == FIRN_EUSAGE);
    CHECK(CODE(firn::block::open(take(firn::generator::open("uuid4")), std::chrono::seconds(2))) == FIRN_ERANGE);
}

static void threads() {
    auto gen = take(firn::generator::open("uuid7"));
    std::vector<std::vector<firn_id>> parts(4);
    std::vector<std::thread> all;
    for (auto &part : parts) {
        all.emplace_back([&gen, &part] { part = take(gen.many(1000)); });
    }
    for (auto &one : all) {
        one.join();
    }
    std::unordered_set<firn::id> seen;
    for (const auto &part : parts) {
        for (const auto &one : part) {
            seen.insert(firn::id(one, FIRN_FORM_UUID));
        }
    }
    CHECK(seen.size() == 4000);
}

static void pure() {
    const auto snowflake = take(firn::scheme::make("snowflake"));
    const auto one = take(snowflake.pack({{"time", "2041-08-13T18:11:42.678Z"},
                                          {"datacenter", "27"},
                                          {"worker", "15"},
                                          {"sequence", "3828"}}));
    CHECK(one.text() == "4073488449103396596");
    CHECK(take(snowflake.parse("4073488449103396596")) == one);
    CHECK(take(snowflake.unpack(one)).size() == 4);
    CHECK(one.bytes().size() == 8);
    std::ostringstream out;
    out << one;
    CHECK(out.str() == one.text());
    CHECK(CODE(snowflake.parse("nonsense")) == FIRN_ETEXT);
    CHECK(CODE(snowflake.pack({{"worker", "1"}})) == FIRN_EUSAGE);
    CHECK(CODE(take(firn::scheme::make("uuid4")).time(firn::id())) == FIRN_EUSAGE);
    const auto uuid1 = take(firn::scheme::make("uuid1")), uuid6 = take(firn::scheme::make("uuid6"));
    const auto old = take(uuid1.parse("c232ab00-9414-11ec-b3c8-9f6bdeced846"));
    CHECK(take(uuid6.convert(old, uuid1)).text() == "1ec9414c-232a-6b00-b3c8-9f6bdeced846");
    const auto day = take(take(firn::scheme::make("uuid7"))
                              .range(firn::time_point(std::chrono::hours(24 * 20000)),
                                     firn::time_point(std::chrono::hours(24 * 20001))));
    CHECK(day.first < day.second);
    CHECK(firn::guess("01ARZ3NDEKTSV4RRFFQ69G5FAV").at(0).scheme == "ulid");
    CHECK(firn::guess("x").empty());
    const firn::match found = firn::recognize("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").at(0);
    CHECK(found.format == "traceparent" && found.leads && found.sure == FIRN_CERTAIN && found.time.empty());
    CHECK(found.fields.at(0).first == "version" && found.fields.at(0).second == "00");
    CHECK(firn::recognize("?").empty());
    CHECK(firn::recognize("694a4e80000000008f067aa0ba902b70").at(0).time == "2025-12-23T08:10:40Z");
    CHECK(firn::to_firn(firn::time_point(std::chrono::nanoseconds(-1))).ns == 999999999);
}

static void renewed() {
    auto gen = take(firn::generator::open("snowflake", "", "memory:"));
    auto drawn = take(firn::generator::open("uuid1"));
    const auto node = [](const firn_id &id) { return id.low >> 12 & 1023; };
    const auto random = [](const firn_id &id) { return id.low & 0xffffffffffff; };
    const firn_id one = take(gen.next()).get(), two = take(drawn.next()).get();
    CHECK(node(take(gen.next()).get()) == node(one) && random(take(drawn.next()).get()) == random(two));
    firn::renew_identity();
    CHECK(node(take(gen.next()).get()) != node(one) && random(take(drawn.next()).get()) != random(two));
}

static void integers() {
    auto in = take(firn::store::open("memory:"));
    auto orders = take(firn::segment::open(in, "orders", "kind=serial"));
    CHECK(take(orders.next()) == 1);
    CHECK(take(orders.block(5)) == 2);
    CHECK(take(orders.next()) == 7);
    CHECK(orders.increment() == 1);
    auto numbers = take(firn::order::open({0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09,
                                           0xcf, 0x4f, 0x3c}));
    CHECK(take(numbers.write(123456789)) == "2433477484");
    CHECK(take(numbers.read("2433477484")) == 123456789);
    CHECK(CODE(numbers.read("24334774840")) == FIRN_ETEXT);
}

static void series() {
    const auto in = take(firn::store::open("memory:"));
    auto invoices = take(firn::series::open(in, "invoices", "template=INV{counter:4}"));
    CHECK(take(invoices.peek()) == "INV0001" && take(invoices.next()) == "INV0001");
    const auto two = take(invoices.many(2));
    CHECK(two.size() == 2 && two[0] == "INV0002" && two[1] == "INV0003");
    CHECK(take(invoices.read("INV0003")) == 3 && CODE(invoices.read("INV3")) == FIRN_ETEXT);
    CHECK(invoices.definition() == "template=INV{counter:4} zone=UTC restart=never late=0 grow=0");
    auto again = take(firn::series::open(in, "invoices"));
    CHECK(take(again.next()) == "INV0004");
    CHECK(CODE(invoices.many(0)) == FIRN_ERANGE && CODE(invoices.many(1000001)) == FIRN_ERANGE);
    CHECK(CODE(invoices.many(9999)) == FIRN_EEND);
    auto days = take(firn::series::open(in, "days", "template={year}-{month}-{day}-{counter:2} late=9"));
    const firn::time_point now = std::chrono::system_clock::now();
    CHECK(take(days.next(now - std::chrono::hours(48))).substr(10) == "-01");
    CHECK(CODE(days.next(now + std::chrono::hours(48))) == FIRN_ERANGE);
    CHECK(CODE(firn::series::open(in, "none")) == FIRN_EUSAGE);
    CHECK(CODE(firn::series().next()) == FIRN_EUSAGE && firn::series().definition().empty());
}

static void masks() {
    const std::string file = "mask.key"; /* in the folder of the test */
    {
        const mode_t before = umask(077);
        std::ofstream out(file);
        umask(before);
        out << "1 " << std::string(64, '0') << "\n";
    }
    auto orders = take(firn::mask::open("name=orders width=uuid", file));
    CHECK(take(orders.apply("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")) == "ee4010b4-ae5e-47e1-b9da-ad69663a79d9");
    CHECK(take(orders.undo("ee4010b4-ae5e-47e1-b9da-ad69663a79d9")) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    CHECK(orders.fingerprint() == "78555f0c");
    CHECK(CODE(orders.apply("x")) == FIRN_ETEXT);
    CHECK(CODE(firn::mask::open("name=orders fingerprint=78555f0c", file)) == FIRN_EUSAGE);
    std::remove(file.c_str());
    CHECK(CODE(firn::mask::open("name=orders", file)) == FIRN_EIO);
}

/* An object that was moved from, closed or never opened: each call is an error, and none crashes. */
static void empty() {
    auto gen = take(firn::generator::open("snowflake", "", "memory:"));
    auto moved = std::move(gen);
    CHECK(take(moved.next()).get().low != 0);
    CHECK(CODE(gen.next()) == FIRN_EUSAGE && CODE(gen.next_u64()) == FIRN_EUSAGE && CODE(gen.many(2)) == FIRN_EUSAGE);
    CHECK(CODE(gen.many_u64(2)) == FIRN_EUSAGE && CODE(gen.at(firn::time_point())) == FIRN_EUSAGE);
    CHECK(CODE(gen.scheme()) == FIRN_EUSAGE && gen.prefix().empty() && gen.status().claims == 0);
    CHECK(CODE(firn::block::open(gen)) == FIRN_EUSAGE && CODE(firn::block().next_u64()) == FIRN_EUSAGE);
    CHECK(take(moved.close()) && take(moved.close()) && CODE(moved.next()) == FIRN_EUSAGE);
    firn::segment none;
    CHECK(CODE(none.next()) == FIRN_EUSAGE && CODE(none.block(2)) == FIRN_EUSAGE && none.increment() == 0);
    CHECK(CODE(firn::order().write(1)) == FIRN_EUSAGE && CODE(firn::order().read("1")) == FIRN_EUSAGE);
    CHECK(CODE(firn::mask().apply("1")) == FIRN_EUSAGE && firn::mask().fingerprint().empty());
#ifndef FIRN_NO_EXCEPTIONS
    try {
        gen.next();
    } catch (const firn::error &error) {
        CHECK(error.cure() == "open it first, or use the other object");
    }
#endif
}

int main() {
    empty();
    issue();
    threads();
    pure();
    integers();
    masks();
    series();
    renewed();
    std::printf("%d checks, %d failed\n", checks, failures);
    return failures == 0 ? 0 : 1;
}

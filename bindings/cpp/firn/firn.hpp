/* SPDX-License-Identifier: MIT */
/* firn for C++17, over firn.h: objects that close themselves, std::chrono times, exceptions.
 *
 *     #include <firn/firn.hpp>
 *
 *     firn::generator gen("snowflake", "", "sqlite:/var/lib/app/firn.db");
 *     std::uint64_t number = gen.next_u64();
 *     std::cout << gen.next() << '\n';
 *
 * A function that fails throws firn::error, which has the code and the message of the C function. With -fno-exceptions,
 * or FIRN_NO_EXCEPTIONS defined, it returns firn::result<T> instead: a value, or an error. Constructors are then empty
 * on failure: use firn::generator::open and the other functions that open. Threads and forks: as the C functions that firn.h documents. */
#ifndef FIRN_FIRN_HPP
#define FIRN_FIRN_HPP

#include <firn/recognize.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if !defined(FIRN_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define FIRN_NO_EXCEPTIONS
#endif
#ifndef FIRN_NO_EXCEPTIONS
#include <stdexcept>
#endif

namespace firn {

/* ---- errors ------------------------------------------------------------------------------------ */

/* A value, or the error that prevented it. */
template <typename T> class result {
  public:
    result(T value) : value_(std::move(value)) {
        error_.code = 0;
        error_.cure = error_.cure_at = 0;
        error_.value = error_.limit = {0, 0};
        error_.text[0] = '\0';
    }
    result(const firn_error &error) : error_(error) {}
    explicit operator bool() const { return error_.code == 0; }
    int code() const { return error_.code; }
    const char *what() const { return error_.text; }
    const firn_error &failure() const { return error_; }
    T &operator*() { return value_; }
    T *operator->() { return &value_; }

  private:
    T value_{};
    firn_error error_;
};

#ifdef FIRN_NO_EXCEPTIONS
template <typename T> using returned = result<T>;
template <typename T> returned<T> give(int code, T value, const firn_error &error) {
    return code == 0 ? result<T>(std::move(value)) : result<T>(error);
}
#else
/* The exception of every function. what() is one line: what is wrong, the limit, and what to do. */
class error : public std::runtime_error {
  public:
    explicit error(const firn_error &from)
        : std::runtime_error(from.text), code_(from.code), cure_code_(from.cure),
          cure_(from.cure_at != 0 ? from.text + from.cure_at : ""),
          value_(from.text + from.value.at, from.value.length),
          limit_(from.text + from.limit.at, from.limit.length) {}
    int code() const { return code_; } /* FIRN_E... */
    const char *name() const { return firn_errname(code_); }
    int cure_code() const { return cure_code_; } /* FIRN_CURE_... */
    const char *cure_name() const { return firn_curename(cure_code_); }
    const std::string &cure() const { return cure_; }   /* what to do; "": the text does not say */
    const std::string &value() const { return value_; } /* the wrong value, or "" */
    const std::string &limit() const { return limit_; } /* its limit, or "" */

  private:
    int code_, cure_code_;
    std::string cure_, value_, limit_;
};
template <typename T> using returned = T;
template <typename T> returned<T> give(int code, T value, const firn_error &why) {
    if (code != 0) {
        throw error(why);
    }
    return value;
}
#endif

namespace detail {
/* Room for an error; all of its text is not zeroed in each call. */
struct reason : firn_error {
    reason() {
        code = 0;
        cure = cure_at = 0;
        value = limit = {0, 0};
        text[0] = '\0';
    }
};
/* Whether an object has nothing to call: FIRN_EUSAGE, instead of a call with NULL. */
template <typename Handle> bool is_empty(const Handle &handle, const char *what, reason &why) {
    if (handle == nullptr) {
        firn_error_set(&why, FIRN_EUSAGE, FIRN_CURE_NONE,
                       "this %s is moved from, closed or never opened: open it first, or use the other object", what);
    }
    return handle == nullptr;
}
} // namespace detail

/* ---- times ------------------------------------------------------------------------------------- */

/* Nanoseconds since 1970: from 1677 to 2262. firn_time has no such limit. */
using time_point = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

inline firn_time to_firn(time_point time) {
    const auto sec = std::chrono::floor<std::chrono::seconds>(time);
    return {static_cast<std::int64_t>(sec.time_since_epoch().count()), static_cast<std::int32_t>((time - sec).count())};
}
inline time_point from_firn(const firn_time &time) {
    return time_point(std::chrono::seconds(time.sec) + std::chrono::nanoseconds(time.ns));
}

/* ---- id ---------------------------------------------------------------------------------------- */

/* An ID of 1 to 160 bits. Compares as an integer. */
class id {
  public:
    id() : id_{0, 0, 0, 0} {}
    id(const firn_id &from, int form = FIRN_FORM_DEC) : id_(from), form_(form) {}
    const firn_id &get() const { return id_; }
    std::uint64_t low() const { return id_.low; }
    std::uint32_t bits() const { return id_.bits; }
    std::string text() const { return text(form_); }
    std::string text(int form) const {
        char out[FIRN_TEXT_SIZE];
        return firn_format(out, &id_, form);
    }
    /* A TypeID: the prefix, _ and the digits; "" if the prefix is not valid, or the ID has not 128 bits. */
    std::string prefixed(const std::string &prefix) const {
        char out[FIRN_TEXT_SIZE];
        return firn_prefix_format(out, prefix.c_str(), &id_);
    }
    std::vector<std::uint8_t> bytes() const {
        std::array<std::uint8_t, 20> out{};
        const auto size = static_cast<std::ptrdiff_t>(firn_id_bytes(out.data(), &id_));
        return {out.begin(), out.begin() + size};
    }
    friend bool operator==(const id &a, const id &b) { return firn_id_cmp(&a.id_, &b.id_) == 0; }
    friend bool operator!=(const id &a, const id &b) { return !(a == b); }
    friend bool operator<(const id &a, const id &b) { return firn_id_cmp(&a.id_, &b.id_) < 0; }
    friend bool operator>(const id &a, const id &b) { return b < a; }
    friend bool operator<=(const id &a, const id &b) { return !(b < a); }
    friend bool operator>=(const id &a, const id &b) { return !(a < b); }
    friend std::ostream &operator<<(std::ostream &out, const id &one) { return out << one.text(); }

  private:
    firn_id id_;
    int form_ = FIRN_FORM_DEC;
};

/* ---- scheme: pure ------------------------------------------------------------------------------ */

/* A scheme of firn's list, or a layout. Pure functions only. */
class scheme {
  public:
    scheme() = default;
    explicit scheme(const firn_scheme &from) : scheme_(from) {}
    static returned<scheme> make(const std::string &text) {
        detail::reason why;
        scheme out;
        const firn_scheme *listed = firn_scheme_find(text.c_str());
        if (listed != nullptr) {
            out.scheme_ = *listed;
        }
        const int code = listed != nullptr
                             ? 0
                             : firn_scheme_make(&out.scheme_, text.c_str(), nullptr, nullptr, nullptr, &why);
        return give(code, out, why);
    }
    const firn_scheme &get() const { return scheme_; }
    std::string name() const { return scheme_.name; }
    std::string layout() const {
        char text[FIRN_LAYOUT_SIZE];
        return firn_scheme_layout(text, &scheme_);
    }
    /* fields: {{"time", "2026-01-01T00:00:00Z"}, {"worker", "3"}} */
    returned<id> pack(const std::vector<std::pair<std::string, std::string>> &fields) const {
        detail::reason why;
        firn_fields values{};
        firn_id out{};
        int code = 0;
        for (const auto &field : fields) {
            code = code == 0 ? firn_fields_set(&values, &scheme_, field.first.c_str(), field.second.c_str(), &why)
                             : code;
        }
        code = code == 0 ? firn_pack(&out, &scheme_, &values, &why) : code;
        return give(code, id(out, scheme_.form), why);
    }
    /* Every field and named constant, as text. */
    returned<std::vector<std::pair<std::string, std::string>>> unpack(const id &from) const {
        detail::reason why;
        firn_fields values{};
        std::vector<std::pair<std::string, std::string>> out;
        const firn_scheme *seen = firn_scheme_seen(&scheme_, &from.get());
        const int code = firn_unpack(&values, seen, &from.get(), &why);
        for (std::uint32_t i = 0; code == 0 && i < seen->slice_count; i++) {
            char text[FIRN_VALUE_SIZE];
            if (seen->slices[i].name[0] != '\0' && firn_scheme_first(seen, i) == i) {
                out.emplace_back(seen->slices[i].name, firn_fields_get(text, &values, seen, i));
            }
        }
        return give(code, std::move(out), why);
    }
    /* The time of an ID. FIRN_EMISMATCH; FIRN_EUSAGE: the scheme has no time. */
    returned<time_point> time(const id &of) const {
        firn_error why{};
        firn_error_set(&why, FIRN_EUSAGE, FIRN_CURE_NAME_SCHEME,
                       "the scheme has no time: choose one with a field time");
        firn_fields values{};
        firn_time at{};
        const firn_scheme *seen = firn_scheme_seen(&scheme_, &of.get());
        const int field = seen->tick_ns != 0 ? firn_scheme_field(seen, "time") : -1;
        const int code = field < 0 ? FIRN_EUSAGE : firn_unpack(&values, seen, &of.get(), &why);
        if (code == 0) {
            firn_scheme_time(seen, values.value[field].low, &at);
        }
        return give(code, from_firn(at), why);
    }
    returned<id> parse(std::string_view text) const { return parse(text, scheme_.form); }
    returned<id> parse(std::string_view text, int form) const {
        detail::reason why;
        firn_fields values{};
        firn_id out{};
        int code = firn_parse(&out, form, scheme_.bits, text.data(), text.size(), &why);
        code = code == 0 ? firn_unpack(&values, firn_scheme_seen(&scheme_, &out), &out, &why) : code;
        return give(code, id(out, scheme_.form), why);
    }
    /* The least and the greatest ID of from <= time < to. */
    returned<std::pair<id, id>> range(time_point from, time_point to) const {
        detail::reason why;
        firn_id least{}, greatest{};
        const firn_time first = to_firn(from), last = to_firn(to);
        const int code = firn_range(&least, &greatest, &scheme_, nullptr, &first, &last, &why);
        return give(code, std::make_pair(id(least, scheme_.form), id(greatest, scheme_.form)), why);
    }
    /* The same fields in another scheme. */
    returned<id> convert(const id &from, const scheme &of) const {
        detail::reason why;
        firn_id out{};
        const int code = firn_convert(&out, &scheme_, &from.get(), &of.scheme_, &why);
        return give(code, id(out, scheme_.form), why);
    }

  private:
    firn_scheme scheme_{};
};

struct reading {
    std::string scheme, form;
    firn::id id;
    int sure; /* FIRN_POSSIBLE, FIRN_LIKELY */
};
/* The schemes that a text is plausibly an ID of, best first. The schemes of a number are only possible, the most frequent
 * owner first. */
inline std::vector<reading> guess(std::string_view text) {
    firn_reading found[FIRN_READINGS_MAX];
    std::vector<reading> out;
    const std::size_t count = firn_guess(found, text.data(), text.size(), -1);
    for (std::size_t i = 0; i < count; i++) {
        out.push_back({found[i].scheme->name, firn_form_name(found[i].form), id(found[i].id, found[i].form),
                       found[i].sure});
    }
    return out;
}

/* A format of another system: docs/reference/recognised.md. */
struct match {
    std::string format;
    int sure;   /* FIRN_POSSIBLE, FIRN_LIKELY, FIRN_CERTAIN */
    bool leads; /* the format describes the text better than any scheme */
    std::string reason;
    std::vector<std::pair<std::string, std::string>> fields;
    std::string time; /* RFC 3339; empty: the text contains none */
};
/* The formats that a text may have, and that firn does not issue, best first. */
inline std::vector<match> recognize(std::string_view text) {
    firn_reading best[FIRN_READINGS_MAX];
    firn_match found[FIRN_MATCHES_MAX];
    std::vector<match> out;
    const bool plausible = firn_guess(best, text.data(), text.size(), -1) > 0;
    const std::size_t count = firn_recognize(found, plausible ? best : nullptr, text.data(), text.size());
    for (std::size_t i = 0; i < count; i++) {
        char at[FIRN_TIME_SIZE] = "";
        const firn_match &one = found[i];
        out.push_back({one.format->name, one.sure, one.leads, one.reason, {},
                       one.timed ? firn_time_format(at, &one.time, one.digits) : ""});
        for (std::uint32_t k = 0; k < one.count; k++) {
            out.back().fields.emplace_back(one.fields[k].name, one.fields[k].value);
        }
    }
    return out;
}

/* ---- store, generator, block -------------------------------------------------------------------- */

namespace detail {
struct close_store {
    void operator()(firn_store *one) const { firn_store_close(one); }
};
struct close_gen {
    void operator()(firn_gen *one) const { firn_close(one, nullptr); }
};
struct close_block {
    void operator()(firn_block *one) const { firn_block_close(one); }
};
struct close_segment {
    void operator()(firn_segment *one) const { firn_segment_close(one, nullptr); }
};
struct close_order {
    void operator()(firn_order *one) const { firn_order_close(one); }
};
struct close_series {
    void operator()(firn_series *one) const { firn_series_close(one, nullptr); }
};
struct close_mask {
    void operator()(firn_mask *one) const { firn_mask_close(one); }
};
} // namespace detail

/* A store by URL; "" is the default one. Outlives its generators and segments. */
class store {
  public:
    store() = default;
    static returned<store> open(const std::string &url, const firn_store_options *options = nullptr) {
        detail::reason why;
        firn_store *made = nullptr;
        const int code = firn_store_open(&made, url.empty() ? nullptr : url.c_str(), options, &why);
        store out;
        out.store_.reset(made);
        return give(code, std::move(out), why);
    }
    firn_store *get() const { return store_.get(); }

  private:
    std::unique_ptr<firn_store, detail::close_store> store_;
};

class block;

/* Issues IDs. Any thread may call it. */
class generator {
  public:
    generator() = default;
#ifndef FIRN_NO_EXCEPTIONS
    explicit generator(const std::string &scheme, const std::string &keys = "", const std::string &store_url = "")
        : generator(open(scheme, keys, store_url)) {}
#endif
    static returned<generator> open(const std::string &scheme, const std::string &keys = "",
                                    const std::string &store_url = "") {
        firn_config config{};
        config.scheme = scheme.c_str();
        config.keys = keys.c_str();
        config.store_url = store_url.empty() ? nullptr : store_url.c_str();
        return open(config);
    }
    /* Every setting of firn_config; `size` is set here. */
    static returned<generator> open(firn_config config) {
        detail::reason why;
        firn_gen *made = nullptr;
        config.size = sizeof config;
        const int code = firn_open_with(&made, &config, &why);
        generator out;
        out.gen_.reset(made);
        return give(code, std::move(out), why);
    }
    returned<id> next() {
        detail::reason why;
        firn_id out{};
        const int code = detail::is_empty(gen_, "generator", why) ? why.code : firn_next(gen_.get(), &out, &why);
        return give(code, id(out, code == 0 ? firn_gen_scheme(gen_.get())->form : static_cast<int>(FIRN_FORM_DEC)), why);
    }
    /* For schemes of up to 64 bits. */
    returned<std::uint64_t> next_u64() {
        detail::reason why;
        std::uint64_t out = 0;
        const int code = detail::is_empty(gen_, "generator", why) ? why.code : firn_next_u64(gen_.get(), &out, 1, &why);
        return give(code, out, why);
    }
    /* n IDs, or none. */
    returned<std::vector<std::uint64_t>> many_u64(std::size_t n) {
        detail::reason why;
        std::vector<std::uint64_t> out(n);
        const int code = detail::is_empty(gen_, "generator", why) ? why.code : firn_next_u64(gen_.get(), out.data(), n, &why);
        return give(code, std::move(out), why);
    }
    returned<std::vector<firn_id>> many(std::size_t n) {
        detail::reason why;
        std::vector<firn_id> out(n);
        const int code = detail::is_empty(gen_, "generator", why) ? why.code : firn_next_n(gen_.get(), out.data(), n, &why);
        return give(code, std::move(out), why);
    }
    /* n IDs of a past time, from a node that issues no others. */
    returned<std::vector<firn_id>> at(time_point time, std::size_t n = 1) {
        detail::reason why;
        const firn_time when = to_firn(time);
        std::vector<firn_id> out(n);
        const int code = detail::is_empty(gen_, "generator", why) ? why.code : firn_at(gen_.get(), &when, out.data(), n, &why);
        return give(code, std::move(out), why);
    }
    /* Gives the window back, and reports if that fails; the destructor does it without a report. */
    returned<bool> close() {
        detail::reason why;
        const int code = gen_ != nullptr ? firn_close(gen_.release(), &why) : 0;
        return give(code, true, why);
    }
    returned<firn::scheme> scheme() const {
        detail::reason why;
        const bool empty = detail::is_empty(gen_, "generator", why);
        return give(why.code, empty ? firn::scheme() : firn::scheme(*firn_gen_scheme(gen_.get())), why);
    }
    /* The key prefix of TypeIDs, for id.prefixed; "". */
    std::string prefix() const { return gen_ != nullptr ? firn_gen_prefix(gen_.get()) : ""; }
    firn_status status() const {
        firn_status out{};
        out.size = sizeof out;
        if (gen_ != nullptr) {
            firn_gen_status(gen_.get(), &out);
        }
        return out;
    }
    firn_gen *get() const { return gen_.get(); }

  private:
    std::unique_ptr<firn_gen, detail::close_gen> gen_;
};

/* For the restore hook of a host that starts processes from a snapshot: other nodes, random bytes and integers. */
inline void renew_identity() {
    firn_renew_identity();
}

/* IDs issued ahead, at most max_age old: for schemes of up to 64 bits. One thread at a time; the generator outlives it. */
class block {
  public:
    block() = default;
    static returned<block> open(const generator &gen,
                                std::chrono::microseconds max_age = std::chrono::milliseconds(1)) {
        detail::reason why;
        firn_block *made = nullptr;
        const int code = detail::is_empty(gen.get(), "generator", why) ? why.code : firn_block_open(&made, gen.get(), max_age.count(), &why);
        block out;
        out.block_.reset(made);
        return give(code, std::move(out), why);
    }
    returned<std::uint64_t> next_u64() {
        detail::reason why;
        std::uint64_t out = 0;
        const int code = detail::is_empty(block_, "block", why) ? why.code : firn_block_next(block_.get(), &out, &why);
        return give(code, out, why);
    }
    firn_block *get() const { return block_.get(); }

  private:
    std::unique_ptr<firn_block, detail::close_block> block_;
};

/* Integers that are unique under a key. Any thread; the store outlives it. */
class segment {
  public:
    segment() = default;
    static returned<segment> open(const store &in, const std::string &key, const std::string &keys = "") {
        detail::reason why;
        firn_segment *made = nullptr;
        const int code = firn_segment_open(&made, key.c_str(), keys.c_str(), in.get(), nullptr, &why);
        segment out;
        out.segment_.reset(made);
        return give(code, std::move(out), why);
    }
    returned<std::int64_t> next() {
        detail::reason why;
        std::int64_t out = 0;
        const int code = detail::is_empty(segment_, "segment", why) ? why.code : firn_segment_next(segment_.get(), &out, &why);
        return give(code, out, why);
    }
    /* The first of n integers; the others follow in steps of increment(). */
    returned<std::int64_t> block(std::int64_t n) {
        detail::reason why;
        std::int64_t out = 0;
        const int code = detail::is_empty(segment_, "segment", why) ? why.code : firn_segment_block(segment_.get(), n, &out, &why);
        return give(code, out, why);
    }
    std::int64_t increment() const { return segment_ != nullptr ? firn_segment_increment(segment_.get()) : 0; }
    firn_segment *get() const { return segment_.get(); }

  private:
    std::unique_ptr<firn_segment, detail::close_segment> segment_;
};

/* Dated numbers for people. `keys`: "template=INV{year}/{counter:7} zone=Europe/Berlin"; "": as the store has them. One
 * thread at a time; the store outlives it. */
class series {
  public:
    series() = default;
    static returned<series> open(const store &in, const std::string &name, const std::string &keys = "") {
        detail::reason why;
        firn_series *made = nullptr;
        const int code = firn_series_open(&made, name.c_str(), keys.c_str(), in.get(), nullptr, &why);
        series out;
        out.series_.reset(made);
        return give(code, std::move(out), why);
    }
    /* n numbers of one period: of now, or of a time. */
    returned<std::vector<std::string>> many(std::size_t n, std::optional<time_point> at = {}) {
        detail::reason why;
        const firn_time time = at ? to_firn(*at) : firn_time{};
        std::vector<number> texts(n > 0 && n <= most ? n : 1);
        const int code = detail::is_empty(series_, "series", why)
                             ? why.code
                             : firn_series_next(series_.get(), at ? &time : nullptr, &texts[0].text, n, &why);
        std::vector<std::string> out;
        for (std::size_t i = 0; code == FIRN_OK && i < n; i++) {
            out.emplace_back(texts[i].text);
        }
        return give(code, std::move(out), why);
    }
    returned<std::string> next(std::optional<time_point> at = {}) {
        return ask(take_one, at);
    }
    /* The number that the store would grant next. Reserves nothing. */
    returned<std::string> peek(std::optional<time_point> at = {}) {
        return ask(firn_series_peek, at);
    }
    /* The counter of a number. */
    returned<std::int64_t> read(std::string_view text) const {
        detail::reason why;
        std::int64_t out = 0;
        const int code = detail::is_empty(series_, "series", why)
                             ? why.code
                             : firn_series_read(series_.get(), &out, text.data(), text.size(), &why);
        return give(code, out, why);
    }
    /* The keys that the store keeps; "": not open. */
    std::string definition() const { return series_ != nullptr ? firn_series_definition(series_.get()) : ""; }
    firn_series *get() const { return series_.get(); }

  private:
    struct number {
        char text[FIRN_SERIES_SIZE];
    };
    static constexpr std::size_t most = 1000000;
    static int take_one(firn_series *self, const firn_time *at, char text[FIRN_SERIES_SIZE], firn_error *error) {
        return firn_series_next(self, at, reinterpret_cast<char(*)[FIRN_SERIES_SIZE]>(text), 1, error);
    }
    returned<std::string> ask(decltype(&firn_series_peek) what, std::optional<time_point> at) {
        detail::reason why;
        char text[FIRN_SERIES_SIZE] = "";
        const firn_time time = at ? to_firn(*at) : firn_time{};
        const int code = detail::is_empty(series_, "series", why) ? why.code : what(series_.get(), at ? &time : nullptr, text, &why);
        return give(code, std::string(text), why);
    }
    std::unique_ptr<firn_series, detail::close_series> series_;
};

/* Order numbers: integers encrypted with a key. One thread at a time. */
class order {
  public:
    order() = default;
    static returned<order> open(const std::array<std::uint8_t, 16> &key, const std::string &keys = "",
                                const char *module_dir = nullptr) {
        detail::reason why;
        firn_order *made = nullptr;
        const int code = firn_order_open(&made, keys.c_str(), key.data(), module_dir, &why);
        order out;
        out.order_.reset(made);
        return give(code, std::move(out), why);
    }
    returned<std::string> write(std::uint64_t integer) {
        detail::reason why;
        char text[FIRN_ORDER_SIZE] = "";
        const int code = detail::is_empty(order_, "order", why) ? why.code : firn_order_write(order_.get(), text, integer, &why);
        return give(code, std::string(text), why);
    }
    returned<std::uint64_t> read(std::string_view text) {
        detail::reason why;
        std::uint64_t out = 0;
        const int code = detail::is_empty(order_, "order", why) ? why.code : firn_order_read(order_.get(), &out, text.data(), text.size(), &why);
        return give(code, out, why);
    }

  private:
    std::unique_ptr<firn_order, detail::close_order> order_;
};

/* Masks: other texts for IDs, which show neither time nor volume. A masked ID authorises nobody. `keys`: name=orders
 * width=uuid fingerprint=HEX as=base58; `key_file`: of `firn mask keygen`. One thread at a time. */
class mask {
  public:
    mask() = default;
    static returned<mask> open(const std::string &keys, const std::string &key_file,
                               const char *module_dir = nullptr) {
        detail::reason why;
        firn_mask *made = nullptr;
        const int code = firn_mask_load(&made, keys.c_str(), key_file.c_str(), module_dir, &why);
        mask out;
        out.mask_.reset(made);
        return give(code, std::move(out), why);
    }
    returned<std::string> apply(std::string_view id) { return turn(firn_mask_write, id); }
    returned<std::string> undo(std::string_view masked) { return turn(firn_mask_read, masked); }
    std::string fingerprint() const { return mask_ != nullptr ? firn_mask_fingerprint(mask_.get()) : ""; }

  private:
    returned<std::string> turn(decltype(&firn_mask_write) what, std::string_view text) {
        detail::reason why;
        char out[FIRN_TEXT_SIZE] = "";
        const int code = detail::is_empty(mask_, "mask", why) ? why.code : what(mask_.get(), out, text.data(), text.size(), &why);
        return give(code, std::string(out), why);
    }
    std::unique_ptr<firn_mask, detail::close_mask> mask_;
};

} // namespace firn

template <> struct std::hash<firn::id> {
    std::size_t operator()(const firn::id &one) const noexcept {
        const firn_id &raw = one.get();
        return std::hash<std::uint64_t>()(raw.low ^ (raw.high * 0x9e3779b97f4a7c15U) ^ raw.top);
    }
};

#endif

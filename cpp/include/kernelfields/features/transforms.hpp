// Functions of one word: its lower case, affixes, shape, and character classes.
#pragma once

#include "characters.hpp"
#include "cliques.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelfields {

// The numbers are those of Transform in features/templates.py and part of saved models.
enum class Transform : int {
    word = 0,
    lower = 1,
    shape = 2,
    short_shape = 3,
    digits = 4,
    is_digits = 10,
    has_digit = 11,
    is_title = 12,
    is_upper = 13,
    is_lower = 14,
    has_hyphen = 15,
    is_punctuation = 16,
    prefix = 20,  // 21 to 25: that many characters
    suffix = 30,  // 31 to 35
    begin = 40,   // not of a word: the first or the last position of a sentence
    end = 41,
    distance = 42,  // not of a word either: of the two anchors of a clique
    direction = 43,
    relative = 44,
    steps = 45,
    cluster = 50,  // 51 to 82: that many bits of the path of a word's cluster, 50: all of them
};

inline constexpr int kMostBits = 32;

// Transforms that do not look at a word.
inline bool is_place(Transform transform) {
    return transform == Transform::begin || transform == Transform::end;
}

// Transforms that look at the places of two anchors (cliques.hpp).
inline bool is_measure(Transform transform) {
    return transform >= Transform::distance && transform <= Transform::steps;
}

inline std::string measure_text(Transform transform, std::size_t bin) {
    switch (transform) {
        case Transform::distance: return distance_text(bin);
        case Transform::direction: return direction_text(bin);
        case Transform::steps: return steps_text(bin);
        default: return relative_text(bin);
    }
}

inline bool is_cluster(Transform transform) {
    return transform >= Transform::cluster;
}

inline bool known_transform(int code) {
    return (code >= 0 && code <= 4) || (code >= 10 && code <= 16) || (code >= 21 && code <= 25) ||
           (code >= 31 && code <= 35) || (code >= 40 && code <= 45) || (code >= 50 && code <= 50 + kMostBits);
}

// Transforms whose only value is "yes".
inline bool is_predicate(Transform transform) {
    const int code = static_cast<int>(transform);
    return (code >= 10 && code <= 16) || is_place(transform);
}

// How often the classes of characters occur in a word.
struct ClassCounts {
    std::size_t characters = 0, of[5] = {}, hyphens = 0;
    bool first_is_upper = false;

    explicit ClassCounts(std::string_view word) {
        const CharacterTables& tables = CharacterTables::get();
        for (std::size_t at = 0; at < word.size(); ++characters) {
            const std::uint32_t code = next_code_point(word, at);
            const CharacterClass kind = tables.class_of(code);
            if (characters == 0) first_is_upper = kind == CharacterClass::upper;
            ++of[static_cast<int>(kind)];
            hyphens += code == '-' || code == 0x2010 || code == 0x2011;
        }
    }
    std::size_t operator[](CharacterClass kind) const { return of[static_cast<int>(kind)]; }
};

inline bool holds(Transform predicate, std::string_view word) {
    using enum CharacterClass;
    const ClassCounts count(word);
    const std::size_t all = count.characters;
    switch (predicate) {
        case Transform::is_digits: return all > 0 && count[digit] == all;
        case Transform::has_digit: return count[digit] > 0;
        case Transform::is_title: return count.first_is_upper && count[upper] == 1;
        case Transform::is_upper: return count[upper] > 0 && count[lower] == 0;
        case Transform::is_lower: return count[lower] > 0 && count[upper] == 0;
        case Transform::has_hyphen: return count.hyphens > 0;
        case Transform::is_punctuation: return all > 0 && count[punctuation] == all;
        default: return false;
    }
}

// Upper-case letters become X, other letters x, digits d; `once` writes a run of the same only once.
inline void append_shape(std::string_view word, bool once, std::string& out) {
    const CharacterTables& tables = CharacterTables::get();
    std::uint32_t before = 0xFFFFFFFF;
    for (std::size_t at = 0; at < word.size();) {
        std::uint32_t code = next_code_point(word, at);
        switch (tables.class_of(code)) {
            case CharacterClass::upper: code = 'X'; break;
            case CharacterClass::lower: code = 'x'; break;
            case CharacterClass::digit: code = 'd'; break;
            case CharacterClass::letter: code = code < 128 ? code : 'x'; break;
            case CharacterClass::punctuation: break;
        }
        if (!once || code != before) append_code_point(out, code);
        before = code;
    }
}

inline bool prefix_of(std::string_view word, std::size_t characters, std::string& out) {
    std::size_t at = 0;
    for (; characters > 0 && at < word.size(); --characters) next_code_point(word, at);
    out = word.substr(0, at);
    return characters == 0;
}

inline bool suffix_of(std::string_view word, std::size_t characters, std::string& out) {
    std::size_t at = word.size();
    for (; characters > 0 && at > 0; --characters)
        for (--at; at > 0 && is_continuation(word[at]);) --at;
    out = word.substr(at);
    return characters == 0;
}

// Writes the value of a word to `out`; false if it has none: a predicate that does not hold, an
// affix longer than the word.
inline bool apply(Transform transform, std::string_view word, std::string& out) {
    out.clear();
    const CharacterTables& tables = CharacterTables::get();
    switch (transform) {
        case Transform::word: out = word; return true;
        case Transform::lower:
            for (std::size_t at = 0; at < word.size();) append_code_point(out, tables.lower(next_code_point(word, at)));
            return true;
        case Transform::shape: append_shape(word, false, out); return true;
        case Transform::short_shape: append_shape(word, true, out); return true;
        case Transform::digits:
            for (std::size_t at = 0; at < word.size();) {
                const std::uint32_t code = next_code_point(word, at);
                append_code_point(out, tables.class_of(code) == CharacterClass::digit ? '0' : code);
            }
            return true;
        default: break;
    }
    const int code = static_cast<int>(transform);
    if (is_predicate(transform)) return holds(transform, word);
    if (code > 30) return suffix_of(word, static_cast<std::size_t>(code - 30), out);
    return prefix_of(word, static_cast<std::size_t>(code - 20), out);
}

}  // namespace kernelfields

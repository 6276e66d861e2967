// Characters of UTF-8 text: code points, their classes, their lower-case letters.
#pragma once

#include "character_tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kernelfields {

inline bool is_ascii(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

inline bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The code point at `at`, which moves behind it. The text comes from Python, hence is valid; text
// that is not gives some code point, never a read beyond its end.
inline std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    if (lead < 0x80) return lead;
    std::uint32_t code = lead >= 0xF0 ? lead & 0x07u : lead >= 0xE0 ? lead & 0x0Fu : lead & 0x1Fu;
    while (at < text.size() && is_continuation(text[at])) code = code << 6 | (text[at++] & 0x3Fu);
    return code;
}

inline void append_code_point(std::string& text, std::uint32_t code) {
    if (code < 0x80) {
        text += static_cast<char>(code);
        return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static constexpr unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(leads[more] | code >> 6 * more);
    for (int k = more - 1; k >= 0; --k) text += static_cast<char>(0x80 | (code >> 6 * k & 0x3F));
}

// The runs of the tables, character by character, for a quick look.
class CharacterTables {
public:
    static const CharacterTables& get() {
        static const CharacterTables tables;
        return tables;
    }

    // Beyond ASCII, everything that is neither cased nor a digit nor punctuation or a symbol is a
    // letter without case: Han and Arabic, but also combining marks.
    CharacterClass class_of(std::uint32_t code) const {
        if (code < 128) return ascii(code);
        const auto found = classes_.find(code);
        return found == classes_.end() ? CharacterClass::letter : found->second;
    }

    std::uint32_t lower(std::uint32_t code) const {
        if (code < 128) return code >= 'A' && code <= 'Z' ? code + 32 : code;
        const auto found = shifts_.find(code);
        return found == shifts_.end() ? code : code + static_cast<std::uint32_t>(found->second);
    }

private:
    CharacterTables() {
        for (const ClassRun& run : class_runs)
            for (std::uint32_t code = run.first; code <= run.last; code += run.step) classes_[code] = run.value;
        for (const LowerRun& run : lower_runs)
            for (std::uint32_t code = run.first; code <= run.last; code += run.step) shifts_[code] = run.shift;
    }

    static CharacterClass ascii(std::uint32_t code) {
        if (code >= 'a' && code <= 'z') return CharacterClass::lower;
        if (code >= 'A' && code <= 'Z') return CharacterClass::upper;
        if (code >= '0' && code <= '9') return CharacterClass::digit;
        return code > ' ' && code < 127 ? CharacterClass::punctuation : CharacterClass::letter;
    }

    std::unordered_map<std::uint32_t, CharacterClass> classes_;
    std::unordered_map<std::uint32_t, std::int32_t> shifts_;
};

}  // namespace kernelfields

// Exact vocabularies: strings to numbers, and 64-bit keys to numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kernelfields {

inline std::uint64_t mix(std::uint64_t h) {
    h *= 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

// Little-endian on every machine; compilers make one load of it.
template <int size> std::uint64_t load(const char* p) {
    std::uint64_t word = 0;
    for (int k = 0; k < size; ++k) word |= std::uint64_t{static_cast<unsigned char>(p[k])} << 8 * k;
    return word;
}

// Eight bytes at a time; the last pieces may overlap. Part of the hashing trick, hence of saved
// models: do not change.
inline std::uint64_t hash_of(std::string_view text) {
    const char* p = text.data();
    const std::size_t size = text.size();
    std::uint64_t h = size;
    if (size > 8) {
        for (std::size_t at = 0; at + 8 < size; at += 8) h = mix(h ^ load<8>(p + at));
        return mix(h ^ load<8>(p + size - 8));
    }
    if (size >= 4) return mix(h << 56 ^ (load<4>(p) | load<4>(p + size - 4) << 32));
    if (size == 0) return mix(h);
    const auto byte = [&](std::size_t k) { return std::uint64_t{static_cast<unsigned char>(p[k])}; };
    return mix(h << 56 ^ byte(0) ^ byte(size / 2) << 8 ^ byte(size - 1) << 16);
}

inline constexpr std::int32_t none = -1;

// Distinct strings, numbered as they come: open addressing, bytes one behind the other.
class StringPool {
public:
    StringPool() : slots_(64) {}

    std::size_t size() const { return ends_.size(); }
    const std::string& bytes() const { return bytes_; }
    std::string_view operator[](std::size_t id) const {
        const std::size_t start = id ? ends_[id - 1] : 0;
        return std::string_view(bytes_).substr(start, ends_[id] - start);
    }

    std::int32_t find(std::string_view text, std::uint64_t hash) const { return slots_[slot_of(text, hash)].id; }
    std::int32_t find(std::string_view text) const { return find(text, hash_of(text)); }

    std::int32_t add(std::string_view text, std::uint64_t hash) {
        if (2 * size() >= slots_.size()) grow();
        Slot& slot = slots_[slot_of(text, hash)];
        if (slot.id != none) return slot.id;
        if (size() >= 0x7FFFFFFF) throw std::length_error("More than 2^31 distinct strings.");
        slot = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::int32_t>(size())};
        bytes_ += text;
        ends_.push_back(bytes_.size());
        return slot.id;
    }
    std::int32_t add(std::string_view text) { return add(text, hash_of(text)); }

    void clear() {
        if (size()) slots_.assign(slots_.size(), {});
        bytes_.clear();
        ends_.clear();
    }

private:
    struct Slot {
        std::uint32_t tag = 0;
        std::int32_t id = none;
    };

    // Where a string is, or would be: the tag spares most comparisons of bytes.
    std::size_t slot_of(std::string_view text, std::uint64_t hash) const {
        const std::size_t mask = slots_.size() - 1;
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.id == none || (slot.tag == tag && (*this)[static_cast<std::size_t>(slot.id)] == text)) return at;
        }
    }

    void grow() {
        slots_.assign(2 * slots_.size(), {});
        for (std::size_t id = 0; id < size(); ++id) {
            const std::uint64_t hash = hash_of((*this)[id]);
            slots_[slot_of((*this)[id], hash)] = {static_cast<std::uint32_t>(hash >> 32),
                                                  static_cast<std::int32_t>(id)};
        }
    }

    std::vector<Slot> slots_;
    std::string bytes_;
    std::vector<std::size_t> ends_;
};

// Keys below 2^63 to numbers, none twice.
class KeyTable {
public:
    KeyTable() : slots_(64) {}

    std::size_t size() const { return size_; }

    std::int32_t find(std::uint64_t key) const { return slots_[slot_of(key)].value; }

    // Starts to load what find(key) will want.
    void prefetch(std::uint64_t key) const { __builtin_prefetch(&slots_[mix(key) & (slots_.size() - 1)]); }

    // The number of a key; `value` if the key is new.
    std::int32_t add(std::uint64_t key, std::int32_t value) {
        if (2 * size_ >= slots_.size()) grow();
        Slot& slot = slots_[slot_of(key)];
        if (slot.value == none) {
            slot = {key, value};
            ++size_;
        }
        return slot.value;
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::int32_t value = none;
    };

    std::size_t slot_of(std::uint64_t key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = mix(key) & mask;
        while (slots_[at].value != none && slots_[at].key != key) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.value != none) slots_[slot_of(slot.key)] = slot;
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
};

}  // namespace kernelfields

// Named attributes with values: a vocabulary that grows while it is fitted, and is fixed afterwards.
#pragma once

#include "vocabulary.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelfields {

// Rows of (attribute, value). An attribute that comes twice in a row is added up.
struct AttributeRows {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<double> values;

    void push(std::int32_t attribute, double value) {
        indices.push_back(attribute);
        values.push_back(value);
    }
    void end_row() { indptr.push_back(static_cast<std::int64_t>(indices.size())); }
    void clear() {
        indptr.assign(1, 0);
        indices.clear();
        values.clear();
    }

    // Puts every row in the order of attributes, each once.
    void sum_duplicates() {
        std::size_t kept = 0, from = 0;
        for (std::size_t row = 0; row + 1 < indptr.size(); ++row) {
            const std::size_t start = kept, to = static_cast<std::size_t>(indptr[row + 1]);
            if (to - from > kShort) sort(from, to);
            for (; from < to; ++from) kept = insert(start, kept, indices[from], values[from]);
            indptr[row + 1] = static_cast<std::int64_t>(kept);
        }
        indices.resize(kept);
        values.resize(kept);
    }

    // Gives attribute a the number numbers[a], or drops it where that is none.
    void renumber(const std::vector<std::int32_t>& numbers) {
        std::size_t kept = 0, k = 0;
        for (std::size_t row = 0; row + 1 < indptr.size(); ++row) {
            for (; k < static_cast<std::size_t>(indptr[row + 1]); ++k) {
                indices[kept] = numbers[static_cast<std::size_t>(indices[k])];
                values[kept] = values[k];
                kept += indices[kept] != none;
            }
            indptr[row + 1] = static_cast<std::int64_t>(kept);
        }
        indices.resize(kept);
        values.resize(kept);
    }

private:
    static constexpr std::size_t kShort = 64;  // up to here insertion is as fast as any other sort

    void sort(std::size_t from, std::size_t to) {
        std::vector<std::pair<std::int32_t, double>> entries;
        for (std::size_t k = from; k < to; ++k) entries.emplace_back(indices[k], values[k]);
        std::stable_sort(entries.begin(), entries.end(), [](auto a, auto b) { return a.first < b.first; });
        for (std::size_t k = from; k < to; ++k) std::tie(indices[k], values[k]) = entries[k - from];
    }

    // Puts an attribute among those from `start` to `end`, which are in order; returns their new end.
    std::size_t insert(std::size_t start, std::size_t end, std::int32_t attribute, double value) {
        std::size_t at = end;
        while (at > start && indices[at - 1] > attribute) --at;
        if (at > start && indices[at - 1] == attribute) {
            values[at - 1] += value;
            return end;
        }
        for (std::size_t k = end; k > at; --k) indices[k] = indices[k - 1], values[k] = values[k - 1];
        indices[at] = attribute;
        values[at] = value;
        return end + 1;
    }
};

// New numbers for attributes that occur at least `least` times, by frequency or by first appearance.
inline std::vector<std::int32_t> choose_attributes(const AttributeRows& rows, std::size_t attributes,
                                                   std::int64_t least, bool by_frequency) {
    std::vector<std::int64_t> counts(attributes);
    for (const std::int32_t attribute : rows.indices) ++counts[static_cast<std::size_t>(attribute)];
    std::vector<std::size_t> order(attributes);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (by_frequency)
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return counts[a] > counts[b]; });
    std::vector<std::int32_t> numbers(attributes, none);
    std::int32_t next = 0;
    for (const std::size_t attribute : order)
        if (counts[attribute] >= least) numbers[attribute] = next++;
    return numbers;
}

inline StringPool chosen_strings(const StringPool& pool, const std::vector<std::int32_t>& numbers) {
    std::vector<std::size_t> order(pool.size());
    std::size_t kept = 0;
    for (std::size_t id = 0; id < pool.size(); ++id)
        if (numbers[id] != none) order[static_cast<std::size_t>(numbers[id])] = id, ++kept;
    StringPool chosen;
    for (std::size_t k = 0; k < kept; ++k) chosen.add(pool[order[k]]);
    return chosen;
}

}  // namespace kernelfields

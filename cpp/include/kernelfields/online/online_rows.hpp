// The rows of features, apart: those with a row of weights, and those whose few weights are packed.
#pragma once

#include "online_weights.hpp"

namespace kernelfields {

// Columns are rows of the table on the wide side, and places of packed weights on the other.
template <class S> class SplitRows {
public:
    SplitRows(const SparseRows<S>& x, const OnlineWeights<S>& weights) {
        if (!weights.any_packed()) {
            wide_ = x;
            return;
        }
        first_.reserve(x.rows + 1);
        packed_first_.reserve(x.rows + 1);
        for (std::size_t t = 0; t <= x.rows; ++t) {
            first_.push_back(static_cast<std::int64_t>(index_.size()));
            packed_first_.push_back(static_cast<std::int64_t>(packed_index_.size()));
            if (t == x.rows) break;
            for (std::int64_t k = x.first[t]; k < x.first[t + 1]; ++k) {
                const std::int32_t slot = weights.slot(static_cast<std::size_t>(x.index[k]));
                (slot < 0 ? packed_index_ : index_).push_back(slot < 0 ? ~slot : slot);
                if (x.value) (slot < 0 ? packed_value_ : value_).push_back(x.value[k]);
            }
        }
        wide_ = {x.rows, weights.bias(), first_.data(), index_.data(), x.value ? value_.data() : nullptr};
    }

    const SparseRows<S>& wide() const { return wide_; }

    // out[t - from] += the packed weights of row t, for the rows from <= t < to.
    void add_products(std::size_t from, std::size_t to, const PackedWeight<S>* weights, std::size_t labels,
                      S* out) const {
        for_each(from, to, weights, [&](const PackedWeight<S>* weight, std::size_t t, S scale) {
            S* row = out + (t - from) * labels;
            do row[weight->label] += scale * weight->value;
            while (weight++->more);
        });
    }
    // weight += factor * value * in[t - from], its second number `ratio` times the same; positions that
    // `counts` does not hold for are passed over.
    template <class Counts>
    void change(std::size_t from, std::size_t to, const S* in, std::size_t labels, S factor, S ratio,
                PackedWeight<S>* weights, Counts counts) const {
        for (std::size_t t = from; t < to && !packed_first_.empty(); ++t) {
            const S* row = in + (t - from) * labels;
            if (!counts(row)) continue;
            for_each(t, t + 1, weights, [&](PackedWeight<S>* weight, std::size_t, S scale) {
                do {
                    const S d = factor * scale * row[weight->label];
                    weight->value += d;
                    weight->second += ratio * d;
                } while (weight++->more);
            });
        }
    }

private:
    template <class Weight, class Body>
    void for_each(std::size_t from, std::size_t to, Weight* weights, Body body) const {
        if (packed_first_.empty()) return;
        constexpr std::int64_t kAhead = 16;
        const auto end = static_cast<std::int64_t>(packed_index_.size());
        for (std::size_t t = from; t < to; ++t)
            for (std::int64_t k = packed_first_[t]; k < packed_first_[t + 1]; ++k) {
                if (k + kAhead < end) __builtin_prefetch(weights + packed_index_[static_cast<std::size_t>(k + kAhead)]);
                body(weights + packed_index_[static_cast<std::size_t>(k)], t,
                     packed_value_.empty() ? S(1) : packed_value_[static_cast<std::size_t>(k)]);
            }
    }

    SparseRows<S> wide_;
    std::vector<std::int64_t> first_, packed_first_;
    std::vector<std::int32_t> index_, packed_index_;
    std::vector<S> value_, packed_value_;
};

}  // namespace kernelfields

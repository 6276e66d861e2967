// Scores of labels alone, as detours change them: of every label, of those at sources (first positions,
// roots) and sinks (last positions, leaves), of label pairs.
#pragma once

#include "detours.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kernelfields {

// Penalties of the scores that there are; infinity for those that there are not, which stay zero.
struct LabelPenalties {
    double bias, boundary, edge;
};

class DetourLabels {
public:
    DetourLabels(std::size_t labels, LabelPenalties penalties)
        : labels_(labels), penalties_(penalties), numbers_((3 + labels) * labels) {}

    const double* bias() const { return numbers_.data(); }
    const double* start() const { return bias() + labels_; }
    const double* end() const { return start() + labels_; }
    const double* edges() const { return end() + labels_; }
    void clear() { std::fill(numbers_.begin(), numbers_.end(), 0.0); }

    double difference(bool source, bool sink, std::int32_t left, std::int32_t right) const {
        double sum = bias()[left] - bias()[right];
        if (source) sum += start()[left] - start()[right];
        if (sink) sum += end()[left] - end()[right];
        return sum;
    }
    double edge_difference(std::size_t left, std::size_t right) const { return edges()[left] - edges()[right]; }

    void change(bool source, bool sink, std::int32_t left, std::int32_t right, double by) {
        const auto a = static_cast<std::size_t>(left), b = static_cast<std::size_t>(right);
        add(0, a, b, by / penalties_.bias);
        if (source) add(labels_, a, b, by / penalties_.boundary);
        if (sink) add(2 * labels_, a, b, by / penalties_.boundary);
    }
    void change_edge(std::size_t left, std::size_t right, double by) {
        add(3 * labels_, left, right, by / penalties_.edge);
    }

    // Sum of lambda |f|^2.
    double square() const {
        double total = 0;
        for (std::size_t k = 0; k < numbers_.size(); ++k) {
            const double penalty = penalty_of(k / labels_);
            if (std::isfinite(penalty)) total += penalty * numbers_[k] * numbers_[k];
        }
        return total;
    }
    // The squared norm of the Riesz element of a sum, in an instance.
    template <class Instance> double square(const DetourSum& sum, const Instance& at) {
        double total = 0;
        total += merged(sum, penalties_.bias, [](std::size_t) { return true; });
        total += merged(sum, penalties_.boundary, [&](std::size_t t) { return at.is_source(t - at.from); });
        total += merged(sum, penalties_.boundary, [&](std::size_t t) { return at.is_sink(t - at.from); });
        merged_.clear();
        for (const DetourSum::Pair& pair : sum.pairs) merged_.emplace_back(pair.pair, pair.factor);
        return total + merged_square(merged_) / penalties_.edge;
    }

private:
    double penalty_of(std::size_t row) const {
        return row == 0 ? penalties_.bias : row < 3 ? penalties_.boundary : penalties_.edge;
    }
    void add(std::size_t from, std::size_t left, std::size_t right, double by) {
        numbers_[from + left] -= by;
        numbers_[from + right] += by;
    }
    template <class Counts> double merged(const DetourSum& sum, double penalty, Counts counts) {
        if (!std::isfinite(penalty)) return 0;
        merged_.clear();
        for (const DetourSum::Vertex& v : sum.vertices)
            if (counts(v.position)) merged_.emplace_back(static_cast<std::size_t>(v.label), v.factor);
        return merged_square(merged_) / penalty;
    }

    std::size_t labels_;
    LabelPenalties penalties_;
    std::vector<double> numbers_;
    std::vector<std::pair<std::size_t, double>> merged_;
};

}  // namespace kernelfields

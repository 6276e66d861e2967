// Logistic regression on dense rows in one pass: scores, probabilities and gradient of some rows while they
// are in the cache.
#pragma once

#include "../gram/gram.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

namespace kernelfields {

// n rows of D numbers, `stride` apart, the label of each among L, and how many times it counts.
template <class S> struct LabelledRows {
    const S* row;
    std::size_t stride, n, columns, labels;
    const std::int32_t* label;
    const double* weight;  // null for once
};

// Sums over a group of rows: gradient, (labels - 1) x columns, and that of constants.
template <class S> class RowGroup {
public:
    RowGroup(const LabelledRows<S>& data, const Columns<S>& weights, const double* constant)
        : gradient((data.labels - 1) * data.columns),
          sums(data.labels - 1),
          data_(data),
          weights_(weights),
          constant_(constant),
          others_(data.labels - 1),
          width_(row_stride<S>(data.columns)),
          panel_(others_ * width_),
          left_(kStrip * others_),
          scores_(data.labels * kStrip),
          times_(kStrip, 1.0),
          total_(kStrip) {
        std::fill_n(panel_.get(), others_ * width_, S(0));
    }
    std::vector<double> gradient, sums;
    double loss = 0;

    void add(std::size_t from, std::size_t to) {
        for (std::size_t r = from, gathered = 0; r < to; r += kStrip) {
            add_strip(r, std::min(kStrip, to - r));
            if ((gathered += kStrip) % kPanel == 0) gather();  // float32 is for some hundred rows
        }
        gather();
    }

private:
    void add_strip(std::size_t r, std::size_t rows) {
        const std::size_t D = data_.columns;
        const S* block = data_.row + r * data_.stride;
        double* scores = scores_.data() + kStrip;  // of all labels but label 0
        std::fill_n(scores_.data(), kStrip, 0.0);
        for (std::size_t l = 0; l < others_; ++l) std::fill_n(scores + l * kStrip, kStrip, constant_[l]);
        for (std::size_t c = 0; c < D; c += kStretch)
            gram_kernels<S>().add_row_products(block + c, data_.stride, rows, std::min(kStretch, D - c),
                                               weights_.transposed(c), weights_.stride(), others_, scores, kStrip);
        loss += differentiate(r, rows);
        for (std::size_t l = 0; l < others_; ++l)
            for (std::size_t i = 0; i < rows; ++i) {
                left_.get()[i * others_ + l] = static_cast<S>(scores[l * kStrip + i]);
                sums[l] += scores[l * kStrip + i];
            }
        for (std::size_t c = 0; c < D; c += kStretch)
            gram_kernels<S>().add_scaled_rows(block + c, data_.stride, rows, std::min(kStretch, D - c), left_.get(),
                                              others_, panel_.get() + c, width_);
    }
    double differentiate(std::size_t r, std::size_t rows) {
        if (data_.weight) std::copy_n(data_.weight + r, rows, times_.data());
        double found = gram_kernels<S>().differentiate_rows(scores_.data(), kStrip, data_.labels, rows, data_.label + r,
                                                            times_.data(), total_.data());
        if (data_.weight) {
            for (std::size_t i = 0; i < rows; ++i) found += times_[i] * std::log(total_[i]);
            return found;
        }
        // One logarithm for a strip: a product of 64 sums, each of at most L <= 2^15 ones, is no overflow.
        return found + std::log(std::accumulate(total_.begin(), total_.begin() + static_cast<std::ptrdiff_t>(rows), 1.0,
                                                std::multiplies<>()));
    }
    void gather() {
        const std::size_t D = data_.columns;
        for (std::size_t l = 0; l < others_; ++l)
            for (std::size_t c = 0; c < D; ++c)
                gradient[l * D + c] += static_cast<double>(panel_.get()[l * width_ + c]);
        std::fill_n(panel_.get(), others_ * width_, S(0));
    }

    const LabelledRows<S>& data_;
    const Columns<S>& weights_;
    const double* constant_;
    std::size_t others_, width_;
    Block<S> panel_, left_;
    std::vector<double> scores_, times_, total_;
};

// table[c * labels + l] less that of label 0, for the other labels.
template <class T> std::vector<double> contrasts(const T* table, std::size_t columns, std::size_t labels) {
    std::vector<double> found;
    found.reserve(columns * (labels - 1));
    for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t l = 1; l < labels; ++l)
            found.push_back(static_cast<double>(table[c * labels + l]) - static_cast<double>(table[c * labels]));
    return found;
}

// Rows are cut into groups that n alone decides: sums do not depend on the number of threads. Probabilities
// depend on differences of scores alone, and derivatives by the scores of a row add up to zero: label 0 is
// left out of all products.
// gradient: columns x labels; sums: labels. Returns sum_i weight_i (log sum_l exp s_il - s_iy).
template <class S>
double dense_rows_loss(const LabelledRows<S>& data, const S* weights, const double* constant, double* gradient,
                       double* sums) {
    const std::size_t n = data.n, D = data.columns, L = data.labels;
    const std::size_t groups = std::clamp<std::size_t>(n / 1024, 1, 64);
    const Columns<S> columns(contrasts(weights, D, L).data(), D, L - 1);
    const std::vector<double> constants = contrasts(constant, 1, L);
    const int threads = threads_for(2 * product_work(static_cast<double>(n) * static_cast<double>(D), L));
    std::vector<std::unique_ptr<RowGroup<S>>> parts(groups);
    for_each_block(groups, threads, [&](std::size_t g, std::size_t) {
        parts[g] = std::make_unique<RowGroup<S>>(data, columns, constants.data());
        parts[g]->add(n * g / groups, n * (g + 1) / groups);
    });
    double loss = 0;
    std::fill_n(gradient, D * L, 0.0);
    std::fill_n(sums, L, 0.0);
    const auto add = [](double* row, std::size_t l, double part) {
        row[l] += part;
        row[0] -= part;
    };
    for (const auto& part : parts) {
        loss += part->loss;
        for (std::size_t l = 1; l < L; ++l) {
            add(sums, l, part->sums[l - 1]);
            for (std::size_t c = 0; c < D; ++c) add(gradient + c * L, l, part->gradient[(l - 1) * D + c]);
        }
    }
    return loss;
}

}  // namespace kernelfields

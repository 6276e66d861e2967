// Logistic regression on dense rows in one pass: scores, probabilities and gradient of some rows while they
// are in the cache.
#pragma once

#include "../gram/gram.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace kernelfields {

// n rows of D numbers, `stride` apart, the label of each among L, and how many times it counts.
template <class S> struct LabelledRows {
    const S* row;
    std::size_t stride, n, columns, labels;
    const std::int32_t* label;
    const double* weight;  // null for once
};

// A strip of rows: scores[l * kStrip + r] becomes weight * (probability - observed). Returns the loss.
template <class S>
double differentiate_strip(const LabelledRows<S>& data, std::size_t from, std::size_t rows, double* scores,
                           S* scratch) {
    const std::size_t L = data.labels;
    double best[kStrip], total[kStrip] = {}, loss = 0, product = 1;
    std::copy_n(scores, rows, best);
    for (std::size_t l = 1; l < L; ++l)
        for (std::size_t r = 0; r < rows; ++r) best[r] = std::max(best[r], scores[l * kStrip + r]);
    S *below = scratch, *power = scratch + kStrip;
    for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t y = static_cast<std::size_t>(data.label[from + r]);
        const double w = data.weight ? data.weight[from + r] : 1.0;
        loss += w * (best[r] - scores[y * kStrip + r]);
    }
    for (std::size_t l = 0; l < L; ++l) {
        for (std::size_t r = 0; r < rows; ++r) below[r] = static_cast<S>(best[r] - scores[l * kStrip + r]);
        std::fill_n(power, rows, S(0));
        gram_kernels<S>().gaussian(power, rows, S(0), below, S(1));  // exp(-below)
        for (std::size_t r = 0; r < rows; ++r) {
            scores[l * kStrip + r] = static_cast<double>(power[r]);
            total[r] += scores[l * kStrip + r];
        }
    }
    for (std::size_t r = 0; r < rows; ++r) {
        // One logarithm for a strip: a product of 64 sums, each of at most L <= 2^15 ones, is no overflow.
        if (data.weight) loss += data.weight[from + r] * std::log(total[r]);
        else product *= total[r];
        total[r] = (data.weight ? data.weight[from + r] : 1.0) / total[r];
    }
    for (std::size_t l = 0; l < L; ++l)
        for (std::size_t r = 0; r < rows; ++r) scores[l * kStrip + r] *= total[r];
    for (std::size_t r = 0; r < rows; ++r)
        scores[static_cast<std::size_t>(data.label[from + r]) * kStrip + r] -=
            data.weight ? data.weight[from + r] : 1.0;
    return loss + std::log(product);
}

// Sums over a group of rows: gradient, labels x columns, and that of constants.
template <class S> class RowGroup {
public:
    RowGroup(const LabelledRows<S>& data, const Columns<S>& weights, const double* constant)
        : gradient(data.labels * data.columns),
          sums(data.labels),
          data_(data),
          weights_(weights),
          constant_(constant),
          width_(row_stride<S>(data.columns)),
          panel_(data.labels * width_),
          left_(kStrip * data.labels),
          scratch_(2 * kStrip),
          scores_(data.labels * kStrip) {
        std::fill_n(panel_.get(), data.labels * width_, S(0));
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
        const std::size_t L = data_.labels, D = data_.columns;
        const S* block = data_.row + r * data_.stride;
        for (std::size_t l = 0; l < L; ++l) std::fill_n(scores_.data() + l * kStrip, rows, constant_[l]);
        for (std::size_t c = 0; c < D; c += kStretch)
            gram_kernels<S>().add_row_products(block + c, data_.stride, rows, std::min(kStretch, D - c),
                                               weights_.transposed(c), weights_.stride(), L, scores_.data(), kStrip);
        loss += differentiate_strip(data_, r, rows, scores_.data(), scratch_.get());
        for (std::size_t l = 0; l < L; ++l)
            for (std::size_t i = 0; i < rows; ++i) {
                left_.get()[i * L + l] = static_cast<S>(scores_[l * kStrip + i]);
                sums[l] += scores_[l * kStrip + i];
            }
        for (std::size_t c = 0; c < D; c += kStretch)
            gram_kernels<S>().add_scaled_rows(block + c, data_.stride, rows, std::min(kStretch, D - c), left_.get(), L,
                                              panel_.get() + c, width_);
    }
    void gather() {
        const std::size_t L = data_.labels, D = data_.columns;
        for (std::size_t l = 0; l < L; ++l)
            for (std::size_t c = 0; c < D; ++c)
                gradient[l * D + c] += static_cast<double>(panel_.get()[l * width_ + c]);
        std::fill_n(panel_.get(), L * width_, S(0));
    }

    const LabelledRows<S>& data_;
    const Columns<S>& weights_;
    const double* constant_;
    std::size_t width_;
    Block<S> panel_, left_, scratch_;
    std::vector<double> scores_;
};

// Rows are cut into groups that n alone decides: sums do not depend on the number of threads.
// gradient: columns x labels; sums: labels. Returns sum_i weight_i (log sum_l exp s_il - s_iy).
template <class S>
double dense_rows_loss(const LabelledRows<S>& data, const S* weights, const double* constant, double* gradient,
                       double* sums) {
    const std::size_t n = data.n, D = data.columns, L = data.labels;
    const std::size_t groups = std::clamp<std::size_t>(n / 1024, 1, 64);
    const Columns<S> columns(weights, D, L);
    const int threads = threads_for(2 * product_work(static_cast<double>(n) * static_cast<double>(D), L));
    std::vector<std::unique_ptr<RowGroup<S>>> parts(groups);
    for_each_block(groups, threads, [&](std::size_t g, std::size_t) {
        parts[g] = std::make_unique<RowGroup<S>>(data, columns, constant);
        parts[g]->add(n * g / groups, n * (g + 1) / groups);
    });
    double loss = 0;
    std::fill_n(gradient, D * L, 0.0);
    std::fill_n(sums, L, 0.0);
    for (const auto& part : parts) {
        loss += part->loss;
        for (std::size_t l = 0; l < L; ++l) {
            sums[l] += part->sums[l];
            for (std::size_t c = 0; c < D; ++c) gradient[c * L + l] += part->gradient[l * D + c];
        }
    }
    return loss;
}

}  // namespace kernelfields

// A kernel expansion f_l = sum_o alpha_{o,l} k(x_o, .), seen from some positions at a time: a panel.
//
// To open a panel takes the rows of the Gram matrix of its positions, once, all of them: the values of f there. While
// it is open, changes of alpha at its own positions reach these values by the small matrix between them, which stays in
// the cache. So an ascent may go over a panel several times for one pass over memory.
#pragma once

#include "../gram/gram.hpp"

#include <algorithm>
#include <vector>

namespace kernelfields {

template <class S> class KernelPanel {
public:
    // Position t sees observation row[t]; gram has size x size numbers.
    KernelPanel(const S* gram, std::size_t size, const std::int64_t* row, std::size_t labels)
        : gram_(gram),
          size_(size),
          row_(row),
          labels_(labels),
          stride_(row_stride<S>(size)),
          alpha_(labels * stride_) {}

    std::size_t size() const { return positions_.size(); }
    std::size_t position(std::size_t k) const { return positions_[k]; }
    void clear() { std::fill(alpha_.begin(), alpha_.end(), S(0)); }

    // Adds to alpha at any position, panel or not; no panel may be open.
    void add(std::size_t position, const S* change, double factor) {
        for (std::size_t l = 0; l < labels_; ++l) alpha_[at(position, l)] += static_cast<S>(factor) * change[l];
    }
    void begin() { positions_.clear(); }
    void take(std::size_t from, std::size_t count) {
        for (std::size_t t = 0; t < count; ++t) positions_.push_back(from + t);
    }
    // Computes the values of f at the positions taken since `begin`.
    void open() {
        const std::size_t count = size();
        width_ = padded(count, 2 * gram_kernels<S>().width);
        rows_.resize(count);
        for (std::size_t k = 0; k < count; ++k) rows_[k] = gram_ + observation(k) * size_;
        between_.assign(count * width_, S(0));
        sums_.assign(labels_ * width_, 0.0);
        constexpr std::size_t kRows = 32;
        const double work = 0.03 * static_cast<double>(count) * static_cast<double>(size_ * labels_);
        for_each_block((count + kRows - 1) / kRows, threads_for(work), [&](std::size_t block, std::size_t) {
            const std::size_t from = block * kRows, rows = std::min(kRows, count - from);
            for (std::size_t c = 0; c < size_; c += kStretch)
                gram_kernels<S>().add_gathered_products(rows_.data() + from, rows, c, std::min(kStretch, size_ - c),
                                                        gram_ + size_ * size_, alpha_.data() + c, stride_, labels_,
                                                        sums_.data() + from, width_);
            for (std::size_t r = from; r < from + rows; ++r)
                for (std::size_t k = 0; k < count; ++k) between_[r * width_ + k] = rows_[r][observation(k)];
        });
        values_.assign(sums_.begin(), sums_.end());
        image_.resize(values_.size());
    }
    // out[t * labels + l] = f_l at `count` positions of the panel.
    void values(std::size_t from, std::size_t count, S* out) const {
        for (std::size_t l = 0; l < labels_; ++l)
            for (std::size_t t = 0; t < count; ++t) out[t * labels_ + l] = values_[l * width_ + from + t];
    }
    // Considers a change of alpha at `count` positions of the panel; returns its squared norm.
    double consider(std::size_t from, std::size_t count, const S* change) {
        std::fill(image_.begin(), image_.end(), S(0));
        gram_kernels<S>().add_column_products(between_.data() + from * width_, width_, count, width_, change, labels_,
                                              image_.data(), width_);
        double square = 0;
        for (std::size_t l = 0; l < labels_; ++l)
            for (std::size_t t = 0; t < count; ++t)
                square +=
                    static_cast<double>(change[t * labels_ + l]) * static_cast<double>(image_[l * width_ + from + t]);
        return std::max(square, 0.0);
    }
    // Adds a multiple of the change that was considered last.
    void change(std::size_t from, std::size_t count, const S* change, double factor) {
        const S by = static_cast<S>(factor);
        for (std::size_t k = 0; k < image_.size(); ++k) values_[k] += by * image_[k];
        for (std::size_t t = 0; t < count; ++t) add(positions_[from + t], change + t * labels_, factor);
    }

private:
    std::size_t observation(std::size_t k) const { return static_cast<std::size_t>(row_[positions_[k]]); }
    std::size_t at(std::size_t position, std::size_t label) const {
        return label * stride_ + static_cast<std::size_t>(row_[position]);
    }

    const S* gram_;
    std::size_t size_;
    const std::int64_t* row_;
    std::size_t labels_, stride_, width_ = 0;
    std::vector<S> alpha_;  // labels x stride
    std::vector<std::size_t> positions_;
    std::vector<const S*> rows_;     // of the Gram matrix, for every position of the panel
    std::vector<S> between_;         // panel x width: the Gram matrix of the panel
    std::vector<S> values_, image_;  // labels x width
    std::vector<double> sums_;
};

}  // namespace kernelfields

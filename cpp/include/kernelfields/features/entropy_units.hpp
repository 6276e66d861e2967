// n log n of whole numbers in whole units: sums and differences of them are exact, in any order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelfields {

class EntropyUnits {
public:
    // For counts that add up to at most `most`.
    explicit EntropyUnits(std::int64_t most) {
        const double total = static_cast<double>(std::max<std::int64_t>(most, 2));
        // sums of a few values of up to N log N must stay below 2^63
        const int bits = static_cast<int>(58.0 - std::log2(total * std::log(total) + 1.0));
        scale_ = std::ldexp(1.0, std::clamp(bits, 0, 40));
        const auto size = static_cast<std::size_t>(std::min<std::int64_t>(most + 1, kTable));
        table_.reserve(size);
        for (std::size_t n = 0; n < size; ++n) table_.push_back(compute(static_cast<std::int64_t>(n)));
    }

    std::int64_t operator()(std::int64_t n) const {
        return static_cast<std::size_t>(n) < table_.size() ? table_[static_cast<std::size_t>(n)] : compute(n);
    }

    // (u + v) log (u + v) - u log u - v log v, never negative; nothing if one of them is 0.
    std::int64_t gain(std::int64_t u, std::int64_t v) const {
        return u == 0 || v == 0 ? 0 : (*this)(u + v) - (*this)(u) - (*this)(v);
    }

    double value(std::int64_t units) const { return static_cast<double>(units) / scale_; }

private:
    static constexpr std::int64_t kTable = 1 << 20;

    std::int64_t compute(std::int64_t n) const {
        const double number = static_cast<double>(n);
        return n < 2 ? 0 : static_cast<std::int64_t>(std::llround(number * std::log(number) * scale_));
    }

    double scale_;
    std::vector<std::int64_t> table_;
};

}  // namespace kernelfields

// Assignment problems with memory of their own: the best columns of rows, each column at most once.
#pragma once

#include "../core/arena.hpp"
#include "../core/dispatch.hpp"
#include "../core/logarithms.hpp"

#include <algorithm>
#include <vector>

namespace kernelfields {

class Assignment {
public:
    // Room for a problem. All scores are then written through row() or score(), those of staying alone, zero at first,
    // through none().
    void start(std::size_t rows, std::size_t columns) {
        rows_ = rows;
        columns_ = columns;
        stride_ = padded(columns, assignment_kernels().width);
        theta_.resize(rows * stride_);
        for (std::size_t i = 0; i < rows; ++i) std::fill(row(i) + columns, row(i) + stride_, kNothing);
        none_.assign(rows, 0.0);
        numbers_.resize(rows + 4 * stride_);
        places_.resize(3 * rows + stride_);
    }
    double* row(std::size_t i) { return theta_.data() + i * stride_; }
    double& score(std::size_t i, std::size_t j) { return theta_[i * stride_ + j]; }
    double& none(std::size_t i) { return none_[i]; }

    // Whether there is an assignment with a score above -inf; column(i) is then the best one's, -1 for none.
    bool solve() {
        double* const at = numbers_.data();
        std::int32_t* const place = places_.data();
        u_ = at;
        v_ = at + rows_;
        column_ = place;
        return assignment_kernels().solve({rows_, stride_, theta_.data(), none_.data(), u_, v_, v_ + stride_,
                                           v_ + 2 * stride_, v_ + 3 * stride_, column_, place + 3 * rows_,
                                           place + rows_});
    }
    std::int32_t column(std::size_t i) const { return column_[i]; }
    double row_price(std::size_t i) const { return u_[i]; }
    double column_price(std::size_t j) const { return v_[j]; }
    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }

private:
    std::size_t rows_ = 0, columns_ = 0, stride_ = 0;
    std::vector<double> theta_, none_, numbers_;
    std::vector<std::int32_t> places_;
    double *u_ = nullptr, *v_ = nullptr;
    std::int32_t* column_ = nullptr;
};

}  // namespace kernelfields

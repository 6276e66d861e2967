// What assignment problems ask of the code compiled per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelfields {

// max sum theta(i, column[i]) + sum none(i) over rows that have no column, each column at most once. Workspace belongs
// to the caller; rows of theta are `stride` apart, a multiple of the width of vectors, -inf behind the last column.
struct AssignmentProblem {
    std::size_t rows, stride;
    const double *theta, *none;         // rows x stride, rows; -inf forbids
    double *u, *v;                      // prices of rows and columns: u(i) + v(j) >= theta(i, j), u >= none, v >= 0
    double *distance, *closed, *from;   // stride each
    std::int32_t *column, *row, *free;  // the partner of each row and of each column (-1 for none); 2 x rows numbers
};

struct AssignmentKernels {
    std::size_t width;  // of vectors
    // Fills `column`, `row`, `u`, `v`; false where the rows that must have a column cannot all have one.
    bool (*solve)(const AssignmentProblem&);
};

}  // namespace kernelfields

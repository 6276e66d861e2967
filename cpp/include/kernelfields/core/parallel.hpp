// Threads: how many, and a loop over blocks whose results do not depend on how many.
#pragma once

#include "function_ref.hpp"

#include <cstddef>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace kernelfields {

// True in a child made by fork() after this library was loaded. libgomp's threads do not survive a
// fork, and a parallel region in the child would wait for them for ever: there, one thread works.
bool in_forked_child();

// Says that the calling thread is one of several that share the work: it then uses no others.
void work_alone();
bool works_alone();

// Below about a quarter of a millisecond of work, waking threads costs more than they give.
inline int threads_for(double nanoseconds) {
#ifdef _OPENMP
    if (nanoseconds < 2.5e5 || in_forked_child() || works_alone()) return 1;
    return omp_get_max_threads();
#else
    (void)nanoseconds;
    return 1;
#endif
}

inline int this_thread() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

// body(block, thread) for every block, in any order. The first exception is rethrown. The loop is compiled once, and
// calls its bodies by pointer: each block has enough to do.
void for_each_block(std::size_t blocks, int threads, FunctionRef<void(std::size_t, std::size_t)> body);

}  // namespace kernelfields

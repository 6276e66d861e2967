#include "kernelfields/core/parallel.hpp"

#include <atomic>
#include <exception>
#include <mutex>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace kernelfields {
namespace {

std::atomic<bool> forked{false};
thread_local bool alone = false;

#if defined(__unix__) || defined(__APPLE__)
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { forked = true; });
#endif

}  // namespace

bool in_forked_child() {
    return forked;
}

void work_alone() {
    alone = true;
}

bool works_alone() {
    return alone;
}

void for_each_block(std::size_t blocks, int threads, FunctionRef<void(std::size_t, std::size_t)> body) {
    std::exception_ptr failure;
    std::mutex guard;
    const auto count = static_cast<std::ptrdiff_t>(blocks);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
#endif
    for (std::ptrdiff_t block = 0; block < count; ++block) {
        try {
            body(static_cast<std::size_t>(block), static_cast<std::size_t>(this_thread()));
        } catch (...) {
            const std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
        }
    }
    (void)threads;
    if (failure) std::rethrow_exception(failure);
}

}  // namespace kernelfields

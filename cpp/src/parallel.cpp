#include "kernelfields/core/parallel.hpp"

#include <atomic>

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

}  // namespace kernelfields

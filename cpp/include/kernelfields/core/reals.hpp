// Arrays of floats or doubles, looked at as doubles. What computes in doubles anyway is compiled once for both.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kernelfields {

class Reals {
public:
    Reals(const float* numbers) : numbers_(numbers), single_(true) {}
    Reals(const double* numbers) : numbers_(numbers), single_(false) {}

    // body(pointer to floats, or to doubles), for loops that should not ask at every number.
    template <class Body> auto with(Body body) const {
        return single_ ? body(static_cast<const float*>(numbers_)) : body(static_cast<const double*>(numbers_));
    }
    double operator[](std::size_t k) const {
        return with([=](const auto* numbers) { return static_cast<double>(numbers[k]); });
    }
    Reals operator+(std::size_t k) const {
        return with([=](const auto* numbers) { return Reals(numbers + k); });
    }
    void copy(std::size_t count, double* to) const {
        with([=](const auto* numbers) { std::copy(numbers, numbers + count, to); });
    }

private:
    const void* numbers_;
    bool single_;
};

// Those to be written to, or none.
class RealsOut {
public:
    RealsOut() = default;
    RealsOut(float* numbers) : numbers_(numbers), single_(true) {}
    RealsOut(double* numbers) : numbers_(numbers) {}

    explicit operator bool() const { return numbers_ != nullptr; }
    template <class Body> auto with(Body body) const {
        return single_ ? body(static_cast<float*>(numbers_)) : body(static_cast<double*>(numbers_));
    }
    // The numbers themselves, by somebody who knows what they are.
    template <class S> S* of() const { return static_cast<S*>(numbers_); }
    void set(std::size_t k, double x) const {
        with([=](auto* numbers) { store(numbers + k, x); });
    }
    RealsOut operator+(std::size_t k) const {
        return with([=](auto* numbers) { return RealsOut(numbers + k); });
    }
    void clear(std::size_t count) const {
        with([=](auto* numbers) { std::fill(numbers, numbers + count, 0); });
    }

private:
    template <class S> static void store(S* to, double x) { *to = static_cast<S>(x); }

    void* numbers_ = nullptr;
    bool single_ = false;
};

}  // namespace kernelfields

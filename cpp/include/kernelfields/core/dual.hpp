// Numbers with a derivative along one direction: what is computed with them is differentiated on the way.
#pragma once

#include "wide.hpp"

namespace kernelfields {

template <class T> struct Dual {
    T value{}, change{};

    Dual() = default;
    Dual(double constant) : value(constant) {}  // NOLINT: a number is a number
    Dual(T v, T d) : value(v), change(d) {}

    friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.change + b.change}; }
    friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.change - b.change}; }
    friend Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.change * b.value + a.value * b.change}; }
    friend Dual operator/(Dual a, Dual b) {
        const T ratio = a.value / b.value;
        return {ratio, (a.change - ratio * b.change) / b.value};
    }
    Dual& operator+=(Dual b) { return *this = *this + b; }
    Dual& operator*=(Dual b) { return *this = *this * b; }
};

template <class T> double log_of(const Dual<T>& x) {
    return log_of(x.value);
}
template <class T> double value_of(const Dual<T>& x) {
    return value_of(x.value);
}
template <class T> bool is_zero(const Dual<T>& x) {
    return is_zero(x.value);
}

}  // namespace kernelfields

// Square blocks of numbers turned about in registers.
#pragma once

#include "simd.hpp"

namespace kernelfields {
namespace {

template <int N> struct Distance {
    static constexpr int value = N;
};
template <int... I> struct Places {};
template <int N, int... I> struct PlacesUpTo : PlacesUpTo<N - 1, N - 1, I...> {};
template <int... I> struct PlacesUpTo<0, I...> {
    using type = Places<I...>;
};

// Exchanges the lanes of a whose number has the bit `distance` with those of b whose number has not.
template <int distance, class V, int... I> KF_INLINE void exchange(V& a, V& b, Places<I...>) {
    constexpr int n = sizeof...(I);
    const V low = __builtin_shufflevector(a, b, (I & distance ? n + I - distance : I)...);
    b = __builtin_shufflevector(a, b, (I & distance ? n + I : I + distance)...);
    a = low;
}

// block[i][j] becomes block[j][i]: one bit of the two numbers at a time, log2(width) shuffles for each vector.
template <class V, std::size_t N> KF_INLINE void transpose(V (&block)[N]) {
    constexpr int n = N;
    static_assert(sizeof(V) == N * sizeof(block[0][0]));
    using Lanes = typename PlacesUpTo<n>::type;
    const auto bit = [&](auto distance) {
        constexpr int d = decltype(distance)::value;
        if constexpr (d < n) KF_UNROLL
        for (int i = 0; i < n; ++i)
            if (!(i & d)) exchange<d>(block[i], block[i + d], Lanes{});
    };
    bit(Distance<1>{});
    bit(Distance<2>{});
    bit(Distance<4>{});
    bit(Distance<8>{});
}

}  // namespace
}  // namespace kernelfields

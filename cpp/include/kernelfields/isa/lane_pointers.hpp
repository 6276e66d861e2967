// Which labels lead to the best scores of lanes, kept on the way there, a few bits each.
#pragma once

#include "lane_groups.hpp"

#include <type_traits>

namespace kernelfields {
namespace {

// Up to three labels: bit i - 1 says that label i is better than all before, which takes one operation to note; the
// highest bit counts. More labels: the label itself. One word has those of a position, of several, or of a part.
template <class S, int L> struct Pointers {
    static constexpr bool kMarks = L <= 3;
    static constexpr int kBits = kMarks ? L - 1 : L <= 8 ? 3 - (L <= 4) : 4;
    static constexpr int kRoom = 8 * sizeof(S), kInWord = kRoom / kBits;  // labels in a word
    static constexpr int kWords = (L + kInWord - 1) / kInWord;            // words of a position, or
    static constexpr int fitting() {
        int positions = 1;
        while (kWords == 1 && 2 * positions <= static_cast<int>(kWidth<S>) && 2 * positions * kBits * L <= kRoom)
            positions *= 2;
        return positions;
    }
    static constexpr int kPositions = fitting();  // positions of a word
    static constexpr std::size_t W = kWidth<S>, kTile = W / kPositions * kWords;
    using Integer = std::conditional_t<sizeof(S) == 8, std::int64_t, std::int32_t>;

    Bits<S>* kept;    // tile by tile, set by set
    Bits<S> name[L];  // labels in all lanes
    Integer mark[kPositions][L * (L - 1)];

    KF_INLINE Pointers(Arena& arena, std::size_t longest, const S (&)[L][L])
        : kept(take<Bits<S>>(arena, (longest + W - 1) / W * kSets * kTile)) {
        for (int i = 0; i < L; ++i) name[i] = Bits<S>{} + i;
        for (int p = 0; kMarks && p < kPositions; ++p)
            for (int k = 0; k < L * (L - 1); ++k) mark[p][k] = Integer{1} << (p * L * (L - 1) + k);
        asm volatile(""
                     : "+m"(name),
                       "+m"(mark));  // constants would be made anew from general registers for every comparison
    }

    // to(j) = max_i best(i) + A(i, j). Labels i are added to `word`, as those of position p.
    KF_INLINE void step(const S (&A)[L][L], const Vec<S> (&best)[L], int p, Vec<S> (&to)[L],
                        Bits<S> (&word)[kWords]) const {
        KF_UNROLL
        for (int j = 0; j < L; ++j) {
            Vec<S> high = best[0] + A[0][j];
            Bits<S> label{};
            KF_UNROLL
            for (int i = 1; i < L; ++i) {
                const Vec<S> other = best[i] + A[i][j];
                const Bits<S> better = other > high;
                if constexpr (kMarks) word[0] = better ? word[0] | mark[p][j * (L - 1) + i - 1] : word[0];
                else label = better ? name[i] : label;
                high = maximum<S>(high, other);  // not other > high once more: it would wait for `better`
            }
            if constexpr (!kMarks) word[j / kInWord] |= label << (p * kBits * L + j % kInWord * kBits);
            to[j] = high;
        }
    }
    KF_INLINE Bits<S>* words(std::size_t t, std::size_t g) const {
        return kept + (t / W * kSets + g) * kTile + t % W / kPositions * static_cast<std::size_t>(kWords);
    }
    // Labels at t - 1 that lead to those at t.
    KF_INLINE Bits<S> before(std::size_t t, std::size_t g, Bits<S> label) const {
        const Bits<S>* from = words(t, g);
        Bits<S> word = from[0];
        if constexpr (kWords > 1) word = label >= kInWord ? from[1] : word;
        const Bits<S> place = (label & (kWords > 1 ? kInWord - 1 : -1)) * kBits;
        // Shifted twice: the first does not wait for the label.
        word = word >> static_cast<int>(t % kPositions) * kBits * L >> place & ((1 << kBits) - 1);
        if constexpr (L == 3) word = word > 2 ? name[2] : word;
        return word;
    }

    // The positions from t on of one tile; best becomes that of the last. `each` is called after every position.
    template <class Each>
    KF_INLINE void advance(const S (&A)[L][L], std::size_t t, std::size_t steps, const Vec<S> (&node)[kSets][W * L],
                           Vec<S> (&best)[kSets][L], Each each) {
        for (std::size_t k = 0; k < steps; k += kPositions) {
            Bits<S> word[kSets][kWords] = {};
            for (std::size_t p = k; p < k + kPositions && p < steps; ++p) {
                KF_UNROLL
                for (std::size_t g = 0; g < kSets; ++g) {
                    Vec<S> to[L] = {};
                    if (t + p > 0) step(A, best[g], static_cast<int>(p - k), to, word[g]);
                    KF_UNROLL
                    for (int j = 0; j < L; ++j) best[g][j] = to[j] + node[g][p * L + static_cast<std::size_t>(j)];
                }
                each(t + p);
            }
            for (std::size_t g = 0; g < kSets; ++g)
                for (int w = 0; w < kWords; ++w) words(t + k, g)[w] = word[g][w];
        }
    }
};

}  // namespace
}  // namespace kernelfields

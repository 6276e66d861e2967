// Long chains with few labels, cut into pieces that overlap, one piece in every lane of a vector.
//
// Messages forget where they began: multiplying by positive matrices never increases the distance
//
//   d(u, v) = max_i log(u_i / v_i) - min_i log(u_i / v_i)
//
// of two messages, and usually shrinks it by a factor a step (Hilbert's metric). So a piece begins some positions early
// with a message of ones, and goes on as many positions beyond its end. Where two pieces meet, both have computed both
// messages; if these agree to rounding there, they agree everywhere behind, and results are those of the whole
// sequence. If not, longer overlaps are tried, then the recursions for one sequence at a time. In the same way for
// Viterbi, where sums and maxima do not increase max_i (u_i - v_i) - min_i (u_i - v_i), and labels must be equal.
#pragma once

#include "chain_lanes.hpp"

#include <cmath>
#include <limits>

namespace kernelfields {

constexpr std::size_t kLongSequence = 8192;

// Positions of a piece, and before and behind it.
struct Cut {
    std::size_t piece, overlap;
};
constexpr Cut kCuts[] = {{1024, 64}, {8192, 1024}};

// Pieces of about equal length, so many that all lanes are filled.
template <class S>
std::vector<Stretch> cut_into_pieces(const ChainBatch<S>& batch, std::size_t s, Cut cut, std::size_t lanes) {
    const std::size_t length = batch.length(s), first = static_cast<std::size_t>(batch.first[s]);
    const std::size_t count = (length + cut.piece * lanes - 1) / (cut.piece * lanes) * lanes;
    std::vector<Stretch> pieces;
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t from = length * k / count, to = length * (k + 1) / count;
        const std::size_t begin = from > cut.overlap ? from - cut.overlap : 0, end = std::min(length, to + cut.overlap);
        pieces.push_back({s, first + begin, end - begin, from - begin, to - begin});
    }
    return pieces;
}

// Runs body(first piece, count, arena, block) for groups of pieces, in blocks that are summed apart.
template <class S, class Body>
std::size_t for_each_piece_group(const ChainBatch<S>& batch, const std::vector<Stretch>& pieces, std::size_t lanes,
                                 double work, Body body) {
    const std::size_t groups = pieces.size() / lanes, blocks = std::min<std::size_t>(groups, 32);
    std::size_t longest = 0;
    for (const Stretch& piece : pieces) longest = std::max(longest, piece.length);
    const int threads = threads_for(work);
    Workspaces workspaces(chain_kernels<S>().lane_bytes(batch.labels, longest), threads);
    for_each_block(blocks, threads, [&](std::size_t block, std::size_t thread) {
        for (std::size_t g = groups * block / blocks; g < groups * (block + 1) / blocks; ++g)
            body(g * lanes, workspaces.arena(thread), block);
    });
    return blocks;
}

// Whether two messages are the same up to a factor; `distance` of entries is 0 where they are the same.
template <class Distance> bool same_message(std::size_t labels, double most, Distance distance) {
    double high = -std::numeric_limits<double>::infinity(), low = -high;
    for (std::size_t j = 0; j < labels; ++j) {
        const double here = distance(j);
        if (std::isnan(here)) return false;
        high = std::max(high, here), low = std::min(low, here);
    }
    return high - low <= most;
}

template <class S> bool messages_agree(const std::vector<Seam>& seams, std::size_t labels) {
    constexpr double kMost = 256 * static_cast<double>(std::numeric_limits<S>::epsilon());
    for (std::size_t k = 1; k < seams.size(); ++k) {
        const Seam &left = seams[k - 1], &right = seams[k];
        const auto same = [&](const double* a, const double* b) {
            return same_message(labels, kMost, [&](std::size_t j) { return std::log(a[j] / b[j]); });
        };
        if (!same(left.right_alpha, right.left_alpha) || !same(left.right_beta, right.left_beta)) return false;
    }
    return true;
}

// Best scores up to a constant, and labels (kept in the first entries of beta).
template <class S> bool best_agree(const std::vector<Seam>& seams, std::size_t labels) {
    for (std::size_t k = 1; k < seams.size(); ++k) {
        const double *left = seams[k - 1].right_alpha, *right = seams[k].left_alpha;
        double largest = 1;
        for (std::size_t j = 0; j < labels; ++j)
            if (std::isfinite(left[j]) && std::isfinite(right[j]))
                largest = std::max({largest, std::abs(left[j]), std::abs(right[j])});
        const double most = 256 * static_cast<double>(std::numeric_limits<S>::epsilon()) * largest;
        const bool same = same_message(labels, most, [&](std::size_t j) {
            const bool forbidden = std::isinf(left[j]) && std::isinf(right[j]);
            return forbidden ? left[0] - right[0] : left[j] - right[j];
        });
        if (!same || seams[k - 1].right_beta[0] != seams[k].left_beta[0]) return false;
    }
    return true;
}

template <class S>
bool marginals_in_pieces_of(const ChainBatch<S>& batch, std::size_t s, Cut cut, const SharedEdges<S>& edges,
                            const MarginalsOut<S>& out, double* edge_sum) {
    const std::size_t L = batch.labels, square = L * L, lanes = chain_kernels<S>().lanes;
    const std::vector<Stretch> pieces = cut_into_pieces(batch, s, cut, lanes);
    std::vector<Seam> seams(pieces.size());
    std::vector<double> log_mass(pieces.size()), sums(32 * square);
    std::vector<std::uint8_t> held(pieces.size() / lanes);
    const auto run = [&](std::size_t first, Arena arena, std::size_t block) {
        const LaneWork work{pieces.data() + first, lanes, log_mass.data() + first, seams.data() + first};
        held[first / lanes] =
            chain_kernels<S>().marginals_lanes(batch, edges, work, out, sums.data() + block * square, arena);
    };
    for_each_piece_group(batch, pieces, lanes, lane_work(batch.length(s), L, 0.25), run);
    if (std::any_of(held.begin(), held.end(), [](std::uint8_t one) { return !one; })) return false;
    if (!messages_agree<S>(seams, L)) return false;
    out.log_partition[s] = std::accumulate(log_mass.begin(), log_mass.end(), 0.0);
    for (std::size_t k = 0; edge_sum && k < sums.size(); ++k) edge_sum[k % square] += sums[k];
    return true;
}

// The score of the labelling that pieces make up: differences between the ends of each.
inline double score_of_pieces(const std::vector<Seam>& seams, double last) {
    double total = last;
    for (std::size_t k = 1; k < seams.size(); ++k) {
        const auto label = static_cast<std::size_t>(seams[k].left_beta[0]);
        total += seams[k - 1].right_alpha[label] - seams[k].left_alpha[label];
    }
    return total;
}

template <class S>
bool argmax_in_pieces_of(const ChainBatch<S>& batch, std::size_t s, Cut cut, std::int32_t* labels, double& value) {
    const std::size_t L = batch.labels, lanes = chain_kernels<S>().lanes;
    const std::vector<Stretch> pieces = cut_into_pieces(batch, s, cut, lanes);
    std::vector<Seam> seams(pieces.size());
    std::vector<Outcome> found(pieces.size());
    std::vector<double> score(pieces.size());
    for_each_piece_group(batch, pieces, lanes, lane_work(batch.length(s), L, 0.1),
                         [&](std::size_t first, Arena arena, std::size_t) {
                             const LaneWork work{pieces.data() + first, lanes, score.data() + first,
                                                 seams.data() + first};
                             chain_kernels<S>().argmax_lanes(batch, work, labels, arena, found.data() + first);
                         });
    const auto done = [](Outcome one) { return one == Outcome::done; };
    if (!std::all_of(found.begin(), found.end(), done) || !best_agree<S>(seams, L)) return false;
    value = score_of_pieces(seams, score.back());
    if (!kScoresFound<S> || !std::isfinite(value)) value = chain_score(batch, s, labels + batch.first[s]);
    return true;
}

// Calls run(s, cut) for every long sequence until it succeeds.
template <class S, class Run>
void for_each_long(const ChainBatch<S>& batch, std::vector<Outcome>& outcome, Run run) {
    for (std::size_t s = 0; s < batch.sequences; ++s)
        for (const Cut cut : kCuts)
            if (outcome[s] == Outcome::pending && batch.length(s) >= kLongSequence && run(s, cut))
                outcome[s] = Outcome::done;
}

template <class S>
void marginals_in_pieces(const ChainBatch<S>& batch, const SharedEdges<S>& edges, const MarginalsOut<S>& out,
                         double* edge_sum, std::vector<Outcome>& outcome) {
    // Without room for marginals there are no backward messages to compare.
    if (!out.node) return;
    for_each_long(batch, outcome,
                  [&](std::size_t s, Cut cut) { return marginals_in_pieces_of(batch, s, cut, edges, out, edge_sum); });
}

template <class S>
void argmax_in_pieces(const ChainBatch<S>& batch, std::int32_t* labels, double* value, std::vector<Outcome>& outcome) {
    for_each_long(batch, outcome,
                  [&](std::size_t s, Cut cut) { return argmax_in_pieces_of(batch, s, cut, labels, value[s]); });
}

}  // namespace kernelfields

// The way up of the scaled recursions on forests (tree_rows.hpp): messages u_v and m_v.
#pragma once

#include "tree_rows.hpp"

namespace kernelfields {
namespace {

enum class Watch { no, any, each };  // whether underflow is watched for, in the group or in each instance

// m_v of R vertices from slot `at` on; `B` is the transpose of A.
template <int R, int V> KF_INLINE void send_up(const TreeSlots& rows, const D* B, std::size_t at) {
    const std::size_t stride = rows.stride, vectors = V ? V : stride / kWidth<D>;
    const D* from[R];
    D* to[R];
    Vec<D> high[R] = {};
    for (int r = 0; r < R; ++r) {
        from[r] = rows.u + (at + r) * stride;
        to[r] = rows.m + (at + r) * stride;
    }
    Held<D, R, V> held(to);
    multiply<D, R, V, Split::as_alone>(B, rows.L, stride, from, [&](int r, std::size_t v, Vec<D> value) {
        held.set(r, v, value);
        high[r] = maximum<D>(value, high[r]);
    });
    for (int r = 0; r < R; ++r) {
        const D s = largest<D>(high[r]), inverse = s > 0 ? 1 / s : 0;
        for (std::size_t v = 0; v < vectors; ++v) store(to[r] + v * kWidth<D>, held.get(r, v) * inverse);
        rows.scale[rows.group.place[at + r]] = s;
    }
}

// u_v <- u_v times `count` messages from `m` on; returns where something was about to underflow.
template <Watch watch, int V>
KF_INLINE Bits<D> times_messages(D* u, const D* m, std::size_t count, std::size_t stride, D threshold) {
    const std::size_t vectors = V ? V : stride / kWidth<D>;
    Bits<D> low{};
    for (std::size_t v = 0; v < vectors; ++v) {
        Vec<D> value = load(u + v * kWidth<D>), smallest = value;
        for (std::size_t c = 0; c < count; ++c) {
            const Vec<D> message = load(m + c * stride + v * kWidth<D>);
            value *= message;
            if constexpr (watch != Watch::no) smallest = minimum<D>(message, smallest);
        }
        if constexpr (watch != Watch::no) low |= (smallest > 0) & (value < threshold);
        store(u + v * kWidth<D>, value);
    }
    return low;
}

// u <- u / (its largest entry), which it returns.
KF_INLINE D scale_to_one(D* u, std::size_t stride) {
    Vec<D> high{};
    for (std::size_t k = 0; k < stride; k += kWidth<D>) high = maximum<D>(load(u + k), high);
    const D s = largest<D>(high), inverse = s > 0 ? 1 / s : 0;
    for (std::size_t k = 0; k < stride; k += kWidth<D>) store(u + k, load(u + k) * inverse);
    return s;
}

// u_v of the vertices of one depth, given the messages of their children.
template <Watch watch, int V> KF_INLINE Bits<D> collect(TreeSlots& rows, std::size_t depth, D threshold) {
    const TreeGroup& group = rows.group;
    const std::size_t stride = rows.stride;
    Bits<D> low{};
    for (std::size_t k = group.level[depth]; k < group.level[depth + 1]; ++k) {
        D* u = rows.u + k * stride;
        for (std::size_t c = group.child[k]; c < group.child[k + 1];) {
            const std::size_t left = group.child[k + 1] - c, count = left < kChildren ? left : kChildren;
            const Bits<D> now = times_messages<watch, V>(u, rows.m + c * stride, count, stride, threshold);
            if constexpr (watch == Watch::any) low |= now;
            if constexpr (watch == Watch::each)
                if (any<D>(now)) rows.lost[group.owner[k]] = true;
            c += count;
            if (left <= kChildren) break;
            const D s = scale_to_one(u, stride);
            if (s > 0) rows.others[group.owner[k]].times(static_cast<double>(s));
        }
    }
    return low;
}

// The same for any number of labels; whether anything was about to underflow, if that is watched for in the group.
// Called once for each depth, it need not be compiled for every way to send messages.
__attribute__((noinline)) bool collect(TreeSlots& rows, std::size_t depth, Watch watch, D threshold) {
    Bits<D> low{};
    with_vectors(rows.stride / kWidth<D>, [&](auto V) {
        if (watch == Watch::no) collect<Watch::no, V.value>(rows, depth, threshold);
        else if (watch == Watch::any) low = collect<Watch::any, V.value>(rows, depth, threshold);
        else collect<Watch::each, V.value>(rows, depth, threshold);
    });
    return any<D>(low);
}

// Roots: u_v becomes p(y_v).
KF_INLINE void finish_roots(const TreeSlots& rows) {
    for (std::size_t k = 0; k < rows.group.level[1]; ++k) {
        D* u = rows.u + k * rows.stride;
        Vec<D> total{};
        for (std::size_t j = 0; j < rows.stride; j += kWidth<D>) total += load(u + j);
        const D s = sum<D>(total), inverse = s > 0 ? 1 / s : 0;
        for (std::size_t j = 0; j < rows.stride; j += kWidth<D>) store(u + j, load(u + j) * inverse);
        rows.scale[rows.group.place[k]] = s;
    }
}

// Probabilities of zero at the roots of what is lost: nothing of it will then count further down.
KF_INLINE void silence_lost(const TreeSlots& rows) {
    for (std::size_t k = 0; k < rows.group.level[1]; ++k)
        if (rows.lost[rows.group.owner[k]]) std::memset(rows.u + k * rows.stride, 0, rows.stride * sizeof(D));
}

// Messages from the leaves to the roots; send(first, last) computes m_v for slots of one depth. Returns whether
// something was about to underflow.
template <class Send> KF_INLINE bool climb(TreeSlots& rows, Watch watch, Send send) {
    const D threshold = static_cast<D>(__builtin_exp(-kRange<D>) / (2 * static_cast<double>(rows.L)));
    const TreeGroup& group = rows.group;
    bool low = false;
    for (std::size_t d = group.levels - 1; d > 0; --d) {
        send(group.level[d], group.level[d + 1]);
        low |= collect(rows, d - 1, watch, threshold);
    }
    finish_roots(rows);
    return low;
}

// All of the way up: factors, messages, log-partitions. edges(k) describes the edge scores of instance k, climb(watch)
// sends the messages.
template <class S, class Edges, class Climb>
KF_INLINE void upward(TreeRows<S>& rows, double* log_partition, Outcome* outcome, Edges edges, Climb climb) {
    bool low = false;
    do {  // a second time only to find out whose messages are about to underflow
        prepare_tree(rows, outcome, edges);
        const Watch watch = low ? Watch::each : rows.watch ? Watch::any : Watch::no;
        const bool found = climb(watch);
        if (low || !found) break;
        low = true;
    } while (true);
    finish_tree(rows, log_partition, outcome);
    silence_lost(rows);
}

// Tiles of several slots, tile(R, at).
template <class Tile> KF_INLINE void for_each_tile(std::size_t first, std::size_t last, Tile tile) {
    for (; first < last; first += kRows) with_rows(last - first, [&](auto R) { tile(R, first); });
}

// Messages with shared edges; `B` is the transpose of A. This and upward_shared are what several kernels begin with,
// once for each group: calls cost nothing, copies take long to compile.
__attribute__((noinline)) bool climb_shared(TreeSlots& rows, Watch watch, const D* B) {
    return climb(rows, watch, [&](std::size_t first, std::size_t last) {
        with_vectors(rows.stride / kWidth<D>, [&](auto V) {
            for_each_tile(first, last, [&](auto R, std::size_t at) { send_up<R.value, V.value>(rows, B, at); });
        });
    });
}

// All of the way up with shared edges.
template <class S>
__attribute__((noinline)) void upward_shared(TreeRows<S>& rows, const SharedEdges<D>& edges, double* log_partition,
                                             Outcome* outcome) {
    const auto describe = [&](std::size_t k) {
        const std::size_t s = rows.group.instance[k];
        const std::size_t count =
            rows.batch.edge_before[rows.batch.first[s + 1]] - rows.batch.edge_before[rows.batch.first[s]];
        if (count == 0) return EdgeRange{0, 0, false, true};
        return EdgeRange{edges.range, static_cast<double>(count) * edges.largest, edges.forbids, true};
    };
    upward(rows, log_partition, outcome, describe,
           [&](Watch watch) { return climb_shared(rows, watch, edges.backward); });
}

}  // namespace
}  // namespace kernelfields

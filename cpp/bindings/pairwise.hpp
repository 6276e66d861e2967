// What the bindings of structures with node and edge scores have in common.
#pragma once

#include "arrays.hpp"
#include "kernelfields/structures/chain_kernels.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <vector>

namespace kernelfields::bindings {

// Labels and scores of labellings.
using Labelled = std::tuple<Out<std::int32_t>, Out<double>>;

// Checks edge scores; true when all edges share them.
template <class S> bool require_edges(const In<S>& edge, const char* name, std::size_t edges, std::size_t L) {
    const bool shared = edge.ndim() == 2;
    if (shared) require_shape(edge, name, {L, L});
    else require_shape(edge, name, {edges, L, L});
    return shared;
}

inline const double* weights_of(const std::optional<In<double>>& weights, std::size_t sequences) {
    if (!weights) return nullptr;
    require_shape(*weights, "weights", {sequences});
    return weights->data();
}

template <class S, class Batch> Out<S> edge_output(const Batch& batch) {
    const std::size_t L = batch.labels;
    return batch.shared ? make<S>({L, L}) : make<S>({batch.edges(), L, L});
}

// run(sums) without the GIL; sums over shared edges are double, rounded to the type of the scores.
template <class S, class Batch, class Run> void run_with_sums(const Batch& batch, S* edge_out, Run run) {
    nb::gil_scoped_release release;
    std::vector<double> sums(batch.shared ? batch.labels * batch.labels : 0);
    run(batch.shared ? sums.data() : nullptr);
    for (std::size_t k = 0; k < sums.size(); ++k) edge_out[k] = static_cast<S>(sums[k]);
}

// One number per sequence, arrays of the shape of the node scores and of the edge scores.
template <class S> using Parts = std::tuple<Out<double>, Out<S>, Out<S>>;

// Calls run(out, sums): log-partitions, node marginals, edge marginals.
template <class S, class Batch, class Run>
Parts<S> run_marginals(const Batch& batch, const std::optional<In<double>>& weights, Run run) {
    auto value = make<double>({batch.sequences});
    auto node_out = make<S>({batch.positions, batch.labels});
    auto edge_out = edge_output<S>(batch);
    const MarginalsOut<S> out{weights_of(weights, batch.sequences), value.data(), node_out.data(),
                              batch.shared ? nullptr : edge_out.data()};
    run_with_sums(batch, edge_out.data(), [&](double* sums) { run(out, sums); });
    return {value, node_out, edge_out};
}

// Calls run(out, sums): the derivatives along a direction of the same three.
template <class S, class Batch, class Run>
Parts<S> run_covariance(const Batch& batch, const In<S>& node_direction, const In<S>& edge_direction,
                        const std::optional<In<double>>& weights, Run run) {
    const std::size_t L = batch.labels;
    require_shape(node_direction, "node_direction", {batch.positions, L});
    if (require_edges(edge_direction, "edge_direction", batch.edges(), L) != batch.shared)
        throw std::invalid_argument("edge_direction has shape " + shape_of(edge_direction) +
                                    ", expected the shape of edge.");
    auto value = make<double>({batch.sequences});
    auto node_out = make<S>({batch.positions, L});
    auto edge_out = edge_output<S>(batch);
    const CovarianceOut<S> out{node_direction.data(), edge_direction.data(), weights_of(weights, batch.sequences),
                               value.data(),          node_out.data(),       batch.shared ? nullptr : edge_out.data()};
    run_with_sums(batch, edge_out.data(), [&](double* sums) { run(out, sums); });
    return {value, node_out, edge_out};
}

}  // namespace kernelfields::bindings

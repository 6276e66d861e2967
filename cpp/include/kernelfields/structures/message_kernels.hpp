// What message passing (belief_propagation.hpp) asks of the code compiled per instruction set (isa/), in the same way
// as chain_kernels.hpp: plain structs and function pointers only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelfields {

// Messages are logarithms, rows of `padded` numbers, the largest zero; what is beyond the labels stays zero. Beliefs
// are logarithms up to a constant; -inf is a label that a vertex cannot have, also beyond the labels.
struct MessageJob {
    std::size_t labels, padded;
    double* belief;                       // vertices x padded
    double* message;                      // slots x padded
    const double* node;                   // vertices x labels
    const double* weight;                 // factors
    const std::uint32_t* slot_vertex;     // slots
    const std::uint32_t* slot_factor;     // slots
    const std::uint32_t* slot_first;      // factors + 1
    const std::uint32_t* incident_first;  // vertices + 1
    const std::uint32_t* incident;        // slots
    const std::uint32_t* table;           // factors
    const std::size_t* exponential_at;    // tables: where the exponentials of a table of pairs begin
    const double* exponentials;           // labels x padded, its columns the second vertex; then transposed
};

struct MessageKernels {
    std::size_t width;

    // belief = node + sum of weighted messages, for some vertices.
    void (*beliefs)(const MessageJob&, std::size_t from, std::size_t to);

    // The message that belongs into a slot of a pair, into `fresh` (padded numbers); returns how far it is from the one
    // that is there, or -1 where sums are too small to be trusted, and only logarithms can tell.
    double (*message)(const MessageJob&, std::size_t slot, double* fresh);

    // message += step (fresh - message)
    void (*mix)(double* message, const double* fresh, double step, std::size_t padded);
};

}  // namespace kernelfields

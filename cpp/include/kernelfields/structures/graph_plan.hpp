// The tables of a junction tree, from an order of elimination. Every vertex has a *clique*: itself and the neighbours
// it has when it is eliminated, its *separator*. The sum over its labels is a message over the separator, to the clique
// of the vertex of the separator that is eliminated first.
//
// All tables list their vertices in one order, so that a smaller table lies along a larger one without transposition.
// That order is a colouring: vertices of a clique have different colours, a new vertex takes a colour that has become
// free, and so the vertex to be summed out is rarely among the innermost ones.
#pragma once

#include "graph_kernels.hpp"
#include "graph_order.hpp"

namespace kernelfields {

// A table over some vertices of a clique.
struct GraphTable {
    std::size_t at, size;   // where its numbers begin, and how many
    std::uint32_t strides;  // in GraphPlan::number: one for each vertex of the clique, 0 for those it does not have
    Pattern pattern;        // along the inner vertices of the clique
};

// A given clique, and how its scores lie along the table of factors it belongs to.
struct GivenClique {
    std::uint32_t type, index;  // counted from the first of the instance
    std::uint32_t strides;  // in GraphPlan::number: one for each vertex of the factor table, into labels^arity scores
    std::uint32_t fixed;    // members that can have one label only: their places in the clique, as bits
};

struct FactorTable {
    GraphTable table;
    std::uint32_t dims, dim_count;        // in GraphPlan::number: places among the vertices of the clique
    std::uint32_t cliques, clique_count;  // in GraphPlan::given
};

struct PlanNode {
    std::uint32_t vertex;
    std::int32_t parent;                  // node that gets the message, -1 for none
    std::uint32_t dims, dim_count;        // in GraphPlan::number: vertices, outermost first
    std::uint32_t place;                  // of `vertex` among them
    std::uint32_t outer;                  // dims in front of the blocks
    std::size_t block, blocks;            // entries of a block, number of blocks
    std::uint32_t factors, factor_count;  // in GraphPlan::factor
    std::uint32_t inputs, input_count;    // in GraphPlan::child: messages from below
    GraphTable message;                   // over the separator
};

struct ChildMessage {
    std::uint32_t node;
    GraphTable table;  // along the clique that gets it
};

class GraphPlan {
public:
    std::vector<PlanNode> node;  // in order of elimination
    std::vector<FactorTable> factor;
    std::vector<ChildMessage> child;
    std::vector<GivenClique> given;
    std::vector<std::uint32_t> number;
    std::size_t message_entries = 0, factor_entries = 0, largest_message = 0, largest_factor = 0, largest_block = 0;
    double entries = 0;

    void build(const Graphs& graphs, std::size_t s, const Elimination& elimination) {
        clear();
        graphs_ = &graphs;
        s_ = s;
        start_ = graphs.start(s);
        find_cliques(elimination);
        find_colours();
        for (std::size_t k = 0; k < node.size(); ++k) lay_out(k);
        for (std::size_t k = 0; k < node.size(); ++k) place_tables(k);
    }
    std::uint32_t choices(std::uint32_t v) const { return graphs_->choices[start_ + v]; }

private:
    using Members = std::vector<std::uint32_t>;

    void clear() {
        node.clear();
        factor.clear();
        child.clear();
        given.clear();
        number.clear();
        message_entries = factor_entries = largest_message = largest_factor = largest_block = 0;
        entries = 0;
    }

    // Separators, parents, and the given cliques of each node: those whose first vertex to go is the node's.
    void find_cliques(const Elimination& elimination) {
        const std::size_t n = elimination.order.size();
        node.assign(n, PlanNode{});
        position_.resize(n);
        for (auto* lists : {&separator_, &children_, &own_}) {
            if (lists->size() < n) lists->resize(n);
            for (std::size_t k = 0; k < n; ++k) (*lists)[k].clear();
        }
        for (std::uint32_t k = 0; k < n; ++k) {
            node[k].vertex = elimination.order[k];
            position_[node[k].vertex] = k;
        }
        collect_given();
        for (std::uint32_t k = 0; k < n; ++k) {
            Members& here = separator_[k];
            std::sort(here.begin(), here.end());
            here.erase(std::unique(here.begin(), here.end()), here.end());
            node[k].parent = here.empty() ? -1 : static_cast<std::int32_t>(here.front());
            if (here.empty()) continue;
            children_[here.front()].push_back(k);
            separator_[here.front()].insert(separator_[here.front()].end(), here.begin() + 1, here.end());
        }
    }

    struct Given {
        std::uint32_t type, index, next;
    };
    void collect_given() {
        all_.clear();
        const auto add = [&](std::uint32_t position, std::uint32_t type, std::size_t index) {
            own_[position].push_back(static_cast<std::uint32_t>(all_.size()));
            all_.push_back({type, static_cast<std::uint32_t>(index), 0});
        };
        for (std::uint32_t v = 0; v < node.size(); ++v) add(position_[v], 0, v);
        for_each_clique(*graphs_, s_, [&](std::size_t t, std::size_t c, const std::int64_t* of) {
            const GraphCliques& type = graphs_->types[t - 1];
            std::uint32_t first = position_[static_cast<std::size_t>(of[0]) - start_];
            bool alone = choices(static_cast<std::uint32_t>(static_cast<std::size_t>(of[0]) - start_)) < 2;
            for (std::size_t k = 1; k < type.arity; ++k) {
                const auto v = static_cast<std::uint32_t>(static_cast<std::size_t>(of[k]) - start_);
                if (choices(v) < 2) continue;
                first = alone ? position_[v] : std::min(first, position_[v]);
                alone = false;
            }
            for (std::size_t k = 0; k < type.arity; ++k) {
                const auto v = static_cast<std::uint32_t>(static_cast<std::size_t>(of[k]) - start_);
                if (choices(v) > 1 && position_[v] != first) separator_[first].push_back(position_[v]);
            }
            add(first, static_cast<std::uint32_t>(t), c - type.before[s_]);
        });
    }

    // Greedily against the order, which is optimal on the graphs that elimination makes.
    void find_colours() {
        colour_.resize(node.size());
        for (std::size_t k = node.size(); k-- > 0;) {
            used_.assign(separator_[k].size() + 1, 0);
            for (const std::uint32_t p : separator_[k])
                if (colour_[p] < used_.size()) used_[colour_[p]] = 1;
            colour_[k] = static_cast<std::uint32_t>(std::find(used_.begin(), used_.end(), 0) - used_.begin());
        }
    }

    // The vertices of a clique in their order, and how many of them vary inside a block.
    void lay_out(std::size_t k) {
        PlanNode& at = node[k];
        dims_.assign(separator_[k].begin(), separator_[k].end());
        dims_.push_back(static_cast<std::uint32_t>(k));
        std::sort(dims_.begin(), dims_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return colour_[a] < colour_[b]; });
        at.dims = static_cast<std::uint32_t>(number.size());
        at.dim_count = static_cast<std::uint32_t>(dims_.size());
        for (const std::uint32_t p : dims_) number.push_back(node[p].vertex);
        at.place = static_cast<std::uint32_t>(std::find(dims_.begin(), dims_.end(), k) - dims_.begin());
        at.block = at.blocks = 1;
        at.outer = at.dim_count;
        while (at.outer > 0 && at.dim_count - at.outer < kBlockLevels) {
            const std::size_t more = at.block * choices(number[at.dims + at.outer - 1]);
            if (at.block > 1 && more > kBlockEntries) break;
            at.block = more;
            --at.outer;
        }
        for (std::uint32_t d = 0; d < at.outer; ++d) at.blocks *= choices(number[at.dims + d]);
        largest_block = std::max(largest_block, at.block);
        entries += static_cast<double>(at.block) * static_cast<double>(at.blocks);
    }

    // A table over those vertices of the clique of node k that `has` says.
    template <class Has> GraphTable table_in(const PlanNode& at, std::size_t where, Has has) {
        GraphTable table{where, 1, static_cast<std::uint32_t>(number.size()), {}};
        number.resize(number.size() + at.dim_count);
        for (std::uint32_t d = at.dim_count; d-- > 0;) {
            const bool there = has(d);
            number[table.strides + d] = there ? static_cast<std::uint32_t>(table.size) : 0;
            if (there) table.size *= choices(number[at.dims + d]);
        }
        table.pattern = pattern_of(at, &number[table.strides]);
        return table;
    }
    Pattern pattern_of(const PlanNode& at, const std::uint32_t* stride) const {
        Pattern pattern{1, 0, true, {}, {}};
        std::uint32_t d = at.dim_count;
        const auto size = [&] { return choices(number[at.dims + d - 1]); };
        while (d > at.outer && size() == 1) --d;
        if (d > at.outer) pattern.varies = stride[d - 1] == 1;
        for (; d > at.outer && (size() == 1 || stride[d - 1] == (pattern.varies ? pattern.run : 0)); --d)
            pattern.run *= size();
        for (; d > at.outer; --d) {
            if (size() == 1) continue;
            std::uint32_t& levels = pattern.levels;
            if (levels > 0 && stride[d - 1] == pattern.step[levels - 1] * pattern.count[levels - 1]) {
                pattern.count[levels - 1] *= size();
                continue;
            }
            pattern.count[levels] = size();
            pattern.step[levels++] = stride[d - 1];
        }
        return pattern;
    }

    void place_tables(std::size_t k) {
        PlanNode& at = node[k];
        at.message = table_in(at, message_entries, [&](std::uint32_t d) { return d != at.place; });
        message_entries += padded(at.message.size, 8);
        largest_message = std::max(largest_message, at.message.size);
        at.inputs = static_cast<std::uint32_t>(child.size());
        at.input_count = static_cast<std::uint32_t>(children_[k].size());
        for (const std::uint32_t c : children_[k]) {
            const Members& mine = separator_[c];
            child.push_back({c, table_in(at, node[c].message.at, [&](std::uint32_t d) {
                                 const std::uint32_t p = position_[number[at.dims + d]];
                                 return std::binary_search(mine.begin(), mine.end(), p);
                             })});
        }
        group_factors(k);
    }

    // Given cliques of a node go into few small tables: each table costs a pass over that of the clique.
    void group_factors(std::size_t k) {
        PlanNode& at = node[k];
        const double whole = static_cast<double>(at.block) * static_cast<double>(at.blocks);
        const double most = std::clamp(whole / 8, 64.0, 4096.0);
        groups_.clear();
        for (const std::uint32_t g : own_[k]) add_to_group(at, g, most);
        at.factors = static_cast<std::uint32_t>(factor.size());
        at.factor_count = static_cast<std::uint32_t>(groups_.size());
        for (const Group& group : groups_) place_factors(at, group);
    }
    struct Group {
        std::uint64_t dims;  // places among the vertices of the clique, as bits
        double size;
        std::uint32_t first, last;  // of its cliques, chained in all_
    };
    std::uint64_t dims_of(const PlanNode& at, const Given& g) const {
        std::uint64_t dims = std::uint64_t{1} << at.place;
        if (g.type == 0) return dims;
        const GraphCliques& type = graphs_->types[g.type - 1];
        const std::int64_t* of = type.of(type.before[s_] + g.index);
        for (std::size_t j = 0; j < type.arity; ++j) {
            const auto v = static_cast<std::uint32_t>(static_cast<std::size_t>(of[j]) - start_);
            if (choices(v) < 2) continue;
            std::uint32_t d = 0;
            while (number[at.dims + d] != v) ++d;
            dims |= std::uint64_t{1} << d;
        }
        return dims;
    }
    double size_of(const PlanNode& at, std::uint64_t dims) const {
        double size = 1;
        for (std::uint32_t d = 0; d < at.dim_count; ++d)
            if (dims >> d & 1) size *= choices(number[at.dims + d]);
        return size;
    }
    void add_to_group(const PlanNode& at, std::uint32_t g, double most) {
        const std::uint64_t dims = dims_of(at, all_[g]);
        for (Group& group : groups_) {
            const double size = size_of(at, group.dims | dims);
            if (size > most && (group.dims | dims) != group.dims && (group.dims | dims) != dims) continue;
            group.dims |= dims;
            group.size = size;
            all_[group.last].next = g;
            group.last = g;
            return;
        }
        groups_.push_back({dims, size_of(at, dims), g, g});
    }
    void place_factors(const PlanNode& at, const Group& group) {
        FactorTable table{};
        table.table = table_in(at, factor_entries, [&](std::uint32_t d) { return (group.dims >> d & 1) != 0; });
        factor_entries += padded(table.table.size, 8);
        largest_factor = std::max(largest_factor, table.table.size);
        table.dims = static_cast<std::uint32_t>(number.size());
        for (std::uint32_t d = 0; d < at.dim_count; ++d)
            if (group.dims >> d & 1) number.push_back(d);
        table.dim_count = static_cast<std::uint32_t>(number.size()) - table.dims;
        table.cliques = static_cast<std::uint32_t>(given.size());
        for (std::uint32_t g = group.first;; g = all_[g].next) {
            place_given(at, table, all_[g]);
            if (g == group.last) break;
        }
        table.clique_count = static_cast<std::uint32_t>(given.size()) - table.cliques;
        factor.push_back(table);
    }
    void place_given(const PlanNode& at, const FactorTable& table, const Given& g) {
        GivenClique clique{g.type, g.index, static_cast<std::uint32_t>(number.size()), 0};
        number.resize(number.size() + table.dim_count, 0);
        if (g.type == 0) {
            for (std::uint32_t f = 0; f < table.dim_count; ++f)
                if (number[table.dims + f] == at.place) number[clique.strides + f] = 1;
        } else {
            const GraphCliques& type = graphs_->types[g.type - 1];
            const std::int64_t* of = type.of(type.before[s_] + g.index);
            std::uint32_t stride = 1;
            for (std::size_t j = type.arity; j-- > 0; stride *= static_cast<std::uint32_t>(graphs_->labels)) {
                const auto v = static_cast<std::uint32_t>(static_cast<std::size_t>(of[j]) - start_);
                std::uint32_t f = 0;
                while (f < table.dim_count && number[at.dims + number[table.dims + f]] != v) ++f;
                if (f < table.dim_count) number[clique.strides + f] = stride;
                else clique.fixed |= std::uint32_t{1} << j;
            }
        }
        given.push_back(clique);
    }

    const Graphs* graphs_ = nullptr;
    std::size_t s_ = 0, start_ = 0;
    std::vector<std::uint32_t> position_, colour_, dims_;
    std::vector<std::uint8_t> used_;
    std::vector<Members> separator_, children_, own_;
    std::vector<Given> all_;
    std::vector<Group> groups_;
};

}  // namespace kernelfields

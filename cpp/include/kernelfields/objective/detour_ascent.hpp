// Coordinate ascent on the dual of max-margin chains and forests, shares of detours (detours.hpp) being the
// coordinates.
//
//   max  sum_d share_d cost_d - 1/2 |f|^2,   f = - sum_d share_d r(parts of d),   shares packed into every edge
//
// r and |.| those of the inner product lambda <., .>. The gain of a detour, cost_d + <parts of d, scores of f>, is the
// derivative in its share, and the square of r(parts of d) the second one: every step is exact. A visit looks for the
// worst labelling of an instance and takes its detours in; then every share goes as far as is best, and where others
// leave no room, shares trade places: the pairwise steps of Frank and Wolfe that need no decomposition into vertices
// [garber2016]. Between visits there are passes over the detours that are known. Functions for which it is expensive to
// reach all instances have a panel of them visited several times, and reach the others then.
#pragma once

#include "detour_function.hpp"
#include "detour_shapes.hpp"
#include "detour_trades.hpp"
#include "detour_way.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace kernelfields {

struct AscentPass {
    double loss = 0;  // sum of the losses of instances, each before its visit
    double gap = 0;   // sum of their duality gaps
    double gain = 0;  // by how much the dual has risen
};

struct AscentLoss {
    double value = 0, slope = 0;  // the sum of losses at a multiple of f, and its derivative in the factor
};

template <class Weights, class Shape> class DetourAscent {
public:
    using S = typename Weights::Number;
    using Batch = typename Shape::Batch;
    using Instance = typename Batch::Instance;
    using Set = DetourSet<Instance>;

    DetourAscent(const MarginData<S>& data, Batch batch, Weights weights, LabelPenalties penalties)
        : data_(data),
          batch_(std::move(batch)),
          f_(data, std::move(weights), penalties),
          search_(data),
          sets_(data.sequences) {}

    // Visits some instances. The loss is NaN if a score is not finite; nothing is changed from there on.
    AscentPass visit(const std::int64_t* order, std::size_t count) {
        AscentPass pass;
        gain_ = 0;
        each_panel(order, count, [](const Bound&) { return true; }, [&] { climb(pass); });
        pass.gain = gain_;
        return pass;
    }
    // Goes through the detours of some instances without a search; returns by how much the dual has risen.
    double improve(const std::int64_t* order, std::size_t count) {
        gain_ = 0;
        const auto awake = [](const Bound& s) {
            const std::vector<Detour>& list = s.set->list;
            return !std::all_of(list.begin(), list.end(), [](const Detour& d) { return d.asleep; });
        };
        each_panel(order, count, awake, [&] {
            rounds([&](int) {
                for (const Bound& s : panel_) sweep(s, true);
            });
        });
        return gain_;
    }
    // The losses at a multiple of f.
    AscentLoss loss(double scale) {
        AscentLoss total;
        for (std::size_t k = 0; k < data_.sequences; ++k) {
            const Bound s = bound(static_cast<std::int64_t>(k));
            if (s.at.length == 0) continue;
            const double worst = value(s.at, scale);
            total.value += s.capacity * worst;
            if (worst > 0) total.slope += s.capacity * (worst - cost_of_worst(s)) / scale;
        }
        return total;
    }
    double level() const {
        double total = 0;
        for (const Set& set : sets_)
            for (const Detour& detour : set.list) total += detour.share * detour.cost;
        return total;
    }
    double square() const { return f_.square(); }
    void forget(std::uint32_t patience) {
        for (Set& set : sets_) set.forget(patience);
    }
    const std::vector<Set>& sets() const { return sets_; }
    Batch& batch() { return batch_; }
    const Batch& batch() const { return batch_; }

    // Adds sum_d share_d parts_d to positions x labels and labels x labels numbers.
    void add_mixture(double* node, double* edge) {
        const std::size_t L = data_.labels;
        for (std::size_t s = 0; s < data_.sequences; ++s) {
            const Bound here = bound(static_cast<std::int64_t>(s));
            sum_.clear();
            for (const Detour& detour : here.set->list)
                if (detour.share > 0) f_.add_to(sum_, here, detour, detour.share);
            for (const auto& v : sum_.vertices) node[v.position * L + static_cast<std::size_t>(v.label)] += v.factor;
            for (const auto& pair : sum_.pairs) edge[pair.pair] += pair.factor;
        }
    }
    void clear() {
        for (Set& set : sets_) set.clear();
        f_.clear();
    }
    // Takes in a detour with a share; false if there is no room for it.
    bool take(std::size_t instance, std::uint32_t from, std::uint32_t length, const std::int32_t* words, double share) {
        const Bound s = bound(static_cast<std::int64_t>(instance));
        f_.begin();
        f_.take(s);
        f_.open();
        Detour& detour = s.set->list[known(s, from, length, words)];
        const bool fits = share >= 0 && s.set->load(s.at, detour) + share <= s.capacity * (1 + kRounding);
        if (fits && share > 0) f_.move(s, detour, share);
        f_.close();
        return fits;
    }

private:
    static constexpr double kWorth = 0.06;  // share of the gain so far that a round must add for another one
    static constexpr double kRounding = 1e-9, kInfinite = std::numeric_limits<double>::infinity();
    using Bound = MarginInstance<Instance>;
    using Trades = DetourTrades<Instance, typename Shape::Packing>;

    Bound bound(std::int64_t index) {
        const auto s = static_cast<std::size_t>(index);
        const Instance at = batch_.instance(s);
        return {at, data_.label + at.from, data_.capacity(s), &sets_[s]};
    }
    // The loss of one instance at f; rounding may put the worst labelling below the right one.
    double value(const Instance& at, double scale = 1) {
        const double value = search_.look(at, f_.weights(), f_.free(), scale);
        return std::isnan(value) ? value : std::max(value, 0.0);
    }
    // What fixed scores have to do with that loss.
    double cost_of_worst(const Bound& s) {
        double sum = 0;
        batch_.split(s.at, search_.best(), s.right,
                     [&](std::uint32_t from, std::uint32_t length, const std::int32_t* words) {
                         sum += f_.cost(s, {from, length, 0, 0, false, 0, 0, 0}, words);
                     });
        return sum;
    }

    std::size_t known(const Bound& s, std::uint32_t from, std::uint32_t length, const std::int32_t* words) {
        const std::size_t k = s.set->find(s.at, from, length, words);
        Detour& d = s.set->list[k];
        d.asleep = false;
        if (d.square < 0) {
            d.cost = f_.cost(s, d, s.set->words(d));
            sum_.clear();
            f_.add_to(sum_, s, d, 1);
            d.square = f_.square(sum_, s);
        }
        return k;
    }

    // Opens some instances at a time, those of an order that are wanted, for the body to work on.
    template <class Wanted, class Body>
    void each_panel(const std::int64_t* order, std::size_t count, Wanted wanted, Body body) {
        for (std::size_t k = 0; k < count;) {
            panel_.clear();
            f_.begin();
            for (std::size_t positions = 0; k < count; ++k) {
                const Bound s = bound(order[k]);
                if (s.at.length == 0 || s.capacity == 0 || !wanted(s)) continue;
                positions += s.at.length;
                if (!panel_.empty() && positions > Weights::kPanel) break;
                panel_.push_back(s);
                f_.take(s);
            }
            f_.open();
            body();
            f_.close();
        }
    }
    // Goes over a panel as often as that pays, then a little further the same way.
    template <class Body> void rounds(Body body) {
        const double start = gain_;
        if (Weights::kFurther > 0) way_.begin(panel_);
        for (int round = 0; round < Weights::kRounds; ++round) {
            const double before = gain_;
            body(round);
            if (!(gain_ - before > kWorth * (gain_ - start))) break;
        }
        if (Weights::kFurther > 0) gain_ += way_.go_on(panel_, f_, Weights::kFurther);
    }
    void climb(AscentPass& pass) {
        rounds([&](int round) {
            AscentPass again;  // nobody asks for it
            for (const Bound& s : panel_)
                if (!std::isnan(pass.loss)) visit(s, round == 0 ? pass : again, round > 0);
        });
    }

    void visit(const Bound& s, AscentPass& pass, bool awake_only) {
        const double worst = value(s.at);
        pass.loss += s.capacity * worst;
        if (std::isnan(worst)) return;
        double gap = s.capacity * worst;
        for (const Detour& d : s.set->list)
            if (d.share > 0) gap -= d.share * f_.gain(s, d, search_.scores);
        pass.gap += std::max(gap, 0.0);
        batch_.split(s.at, search_.best(), s.right,
                     [&](std::uint32_t from, std::uint32_t length, const std::int32_t* words) {
                         known(s, from, length, words);
                     });
        sweep(s, awake_only);
    }

    // Every share in turn, or every one that seemed worth it; those that had no room trade places.
    void sweep(const Bound& s, bool awake_only) {
        crowded_ = false;
        for (Detour& d : s.set->list)
            if (!awake_only || !d.asleep) step(s, d);
        if (crowded_) trade(s);
    }

    // One share, as far as is best.
    void step(const Bound& s, Detour& d) {
        const double slope = f_.gain(s, d);
        d.asleep = d.share == 0 && slope <= 0;
        if (d.asleep) return;
        const double wanted = newton(slope, d.square), room = std::max(s.capacity - s.set->load(s.at, d), 0.0);
        const double by = std::clamp(wanted, -d.share, room);
        if (by != 0) {
            f_.move(s, d, by);
            gain_ += by * (slope - 0.5 * by * d.square);
        }
        crowded_ |= wanted > room * (1 + kRounding);
    }
    static double newton(double slope, double square) {
        if (square > 0) return slope / square;
        return slope > 0 ? kInfinite : -kInfinite;
    }

    // Pairwise steps.
    void trade(const Bound& s) {
        gains_.clear();
        for (const Detour& d : s.set->list) gains_.push_back(f_.gain(s, d));
        trades_.plan(s.at, *s.set, s.capacity * (1 - kRounding), gains_);
        for (std::size_t k = 0; k < trades_.count(); ++k) trade(s, trades_.stretch(k));
    }
    void trade(const Bound& s, typename Trades::Stretch stretch) {
        std::vector<Detour>& list = s.set->list;
        double slope = 0;
        sum_.clear();
        for (const std::size_t k : stretch) {
            slope += trades_.aim(k) * f_.gain(s, list[k]);
            f_.add_to(sum_, s, list[k], trades_.aim(k));
        }
        const double square = f_.square(sum_, s);
        const double by = std::min(newton(slope, square), trades_.room(s.at, *s.set, stretch, s.capacity));
        if (!(slope > 0) || !(by > 0)) return;
        for (const int sign : {-1, 1})
            for (const std::size_t k : stretch)
                if (trades_.aim(k) == sign) f_.move(s, list[k], sign * by);
        gain_ += by * (slope - 0.5 * by * square);
    }

    MarginData<S> data_;
    Batch batch_;
    DetourFunction<Weights, Instance> f_;
    typename Shape::template Search<S> search_;
    std::vector<Set> sets_;
    std::vector<Bound> panel_;  // what is open
    DetourWay<Bound> way_;
    DetourSum sum_;
    Trades trades_;
    std::vector<double> gains_;
    bool crowded_ = false;
    double gain_ = 0;
};

}  // namespace kernelfields

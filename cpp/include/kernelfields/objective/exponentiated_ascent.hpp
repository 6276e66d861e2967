// Exponentiated gradient on the dual of a kernel CRF [collins2008]: every sequence i has a distribution
// (chain_distributions.hpp) with scores theta_i and marginals mu_i, and the dual is
//
//   max  sum_i w_i (log Z(theta_i + fixed) - <theta_i, mu_i> - fixed(y_i)) - 1/2 |f|^2,   f = sum_i w_i r(y_i - mu_i),
//
// r and |.| those of the inner product lambda <., .>. A step moves theta_i towards the scores s_i of f at the sequence,
// theta_i + eta (s_i - theta_i): at the optimum the two are one. To second order it gains a (1 - (1 - eta)^2) by the
// distribution, a its divergence from that of f and so the duality gap of i, and loses c eta^2 by |f|^2. Both numbers
// can be had from any step, and a / (a + c) is the next eta. Steps after which the dual is lower are not taken.
//
// Sequences that were never visited have no part in f. Their first theta is s_i plus a head start of the right labels,
// as large as it takes to raise the dual.
#pragma once

#include "../core/dispatch.hpp"
#include "chain_distributions.hpp"
#include "free_scores.hpp"
#include "kernel_panel.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kernelfields {

struct ExponentiatedPass {
    double gap = 0;   // sum of the duality gaps of sequences, about, each before its visit; inf if one is the first
    double gain = 0;  // by how much the dual has risen
};

template <class S> class ExponentiatedAscent {
public:
    ExponentiatedAscent(const LabelledChains<S>& data, KernelPanel<S> panel, double penalty, LabelPenalties penalties)
        : data_(data),
          panel_(std::move(panel)),
          penalty_(penalty),
          free_(data.labels, penalties),
          chain_(data.labels),
          now_(data, std::isfinite(penalties.edge)),
          eta_(data.sequences, kFirst) {}

    const ChainDistributions<S>& distributions() const { return now_; }

    // Visits some sequences, in panels, each panel at most `sweeps` times. The gap is NaN if a score is not finite.
    ExponentiatedPass visit(const std::int64_t* order, std::size_t count, int sweeps) {
        ExponentiatedPass pass;
        std::vector<std::size_t> sequences;
        for (std::size_t k = 0; k < count;) {
            panel_.begin();
            sequences.clear();
            for (; k < count; ++k) {
                const auto s = static_cast<std::size_t>(order[k]);
                if (!data_.counts(s)) continue;
                if (!sequences.empty() && panel_.size() + data_.length(s) > kPanel) break;
                panel_.take(data_.from(s), data_.length(s));
                sequences.push_back(s);
            }
            if (!sequences.empty()) climb(sequences, sweeps, pass);
        }
        return pass;
    }
    // Starts from the distributions of given scores, positions x labels and labels x labels.
    void begin(const S* node, const S* edge) {
        const std::size_t L = data_.labels;
        panel_.clear();
        free_.clear();
        std::fill(eta_.begin(), eta_.end(), kFirst);
        for (std::size_t s = 0; s < data_.sequences; ++s) {
            now_.forget(s);
            if (!data_.counts(s)) continue;
            make_room(data_.length(s));
            std::copy_n(node + data_.from(s) * L, theta_.size(), theta_.begin());
            std::copy_n(edge, L * L, edge_theta_.begin());
            look(s);
            for (std::size_t t = 0; t < data_.length(s); ++t)
                panel_.add(data_.from(s) + t, change_.data() + t * L, -data_.times(s) / penalty_);
            keep(s);
        }
    }

private:
    static constexpr double kFirst = 0.5, kLeast = 1e-4, kShrink = 0.2;  // of eta: first, least, at most how much less
    static constexpr double kHead = 4, kMostHead = 64;
    static constexpr double kWorth = 0.05;  // share of the gain so far that a sweep must add for another one
    static constexpr double kRounding = 8 * static_cast<double>(std::numeric_limits<S>::epsilon());

    void climb(const std::vector<std::size_t>& sequences, int sweeps, ExponentiatedPass& pass) {
        panel_.open();
        double total = 0;
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            double gain = 0;
            std::size_t place = 0;
            for (std::size_t s : sequences) {
                const double gap = now_.visited(s) ? step(s, place, gain) : first_step(s, place, gain);
                if (sweep == 0) pass.gap += gap;
                place += data_.length(s);
            }
            total += gain;
            if (!(gain > kWorth * total)) break;
        }
        pass.gain += total;
    }
    // Moves one sequence, at some place of the panel; returns about its duality gap.
    double step(std::size_t s, std::size_t place, double& gain) {
        const std::size_t L = data_.labels;
        read_scores(s, place);
        const S eta = static_cast<S>(eta_[s]), *theta = now_.theta(s);
        for (std::size_t k = 0; k < theta_.size(); ++k) theta_[k] = theta[k] + eta * (scores_[k] - theta[k]);
        if (now_.pairs()) {
            const S *pairs = now_.edge_theta(s), *scores = free_.edges();
            for (std::size_t k = 0; k < L * L; ++k) edge_theta_[k] = pairs[k] + eta * (scores[k] - pairs[k]);
        }
        const Outlook outlook = consider(s, place);
        const double gap = adapt(eta_[s], outlook);
        take_if_better(s, place, outlook, gain);
        return outlook.finite() ? data_.times(s) * gap : std::numeric_limits<double>::quiet_NaN();
    }
    double first_step(std::size_t s, std::size_t place, double& gain) {
        read_scores(s, place);
        for (double head = kHead; head <= kMostHead; head *= 2) {
            std::copy(scores_.begin(), scores_.end(), theta_.begin());
            std::copy_n(free_.edges(), edge_theta_.size(), edge_theta_.begin());
            data_.each_right(s, [&](std::size_t k) { theta_[k] += static_cast<S>(head); }, [](std::size_t) {});
            const Outlook outlook = consider(s, place);
            if (!outlook.finite()) return std::numeric_limits<double>::quiet_NaN();
            if (take_if_better(s, place, outlook, gain)) break;
        }
        return std::numeric_limits<double>::infinity();
    }

    // What a step would change: the dual rises by w (rise - loss).
    struct Outlook {
        double rise, loss, rounding;
        bool finite() const { return std::isfinite(rise) && std::isfinite(loss); }
    };
    Outlook consider(std::size_t s, std::size_t place) {
        look(s);
        const auto dot = sparse_kernels<S>().dot_product;
        const S* pairs = now_.pairs() ? edge_change_.data() : nullptr;
        double rise = value_ - now_.value(s) + dot(scores_.data(), change_.data(), change_.size());
        if (pairs) rise += dot(free_.edges(), pairs, edge_change_.size());
        const double square = panel_.consider(place, data_.length(s), change_.data()) / penalty_ +
                              free_.square(change_.data(), data_.length(s), pairs);
        return {rise, 0.5 * data_.times(s) * square, kRounding * scale_};
    }
    bool take_if_better(std::size_t s, std::size_t place, const Outlook& outlook, double& gain) {
        const double by = data_.times(s) * (outlook.rise - outlook.loss);
        if (!(by > 0)) return false;
        gain += by;
        panel_.change(place, data_.length(s), change_.data(), -data_.times(s) / penalty_);
        keep(s);
        return true;
    }
    // Makes eta what is best by what came of it; returns the divergence a.
    static double adapt(double& eta, const Outlook& outlook) {
        const double whole = outlook.rise / (1 - (1 - eta) * (1 - eta)), against = outlook.loss / (eta * eta);
        if (std::abs(outlook.rise) > outlook.rounding) {  // else there is nothing to learn from
            const double best = whole > 0 ? whole / (whole + against) : 0.5 * eta;
            eta = std::clamp(best, std::max(kLeast, kShrink * eta), 1.0);
        }
        return std::max(whole, 0.0);
    }

    void make_room(std::size_t length) {
        const std::size_t L = data_.labels;
        for (std::vector<S>* each : {&scores_, &theta_, &mu_, &change_, &full_}) each->resize(length * L);
        for (std::vector<S>* each : {&edge_theta_, &edge_full_, &edge_change_}) each->resize(L * L);
        edge_mu_.resize(L * L);
    }
    void read_scores(std::size_t s, std::size_t place) {
        make_room(data_.length(s));
        panel_.values(place, data_.length(s), scores_.data());
        free_.add_scores(scores_.data(), data_.length(s));
    }
    // Finds the distribution with the scores theta, and what is different from the present one.
    void look(std::size_t s) {
        const std::size_t L = data_.labels, n = theta_.size();
        const S *fixed = data_.fixed + data_.from(s) * L, *before = now_.mu(s);
        for (std::size_t k = 0; k < n; ++k) full_[k] = theta_[k] + fixed[k];
        for (std::size_t k = 0; k < L * L; ++k) edge_full_[k] = edge_theta_[k] + data_.edge_fixed[k];
        const double log_partition =
            chain_.marginals(full_.data(), data_.length(s), edge_full_.data(), mu_.data(), edge_mu_.data());
        double own = sparse_kernels<S>().dot_product(theta_.data(), mu_.data(), n);
        for (std::size_t k = 0; k < n; ++k) change_[k] = mu_[k] - before[k];
        if (now_.pairs()) {
            const S* pairs = now_.edge_mu(s);
            for (std::size_t k = 0; k < L * L; ++k) {
                own += static_cast<double>(edge_theta_[k]) * edge_mu_[k];
                edge_change_[k] = static_cast<S>(edge_mu_[k]) - pairs[k];
            }
        }
        value_ = log_partition - own - data_.fixed_of_right(s);
        scale_ = std::abs(log_partition) + std::abs(own);
    }
    // Takes that distribution, except for the part that the panel knows of.
    void keep(std::size_t s) {
        free_.change(change_.data(), data_.length(s), now_.pairs() ? edge_change_.data() : nullptr, -data_.times(s));
        now_.set(s, theta_.data(), mu_.data(), edge_theta_.data(), edge_mu_.data(), value_);
    }

    LabelledChains<S> data_;
    KernelPanel<S> panel_;
    double penalty_;
    FreeScores<S> free_;
    SingleChain<S> chain_;
    ChainDistributions<S> now_;
    std::vector<double> eta_;
    // Of the sequence that is visited: scores of f; and the distribution that it may move to.
    std::vector<S> scores_, theta_, mu_, change_, full_, edge_theta_, edge_full_, edge_change_;
    std::vector<double> edge_mu_;
    double value_ = 0, scale_ = 0;  // its value, and the size of what that is a difference of
};

}  // namespace kernelfields

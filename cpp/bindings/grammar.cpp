#include "kernelfields/structures/grammar_trees.hpp"
#include "pairwise.hpp"

namespace kernelfields::bindings {
namespace {

using Offsets = In<std::int64_t>;
using Flags = In<std::int8_t>;

// A grammar, sorted once: (parent, left, right) of all rules, and what symbols may be.
class Grammar {
public:
    Grammar(In<std::int32_t> rules, Flags roots, Flags words)
        : roots_(roots.data(), roots.data() + length_of(roots, "roots")),
          words_(words.data(), words.data() + length_of(words, "words")),
          rules_(roots_.size(), rows_of(rules, roots_.size()), rules.data()) {
        require_shape(words, "words", {roots_.size()});
    }
    template <class S>
    GrammarBatch batch(const In<S>& span, const In<S>& rule, const Offsets& words, const Offsets& spans) const {
        if (span.ndim() != 2 || span.shape(1) != roots_.size() || roots_.empty())
            throw std::invalid_argument("span has shape " + shape_of(span) + ", expected (spans, " +
                                        std::to_string(roots_.size()) + ").");
        require_shape(rule, "rule", {rules_.size()});
        const std::size_t sentences = length_of(words, "words") - 1;
        require_shape(spans, "spans", {sentences + 1});
        require_offsets(spans, "spans", span.shape(0));
        require_offsets(words, "words", static_cast<std::size_t>(words.data()[sentences]));
        for (std::size_t s = 0; s < sentences; ++s) {
            const std::int64_t n = words.data()[s + 1] - words.data()[s];
            if (spans.data()[s + 1] - spans.data()[s] != n * (n + 1) / 2)
                throw std::invalid_argument("spans has no n (n + 1) / 2 rows for sentence " + std::to_string(s) + ".");
            if (n * (n + 1) / 2 * static_cast<std::int64_t>(span.shape(1)) > std::numeric_limits<std::int32_t>::max())
                throw std::invalid_argument("Sentence " + std::to_string(s) +
                                            " has more spans times symbols than 2^31 - 1.");
        }
        const SpanBatch sentence{sentences, words.data(), spans.data(), span.shape(1), span.data(), false};
        return {
            sentence, &rules_, roots_.data(), words_.data(), by_place(rule.data()), usable(rule.data(), rules_.size())};
    }
    template <class S> std::vector<double> by_place(const S* rule) const {
        std::vector<double> result(rules_.size());
        for (std::size_t r = 0; r < result.size(); ++r) result[r] = static_cast<double>(rule[rules_.number(r)]);
        return result;
    }

    // The rule of every span of several words of trees, by their order; -1 where there is no such rule.
    Out<std::int32_t> rules_of(In<std::int32_t> output, Offsets words) const {
        const std::size_t sentences = length_of(words, "words") - 1;
        require_offsets(words, "words", static_cast<std::size_t>(words.data()[sentences]));
        std::size_t nodes = 0, splits = 0;
        for (std::size_t s = 0; s < sentences; ++s) {
            const auto n = static_cast<std::size_t>(words.data()[s + 1] - words.data()[s]);
            nodes += n > 0 ? 2 * n - 1 : 0;
            splits += n > 0 ? n - 1 : 0;
        }
        require_shape(output, "output", {nodes});
        auto found = make<std::int32_t>({splits});
        std::int32_t* next = found.data();
        const std::int32_t* from = output.data();
        for (std::size_t s = 0; s < sentences; ++s) {
            const auto n = static_cast<std::size_t>(words.data()[s + 1] - words.data()[s]);
            if (n == 0) continue;
            if (!rules_.rules_of(n, from, next))
                throw std::invalid_argument("output holds no tree for sentence " + std::to_string(s) + ".");
            from += 2 * n - 1;
            next += n - 1;
        }
        return found;
    }

private:
    static std::size_t rows_of(const In<std::int32_t>& rules, std::size_t symbols) {
        if (rules.ndim() != 2 || rules.shape(1) != 3)
            throw std::invalid_argument("rules has shape " + shape_of(rules) + ", expected (rules, 3).");
        if (!all_below(rules.data(), 3 * rules.shape(0), symbols))
            throw std::invalid_argument("rules has symbols that are not below " + std::to_string(symbols) + ".");
        return rules.shape(0);
    }

    std::vector<std::int8_t> roots_, words_;
    GrammarRules rules_;
};

template <class S> using GrammarParts = std::tuple<Out<double>, Out<S>, Out<double>>;

template <class S>
Out<double> log_partition(const Grammar& g, In<S> span, In<S> rule, Offsets words, Offsets spans) {
    const GrammarBatch batch = g.batch(span, rule, words, spans);
    auto value = make<double>({batch.spans.sentences});
    nb::gil_scoped_release release;
    grammar_marginals(batch, GrammarOut{nullptr, value.data(), {}, nullptr});
    return value;
}

template <class S>
GrammarParts<S> run_parts(const GrammarBatch& batch, const std::optional<In<double>>& weights, std::size_t rows,
                          FunctionRef<void(const GrammarOut&)> run) {
    auto value = make<double>({batch.spans.sentences});
    auto parts = make<S>({rows, batch.spans.labels});
    auto counts = make<double>({batch.rule.size()});
    std::fill(counts.data(), counts.data() + batch.rule.size(), 0.0);
    const GrammarOut out{weights_of(weights, batch.spans.sentences), value.data(), parts.data(), counts.data()};
    {
        nb::gil_scoped_release release;
        run(out);
    }
    return {value, parts, counts};
}

template <class S> GrammarParts<S> marginals(const Grammar& g, In<S> span, In<S> rule, Offsets words, Offsets spans,
                                             std::optional<In<double>> weights) {
    const GrammarBatch batch = g.batch(span, rule, words, spans);
    return run_parts<S>(batch, weights, span.shape(0), [&](const GrammarOut& out) { grammar_marginals(batch, out); });
}

template <class S> GrammarParts<S> covariance(const Grammar& g, In<S> span, In<S> rule, Offsets words, Offsets spans,
                                              In<S> span_direction, In<S> rule_direction,
                                              std::optional<In<double>> weights) {
    const GrammarBatch batch = g.batch(span, rule, words, spans);
    require_shape(span_direction, "span_direction", {span.shape(0), span.shape(1)});
    require_shape(rule_direction, "rule_direction", {rule.shape(0)});
    const std::vector<double> along = g.by_place(rule_direction.data());
    return run_parts<S>(batch, weights, span.shape(0),
                        [&](const GrammarOut& out) { grammar_covariance(batch, span_direction.data(), along, out); });
}

template <class S> Out<double> entropy(const Grammar& g, In<S> span, In<S> rule, Offsets words, Offsets spans) {
    const GrammarBatch batch = g.batch(span, rule, words, spans);
    auto value = make<double>({batch.spans.sentences});
    nb::gil_scoped_release release;
    grammar_entropy(batch, value.data());
    return value;
}

template <class S> Labelled argmax(const Grammar& g, In<S> span, In<S> rule, Offsets words, Offsets spans) {
    const GrammarBatch batch = g.batch(span, rule, words, spans);
    auto output = make<std::int32_t>({output_places(batch.spans).back()});
    auto value = make<double>({batch.spans.sentences});
    {
        nb::gil_scoped_release release;
        grammar_argmax(batch, output.data(), value.data());
    }
    return {output, value};
}

template <class S>
Labelled kbest(const Grammar& g, In<S> span, In<S> rule, Offsets words, Offsets spans, std::size_t k) {
    const GrammarBatch batch = g.batch(span, rule, words, spans);
    auto output = make<std::int32_t>({k, output_places(batch.spans).back()});
    auto value = make<double>({batch.spans.sentences, k});
    {
        nb::gil_scoped_release release;
        grammar_kbest(batch, k, output.data(), value.data());
    }
    return {output, value};
}

template <class S> Labelled sample(const Grammar& g, In<S> span, In<S> rule, Offsets words, Offsets spans,
                                   std::size_t count, std::uint64_t seed) {
    const GrammarBatch batch = g.batch(span, rule, words, spans);
    auto output = make<std::int32_t>({count, output_places(batch.spans).back()});
    auto value = make<double>({batch.spans.sentences});
    {
        nb::gil_scoped_release release;
        grammar_sample(batch, count, seed, output.data(), value.data());
    }
    return {output, value};
}

template <class S> void add_methods(nb::class_<Grammar>& c) {
    using namespace nb::literals;
    const auto x = nb::arg("span").noconvert(), r = nb::arg("rule").noconvert();
    const auto w = nb::arg("words").noconvert(), o = nb::arg("spans").noconvert();
    c.def("log_partition", &log_partition<S>, x, r, w, o);
    c.def("marginals", &marginals<S>, x, r, w, o, "weights"_a = nb::none());
    c.def("covariance", &covariance<S>, x, r, w, o, nb::arg("span_direction").noconvert(),
          nb::arg("rule_direction").noconvert(), "weights"_a = nb::none());
    c.def("entropy", &entropy<S>, x, r, w, o);
    c.def("argmax", &argmax<S>, x, r, w, o);
    c.def("kbest", &kbest<S>, x, r, w, o, "k"_a);
    c.def("sample", &sample<S>, x, r, w, o, "count"_a, "seed"_a);
}

}  // namespace

void add_grammar(nb::module_& m) {
    nb::class_<Grammar> c(m, "GrammarChart");
    c.def(nb::init<In<std::int32_t>, Flags, Flags>(), nb::arg("rules").noconvert(), nb::arg("roots").noconvert(),
          nb::arg("words").noconvert());
    c.def("rules_of", &Grammar::rules_of, nb::arg("output").noconvert(), nb::arg("words").noconvert());
    add_methods<double>(c);
    add_methods<float>(c);
}

}  // namespace kernelfields::bindings

"""Selected coordinates: their scores, inner products and growth against sums written out."""

import numpy as np
import pytest

from kernelfields.kernels import RBF
from kernelfields.selection import Atoms, Pool, SelectedSpan
from kernelfields.spaces import Joint, Selected, SelectedCliques
from kernelfields.testing import check_space
from tests._problems import small_chain, small_scores

L, SHARE = 3, 0.4


@pytest.fixture
def points(rng):
    return rng.normal(size=(small_chain().n_vertices, 2))


def pool(X, clique="node", share=0.0):
    width = L if clique == "node" else L * L
    return Pool(RBF(0.4), X, np.arange(len(X)), width, 1.5, clique, share)


def pieces(rng, width=L):
    """Five functions, the third a sum of three atoms, two with a label pair and one of a pair only."""
    return Atoms(
        np.array([4, 2, 7, 1, 4, 0]),
        rng.integers(width, size=6),
        np.array([0, 1, 2, 2, 2, 3]),
        np.array([5, 1, 5]),
        np.array([1, 2, 4]),
        5,
    )


def written_out(atoms, X, width, share, centred):
    """Scores of every function at all observations, (p, n, r), and of label pairs, (p, L²); products."""
    K, unit = RBF(0.4)(X), np.eye(width) - (1 / width if centred else 0.0)
    node, alpha = np.zeros((atoms.size, len(X), width)), np.zeros((atoms.size, len(X), width))
    for o, label, owner in zip(atoms.observations, atoms.labels, atoms.owners, strict=True):
        node[owner] += np.outer(K[o], unit[label])
        alpha[owner, o] += unit[label]
    pairs = np.zeros((atoms.size, L * L))
    for pair, owner in zip(atoms.pairs, atoms.pair_owners, strict=True):
        pairs[owner, pair] += share
    gram = np.einsum("pnr,qnr->pq", alpha, node) + (pairs @ pairs.T / share if share else 0.0)
    return node, pairs, gram


@pytest.mark.parametrize("kind", ["node", "edge", "both"])
def test_space_passes_all_checks(kind, points, rng):
    clique = "edge" if kind == "edge" else "node"
    atoms = Atoms.single(np.array([4, 2, 7, 4, 0]), np.array([0, 1, 2, 2, 1]))
    grown = SelectedSpan.empty(pool(points, clique, SHARE if kind == "both" else 0.0)).appended(atoms).grown
    chain, functions = small_chain(shared_edges=clique == "node"), grown.functions()
    space = SelectedCliques(chain, functions) if kind == "both" else Selected(chain, clique, functions)
    check_space(space, rng)


def test_scores_and_products_are_the_sums_written_out(points, rng):
    atoms = pieces(rng)
    grown = SelectedSpan.empty(pool(points, share=SHARE)).appended(atoms).grown
    node, pairs, gram = written_out(atoms, points, L, SHARE, centred=True)
    np.testing.assert_allclose(grown.pool.gram(atoms, atoms), gram, atol=1e-12)
    np.testing.assert_allclose(grown.norms(atoms), np.diagonal(gram), atol=1e-12)
    space = SelectedCliques(small_chain(), grown.functions())
    w, chain = rng.normal(size=5), small_chain()
    c = grown.functions().coefficients(w)
    assert space.inner(w, w) == pytest.approx(c @ gram @ c)
    theta = {clique: np.zeros(shape) for clique, shape in chain.shapes.items()}
    space.feed(w, theta)
    np.testing.assert_allclose(theta["node"], np.tensordot(c, node, 1), atol=1e-12)
    np.testing.assert_allclose(theta["edge"].ravel(), c @ pairs, atol=1e-12)


def test_representer_is_the_projected_gradient(points, rng):
    """c = K_SS⁻¹(K dθ)_S, and ⟨r, v⟩ = Σ ⟨dθ, scores(v)⟩ over both clique types."""
    atoms, chain = pieces(rng), small_chain()
    grown = SelectedSpan.empty(pool(points, share=SHARE)).appended(atoms).grown
    space, g = SelectedCliques(chain, grown.functions()), small_scores(chain, rng)
    assert isinstance(space, Joint)
    node, pairs, gram = written_out(atoms, points, L, SHARE, centred=True)
    inner = np.einsum("pnr,nr->p", node, g["node"]) + pairs @ g["edge"].ravel()
    found = grown.functions().coefficients(space.represent(g))
    np.testing.assert_allclose(found, np.linalg.solve(gram, inner), atol=1e-8)


def test_edges_with_input_are_not_centred(points, rng):
    atoms = pieces(rng, L * L)._replace(pairs=np.zeros(0, int), pair_owners=np.zeros(0, int))
    node, _, gram = written_out(atoms.take([0, 1, 2, 3]), points, L * L, 0.0, centred=False)
    grown = SelectedSpan.empty(pool(points, "edge")).appended(atoms.take([0, 1, 2, 3])).grown
    np.testing.assert_allclose(grown.pool.gram(grown.atoms, grown.atoms), gram, atol=1e-12)
    chain, w = small_chain(shared_edges=False), rng.normal(size=4)
    scores = Selected(chain, "edge", grown.functions()).scores(w)
    at_tails = np.tensordot(grown.functions().coefficients(w), node, 1)[chain.edge_tails]
    np.testing.assert_allclose(scores.reshape(-1, L * L), at_tails, atol=1e-12)


def test_growing_leaves_functions_as_they_were(points, rng):
    """Coordinates of old functions are those of the same functions in the larger space."""
    few = pieces(rng)
    old = SelectedSpan.empty(pool(points, share=SHARE)).appended(few).grown
    more = Atoms.single(np.array([9, 4, 11]), np.array([0, 1, 2]))
    added = old.appended(more)
    w = rng.normal(size=5)
    c = added.grown.functions().coefficients(np.concatenate([w, np.zeros(3)]))
    np.testing.assert_allclose(c[:5], old.functions().coefficients(w), atol=1e-9)
    np.testing.assert_allclose(c[5:], 0, atol=1e-12)
    _, _, gram = written_out(few.then(more), points, L, SHARE, centred=True)
    inverse = added.grown.functions().inverse
    np.testing.assert_allclose(inverse @ gram @ inverse.T, np.eye(8), atol=1e-8)
    np.testing.assert_allclose(added.triangle @ added.triangle.T, gram[5:, 5:], atol=1e-8)
    left = np.diagonal(gram[5:, 5:] - gram[5:, :5] @ np.linalg.solve(gram[:5, :5], gram[:5, 5:]))
    np.testing.assert_allclose(old.residuals(more), left, atol=1e-8)
    first = added.grown.first(5)
    np.testing.assert_allclose(first.functions().coefficients(w), old.functions().coefficients(w))
    assert first.basis.tolist() == old.basis.tolist()


def test_combinations_of_others_are_left_out(points):
    """Centred functions of all three labels add up to nothing."""
    atoms = Atoms.single(np.array([3, 3, 3, 5]), np.array([0, 1, 2, 1]))
    added = SelectedSpan.empty(pool(points)).appended(atoms)
    assert added.kept.tolist() == [0, 1, 3]
    assert not len(added.grown.appended(atoms).kept)


def test_pairs_need_shared_edges_and_edges_with_input_do_not(points):
    functions = SelectedSpan.empty(pool(points)).functions()
    with pytest.raises(TypeError, match="shared edges"):
        SelectedCliques(small_chain(shared_edges=False), functions)
    with pytest.raises(TypeError, match="scores of their own"):
        Selected(small_chain(), "edge", functions)


def test_functions_of_pairs_alone(points, rng):
    """No kernel in sight: scores are κ c, and so is the representer."""
    none = np.zeros(0, dtype=np.int64)
    atoms, chain = Atoms(none, none, none, np.array([4, 1]), np.array([0, 1]), 2), small_chain()
    grown = SelectedSpan.empty(pool(points, share=SHARE)).appended(atoms).grown
    space, g = SelectedCliques(chain, grown.functions()), small_scores(chain, rng)
    np.testing.assert_allclose(space.represent(g), np.sqrt(SHARE) * g["edge"].ravel()[[4, 1]])
    assert not space.scores(rng.normal(size=2)).any()

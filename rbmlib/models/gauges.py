"""The same model written otherwise: what that adds to log p* goes into `log_scale`, so that log Z,
and the probability of every state, are the same.
"""

from __future__ import annotations

from .layers import Bits, Categories, Spins


def to_bits(rbm):
    """`Bits` in place of `Spins`, s = 2 v - 1."""
    return _recoded(rbm, Spins, Bits, 2.0, -1.0)


def to_spins(rbm):
    """`Spins` in place of `Bits`, v = (s + 1) / 2."""
    return _recoded(rbm, Bits, Spins, 0.5, 0.5)


def in_bits(rbm):
    """`to_bits`, or None if a layer has units of more than two values."""
    bits = to_bits(rbm)
    two = isinstance(bits.visible, Bits) and isinstance(bits.hidden, Bits)
    return bits if two else None


def _recoded(rbm, old, new, scale, shift):
    """Units of one kind as another: a state s of the old is ``scale t + shift`` of the new."""
    w, b, a, more = rbm.weights, rbm.visible.bias, rbm.hidden.bias, rbm.log_scale
    kinds = [new if isinstance(layer, old) else None for layer in (rbm.visible, rbm.hidden)]
    if kinds[1]:
        w, b, a, more = scale * w, b + shift * w.sum(axis=1), scale * a, more + shift * a.sum()
    if kinds[0]:
        w, b, a, more = scale * w, scale * b, a + shift * w.sum(axis=0), more + shift * b.sum()
    visible, hidden = (
        kind(bias) if kind else layer.with_(bias=bias)
        for kind, layer, bias in zip(kinds, (rbm.visible, rbm.hidden), (b, a), strict=True)
    )
    return rbm.with_(visible=visible, hidden=hidden, weights=w, log_scale=float(more))


def centered(rbm):
    """The zero-sum gauge of `Categories`: weights and biases of each unit add up to 0 over q.

    One of its q states is 1, so that what its weights have in common acts as a bias of the other
    layer. Units of other kinds have no such freedom.
    """
    return _centered_hidden(_centered_hidden(rbm).transposed()).transposed()


def _centered_hidden(rbm):
    if not isinstance(rbm.hidden, Categories):
        return rbm
    shape, q = rbm.weights.shape, rbm.hidden.q
    weights, bias = rbm.weights.reshape(shape[0], -1, q), rbm.hidden.bias.reshape(-1, q)
    common, level = weights.mean(axis=2, keepdims=True), bias.mean(axis=1, keepdims=True)
    return rbm.with_(
        visible=rbm.visible.with_(bias=rbm.visible.bias + common.sum(axis=(1, 2))),
        hidden=rbm.hidden.with_(bias=(bias - level).ravel()),
        weights=(weights - common).reshape(shape),
        log_scale=rbm.log_scale + float(level.sum()),
    )

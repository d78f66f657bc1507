"""Conversion of units; `log_scale` takes up the constant, so log Z and probabilities stay equal."""

from .layers import Binary, Spin


def to_bits(rbm):
    """Return the model with `Binary` in place of `Spin`, s = 2 v - 1."""
    w, b, a, more = rbm.weights, rbm.visible.bias, rbm.hidden.bias, rbm.log_scale
    kinds = [Binary if isinstance(layer, Spin) else None for layer in (rbm.visible, rbm.hidden)]
    if kinds[1]:
        w, b, a, more = 2 * w, b - w.sum(axis=1), 2 * a, more - a.sum()
    if kinds[0]:
        w, b, a, more = 2 * w, 2 * b, a - w.sum(axis=0), more - b.sum()
    visible = kinds[0](b) if kinds[0] else rbm.visible.with_(bias=b)
    hidden = kinds[1](a) if kinds[1] else rbm.hidden.with_(bias=a)
    return rbm.with_(visible=visible, hidden=hidden, weights=w, log_scale=float(more))


def in_bits(rbm):
    """Return `to_bits`, or None if a layer is neither `Binary` nor `Spin`."""
    bits = to_bits(rbm)
    return bits if isinstance(bits.visible, Binary) and isinstance(bits.hidden, Binary) else None

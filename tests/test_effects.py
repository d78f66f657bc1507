"""An effect and a range: within, outside, and touching."""

from rbmlib.book.effects import Effect


def test_an_effect_that_touches_a_range_is_not_outside():
    """Nor within it, where it shares an end."""
    found = Effect(0.0, -1.0, 0.5, 0.1, "words")
    assert found.outside(0.6, 1.0)
    assert found.outside(-3.0, -1.1)
    assert not found.outside(0.5, 1.0)
    assert not found.outside(-3.0, -1.0)
    assert found.within(-1.1, 0.6)
    assert not found.within(-1.0, 0.6)
    assert not found.within(-1.1, 0.5)

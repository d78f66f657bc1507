"""What a path is: five methods."""


class Path:
    """A curve of models p_beta; states are arrays of visible units, (n_chains, n_visible)."""

    log_z_base: float
    joint = False  # whether log p*_beta(v, h) is linear in beta: `joint_transition` then

    def at(self, beta):
        """The model at ``beta``."""
        raise NotImplementedError

    def sample_base(self, n_chains, rng):
        """Independent draws of the base."""
        raise NotImplementedError

    def log_density(self, v, beta):
        """log p*_beta of each state: (n_chains,), or (n_chains, K) for K betas."""
        raise NotImplementedError

    def log_density_slope(self, v, beta):
        """d/dbeta log p*_beta, of the same shapes."""
        raise NotImplementedError

    def transition(self, v, beta, rng):
        """A step that leaves p_beta invariant; ``beta`` a number, or one a chain."""
        raise NotImplementedError

    def visible_of(self, v, rng=None):
        """Visible units of the whole model, where states stand for them."""
        return v

"""Annealing and training as others write them.

An annealing loop takes (rbm, base_bias, betas, v, seed) and anneals the chains ``v`` from betas[0]
to betas[-1]: weight, hidden units, visible units, the step of `rl.ais`. None calls our kernels.
"""

import itertools
from importlib.util import find_spec

import numpy as np
from scipy.special import expit

from rbmlib.numerics import softplus


def numpy_annealing(rbm, base_bias, betas, v, seed, dtype=np.float64):
    """As in a textbook: two matrix products a step, in one precision throughout."""
    rng = np.random.default_rng(seed)
    weights, b, a, base, v = (
        np.asarray(x, dtype) for x in (rbm.weights, rbm.visible_bias, rbm.hidden_bias, base_bias, v)
    )
    log_weights = np.zeros(len(v))
    for previous, beta in itertools.pairwise(betas.astype(dtype)):
        fields = v @ weights + a
        log_weights += (beta - previous) * (v @ (b - base))
        log_weights += (softplus(beta * fields) - softplus(previous * fields)).sum(1)
        h = (rng.random(fields.shape, dtype) < expit(beta * fields)).astype(dtype)
        x = (1 - beta) * base + beta * (h @ weights.T + b)
        v = (rng.random(x.shape, dtype) < expit(x)).astype(dtype)
    return log_weights


def torch_annealing(rbm, base_bias, betas, v, seed):
    """PyTorch on the processor, float32."""
    import torch
    from torch.nn.functional import softplus

    torch.manual_seed(seed)
    weights, b, a, base, v = (
        torch.as_tensor(np.asarray(x, np.float32))
        for x in (rbm.weights, rbm.visible_bias, rbm.hidden_bias, base_bias, v)
    )
    log_weights = torch.zeros(len(v), dtype=torch.float64)
    with torch.no_grad():
        for previous, beta in itertools.pairwise(float(x) for x in betas):
            fields = v @ weights + a
            log_weights += (beta - previous) * (v @ (b - base))
            log_weights += (softplus(beta * fields) - softplus(previous * fields)).sum(1)
            h = torch.bernoulli(torch.sigmoid(beta * fields))
            x = (1 - beta) * base + beta * (h @ weights.T + b)
            v = torch.bernoulli(torch.sigmoid(x))
    return log_weights.numpy()


def sklearn_gibbs(rbm, base_bias, betas, v, seed):
    """scikit-learn's Gibbs step: no weights, no beta; as many steps."""
    from sklearn.neural_network import BernoulliRBM

    model = BernoulliRBM(n_components=rbm.n_hidden, random_state=seed, n_iter=1)
    model.fit(v[:2].astype(float))
    model.components_ = rbm.weights.T.copy()
    model.intercept_hidden_, model.intercept_visible_ = rbm.hidden_bias, rbm.visible_bias
    v = v.astype(float)
    for _ in range(len(betas) - 1):
        v = model.gibbs(v)
    return v


def rbms_annealing(rbm, base_bias, betas, v, seed):
    """The package `rbms`: its own path, as many steps of as many chains."""
    import torch
    from rbms.bernoulli_bernoulli.classes import BBRBM
    from rbms.partition_function.ais import compute_partition_function_ais

    torch.manual_seed(seed)
    parts = (rbm.weights, rbm.visible_bias, rbm.hidden_bias)
    weights, b, a = (torch.as_tensor(np.asarray(x, np.float32)) for x in parts)
    model = BBRBM(weight_matrix=weights, vbias=b, hbias=a)
    return compute_partition_function_ais(len(v), len(betas), model)


def numpy_training(data, n_hidden, n_updates, persistent, dtype=np.float32):
    """As in a textbook: mini-batches of 100, one Gibbs sweep, means of the hidden units."""
    rng, size, rate = np.random.default_rng(0), 100, dtype(0.05)
    weights = rng.normal(scale=0.01, size=(data.shape[1], n_hidden)).astype(dtype)
    b, a = np.zeros(data.shape[1], dtype), np.zeros(n_hidden, dtype)
    chains = data[:size].astype(dtype)

    def drawn(means):
        return (rng.random(means.shape, dtype) < means).astype(dtype)

    for k in range(n_updates):
        first = k * size % (len(data) - size + 1)
        batch = data[first : first + size].astype(dtype)
        hidden = expit(batch @ weights + a)
        start = expit(chains @ weights + a) if persistent else hidden
        chains = drawn(expit(drawn(start) @ weights.T + b))
        model = expit(chains @ weights + a)
        weights += rate / size * (batch.T @ hidden - chains.T @ model)
        b += rate / size * (batch - chains).sum(axis=0)
        a += rate / size * (hidden - model).sum(axis=0)
    return weights, b, a


def sklearn_training(data, n_hidden, n_updates):
    """scikit-learn's, which is PCD-1."""
    from sklearn.neural_network import BernoulliRBM

    batches = len(data) // 100
    if n_updates % batches:
        raise ValueError(f"n_updates is {n_updates}: expected a multiple of {batches}, of all data")
    model = BernoulliRBM(
        n_hidden, learning_rate=0.05, batch_size=100, n_iter=n_updates // batches, random_state=0
    )
    model.fit(data[: 100 * batches])


def rbms_training(data, n_hidden, n_updates, persistent):
    """The package `rbms`: its update with centred gradients, and its loop without the files."""
    import torch
    from rbms.bernoulli_bernoulli.classes import BBRBM
    from rbms.training.pcd import fit_batch_pcd

    torch.manual_seed(0)
    data = torch.as_tensor(data, dtype=torch.float32)
    shape = data.shape[1], n_hidden
    parts = 0.01 * torch.randn(shape), torch.zeros(shape[0]), torch.zeros(shape[1])
    model = BBRBM(*parts)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)  # which the package fills
    ones = torch.ones(100, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, maximize=True)
    chains = model.init_chains(100, weights=ones, start_v=data[:100])
    with torch.no_grad():
        for _ in range(n_updates):
            batch = data[torch.randperm(len(data))[:100]]
            if not persistent:
                chains = model.init_chains(100, weights=ones, start_v=batch)
            optimizer.zero_grad(set_to_none=False)
            chains, _ = fit_batch_pcd((batch, ones), chains, model, gibbs_steps=1, beta=1.0)
            optimizer.step()
    return model


def trainings(method: str) -> dict:
    """Functions of (data, n_hidden, n_updates), of the packages that are installed."""
    found = {"NumPy float32": lambda *args: numpy_training(*args, persistent=method == "pcd")}
    if installed("rbms"):
        found["rbms"] = lambda *args: rbms_training(*args, persistent=method == "pcd")
    if method == "pcd" and installed("sklearn"):
        found["scikit-learn"] = sklearn_training
    return found


def installed(package: str) -> bool:
    return find_spec(package) is not None


def baselines() -> dict:
    """The loops whose packages are installed."""
    found = {
        "NumPy float64": numpy_annealing,
        "NumPy float32": lambda *args: numpy_annealing(*args, dtype=np.float32),
    }
    if installed("torch"):
        found["PyTorch float32"] = torch_annealing
    if installed("rbms"):
        found["rbms"] = rbms_annealing
    if installed("sklearn"):
        found["scikit-learn, Gibbs step only"] = sklearn_gibbs
    return found

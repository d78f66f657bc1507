"""Answers to exercises: wrong ones with the hint they deserve, right ones by another way, and
mutants of right ones."""

import ast

SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.Gt, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
    ast.BitAnd: ast.BitOr, ast.MatMult: ast.Mult,
}  # fmt: skip
CALLS = {
    "exp": "log", "log": "exp", "mean": "sum", "sum": "mean", "logaddexp": "add", "min": "max",
    "max": "min", "maximum": "minimum", "minimum": "maximum", "cumsum": "cumprod", "std": "var",
    "zeros": "ones", "sqrt": "square", "hypot": "add", "tanh": "sin", "cos": "sin",
}  # fmt: skip


def changes(node):
    """What a careless hand may write in the place of a piece of code."""
    match node:
        case ast.BinOp(left, op, right):
            yield from (left, right)
            if type(op) in SWAPS:
                yield ast.BinOp(left, SWAPS[type(op)](), right)
        case ast.UnaryOp(ast.USub(), operand):
            yield operand
        case ast.Compare(left, [op], right) if type(op) in SWAPS:
            yield ast.Compare(left, [SWAPS[type(op)]()], right)
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            yield ast.Constant(value + 1)
        case ast.Attribute(value, name) if name in CALLS:
            yield ast.Attribute(value, CALLS[name], ast.Load())
        case ast.Assign() | ast.AugAssign():
            yield ast.Pass()


def mutants(function: str) -> dict[str, str]:
    """Code of a function by the one change that was made in it."""
    tree, found = ast.parse(function), {}
    for parent in list(ast.walk(tree)):
        for name, value in ast.iter_fields(parent):
            for i, node in enumerate(value if isinstance(value, list) else [value]):
                for other in changes(node):
                    changed = (
                        [*value[:i], other, *value[i + 1 :]] if isinstance(value, list) else other
                    )
                    setattr(parent, name, changed)
                    what = f"{ast.unparse(node)} -> {ast.unparse(other)}"
                    found.setdefault(what, ast.unparse(ast.fix_missing_locations(tree)))
                setattr(parent, name, value)
    return found


# Changes that leave an answer right: constants that cancel, guards, other right ways.
HARMLESS = {
    "bracket": ["1 -> 2"],
    "draw": ["q.shape[1] - 1 -> q.shape[1]", "q.shape[1] - 1 -> q.shape[1] + 1"],
    "corrected": ["shares.mean -> shares.sum"],
    "mbar": ["np.zeros -> np.ones", "2000 -> 2001", "new - guess -> new",
             "new - guess -> new + guess"],
    "sams": ["np.zeros -> np.ones"],
    "transition": ["T = T - np.diag(np.diag(T)) -> pass", "T - np.diag(np.diag(T)) -> T",
                   "T - np.diag(np.diag(T)) -> T + np.diag(np.diag(T))"],
    "step": ["x + width * rng.normal(size=len(x)) -> x - width * rng.normal(size=len(x))"],
    "of_one_site": ["log_p - log_p.max() -> log_p", "log_p - log_p.max() -> log_p + log_p.max()",
                    "log_p.max -> log_p.min"],
    "equal_areas": [  # a coarser rule of integration on a fine grid, and constants that cancel
        "(height[1:] + height[:-1]) / 2 -> height[1:] + height[:-1]",
        "(height[1:] + height[:-1]) / 2 -> (height[1:] + height[:-1]) * 2",
        "height[1:] + height[:-1] -> height[1:]", "height[1:] + height[:-1] -> height[:-1]",
        "2 -> 3"],
    "capped": ["1 -> 2", "200 -> 201"],
}  # fmt: skip

TYPICAL = [  # task, a typical wrong answer, what its hint must say; others stand beside the hints
    ("line", "sigmoid", "1 / (1 + np.exp(-x))", "overflows"),
    ("line", "log_mean_exp", "np.log(np.sum(np.exp(x - x.max()))) + x.max()", "number of values"),
    ("start", "score", "v @ b + (v @ W + a).sum(axis=1)", "summed over"),
    ("start", "log_z", "rl.exact(rl.BernoulliRBM(W, b, a)).log_z - len(a) * np.log(2)",
     "their sum"),
    ("ais", "from_above", "np.logaddexp.reduce(r) - np.log(len(r))", "published mistake"),
    ("line", "sample_base", "(rng.random((n, 1)) < sigmoid(b0)).astype(float)", "not independent"),
    ("line", "sweep", "(v, hidden_mean(m, v, beta))", "zeros and ones"),
    ("line", "bracket", "(log_mean_exp(log_w), -log_mean_exp(-r))", "means of logarithms"),
    ("line", "draw", "q.argmax(axis=1)", "must be drawn"),
    ("line", "averaged", "beta_probabilities(delta.mean(axis=0), betas, guess)", "not the slopes"),
    ("rts", "corrected", "guess + np.log((shares / shares[:, :1]).mean(axis=0))", "then divide"),
    ("rts", "with_prior", "log_z_0 + guess + np.log(shares / prior)", "are still in it"),
    ("rts", "beta_probabilities", "(lambda q: q / q.sum(axis=1)[:, None])(np.exp(np.clip("
     "np.outer(delta, betas) - guess, -700, 700)))", "where the slope is 100,000"),
    ("rts", "gain", "q[:, :, 5].mean(axis=1).var() / (k == 5).mean(axis=1).var()", "rows"),
    ("rts", "equal_guesses", "start['nats'] / per_round", "round up"),
    ("rts", "equal_guesses", "equal_guesses - 1", "round up"),
    ("rts", "equal_guesses", "equal_guesses + 1", "at most"),
    ("sams", "gains", "[min(1 / n_betas, t**-0.7 if t <= t_0 else 1 / (t - t_0 + t_0**0.7)) "
     "for t in range(1, n + 1)]", "alpha is given"),
    ("sams", "update", "(lambda r: r - r[:, :1])(log_z + min(gain * len(q), 1) * q)",
     "not of chains"),
    ("sams", "report_h100", "(329.79 - reference) / (301.54 / 20)", "root of variance"),
]  # fmt: skip


AIS = """
def ais(m, b0, betas, n_chains, rng):
    v = (rng.random((n_chains, m.n_visible)) < 1 / (1 + np.exp(-b0))).astype(float)
    log_w = np.full(n_chains, {start})
    for low, high in zip(betas, betas[1:]):
        {body}
    return log_w
def move(m, b0, v, beta, rng):
    on = 1 / (1 + np.exp(-beta * (v @ m.weights + m.hidden_bias)))
    h = rng.random(on.shape) < on
    on = 1 / (1 + np.exp(-((1 - beta) * b0 + beta * (h @ m.weights.T + m.visible_bias))))
    return (rng.random(on.shape) < on).astype(float)
def weigh(m, b0, v, low, high):
    return path_score(m, b0, v, high) - path_score(m, b0, v, low)
"""
START = "np.logaddexp(0, b0).sum() + m.n_hidden * np.log(2)"
WEIGH, MOVE = "log_w += weigh(m, b0, v, low, high)", "v = move(m, b0, v, {at}, rng)"


ANOTHER_WAY = {
    ("ais", "ais"): """
import rbmlib as rl
def ais(m, b0, betas, n_chains, rng):
    return rl.ais(rl.GeometricPath(m, base=b0), betas, n_chains, rng=rng).log_weights""",
    ("line", "sample_base"): """
def sample_base(m, b0, n, rng):
    return rng.binomial(1, sigmoid(b0), size=(n, m.n_visible))""",
    ("line", "sweep"): """
def sweep(m, b0, v, beta, rng):
    h = rng.binomial(1, hidden_mean(m, v, beta))
    return rng.binomial(1, visible_mean(m, b0, h, beta)), h""",
    ("line", "draw"): """
def draw(q, rng):
    return np.array([rng.choice(len(row), p=row) for row in q])""",
    ("line", "temper"): """
def temper(m, b0, betas, guess, n_chains, n_sweeps, rng):
    v, k = np.ones((n_chains, m.n_visible)), np.full(n_chains, len(betas) - 1)
    out = np.empty((2, n_sweeps, n_chains))
    for t in range(n_sweeps):
        v, h = sweep(m, b0, v, betas[k].reshape(-1, 1), rng)
        d = slope(m, b0, v, h)
        noise = rng.gumbel(size=(n_chains, len(betas)))  # the largest of these is a draw
        k = (d[:, None] * betas - guess + noise).argmax(axis=1)
        out[:, t] = k, d
    return out[0].astype(int), out[1]""",
    ("line", "mbar"): """
import rbmlib as rl
from scipy.optimize import minimize
def mbar(u, counts):
    def f(x):
        z = np.concatenate([[0], x])
        a = u - z + np.log(counts)
        top = np.logaddexp.reduce(a, axis=1)
        w = np.exp(a - top[:, None]).sum(axis=0)
        return top.sum() + (counts * z).sum(), (counts - w)[1:]
    x = np.zeros(u.shape[1] - 1)
    for _ in range(3):
        x = minimize(f, x, jac=True, method="BFGS", options={"gtol": 1e-9}).x
    z = np.concatenate([[0], x])
    for _ in range(500):
        z = mbar_step(u, counts, z)
    return z""",
    ("sams", "gains"): """
def gains(n, t_0, n_betas, alpha):
    return [min(1 / n_betas, t**-alpha if t <= t_0 else 1 / (t - t_0 + t_0**alpha))
            for t in range(1, n + 1)]""",
    ("sams", "update"): """
def update(log_z, q, gain):
    new = log_z.copy()
    for row, more in zip(new, q):
        row += min(gain * len(more), 1) * more
        row -= row[0]
    return new""",
    ("line", "round_trips"): """
def round_trips(k, top):
    def one(walk):
        ends = [x for x in walk if x in (0, top)]
        runs = [x for i, x in enumerate(ends) if i == 0 or ends[i - 1] != x]
        if runs and runs[0] == top:
            runs = runs[1:]
        return max(0, (len(runs) - 1) // 2)
    return np.array([one(column) for column in k.T])""",
}

"""Names, addresses and SHA-256 of all files: data sets and trained RBMs."""

from typing import NamedTuple


class Remote(NamedTuple):
    """A published file: its name on disk, its address and its SHA-256.

    ``copies`` are (name, SHA-256) of other files with the same content.
    """

    file: str
    url: str
    sha256: str
    copies: tuple[tuple[str, str], ...] = ()


# SHA-256 of the committed binary files by their paths in data/. Enter a new file of data/ here, and
# a file for download in REMOTE (and PUBLISHED_RBMS).
COMMITTED = {
    "cifar10/subset.npz": "8b785b0e6bb95c5755fe95ae2e914f39b141c7a7306f969aacebc3d7d4db0d40",
    "cifar10/scale.npz": "28e49abef4b5ca7a3ef9bae4a33e412ce6319de0b14cc82672019ee264272bfe",
    "mnist/mnist_binary.npz": "a0c5752d5faabe1e0b8567f01b02eab0f4fe157cb7430ad3597f8edfa6416132",
    "dna/dna_binary.npz": "cdf5339596a5a88e8f43da773790bea133856ce03604d88e9e57ab588cfd6a31",
    "models/leaky_cifar10.npz": "0bb40be0d20fc1144f462bdf6a972cf98181e55acd73835291eef6f4f40db518",
    "models/gaussian_cifar10.npz": "e04922e7f031939b019fc4224f60fee36330c62520b5028fb29aab88784f038e",  # noqa: E501
    "models/cd1_20.npz": "9ca2b3c7998e4a397f702eb6144ae64c8c9b23daa238cddbfe1d91dde906b762",
    "models/cd25_20.npz": "8a2027df6c268e9d421ed18c1d37032520d3a0c8e9bc55d95f83a309ee52455d",
    "models/pcd_20.npz": "c015beaf3a5bb78891dccaa018978002640da43b2842186ba4e0b677a5ce0517",
    "models/cd1_500.npz": "6f581756f23a0add11828a210d9ddb58b39dd1446a8012a0a883d6c130a47e49",
    "models/cd25_500.npz": "4774385c1b9ac59e3f17424405c4876c5fe8bdf5c247c89a442789c4c64e2930",
    "models/pcd_500.npz": "fe537f0429713855773f94c9044b52929a76cf65315aa2593a2a11db9be90645",
    "models/pcd_10.npz": "105a1c664772e732a9cee4a4ab414605f185e3a04a0b58438f98224865d46cae",
    "models/pcd_200.npz": "cff4f9e4b6269bda337c6f34f5c555ef0f24dd1cb7228e9d83ffad74c88479f6",
    "models/dna_cd1_500.npz": "63aea776245d8151d89ee6ad4156313aaa0932eb2ca2d67896b475b09704cabf",
    "models/spectral_100.npz": "532e5a3f94e141070bedd1dd0262c4ff2c71d833dc7e0401ba974e0188df8bd5",
    "ww/ww_domain.npz": "8a01aabdc5c44d9c6b931191810203788a2d683c4857c7dbe285b15f48eef30c",
    "dreams.npz": "9b8cdb98bfc2246f638aa9588b65a721367e1d3a8d73ef8d332054f955ccbc27",
}

# (n_visible, n_hidden) of the committed RBMs ("x" is models/x.npz in COMMITTED; the CIFAR-10 models
# have Gaussian visible units) and of the published RBMs, which are in REMOTE.
COMMITTED_RBMS = {f"{how}_{n}": (784, n) for n in (20, 500) for how in ("cd1", "cd25", "pcd")}
COMMITTED_RBMS |= {"pcd_10": (784, 10), "pcd_200": (784, 200), "spectral_100": (784, 100)}
COMMITTED_RBMS |= {"dna_cd1_500": (180, 500)}
COMMITTED_RBMS |= {"leaky_cifar10": (3072, 500), "gaussian_cifar10": (3072, 500)}
PUBLISHED_RBMS = {f"h{n}": (784, n) for n in (10, 20, 100, 500)}
PUBLISHED_RBMS["salakhutdinov_cd25_500"] = 784, 500
RBMS = COMMITTED_RBMS | PUBLISHED_RBMS

_GITHUB = "https://github.com/"
_COURSE = _GITHUB + "Kevin-Wang95/RBMLearning/raw/95cc8140906b82a0c665a041f81378ded4c4e452/"
_CD25 = _GITHUB + "lzhbrian/MCMC/raw/0dd3aadd1ed2833aff76bd7af4b014282739984b/"
_OF_COURSE = {
    "h10": ("h10.mat", "5be9accc538f9d1548ccef1954c2444a71a3b2baef319ac2e3bfb1282ea9a92e"),
    "h20": ("h20.mat", "caa0fa72bc57eac629d2d5ec12574eda2526ee6c508fde7f72e20a7dd027a6ed"),
    "h100": ("h100.mat", "e1054109bfe28427d2c3ca8fa5a622a5299c9e141181cdd23bc0ba9baab80202"),
    "h500": ("h500.mat", "2823840ee01c3ae26e34d8bb930e8dff8ce4deff66ed0b84ceb406eac27ca945"),
    "course_test": ("test.mat", "ea305aba4d256529d215d270c330ffb225e68392f1f263ed2ce9e2d435d736a2"),
}
REMOTE = {name: Remote(file, _COURSE + file, sha256) for name, (file, sha256) in _OF_COURSE.items()}
REMOTE["salakhutdinov_cd25_500"] = Remote(
    "mnistvh_CD25.mat",
    _CD25 + "src/partition/reference/code_AIS/mnistvh_CD25.mat",
    "264d0e1b8b54162efc886ad596408316ded23664eb8858f8a3ff280d31fb491d",
)
_MOTIF = _GITHUB + "jertubiana/ProteinMotifRBM/raw/cf7a0d448d77df5d33a03757ccddded49dd74108/"
REMOTE["ww_domain"] = Remote(
    "RBM_WW_Domain.data",
    _MOTIF + "models/RBM_WW_Domain.data",
    "bddae1064755b52bc14ed82102bdbecd9382833cf1d3b5666ebdaab0db16b9a6",
    (("ww_potts_drelu.npz", "6d535a72e4f18716338aab83481b9a9273318e2f09239e9cd4bae322b20a990a"),),
)

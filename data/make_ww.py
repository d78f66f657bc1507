"""Make data/ww/ww_domain.npz: 17,233 aligned sequences of the WW domain, 31 sites.

    python data/make_ww.py WW_domain_MSA.fasta     # or the same, packed (.gz)

The file is ``data/WW/WW_domain_MSA.fasta`` of https://github.com/jertubiana/ProteinMotifRBM: the
sequences of Pfam's family PF00397 as Tubiana, Cocco & Monasson (2019) aligned and trained on them.
Letters are kept as their positions in the alphabet of `rbmlib.datasets.alignments`.

The same versions of NumPy and zlib give the same bytes: ``numpy.savez_compressed`` stamps every
member with 1 January 1980.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np

from rbmlib.datasets import load_fasta

ORIGINAL = (
    "d5e68f230d211fd1cdb01b63ff1bd240ec644b985b66b8ffbf379da58952e748"  # of the letters, row by row
)
OUTPUT = Path(__file__).parent / "ww" / "ww_domain.npz"


def main(fasta):
    alignment = load_fasta(fasta)
    digest = hashlib.sha256(alignment.letters.tobytes()).hexdigest()
    if digest != ORIGINAL:
        sys.exit(f"{fasta}: SHA-256 of its letters is {digest}, expected {ORIGINAL}")
    OUTPUT.parent.mkdir(exist_ok=True)
    np.savez_compressed(OUTPUT, allow_pickle=False, letters=alignment.letters)
    print(hashlib.sha256(OUTPUT.read_bytes()).hexdigest(), OUTPUT.name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python data/make_ww.py WW_domain_MSA.fasta")
    main(sys.argv[1])

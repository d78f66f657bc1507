"""Make data/dna/dna_binary.npz: the StatLog DNA splice junctions, bit-packed.

    apt-get download r-cran-mlbench          # Debian, version 2.1-3-1
    dpkg-deb -x r-cran-mlbench_*.deb mlbench
    pip install rdata
    python data/make_dna.py mlbench/usr/lib/R/site-library/mlbench/data/DNA.rda

A row is a window of 60 nucleotides, three bits each: A = 100, C = 010, G = 001, T = 000. The first
2,000 rows train and the other 1,186 test, as in StatLog. Classes are 0 "ei" (exon to intron),
1 "ie" (intron to exon) and 2 "n" (neither). The 180 bits of a row are packed into 23 bytes, first
bit highest, the last four bits zero.

The same versions of NumPy and zlib give the same bytes: ``numpy.savez_compressed`` stamps every
member with 1 January 1980.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np
import rdata

N_TRAIN = 2000
ORIGINAL = "df941ad89a49f705a29bf38e52c91dc34029539cedb13fa24f803f1224278c9e"
OUTPUT = Path(__file__).parent / "dna" / "dna_binary.npz"


def main(rda):
    digest = hashlib.sha256(Path(rda).read_bytes()).hexdigest()
    if digest != ORIGINAL:
        sys.exit(f"{rda}: SHA-256 is {digest}, expected {ORIGINAL}")
    table = rdata.read_rda(rda, default_encoding="ascii")["DNA"]
    bits = np.packbits(table.iloc[:, :180].astype(str).to_numpy() == "1", axis=1)
    classes = table["Class"].cat
    labels = classes.codes.to_numpy().astype(np.uint8)
    OUTPUT.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        OUTPUT,
        allow_pickle=False,
        train=bits[:N_TRAIN],
        test=bits[N_TRAIN:],
        train_labels=labels[:N_TRAIN],
        test_labels=labels[N_TRAIN:],
        label_names=np.array([str(name) for name in classes.categories]),
        n_visible=np.int64(180),
    )
    print(hashlib.sha256(OUTPUT.read_bytes()).hexdigest(), OUTPUT.name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python data/make_dna.py DNA.rda")
    main(sys.argv[1])

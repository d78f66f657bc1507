"""Aligned sequences from FASTA files and of a protein family, as states of `Potts` units."""

import functools
import gzip
import os
import warnings
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..files import read_arrays
from .files import committed

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY-"  # in alphabetical order, then the gap


class Alignment(NamedTuple):
    """Sequences of one length over an alphabet."""

    names: tuple[str, ...]
    letters: np.ndarray  # (n_sequences, n_sites) uint8, positions in the alphabet
    alphabet: str

    @property
    def rows(self) -> np.ndarray:
        """States of ``rl.Potts(bias, q=len(alphabet))``: (n_sequences, n_sites q) uint8."""
        bits = np.eye(len(self.alphabet), dtype=np.uint8)[self.letters]
        return bits.reshape(len(bits), -1)

    @property
    def sequences(self) -> list[str]:
        """The sequences as strings."""
        return ["".join(row) for row in np.array(list(self.alphabet))[self.letters]]

    def __repr__(self) -> str:
        n, sites = self.letters.shape
        return f"<Alignment: {n:,} x {sites} of {self.alphabet}>"


def load_fasta(path: str | os.PathLike, alphabet: str = AMINO_ACIDS) -> Alignment:
    """Read aligned sequences from a FASTA file, which may be compressed (.gz).

    Parameters
    ----------
    path : str or path
        A file in which each sequence has a line ">name" and then one or more lines of letters.
    alphabet : str
        The allowed letters: by default, the 20 amino acids and "-"; for DNA, give "ACGT".

    Returns
    -------
    Alignment

    Raises
    ------
    FileNotFoundError, ValueError
        If the file does not exist, a letter is not in the alphabet, or the sequences differ in
        length; the message gives the line.

    Examples
    --------
    >>> import tempfile, rbmlib as rl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = open(f"{folder}/two.fasta", "w").write(">one\\nACGT\\n>two\\nAC\\nCA\\n")
    ...     both = rl.datasets.load_fasta(f"{folder}/two.fasta", alphabet="ACGT")
    >>> both.letters.tolist(), both.rows.shape
    ([[0, 1, 2, 3], [0, 1, 1, 0]], (2, 16))
    """
    source = Path(path).expanduser()
    if not source.is_file():
        raise FileNotFoundError(f"no FASTA file {str(path)!r}")
    if not isinstance(alphabet, str) or len({*alphabet}) != len(alphabet) or len(alphabet) < 2:
        raise ValueError(f"alphabet is {alphabet!r}: expected a word of different letters")
    opened = gzip.open if source.suffix.lower() == ".gz" else open
    try:
        with opened(source, "rt", encoding="ascii") as file:
            lines = [line.rstrip() for line in file]
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {source.name}: {error}") from None
    begins, names, found = zip(*_sequences(source.name, lines, alphabet), strict=True)
    letters = "".join(sorted({*"".join(found)}))
    if alphabet == AMINO_ACIDS and {*letters} <= {*"ACGTN-"}:
        held = f"{source.name} holds only the letters {letters}, read as amino acids and gaps"
        warnings.warn(f"{held}; for DNA, give alphabet={letters!r}", stacklevel=2)
    for line, name, sequence in zip(begins, names, found, strict=True):
        if len(sequence) != len(found[0]):
            came = f"sequence {name!r} has {len(sequence)} letters, the first {len(found[0])}"
            raise ValueError(f"{source.name}, line {line}: {came}: expected one length")
    rows = np.array([[alphabet.index(letter) for letter in word] for word in found], np.uint8)
    return Alignment(names, rows, alphabet)


def _sequences(file: str, lines: list[str], alphabet: str):
    """Return the first line number, the name and the letters of each sequence."""
    found: list[list] = []
    for number, line in enumerate(lines, 1):
        if line.startswith(">"):
            found.append([number, line.lstrip("> "), ""])
        elif line and not found:
            raise ValueError(f"{file}, line {number}: expected a line '>name' before any sequence")
        elif wrong := [letter for letter in line if letter not in alphabet]:
            held = f"{file}, line {number}: {wrong[0]!r} is not in the alphabet {alphabet!r}"
            raise ValueError(f"{held}: give the alphabet of the file, or omit such sequences")
        elif line:
            found[-1][2] += line
    if not found or not found[0][2]:
        raise ValueError(f"{file} holds no sequence: expected lines '>name' and letters below each")
    return found


@functools.cache
def load_ww() -> Alignment:
    """Return 17,233 aligned sequences of the WW domain with 31 sites.

    The sequences are from Pfam family PF00397, aligned by Tubiana, Cocco & Monasson (2019).

    Examples
    --------
    >>> from rbmlib import datasets
    >>> datasets.load_ww()
    <Alignment: 17,233 x 31 of ACDEFGHIKLMNPQRSTVWY->
    >>> datasets.load_ww().sequences[0]
    'LPGEWKPCQDIT-GDIYYFNFANGQSMWDHP'
    """
    letters = read_arrays(committed("ww/ww_domain.npz"))["letters"]
    letters.setflags(write=False)
    return Alignment(tuple(f"S{i + 1}" for i in range(len(letters))), letters, AMINO_ACIDS)

"""Make data/reference.csv: log Z of every model of the book, joined from independent runs.

    python -m rbmbook run reference     # hours of processor time
    python data/make_reference.py

How runs are joined is said in `rbmbook.reference`; the same tables give the same file.
"""

from pathlib import Path

from rbmbook import reference

OUTPUT = Path(__file__).parent / "reference.csv"


def main():
    table = reference.joined(reference.runs())
    table.to_csv(OUTPUT, index=False, lineterminator="\n")
    print(f"{OUTPUT}: {len(table)} models, {table['settled'].sum()} settled")


if __name__ == "__main__":
    main()

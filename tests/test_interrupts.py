"""Ctrl-C while the command line is being imported: the exit code 130 and one line."""

import os
import signal
import subprocess
import sys

import pytest

from rbmlib import _interrupts

# Python reads this file before anything else: the import of one module never ends.
STALL = """
import os, sys, time

class Stall:
    def find_spec(name, *_):
        if name == os.environ["STALLED"]:
            print("importing", flush=True)
            time.sleep(300)

sys.meta_path.insert(0, Stall)
"""
SCRIPT = "import sys; from rbmlib.__main__ import main; sys.exit(main())"  # as pip writes it


@pytest.fixture
def interrupted(tmp_path):
    """Exit code and standard error of a command, interrupted while it imports a module."""

    def interrupted(module: str, *command: str):
        (tmp_path / "sitecustomize.py").write_text(STALL)
        process = subprocess.Popen(
            [sys.executable, *command], cwd=tmp_path, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(tmp_path), "STALLED": module},
            # whatever the tests themselves were started with
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        try:
            assert process.stdout.readline() == "importing\n"
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
        return process.returncode, said

    return interrupted


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
@pytest.mark.parametrize(
    "module",
    ["numba", "rbmlib.models.bernoulli", "rbmlib.__main__", "argparse", "rbmlib.commands.logz"],
)  # fmt: skip
def test_an_import_is_interrupted_in_one_line(interrupted, module):
    done = interrupted(module, "-m", "rbmlib", "logz", "pcd_10")
    assert done == (130, "stopped: nothing was written\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
def test_the_script_is_interrupted_in_one_line(interrupted, tmp_path):
    script = tmp_path / "bin" / "rbmlib"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    done = interrupted("rbmlib.datasets", str(script), "data")
    assert done == (130, "stopped: nothing was written\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
def test_for_other_programs_an_interrupt_is_an_exception(interrupted):
    """Which the program may catch, also while it imports rbmlib."""
    code = "\ntry:\n    import rbmlib\nexcept KeyboardInterrupt:\n    sys.exit('caught')"
    assert interrupted("rbmlib._public", "-c", f"import sys{code}") == (1, "caught\n")


@pytest.mark.parametrize(
    ("arguments", "words", "is_command_line"),
    [
        (["-m", "data"], ["python", "-m", "rbmlib", "data"], True),
        (["-m"], ["python", "-X", "dev", "-mrbmlib"], True),
        (["/bin/rbmlib", "run"], ["python", "/bin/rbmlib", "run"], True),
        (["-m", "rbmlib"], ["python", "-m", "other", "rbmlib"], False),
        (["-c", "rbmlib"], ["python", "-c", "import rbmlib", "rbmlib"], False),
        (["script.py"], ["python", "script.py"], False),
        ([""], ["python"], False),
        ([], [], False),
        # a worker process that the script started
        (["/bin/rbmlib", "run"], ["python", "-c", "from multiprocessing", "--fork"], False),
        (["/lib/rbmlib/__main__.py", "run"], ["python", "-c", "from x", "--fork"], False),
    ],
)
def test_the_command_line_is_told_by_its_words(arguments, words, is_command_line):
    assert _interrupts._is_command_line(arguments, words) == is_command_line

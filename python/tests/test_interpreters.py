"""Sub-interpreters are refused with a reason, and nothing else changes."""

from __future__ import annotations

import subprocess
import sys
import sysconfig

import pytest

PROGRAM = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
if "first" in sys.argv:
    import truecast

code = '''
import sys
try:
    import truecast
except ImportError as error:
    assert str(error) == ("truecast cannot be imported in a sub-interpreter: use threads, for which it lets go of the interpreter lock, or processes"), error
else:
    raise AssertionError("no error")
assert "numpy" not in sys.modules and "truecast._core" not in sys.modules
print("refused")
'''
# From 3.13 on there is a lock for each interpreter unless one asks for the other kind.
for arguments in ((), ("legacy",)) if sys.version_info >= (3, 13) else ((),):
    other = interpreters.create(*arguments)
    failure = interpreters.run_string(other, code)
    assert failure is None, failure.formatted
    interpreters.destroy(other)

import truecast

rc = truecast.Recalibrator()
rc.observe(truecast.Gaussian(0.0, 1.0), 2.0)
print(rc.steps)
"""


@pytest.mark.parametrize("first", [False, True])
def test_a_sub_interpreter_is_refused(*, first: bool) -> None:
    if sys.version_info < (3, 10) or sys.implementation.name != "cpython":
        pytest.skip("no sub-interpreters to try")
    done = subprocess.run([sys.executable, "-c", PROGRAM, *(["first"] if first else [])], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *refused, steps = done.stdout.split()
    assert set(refused) == {"refused"} and steps == "1"


def test_importing_leaves_the_lock_as_it_is() -> None:
    """On a free-threaded Python the lock stays off: the module says that it does not need it."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python has a global interpreter lock: there is nothing to leave off")
    program = "import sys, truecast; assert not sys._is_gil_enabled()"
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)

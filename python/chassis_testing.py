"""Recorded sessions as tests in pytest, or in any other runner. Standard library only.

With pytest, put ``from chassis_testing import pytest_collect_file`` into ``conftest.py``: every ``*.test.yaml``
that ``chassis test add`` wrote is collected as a test. Without pytest::

    for test in agent_tests("tests/agents"):
        test.check()
"""

import json
import subprocess


class AgentTest:
    """One recorded session: its name, its file, and what was not as expected."""

    def __init__(self, name, file, failures):
        self.name = name
        self.file = file
        self.failures = failures

    def check(self):
        """Raises AssertionError with every expectation that was not met."""
        if self.failures:
            raise AssertionError(
                "\n".join(
                    "{path}: {message}\n  expected {expected}\n  actual   {actual}".format(
                        path=failure["path"],
                        message=failure["message"],
                        expected=json.dumps(failure["expected"], ensure_ascii=False),
                        actual=json.dumps(failure["actual"], ensure_ascii=False),
                    )
                    for failure in self.failures
                )
            )


def agent_tests(path, command=("npx", "chassis"), cwd=None):
    """Runs the recorded sessions at a path, a folder or one file, and returns an AgentTest for each."""
    ended = subprocess.run(
        [*command, "test", "run", str(path), "--json"],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    # Exit 1 means failed tests, which are what this is about.
    if ended.returncode not in (0, 1):
        raise RuntimeError("chassis test run failed: " + ended.stderr.decode("utf-8", "replace").strip())
    last = json.loads(ended.stdout.decode("utf-8").rstrip("\n").rsplit("\n", 1)[-1])
    return [AgentTest(test["name"], test["file"], test["failures"]) for test in last["tests"]]


def pytest_collect_file(file_path, parent):
    """A hook of pytest 7 and newer: collects ``*.test.yaml``."""
    if not file_path.name.endswith(".test.yaml"):
        return None
    import pytest

    class Item(pytest.Item):
        def __init__(self, *, test, **kwargs):
            super().__init__(**kwargs)
            self.recorded = test

        def runtest(self):
            self.recorded.check()

        def repr_failure(self, excinfo, style=None):
            return str(excinfo.value)

        def reportinfo(self):
            return self.path, 0, "recorded session " + self.name

    class File(pytest.File):
        def collect(self):
            for test in agent_tests(self.path):
                yield Item.from_parent(self, name=test.name, test=test)

    return File.from_parent(parent, path=file_path)

"""What all tests share: how hypothesis runs, and a header that says which engine is under test."""

from __future__ import annotations

import os

import hypothesis
import pytest

# Every test makes what it tests; those of the cache name a folder of their own.
os.environ["BYTEPAIR_CACHE"] = "0"

# "ci" is the rule: the same examples on every run, and no deadline, since shared machines stall.
# ``pytest --hypothesis-profile=search`` looks for new counterexamples.
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("search", deadline=None, max_examples=3000)
hypothesis.settings.load_profile("ci")


def _engine_name() -> str:
    from bytepair import _engine

    return _engine.NAME


def pytest_report_header() -> str:
    return f"bytepair engine: {_engine_name()}"


@pytest.fixture(scope="session")
def engine_name() -> str:
    """Which engine runs: "core" (compiled) or "pure"."""
    return _engine_name()


# In CI a test against a peer that is skipped is a failure, unless it asks for a file that is not at hand there.
_WANTED = os.environ.get("BYTEPAIR_NO_SKIPS") == "1"
_skipped: list[str] = []
# Trainers that are not made for every machine, so that the extra [test] does without; .ci/full installs them.
_NOT_EVERYWHERE = ("rustbpe", "bpeasy")


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    excused = ("BYTEPAIR_TEST_VOCAB", *(f"could not import '{name}'" for name in _NOT_EVERYWHERE))
    why = str(report.longrepr)
    if _WANTED and report.skipped and "compat" in report.nodeid and not any(words in why for words in excused):
        _skipped.append(f"{report.nodeid}: {report.longrepr}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _note(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    _note(report)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _skipped:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in _skipped:
        terminalreporter.write_line(f"a test against a peer was skipped: {line}", red=True)

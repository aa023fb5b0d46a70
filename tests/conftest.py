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

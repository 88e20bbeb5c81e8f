"""Tells pytest which of redis-py's tests ask for what shmd does not serve (redis-py-suite.sh).

A test that fails because the daemon does not know a command is skipped, if the daemon's own list does not have that command. A test
that is listed in redis-py-skipped.txt must fail, in one of its forms at least.
"""

import os
import re

import pytest

UNKNOWN = re.compile(r"unknown (command|subcommand) '([^']*)'", re.IGNORECASE)
COUNTS = {"passed": 0, "unserved": 0, "listed": 0}


def listed():
    with open(os.environ["REDIS_PY_LISTED"]) as lines:
        return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


LISTED = listed()
SERVED = set(os.environ["REDIS_PY_SERVED"].split())
SEEN = set()
FAILED = set()


def name(item):
    """With its file, and without the parameters: some are made of addresses."""
    return item.nodeid.split("[")[0]


def asks_for_unserved(error):
    """Whether the error, or what led to it, is the daemon's answer that it does not know a command."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        for kind, word in UNKNOWN.findall(str(error)):
            if kind.lower() == "subcommand" or word.lower() not in SERVED:
                return True
        error = error.__cause__ or error.__context__
    return False


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if name(item) in LISTED:
        SEEN.add(name(item))
        if report.failed:
            report.outcome = "skipped"
            report.longrepr = (str(item.path), 0, "listed")
            COUNTS["listed"] += 1
            FAILED.add(name(item))
    elif report.failed and call.excinfo is not None and asks_for_unserved(call.excinfo.value):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, "not served")
        COUNTS["unserved"] += 1
    elif report.when == "call" and report.passed:
        COUNTS["passed"] += 1


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if os.environ["REDIS_PY_WHOLE"] != "yes":
        return
    if LISTED != FAILED:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter):
    failed = len(terminalreporter.stats.get("failed", [])) + len(terminalreporter.stats.get("error", []))
    if os.environ["REDIS_PY_WHOLE"] == "yes":
        for test in sorted(LISTED - FAILED):
            problem = "and passes" if test in SEEN else "and there is no such test"
            terminalreporter.write_line(f"redis-py-suite: {test} is listed, {problem}")
    terminalreporter.write_line(
        f"redis-py-suite: {COUNTS['passed']} passed, {failed} failed, {COUNTS['unserved']} ask for commands that are not served, "
        f"{COUNTS['listed']} listed"
    )

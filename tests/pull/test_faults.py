"""server/pull/ with everything that goes wrong, against a real HTTPS server on this machine (registry.py).

python3 tests/pull/test_faults.py FETCH [unittest arguments]     FETCH: build/test/tests/pull/fetch
"""

import unittest

import test_staging
import test_transfers


def load_tests(loader, tests, pattern):
    for module in (test_transfers, test_staging):
        tests.addTests(loader.loadTestsFromModule(module))
    return tests


if __name__ == "__main__":
    unittest.main()

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A format of lit: one test for each entry of cases.py."""

import cases
import lit.formats
import lit.Test


class BadInput(lit.formats.TestFormat):
    def getTestsInDirectory(self, suite, path, lit_config, config):
        for name in cases.CASES:
            yield lit.Test.Test(suite, path + (name,), config)

    def execute(self, test, lit_config):
        wrong, transcript = cases.run_case(
            test.path_in_suite[-1], test.config.autopar_bin, test.config.autopar_source
        )
        if wrong:
            return lit.Test.FAIL, f"{wrong}\n{transcript}"
        return lit.Test.PASS, ""

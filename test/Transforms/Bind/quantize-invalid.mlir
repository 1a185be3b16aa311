// RUN: not autopar-opt %s --autopar-quantize=format=fp8-blok 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not autopar-opt %s --autopar-quantize=format=/nonexistent.json 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not autopar-opt %s --autopar-quantize="format=gptq-int4 parameters=groups=64" 2>&1 | FileCheck %s --check-prefix=PARAMETER
// RUN: not autopar-opt %s --autopar-quantize="format=gptq-int4 parameters=group" 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not autopar-opt %s --autopar-quantize="format=gptq-int4 parameters=group=0" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not autopar-opt %s --autopar-quantize="format=gptq-int4 ignore=(" 2>&1 | FileCheck %s --check-prefix=REGEX
// RUN: not autopar-opt %s --autopar-quantize=format=gptq-int4 2>&1 | FileCheck %s --check-prefix=NOTHING

// NAME: error: unknown format "fp8-blok", did you mean "fp8-block"?
// FILE: error: /nonexistent.json: cannot open
// PARAMETER: error: {{.*}}the format has no parameter "groups"
// PARAMETER: it has: bits, group, zero_bias
// VALUE: error: parameters: expected name=number, found 'group'
// RANGE: error: {{.*}}has a number in its shape that is not from 1 to 1099511627776
// REGEX: error: ignore: '(' is no regular expression
// NOTHING: error: quantizes no weight: no linear or experts op reads one that has no format
module {
}

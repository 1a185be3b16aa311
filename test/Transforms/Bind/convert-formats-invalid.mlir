// RUN: autopar-opt %s --autopar-convert-formats="compute=int4" -verify-diagnostics
// RUN: not autopar-opt %s --autopar-convert-formats="kv-cache=int8" 2>&1 | FileCheck %s

// CHECK: error: kv-cache: unknown format 'int8', expected one of bf16, fp16, fp32, fp8 (fp8_e4m3), fp8_e5m2, q8_0, q5_1, q5_0, q4_1, q4_0, iq4_nl, nvfp4

// expected-error @+1 {{compute: unknown format 'int4', expected one of bf16, fp16, fp32, fp8 (fp8_e4m3), fp8_e5m2}}
module {
}

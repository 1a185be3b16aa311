// RUN: %roundtrip %s | FileCheck %s

// What a module runs on, and the choices that it was split by.
// CHECK: parallel.target hardware("my.json") nodes(2) runtime("vllm@0.19") memory_utilization(0.9) prefill_chunk(4096) max_num_seqs(64) enforce_eager
// CHECK-SAME: set("chips.h200-sxm.memory_bytes" = 1.2e+11, "b" = -1.0) {note = "x"}
parallel.target hardware("my.json") nodes(2) runtime("vllm@0.19")
    memory_utilization(0.9) prefill_chunk(4096) max_num_seqs(64) enforce_eager
    set("chips.h200-sxm.memory_bytes" = 1.2e11, "b" = -1.0)
    {note = "x"}
// CHECK: parallel.strategy sequence_parallel fsdp context(all_to_all) dtype(bf16) kv_dtype(f8E4M3FN) {note = "x"}
parallel.strategy sequence_parallel fsdp context(all_to_all) dtype(bf16) kv_dtype(f8E4M3FN) {note = "x"}

// CHECK: module @all_open attributes {transformer.defaults = [#transformer.default<"head_dim" = "64" from "default of LlamaConfig">, #transformer.default<"a remark">]}
module @all_open attributes {transformer.defaults = [
    #transformer.default<"head_dim" = "64" from "default of LlamaConfig">, #transformer.default<"a remark">]} {
  // CHECK: parallel.target{{$}}
  parallel.target
  // CHECK: parallel.strategy{{$}}
  parallel.strategy
}

// CHECK: parallel.strategy knobs {dropout = 1.000000e-01 : f64, loss = "eager", "unfused-attention"}
module @knobs {
  parallel.strategy knobs {"unfused-attention", dropout = 0.1 : f64, loss = "eager"}
}

// CHECK: parallel.strategy kv_dtype(!blocks.iq4_nl)
module @blocks {
  parallel.strategy kv_dtype(!blocks.iq4_nl)
}

module @pipeline {
  // CHECK: transformer.workload({{.*}}) assumed [batch, phase] {note = "x"}
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8) assumed [batch, phase] {note = "x"}
  parallel.mesh(pp = 2)
  // CHECK: microbatches(1) assumed [schedule]
  parallel.stages over [pp] layers [0 to 0, 1 to 1] schedule(inference) microbatches(1) assumed [schedule]
}

module {
  parallel.mesh(pp = 4)
  // CHECK: parallel.stages over [pp] layers [embedding, 0 to 0, 1 to 3, head] schedule(one_f_one_b) microbatches(2)
  parallel.stages over [pp] layers [embedding, 0 to 0, 1 to 3, head] schedule(one_f_one_b) microbatches(2)
}

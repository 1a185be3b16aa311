// What experts multiply is kept as it has arrived, so that a backward sends
// gradients alone.

// RUN: autopar-translate --import-hf qwen3-30b-a3b | autopar-opt --phase=train --shard-dp=8 --shard-ep=8 --batch=8 --prompt=128 > %t.mlir
// RUN: FileCheck %s < %t.mlir
// CHECK-LABEL: func.func private @moe_decoder(
// CHECK: %[[SENT:.*]] = transformer.dispatch
// CHECK-NEXT: %[[IN:.*]] = parallel.all_to_all %[[SENT]] dim 0 to experts
// CHECK-NEXT: training.save %[[IN]] "dispatch"
// CHECK-NEXT: transformer.experts %[[IN]],
// CHECK: %[[OUT:.*]] = parallel.all_to_all %{{.*}} dim experts to 0
// CHECK-NEXT: training.save %[[OUT]] "down"
// CHECK-LABEL: func.func private @moe_decoder_backward(
// CHECK-NOT: all_to_all
// CHECK: training.combine_backward
// CHECK-NEXT: parallel.all_to_all %{{.*}} dim 0 to experts
// CHECK-NOT: all_to_all
// CHECK: parallel.all_to_all %{{.*}} dim experts to 0
// CHECK-NOT: all_to_all
// CHECK-LABEL: func.func private @moe_decoder_update(

// What is made again is sent again.

// RUN: autopar-translate --import-hf qwen3-30b-a3b | autopar-opt --phase=train --shard-dp=8 --shard-ep=8 --batch=8 --prompt=128 --recompute=full | FileCheck %s --check-prefix=AGAIN
// AGAIN-LABEL: func.func private @moe_decoder_backward(
// AGAIN-COUNT-4: parallel.all_to_all
// AGAIN-LABEL: func.func private @moe_decoder_update(

// Of each weight a replica updates a part: gradients are scattered, what the
// optimizer keeps is split, and new elements are gathered.

// RUN: %roundtrip %S/../Inputs/trained.mlir --autopar-prepare-training --autopar-build-backward --autopar-shard-data --autopar-shard-tensor --autopar-shard-optimizer --autopar-insert-collectives --mlir-print-local-scope | FileCheck %s
// CHECK: parallel.strategy zero(1)
// CHECK-LABEL: func.func private @decoder_backward
// CHECK: training.accumulate %{{.*}} : tensor<256x64xf32, #parallel.sharding<[_ by tp, _] partial [dp]>>
// CHECK-LABEL: func.func private @decoder_update
// CHECK: %[[W:.*]] = transformer.weight "q_proj.weight"
// CHECK: %[[G:.*]] = training.gradient %[[W]]
// CHECK: %[[PART:.*]] = parallel.all_slice %[[W]] dim 0 over [dp]
// CHECK-NEXT: %[[SUM:.*]] = parallel.reduce_scatter %[[G]] dim 0 over [dp]
// CHECK-NEXT: %[[NEW:.*]] = training.update %[[PART]], %[[SUM]]
// CHECK-NEXT: %[[GATHERED:.*]] = parallel.all_gather %[[NEW]] dim 0 over [dp]
// CHECK-NEXT: training.assign %[[GATHERED]] to %[[W]]

// Gradients, too: what a microbatch makes of them is scattered before it adds
// up, and the update needs nothing of others. Gradients lie as the part of the
// weight that they are of.

// RUN: %roundtrip %S/../Inputs/trained.mlir --autopar-prepare-training --autopar-build-backward --autopar-shard-data --autopar-shard-tensor --autopar-shard-optimizer=gradients=true --autopar-insert-collectives --mlir-print-local-scope | FileCheck %s --check-prefix=TWO
// TWO: parallel.strategy zero(2)
// TWO-LABEL: func.func private @decoder_backward
// TWO: %[[PART:.*]] = parallel.all_slice %q_proj dim 0 over [dp]
// TWO: %[[SUM:.*]] = parallel.reduce_scatter %{{.*}} dim 0 over [dp] : tensor<64x8x16xf32, #parallel.sharding<[_, _ by tp, _] partial [dp]>>
// TWO-NEXT: training.accumulate %[[SUM]] of %[[PART]] : tensor<64x8x16xf32, #parallel.sharding<[_ by dp any, _ by tp, _]>>
// TWO-LABEL: func.func private @decoder_update
// TWO: %[[W:.*]] = transformer.weight "q_proj.weight"
// TWO-NEXT: %[[G:.*]] = training.gradient %[[W]] : {{.*}} -> tensor<64x8x16xf32, #parallel.sharding<[_ by dp any, _ by tp, _]>>
// TWO-NEXT: %[[PART:.*]] = parallel.all_slice %[[W]] dim 0 over [dp]
// TWO-NEXT: %[[NEW:.*]] = training.update %[[PART]], %[[G]]
// TWO-NEXT: %[[GATHERED:.*]] = parallel.all_gather %[[NEW]] dim 0 over [dp]
// TWO-NEXT: training.assign %[[GATHERED]] to %[[W]]

// Over a part of the replicas: the others sum what that has, once for all
// microbatches.

// RUN: sed 's/dp = 2, tp = 4/dpo = 2, dpi = 4/' %S/../Inputs/trained.mlir | autopar-opt --autopar-prepare-training --autopar-build-backward --autopar-shard-data=axes=dpo,dpi --autopar-shard-parameters=axes=dpi --autopar-insert-collectives --mlir-print-local-scope | FileCheck %s --check-prefix=HYBRID
// HYBRID-LABEL: func.func private @decoder_backward
// HYBRID: parallel.reduce_scatter %{{.*}} dim 0 over [dpi] : tensor<256x64xf32, #parallel.sharding<[_, _] partial [dpo, dpi]>>
// HYBRID: training.accumulate %{{.*}} : tensor<256x64xf32, #parallel.sharding<[_{{.*}} by dpi any{{.*}}] partial [dpo]>>
// HYBRID-LABEL: func.func private @decoder_update
// HYBRID: parallel.all_reduce %gradient{{.*}} over [dpo]

// What Muon multiplies is gathered, and each replica keeps its part of that.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{optimizer=muon},autopar-shard-data,autopar-shard-optimizer,autopar-insert-collectives)' --mlir-print-local-scope | FileCheck %s --check-prefix=MUON
// MUON-LABEL: func.func private @decoder_update
// MUON: %[[W:.*]] = transformer.weight "q_proj.weight"
// MUON: %[[PART:.*]] = parallel.all_slice %[[W]] dim 0 over [dp]
// MUON-NEXT: %[[SUM:.*]] = parallel.reduce_scatter %gradient{{.*}} dim 0 over [dp]
// MUON-NEXT: %[[M:.*]] = training.momentum %[[PART]], %[[SUM]] state f32
// MUON-NEXT: %[[MATRIX:.*]] = parallel.all_gather %[[M]] dim 0 over [dp]
// MUON-NEXT: %[[O:.*]] = training.orthogonalize %[[MATRIX]]
// MUON-NEXT: %[[OWN:.*]] = parallel.all_slice %[[O]] dim 0 over [dp]
// MUON-NEXT: training.update %[[PART]], %[[OWN]] sgd master states [f32]

// Means that Adafactor keeps are summed over the axes that split what they are
// means over, before they are kept: of each row over tp, of each column over dp.
// So are the mean of those of rows and the one that shortens the step. A vector
// that is split exchanges that alone.

// RUN: %roundtrip %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{optimizer=adafactor},autopar-shard-data,autopar-shard-tensor,autopar-shard-optimizer,autopar-insert-collectives)' --mlir-print-local-scope | FileCheck %s --check-prefix=MEANS
// MEANS-LABEL: func.func private @decoder_update
// MEANS: transformer.weight "norm.weight"
// MEANS: %[[PART:.*]] = parallel.reduce_scatter %gradient dim 0 over [dp]
// MEANS-NEXT: %[[V:.*]] = training.mean %[[PART]] of %{{.*}} over [0, 0] squared : {{.*}} -> tensor<64xf32, #parallel.sharding<[_ by dp any]>>
// MEANS-NEXT: training.moving_mean %[[V]] state f32
// MEANS: %[[W:.*]] = transformer.weight "q_proj.weight"
// MEANS: %[[SLICE:.*]] = parallel.all_slice %[[W]] dim 0 over [dp]
// MEANS-NEXT: %[[PART:.*]] = parallel.reduce_scatter %{{.*}} dim 0 over [dp]
// MEANS-NEXT: %[[ROWS:.*]] = training.mean %[[PART]] of %[[SLICE]] over [1, 3] squared : {{.*}} -> tensor<64xf32, #parallel.sharding<[_ by dp any] partial [tp]>>
// MEANS-NEXT: %[[COLUMNS:.*]] = training.mean %[[PART]] of %[[SLICE]] over [0, 1] squared : {{.*}} -> tensor<8x16xf32, #parallel.sharding<[_ by tp, _] partial [dp]>>
// MEANS-NEXT: %[[SUM:.*]] = parallel.all_reduce %[[ROWS]] over [tp]
// MEANS-NEXT: %[[R:.*]] = training.moving_mean %[[SUM]] state f32 : tensor<64xf32, #parallel.sharding<[_ by dp any]>>
// MEANS-NEXT: %[[SUM:.*]] = parallel.all_reduce %[[COLUMNS]] over [dp]
// MEANS-NEXT: %[[C:.*]] = training.moving_mean %[[SUM]] state f32 : tensor<8x16xf32, #parallel.sharding<[_ by tp, _]>>
// MEANS-NEXT: %[[SUM:.*]] = training.mean %[[R]] over [0, 1] : {{.*}} -> tensor<f32, #parallel.sharding<[] partial [dp]>>
// MEANS-NEXT: %[[M:.*]] = parallel.all_reduce %[[SUM]] over [dp]
// MEANS-NEXT: %[[STEP:.*]] = training.precondition %[[PART]] by %[[R]], %[[C]], %[[M]] rows [0, 1]
// MEANS-NEXT: %[[SUM:.*]] = training.mean %[[STEP]] over [0, 3] squared : {{.*}} -> tensor<f32, #parallel.sharding<[] partial [dp, tp]>>
// MEANS-NEXT: %[[Q:.*]] = parallel.all_reduce %[[SUM]] over [dp, tp]
// MEANS-NEXT: training.update %[[SLICE]], %[[STEP]] adafactor mean_square(%[[Q]] : tensor<f32>) master states [f32]

// Padding of the table of tokens adds nothing: it is not gathered for its means.
// MEANS-LABEL: func.func private @model_update
// MEANS: training.mean %{{.*}} over [0, 1] squared : tensor<1000x64xf32, #parallel.sharding<[_ by tp pad 128, _ by dp any]>>
// MEANS-SAME: -> tensor<64xf32, #parallel.sharding<[_ by dp any] partial [tp]>>

// Weights that are whole on each device exchange nothing.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{optimizer=adafactor},autopar-shard-data,autopar-insert-collectives)' | FileCheck %s --check-prefix=UNSPLIT
// UNSPLIT-LABEL: func.func private @decoder_update
// UNSPLIT: parallel.all_reduce %gradient
// UNSPLIT-NOT: parallel.all_reduce %mean

// Without it replicas sum gradients and update all of a weight.

// RUN: autopar-opt %S/../Inputs/trained.mlir --autopar-prepare-training --autopar-build-backward --autopar-shard-data --autopar-insert-collectives | FileCheck %s --check-prefix=ALL
// ALL-LABEL: func.func private @decoder_update
// ALL: %[[G:.*]] = training.gradient
// ALL-NEXT: %[[SUM:.*]] = parallel.all_reduce %[[G]] over [dp]
// ALL-NEXT: %[[NEW:.*]] = training.update %{{.*}}, %[[SUM]]
// ALL-NEXT: training.assign %[[NEW]]

// Parameters that are split have gradients that are: they are scattered as they
// are made, and updates need nothing of others.

// RUN: autopar-opt %S/../Inputs/trained.mlir --autopar-prepare-training --autopar-build-backward --autopar-shard-data --autopar-shard-parameters --autopar-insert-collectives | FileCheck %s --check-prefix=FSDP
// FSDP-LABEL: func.func private @decoder_backward
// FSDP: %[[WHOLE:.*]] = parallel.all_gather %down_proj
// FSDP: %[[DW:.*]] = training.product_gradient weight %{{.*}}, %{{.*}} of %[[WHOLE]]
// FSDP-NEXT: %[[OWN:.*]] = parallel.reduce_scatter %[[DW]] dim 0 over [dp]
// FSDP-NEXT: training.accumulate %[[OWN]] of %[[WHOLE]]
// FSDP-LABEL: func.func private @decoder_update
// FSDP-NOT: parallel.
// FSDP: return

// RUN: autopar-opt %S/../Inputs/layer.mlir --autopar-shard-optimizer | FileCheck %s --check-prefix=NONE
// NONE-NOT: parallel.strategy

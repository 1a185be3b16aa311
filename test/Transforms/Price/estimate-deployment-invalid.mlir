// RUN: not autopar-opt %s --estimate 2>&1 | FileCheck %s
// RUN: not autopar-opt %s --estimate --nodes=2 --hardware=h100-pcie-8 --set systems.h20-8.tiers.scale_up.latency=1 2>&1 | FileCheck %s --check-prefix=SET
// RUN: sed 's/^  module @decode {/&\n  parallel.target hardware("h200-smx")/' %s | not autopar-opt --estimate 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: sed 's/(tp = 8)/(dp = 2, tp = 8)/' %s | not autopar-opt --estimate 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: sed 's/repeat 1 /repeat 2 /' %s | not autopar-opt --estimate --nodes=2 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: sed 's/dp = 1/dp = ?/' %s | not autopar-opt --estimate --nodes=2 2>&1 | FileCheck %s --check-prefix=OPEN

// Two modules that share a machine need room for both.
// CHECK: error: 'parallel.link' op @prefill and @decode need 12 devices of h100-sxm-8, which has 8
// CHECK: note: give --nodes=2, or a parallel.target with hardware to one of the modules

// SET: error: override "systems.h20-8{{.*}}" has no effect: systems.h20-8 is not part of this machine
// NAME: error: unknown system "h200-smx"
// NAME: note: in module @decode
// MANY: error: plan needs 16 devices but h100-sxm-8 with 1 node has 8
// MANY: note: in module @decode
// BYTES: error: 'parallel.link' op @prefill keeps 2,097,152 B of KV caches and 0 B of states of a request, @decode keeps 4,194,304 B
// BYTES: note: linked modules run their layers equally often
// OPEN: error: axis 'dp' of the mesh has no size
// OPEN: note: in module @prefill

!c = !transformer.cache<?x?x8x32xbf16, #parallel.sharding<[batch, context, _ by tp, _]>>
!x = tensor<?x64xbf16, #transformer.dims<[query, _]>>
module @tiny {
  module @prefill {
    transformer.workload(phase = prefill, batch = 2, query = 1024, context = 4096)
    parallel.mesh(dp = 1, tp = 4)
    func.func @step(%x: !x) -> !x {
      %c = transformer.kv_cache : !c
      return %x : !x
    }
  }
  module @decode {
    transformer.workload(phase = decode, batch = 64, query = 1, context = 512)
    parallel.mesh(tp = 8)
    func.func @step(%x: !x) -> !x {
      %y = transformer.repeat 1 (%z = %x) : !x {
        %c = transformer.kv_cache : !c
        transformer.yield %z : !x
      }
      return %y : !x
    }
  }
  parallel.link @prefill to @decode
}

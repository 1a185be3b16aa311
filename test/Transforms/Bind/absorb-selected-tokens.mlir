// Selected tokens are absorbed in prompts, too; in training nothing is.
// RUN: autopar-opt %s --autopar-absorb-latent-attention=phase=decode | FileCheck %s --check-prefix=YES
// RUN: autopar-opt %s --autopar-absorb-latent-attention=phase=each | FileCheck %s --check-prefix=YES
// RUN: autopar-opt %s --prompt=64 | FileCheck %s --check-prefix=YES
// RUN: sed 's/phase = prefill/phase = train/' %s | autopar-opt --autopar-absorb-latent-attention=phase=decode | FileCheck %s --check-prefix=NO

!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!latent = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!part = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!cache = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!wk = tensor<64x8x16xbf16>
!wv = tensor<64x8x32xbf16>

transformer.workload(phase = prefill, batch = 1, query = 16, context = 16)

// YES: transformer.latent_attention {{.*}} at_most(4) causal absorbed :
// NO: transformer.latent_attention {{.*}} at_most(4) causal :
func.func @layer(%q: !q, %l: !latent, %r: !part, %wk: !wk, %wv: !wv) -> !y {
  %c = transformer.kv_cache : !cache
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !cache) at_most(4) causal
      : !q, !latent, !part, !wk, !wv -> !y
  return %y : !y
}

// RUN: autopar-opt %s --autopar-bind-mesh="axes=tp=8" | FileCheck %s --check-prefix=SIZE
// RUN: autopar-opt %s --autopar-bind-mesh="axes=dp=?" | FileCheck %s --check-prefix=OPEN
// RUN: autopar-opt %s --autopar-bind-mesh="axes=ep=2,tp=8" | FileCheck %s --check-prefix=ADD
// RUN: autopar-opt %s --autopar-bind-mesh="axes=tp=8,dp=4" | FileCheck %s --check-prefix=ORDER
// RUN: autopar-opt %s --autopar-bind-mesh="axes=dpo=2,ep=dpo*tp" | FileCheck %s --check-prefix=DEGREE
// RUN: autopar-opt %s --autopar-bind-mesh="axes=cpo=1,cpi=8,tp=1,cp=cpo*cpi,ep=cpi*tp,edp=cpo neutral=cpo,tp" | FileCheck %s --check-prefix=NEUTRAL

// Other axes, degrees and the name stay; new axes are innermost.
// SIZE: parallel.mesh(dp = 2, tp = 8) {all = dp*tp}
// OPEN: parallel.mesh(dp = ?, tp = ?) {all = dp*tp}
// ADD: parallel.mesh(dp = 2, tp = 8, ep = 2) {all = dp*tp}
// Text with all axes orders them.
// ORDER: parallel.mesh(tp = 8, dp = 4) {all = dp*tp}
// DEGREE: parallel.mesh(dp = 2, tp = ?, dpo = 2) {all = dp*tp, ep = dpo*tp}
// A neutral axis gets its size where the mesh has it, and is not added.
// NEUTRAL: parallel.mesh(dp = 2, tp = 1, cpi = 8) {all = dp*tp, cp = cpi, ep = cpi*tp}
parallel.mesh(dp = 2, tp = ?) {all = dp*tp}

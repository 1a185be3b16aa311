// RUN: autopar-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{is over 'ep', which is no axis of the module's mesh}}
parallel.expert_placement over [ep] policy block

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{is over 'ep' twice}}
parallel.expert_placement over [ep, ep] policy block

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{is over no axes}}
parallel.expert_placement over [] policy block

// -----

parallel.mesh(ep = 2)
// expected-note @+1 {{the first is here}}
parallel.expert_placement over [ep] policy block
// expected-error @+1 {{is a second placement of its module}}
parallel.expert_placement over [ep] policy block

// -----

parallel.mesh(ep = 2)
func.func private @f() {
  // expected-error @+1 {{must be directly inside a module}}
  parallel.expert_placement over [ep] policy block
  return
}

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{unknown word 'best', expected block, round_robin, balanced}}
parallel.expert_placement over [ep] policy best

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{is balanced by loads that it does not have}}
parallel.expert_placement over [ep] policy balanced

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has -1 redundant slots, expected 0 to}}
parallel.expert_placement over [ep] policy block {redundant = -1}

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has 0 groups of experts, expected at least 1}}
parallel.expert_placement over [ep] policy block {groups = 0}

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{expected 0 to 1}}
parallel.expert_placement over [ep] policy block {tolerance = 0x7FF8000000000000 : f64}

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has tables, but not the layers that they are of}}
"parallel.expert_placement"() {axes = ["ep"], policy = #parallel.policy<block>, slots = dense<0> : tensor<1x2xi32>} : () -> ()

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has layers, but not their slots and loads}}
"parallel.expert_placement"() {axes = ["ep"], policy = #parallel.policy<block>, layers = array<i64: 1>} : () -> ()

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has layer 3 at position 1, expected rising numbers from 0}}
parallel.expert_placement over [ep] policy block layers [3, 3]
    slots dense<[[0, 1], [0, 1]]> : tensor<2x2xi32> loads dense<1.0> : tensor<2x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has slots of type 'tensor<1x2xi64>', expected tensor<1xNx'i32'>}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 1]]> : tensor<1x2xi64> loads dense<1.0> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has loads of type 'tensor<2x2xf64>', expected tensor<1xNx'f64'>}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 1]]> : tensor<1x2xi32> loads dense<1.0> : tensor<2x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has slots of type 'tensor<1x1000000xi32>', expected}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<0> : tensor<1x1000000xi32> loads dense<1.0> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has node_sends of less than 3 numbers for each layer}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 1]]> : tensor<1x2xi32> loads dense<1.0> : tensor<1x2xf64>
    node_sends dense<1.0> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has 4 slots of 2 experts, of which 0 are redundant}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 1, 0, 1]]> : tensor<1x4xi32> loads dense<1.0> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has 3 groups of 2 experts, which they do not divide}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 1]]> : tensor<1x2xi32> loads dense<1.0> : tensor<1x2xf64> {groups = 3}

// -----

parallel.mesh(ep = 3)
// expected-error @+1 {{has 2 slots, which 3 devices do not divide}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 1]]> : tensor<1x2xi32> loads dense<1.0> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has expert 2 in a slot of layer 3, expected 0 to 1}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 2]]> : tensor<1x2xi32> loads dense<1.0> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has expert -1 in a slot of layer 3, expected 0 to 1}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, -1]]> : tensor<1x2xi32> loads dense<1.0> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has no slot for expert 1 of layer 3}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 0]]> : tensor<1x2xi32> loads dense<1.0> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{in the loads of layer 3, expected 0 to}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 1]]> : tensor<1x2xi32> loads dense<[[1.0, -2.0]]> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{in the loads of layer 3, expected 0 to}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 1]]> : tensor<1x2xi32> loads dense<[[1.0, 0x7FF8000000000000]]> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{in the node_sends of layer 3, expected 0 to}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 1]]> : tensor<1x2xi32> loads dense<1.0> : tensor<1x2xf64>
    node_sends dense<0x7FF0000000000000> : tensor<1x3xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has slots without data: expected dense<...>, or a dense_resource that the file has}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense_resource<nowhere> : tensor<1x2xi32> loads dense<1.0> : tensor<1x2xf64>

// -----

parallel.mesh(ep = 2)
// expected-error @+1 {{has loads of 8 bytes, expected 16}}
parallel.expert_placement over [ep] policy block layers [3]
    slots dense<[[0, 1]]> : tensor<1x2xi32> loads dense_resource<short> : tensor<1x2xf64>

{-#
  dialect_resources: {
    builtin: {
      short: "0x08000000000000000000F03F"
    }
  }
#-}

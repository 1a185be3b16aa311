// RUN: autopar-opt %s --autopar-print-cost-program -split-input-file -verify-diagnostics \
// RUN:   -allow-unregistered-dialect -o /dev/null

// expected-error @+1 {{the module has no public function to start from}}
module {
  func.func private @layer() {
    return
  }
}

// -----

func.func @recursion() {
  // expected-error @+1 {{'func.call' op is recursive: its cost has no end}}
  func.call @recursion() : () -> ()
  return
}

// -----

func.func @model() {
  func.call @a() : () -> ()
  return
}
func.func private @a() {
  func.call @b() : () -> ()
  return
}
func.func private @b() {
  // expected-error @+1 {{'func.call' op is recursive: its cost has no end}}
  func.call @a() : () -> ()
  return
}

// -----

func.func private @elsewhere()
func.func @call_of_a_declaration() {
  // expected-error @+1 {{'func.call' op calls a function that has no body here}}
  func.call @elsewhere() : () -> ()
  return
}

// -----

func.func @op_without_a_cost() {
  // expected-error @+1 {{'test.op' op has no cost: it does not implement WorkloadOpInterface}}
  "test.op"() : () -> ()
  return
}

// -----

!x = tensor<8xbf16>
func.func @more_often_than_can_be_counted(%x: !x) -> !x {
  %a4 = transformer.repeat 1000000 (%a = %x) : !x {
    %b4 = transformer.repeat 1000000 (%b = %a) : !x {
      %c4 = transformer.repeat 1000000 (%c = %b) : !x {
        %d4 = transformer.repeat 1000000 (%d = %c) : !x {
          // expected-error @+1 {{'transformer.add' op runs more often than 63 bits count}}
          %e = transformer.add %d, %d : !x
          transformer.yield %e : !x
        }
        transformer.yield %d4 : !x
      }
      transformer.yield %c4 : !x
    }
    transformer.yield %b4 : !x
  }
  return %a4 : !x
}

// -----

!x = tensor<8xbf16>
func.func @calls_more_often_than_can_be_counted(%x: !x) -> !x {
  %a4 = transformer.repeat 1000000 (%a = %x) : !x {
    %b4 = transformer.repeat 1000000 (%b = %a) : !x {
      %c = func.call @inner(%b) : (!x) -> !x
      transformer.yield %c : !x
    }
    transformer.yield %b4 : !x
  }
  return %a4 : !x
}
func.func private @inner(%x: !x) -> !x {
  %a4 = transformer.repeat 1000000 (%a = %x) : !x {
    %b4 = transformer.repeat 1000000 (%b = %a) : !x {
      // expected-error @+1 {{'func.call' op runs more often than 63 bits count}}
      %c = func.call @innermost(%b) : (!x) -> !x
      transformer.yield %c : !x
    }
    transformer.yield %b4 : !x
  }
  return %a4 : !x
}
func.func private @innermost(%x: !x) -> !x {
  return %x : !x
}

// -----

// The weights of what is only stored are counted: its ops are read.
func.func @model() {
  return
}
func.func private @predictor() {
  // expected-error @+1 {{'test.op' op has no cost: it does not implement WorkloadOpInterface}}
  "test.op"() : () -> ()
  return
}
transformer.stored @predictor

// -----

// Weights of two functions, outside of layers, have one name.
func.func @model() {
  // expected-note @+1 {{the other is here}}
  %w = transformer.weight "w" : tensor<8xbf16>
  func.call @other() : () -> ()
  return
}
func.func private @other() {
  // expected-error @+1 {{'transformer.weight' op is of a tensor [4], another weight of its name of one of [8]}}
  %w = transformer.weight "w" : tensor<4xbf16>
  return
}

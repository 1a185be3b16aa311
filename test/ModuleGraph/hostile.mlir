// RUN: autopar-translate --export-dot %s -o %t.dot
// RUN: autopar-translate --export-json-graph %s -o %t.json
// RUN: %python %S/Inputs/check_dot.py %t.dot %t.json
// RUN: FileCheck %s < %t.dot

// Names are text, whatever they say: no quote ends a string, no control
// character moves a cursor, no byte breaks the encoding.

// CHECK: digraph "a\" -> b; \\" {
// CHECK: label="f\\\"]}\\x0a<b>\\x1b[2J ?{{.*}} x 1";
// CHECK: w\"];\\N\\G
// CHECK: label="%arg0\nargument"

module @"a\22 -> b; \\" {
  func.func @"f\\\22]}\0A<b>\1B[2J \FF"(%x: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
    %w = transformer.weight "w\22];\\N\\G" : tensor<4x4xbf16>
    %y = transformer.add %x, %w : tensor<4x4xbf16>
    return %y : tensor<4x4xbf16>
  }
}

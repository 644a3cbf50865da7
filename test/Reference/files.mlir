// REQUIRES: numpy
// RUN: rm -rf %t && mkdir %t
// RUN: %python -c "import numpy as np, sys; d = sys.argv[1]; \
// RUN:   np.save(d + '/q.npy', np.array([[1, 2], [3, 4]], np.float32)); \
// RUN:   np.save(d + '/n.npy', np.array([1, -2], np.int32)); \
// RUN:   np.save(d + '/b.npy', np.asfortranarray([[True, False], [True, True]])); \
// RUN:   np.save(d + '/s.npy', np.array(3, np.int64)); \
// RUN:   np.save(d + '/h.npy', np.array([0.1], np.float64))" %t
// RUN: attn-reference %s --entry=identity %t/q.npy %t/n.npy %t/b.npy %t/s.npy %t/h.npy | FileCheck %s
// RUN: attn-reference %s --entry=identity %t/q.npy %t/n.npy %t/b.npy %t/s.npy %t/h.npy -o %t/0.npy -o %t/1.npy -o %t/2.npy -o %t/3.npy -o %t/4.npy
// RUN: %python -c "import numpy as np, sys; \
// RUN:   [print(x.dtype, x.tolist()) for x in (np.load(sys.argv[1] + f'/{i}.npy') for i in range(5))]" %t | FileCheck %s --check-prefix=NPY
// RUN: not attn-reference %s --entry=identity %t/n.npy %t/n.npy %t/b.npy %t/s.npy %t/h.npy 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not attn-reference %s --entry=identity %t/h.npy %t/n.npy %t/b.npy %t/s.npy %t/h.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not attn-reference %s --entry=identity %t/q.npy %t/n.npy %t/b.npy %t/s.npy %t/h.npy -o %t/few.npy 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not ls %t/few.npy
// Arguments from files, results to files.

// CHECK{LITERAL}: [[1, 2], [3, 4]]
// CHECK-NEXT: [1, -2]
// CHECK-NEXT{LITERAL}: [[true, false], [true, true]]
// CHECK-NEXT: 3
// The file's 0.1 is rounded to the argument's bf16.
// CHECK-NEXT: [0.100097656]
// NPY: float64 {{\[\[}}1.0, 2.0], [3.0, 4.0]]
// NPY-NEXT: float64 [1.0, -2.0]
// NPY-NEXT: float64 {{\[\[}}1.0, 0.0], [1.0, 1.0]]
// NPY-NEXT: float64 3.0
// NPY-NEXT: float64 [0.10009765625]
// KIND: attn-reference: error: {{.*}}n.npy: holds i32, but the argument is tensor<?x2xf32>
// SHAPE: error: 'func.func' op expects argument 0 to be a 'tensor<?x2xf32>', but its shape is 1
// FEW: attn-reference: error: @identity has 5 results, but -o is given 1 times
func.func @identity(%q: tensor<?x2xf32>, %n: tensor<2xi32>, %b: tensor<2x2xi1>, %s: index, %h: tensor<1xbf16>)
    -> (tensor<?x2xf32>, tensor<2xi32>, tensor<2x2xi1>, index, tensor<1xbf16>) {
  return %q, %n, %b, %s, %h : tensor<?x2xf32>, tensor<2xi32>, tensor<2x2xi1>, index, tensor<1xbf16>
}

// By hand: expert 0 alone makes its device the hottest in layer 1.
parallel.expert_placement over [dp] policy balanced layers [1, 3, 5]
    slots dense<[[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<3x4xi32>
    loads dense<[[6.0, 2.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 5.0]]> : tensor<3x4xf64>

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two functions that share their weights, of which two have 4096 bytes or more.
func.func @one(%x: tensor<?x64xf32>) -> (tensor<?x64xf32> {attn.name = "y"}) {
  %up = attn.weight "mlp.up_proj.weight" from "block.safetensors" : tensor<160x64xf32>
  %down = attn.weight "mlp.down_proj.weight" from "block.safetensors" : tensor<64x160xf32>
  %norm = attn.weight "input_layernorm.weight" from "block.safetensors" : tensor<64xf32>
  %n = attn.rms_norm %x, %norm eps 1.0e-6 : tensor<?x64xf32>, tensor<64xf32>
  %h = attn.project %n, %up transposed : (tensor<?x64xf32>, tensor<160x64xf32>) -> tensor<?x160xf32>
  %y = attn.project %h, %down transposed : (tensor<?x160xf32>, tensor<64x160xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
func.func @two(%x: tensor<?x64xf32>) -> (tensor<?x64xf32> {attn.name = "y"}) {
  %up = attn.weight "mlp.up_proj.weight" from "block.safetensors" : tensor<160x64xf32>
  %down = attn.weight "mlp.down_proj.weight" from "block.safetensors" : tensor<64x160xf32>
  %norm = attn.weight "input_layernorm.weight" from "block.safetensors" : tensor<64xf32>
  %n = attn.rms_norm %x, %norm eps 1.0e-6 : tensor<?x64xf32>, tensor<64xf32>
  %h = attn.project %n, %up transposed : (tensor<?x64xf32>, tensor<160x64xf32>) -> tensor<?x160xf32>
  %y = attn.project %h, %down transposed : (tensor<?x160xf32>, tensor<64x160xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// The library inside of TFLite Micro: the operators odml.scaled_dot_product_attention and odml.update_kv_cache, in the arena of
// the interpreter:
//
//   tflite::MicroMutableOpResolver<2> resolver;
//   resolver.AddCustom("odml.scaled_dot_product_attention", attend_tflm_scaled_dot_product_attention());
//   resolver.AddCustom("odml.update_kv_cache", attend_tflm_update_kv_cache());
//
// Compile attend_tflm.cpp and the library's sources with the rest of the firmware.
#pragma once

#include <tensorflow/lite/micro/micro_common.h>

const TFLMRegistration* attend_tflm_scaled_dot_product_attention();
const TFLMRegistration* attend_tflm_update_kv_cache();

/* The library inside of TensorFlow Lite: custom operators, and a delegate for attention that a model spells out. Both are in
 * libattend_tflite.so, which README.md says how to build.
 */
#ifndef ATTEND_TFLITE_H
#define ATTEND_TFLITE_H

#include <tensorflow/lite/c/c_api.h>
#include <tensorflow/lite/c/common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTEND_TFLITE_API __attribute__((visibility("default")))

/* The operators odml.scaled_dot_product_attention, odml.update_kv_cache and odml.update_external_kv_cache. They last as long as
 * the process. */
ATTEND_TFLITE_API TfLiteRegistration* attend_tflite_scaled_dot_product_attention(void);
ATTEND_TFLITE_API TfLiteRegistration* attend_tflite_update_kv_cache(void);
ATTEND_TFLITE_API TfLiteRegistration* attend_tflite_update_external_kv_cache(void);

/* Gives all of them to the options, before TfLiteInterpreterCreate. kTfLiteError where options is null, or where the program
 * has no TfLiteInterpreterOptionsAddCustomOp: then give them to the resolver that it has. */
ATTEND_TFLITE_API TfLiteStatus attend_tflite_register(TfLiteInterpreterOptions* options);

/* A delegate for TfLiteInterpreterOptionsAddDelegate, and its end, after that of the interpreters that have it. */
ATTEND_TFLITE_API TfLiteDelegate* attend_tflite_delegate_create(void);
ATTEND_TFLITE_API void attend_tflite_delegate_delete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}
#endif

#endif

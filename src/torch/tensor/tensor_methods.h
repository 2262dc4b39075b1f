/* tensor_methods.h: attributes and methods of tensors that are no operators. */
#ifndef TORCH_TENSOR_TENSOR_METHODS_H
#define TORCH_TENSOR_TENSOR_METHODS_H

/* Gives them to torch_tensor_type: before anything is looked up in it. */
void tensor_methods_startup(void);

#endif

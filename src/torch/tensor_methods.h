/* tensor_methods.h: attributes and methods of tensors that are no operators. */
#ifndef REPL_TENSOR_METHODS_H
#define REPL_TENSOR_METHODS_H

/* Gives them to torch_tensor_type: before anything is looked up in it. */
void tensor_methods_startup(void);

#endif

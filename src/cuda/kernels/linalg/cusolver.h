/* cusolver.h: our declarations of what the plugin uses of cuSOLVER, from its documented interface; the pretended
 * library of the simulated device has the same. Matrices are column-major, each with a leading dimension. */
#ifndef CUDA_CUSOLVER_H
#define CUDA_CUSOLVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct SolverHandleBody *SolverHandle;
typedef struct SolverParamsBody *SolverParams;

/* Types of elements (cudaDataType); the triangle that is read; how a product of reflectors is multiplied with, and from
 * which side; whether vectors are wanted. */
enum { SOLVER_F32 = 0, SOLVER_F64 = 1, SOLVER_C32 = 4, SOLVER_C64 = 5 };
enum { SOLVER_LOWER = 0, SOLVER_UPPER = 1 };
enum { SOLVER_AS_IS = 0, SOLVER_TRANSPOSED = 1, SOLVER_CONJUGATE = 2 };
enum { SOLVER_LEFT = 0, SOLVER_RIGHT = 1 };
enum { SOLVER_VALUES = 0, SOLVER_VECTORS = 1 };

#endif

/* kinds.c: the rows of kinds.def as types. */
#include "kinds.h"

#include <string.h>

#include "lang/types/str.h"
#include "lang/vm/kind.h"

enum {
#define ROOT(name, module) KIND_##name,
#define DISTRIBUTION(name, base, module) KIND_##name,
#define ALSO(name, base, module) KIND_##name,
#define CONSTRAINT_ROOT(name) KIND_##name,
#define CONSTRAINT(name, base) KIND_##name,
#define TRANSFORM_ROOT(name) KIND_##name,
#define TRANSFORM(name) KIND_##name,
#define LAYER_ROOT(name, module) KIND_##name,
#define LAYER(name, base, module) KIND_##name,
#define DATA(name, module) KIND_##name,
#include "kinds.def"
    KIND_COUNT
};

#define DISTRIBUTIONS "torch.distributions"
#define MADE(name, module, base) KIND(name, DISTRIBUTIONS "." module, base, DISTRIBUTIONS, "distributions"),
static Kind kinds[KIND_COUNT] = {
#define ROOT(name, module) MADE(#name, module, NULL)
#define DISTRIBUTION(name, base, module) MADE(#name, module, &kinds[KIND_##base].type)
#define ALSO DISTRIBUTION
#define CONSTRAINTS "torch.distributions.constraints"
#define CONSTRAINT_MADE(name, base) KIND(name, CONSTRAINTS, base, CONSTRAINTS, "distributions.constraints"),
#define CONSTRAINT_ROOT(name) CONSTRAINT_MADE(#name, NULL)
#define CONSTRAINT(name, base) CONSTRAINT_MADE(#name, &kinds[KIND_##base].type)
#define TRANSFORM_ROOT(name) MADE(#name, "transforms", NULL)
#define TRANSFORM(name) DISTRIBUTION(name, Transform, "transforms")
#define LAYER_MADE(name, module, base) KIND(name, "torch.nn.modules." module, base, "torch.nn", "layers"),
#define LAYER_ROOT(name, module) LAYER_MADE(#name, module, NULL)
#define DATA(name, module) KIND(#name, "torch.utils.data." module, NULL, "torch.utils.data", "utils.data"),
#define LAYER(name, base, module) LAYER_MADE(#name, module, &kinds[KIND_##base].type)
#include "kinds.def"
};

Value torch_kind(const char *module, const char *name) { return kind_named(kinds, KIND_COUNT, module, name); }

TsrStatus torch_kind_names(List *names, const char *module) {
    return kind_append_names(names, kinds, KIND_COUNT, module);
}

TsrStatus torch_kind_fill(Module *module) {
    for (int i = 0; i < KIND_COUNT; i++) {
        const Type *type = &kinds[i].type;
        if (strcmp(type->module, module->name->data) == 0)
            TSR_TRY(module_add(module, type->name, torch_kind(kinds[i].home, type->name)));
    }
    return TSR_OK;
}

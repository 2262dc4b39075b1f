/* sources.c: torch's functions that are written in the language (prelude/). A source is a row here. */
#include "namespace.h"

#include "core/base/embed.h"
#include "lang/vm/prelude.h"

PRELUDE_EMBED(prelude_masked, "src/torch/prelude/masked.tsr");
PRELUDE_EMBED(prelude_loss, "src/torch/prelude/nn/loss.tsr");
PRELUDE_EMBED(prelude_nn, "src/torch/prelude/nn/nn.tsr");
PRELUDE_EMBED(prelude_pool, "src/torch/prelude/nn/pool.tsr");
PRELUDE_EMBED(prelude_norm, "src/torch/prelude/nn/norm.tsr");
PRELUDE_EMBED(prelude_rows, "src/torch/prelude/rows.tsr");
PRELUDE_EMBED(prelude_refused, "src/torch/prelude/refused.tsr");
PRELUDE_EMBED(prelude_torch, "src/torch/prelude/torch.tsr");
PRELUDE_EMBED(prelude_func, "src/torch/prelude/func.tsr");
PRELUDE_EMBED(prelude_grouped, "src/torch/prelude/grouped.tsr");
PRELUDE_EMBED(prelude_sparse, "src/torch/prelude/sparse.tsr");
PRELUDE_EMBED(prelude_tensor, "src/torch/prelude/tensor.tsr");
PRELUDE_EMBED(prelude_rnn, "src/torch/prelude/nn/rnn.tsr");
PRELUDE_EMBED(prelude_windows, "src/torch/prelude/windows.tsr");
PRELUDE_EMBED(prelude_grad_mode, "src/torch/prelude/grad_mode.tsr");
PRELUDE_EMBED(prelude_cuda, "src/torch/prelude/devices/cuda.tsr");
PRELUDE_EMBED(prelude_nvtx, "src/torch/prelude/devices/nvtx.tsr");
PRELUDE_EMBED(prelude_nvtx_range, "src/torch/prelude/devices/nvtx_range.tsr");
PRELUDE_EMBED(prelude_accelerator, "src/torch/prelude/devices/accelerator.tsr");
PRELUDE_EMBED(prelude_cpu, "src/torch/prelude/devices/cpu.tsr");
PRELUDE_EMBED(prelude_backends_cuda, "src/torch/prelude/devices/backends_cuda.tsr");
PRELUDE_EMBED(prelude_tree, "src/torch/prelude/tree.tsr");
PRELUDE_EMBED(prelude_tensor_table, "src/torch/prelude/tables/tensor_table.tsr");
PRELUDE_EMBED(prelude_table, "src/torch/prelude/tables/table.tsr");
PRELUDE_EMBED(prelude_table_slots, "src/torch/prelude/tables/table_slots.tsr");
PRELUDE_EMBED(prelude_column, "src/torch/prelude/tables/column.tsr");
PRELUDE_EMBED(prelude_column_slots, "src/torch/prelude/tables/column_slots.tsr");
PRELUDE_EMBED(prelude_groups, "src/torch/prelude/tables/groups.tsr");
PRELUDE_EMBED(prelude_groups_slots, "src/torch/prelude/tables/groups_slots.tsr");
#ifndef __wasm__ /* for the size of the page */
PRELUDE_EMBED(prelude_data, "src/torch/prelude/data.tsr");
PRELUDE_EMBED(prelude_init, "src/torch/prelude/nn/init.tsr");
PRELUDE_EMBED(prelude_testing, "src/torch/prelude/testing.tsr");
PRELUDE_EMBED(prelude_layers, "src/torch/prelude/nn/layers.tsr");
PRELUDE_EMBED(prelude_constraints, "src/torch/prelude/distributions/constraints.tsr");
PRELUDE_EMBED(prelude_distributions, "src/torch/prelude/distributions/distributions.tsr");
PRELUDE_EMBED(prelude_distributions_matrix, "src/torch/prelude/distributions/distributions_matrix.tsr");
PRELUDE_EMBED(prelude_distributions_transformed, "src/torch/prelude/distributions/distributions_transformed.tsr");
PRELUDE_EMBED(prelude_distributions_kl, "src/torch/prelude/distributions/distributions_kl.tsr");
PRELUDE_EMBED(prelude_nn_modules_utils, "src/torch/prelude/nn/nn_modules_utils.tsr");
PRELUDE_EMBED(prelude_einops, "src/torch/prelude/einops.tsr");
PRELUDE_EMBED(prelude_distributed, "src/torch/prelude/distributed.tsr");
PRELUDE_EMBED(prelude_reshape, "src/torch/prelude/tables/reshape.tsr");
PRELUDE_EMBED(prelude_tensor_reshape, "src/torch/prelude/tables/tensor_reshape.tsr");
PRELUDE_EMBED(prelude_groups_rows, "src/torch/prelude/tables/groups_rows.tsr");
#endif
PRELUDE_EMBED(prelude_jit, "src/torch/prelude/jit.tsr");
PRELUDE_EMBED(prelude_compiler, "src/torch/prelude/compiler.tsr");
PRELUDE_EMBED(prelude_stream, "src/torch/prelude/tables/stream.tsr");

#define SOURCE_WITH(space, file, modules) \
    { space, "<prelude " #file ">", prelude_##file, prelude_##file##_end, modules }
#define SOURCE(space, file) SOURCE_WITH(space, file, "torch math F=torch.nn.functional _C=torch._C")
#define DISTRIBUTIONS(file) \
    SOURCE_WITH("distributions", file, \
                "@ torch copy math warnings F=torch.nn.functional D=torch.distributions " \
                "C=torch.distributions.constraints")
#define TABLES(space, file) SOURCE_WITH(space, file, "torch math tsr T=tsr._tables")
static const PreludeSource sources[] = {
    SOURCE("masked", masked),
    SOURCE("nn.functional", loss),
    SOURCE("nn.functional", nn),
    SOURCE("nn.functional", pool),
    SOURCE("nn.functional", norm),
    SOURCE("rows", rows),
    SOURCE("refused", refused),
    SOURCE("", torch),
    SOURCE("func", func),
    SOURCE("nn.functional", grouped),
    SOURCE("sparse", sparse),
    SOURCE("Tensor", tensor),
    SOURCE("nn.utils.rnn", rnn),
    SOURCE("signal.windows", windows),
    SOURCE("tree", tree),
    SOURCE_WITH("grad_mode", grad_mode, "functools"),
    SOURCE_WITH("cuda", cuda, "torch collections tsr"),
    SOURCE("cuda.nvtx", nvtx),
    SOURCE_WITH("nvtx range", nvtx_range, "torch functools"),
    SOURCE("accelerator", accelerator),
    SOURCE("cpu", cpu),
    SOURCE("backends.cuda", backends_cuda),
#ifndef __wasm__
    SOURCE_WITH("nn modules utils", nn_modules_utils, NULL),
    SOURCE_WITH("einops", einops, "torch math"),
    SOURCE_WITH("distributed", distributed, NULL),
    SOURCE_WITH("distributions.constraints", constraints, "torch C=torch.distributions.constraints"),
    DISTRIBUTIONS(distributions),
    DISTRIBUTIONS(distributions_matrix),
    DISTRIBUTIONS(distributions_transformed),
    DISTRIBUTIONS(distributions_kl),
    SOURCE_WITH("utils.data", data, "torch bisect itertools math warnings data=torch.utils.data"),
    SOURCE("nn.init", init),
    SOURCE("testing", testing),
    SOURCE_WITH("layers", layers, "torch nn=torch.nn F=torch.nn.functional collections warnings"),
    TABLES("Table", reshape),
    TABLES("Tensor", tensor_reshape),
    TABLES("Groups", groups_rows),
#endif
    SOURCE_WITH("jit", jit, NULL),
    SOURCE_WITH("compiler", compiler, NULL),
    TABLES("Tensor", tensor_table),
    TABLES("Table", table),
    TABLES("table slots", table_slots),
    TABLES("Column", column),
    TABLES("column slots", column_slots),
    TABLES("Groups", groups),
    TABLES("groups slots", groups_slots),
    TABLES("stream", stream),
};

void torch_sources_add(void) { prelude_add(sources, (int)TSR_COUNTOF(sources)); }

/* Differences and integrals of samples, made of other operators: diff, trapezoid, gradient. */
#include "core/op/compose.h"
#include "reduce.h"

#include <math.h>

/* ---- diff ---- */

static TsrStatus check_joined(const TsrTensor *self, int64_t dim, const TsrTensor *t) {
    if (tsr_ndim(t) != tsr_ndim(self))
        return tsr_error(TSR_RUNTIME_ERROR, "diff expects prepend or append to be the same dimension as input");
    for (int d = 0; d < tsr_ndim(self); d++)
        if (d != dim && t->sizes[d] != self->sizes[d])
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                "differencing dimension; input.size(%d) = %lld, "
                "but got tensor.size(%d) = %lld",
                d, (long long)self->sizes[d], d, (long long)t->sizes[d]);
    return TSR_OK;
}

/* The last differences go into an out=. */
static TsrStatus check_last(const TsrTensor *out, const TsrTensor *upper, const TsrTensor *lower) {
    TSR_TRY(tsr_check_out_overlap(out, upper));
    return tsr_check_out_overlap(out, lower);
}

TsrStatus op_diff(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *parts[3];
    int64_t n = c->arg[1].i, dim = c->arg[2].i;
    int count = 0;
    if (tsr_ndim(self) == 0) return tsr_error(TSR_RUNTIME_ERROR, "diff expects input to be at least one-dimensional");
    if (n < 0) return tsr_error(TSR_RUNTIME_ERROR, "order must be non-negative but got %lld", (long long)n);
    if (n > 0) TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    for (int k = 3; k <= 4; k++) /* with n = 0 a dim out of range is none, and no error */
        if (tsr_arg_given(&c->arg[k])) TSR_TRY(check_joined(self, dim < 0 ? dim + tsr_ndim(self) : dim, c->arg[k].t));
    if (tsr_arg_given(&c->arg[3])) parts[count++] = c->arg[3].t;
    parts[count++] = self;
    if (tsr_arg_given(&c->arg[4])) parts[count++] = c->arg[4].t;
    TsrScope s = {0};
    if (n == 0 && c->out[0] != NULL && c->out[0]->dtype != self->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "expected scalar_type %s but found %s", tsr_dtype_scalar_name(self->dtype),
                         tsr_dtype_scalar_name(c->out[0]->dtype));
    if (n == 0) /* nothing is joined, either */
        return tsr_scope_return(
            c, &s, MAKE(&s, tsr_tensor_new_clone, self, c->out[0] != NULL ? TSR_CONTIGUOUS : TSR_PRESERVE));
    TsrTensor *t = count > 1 ? CALL(&s, "cat", "Ti", count, parts, dim) : self;
    if (s.status == TSR_OK && t->sizes[dim] == 0 && c->out[0] != NULL)
        s.status = tsr_error(TSR_INDEX_ERROR, "start out of range (expected to be in range of [0, 0], but got 1)");
    for (int64_t i = 0; s.status == TSR_OK && i < n && t->sizes[dim] > 0; i++) {
        TsrTensor *upper = SLICE(&s, t, dim, 1, INT64_MAX), *lower = SLICE(&s, t, dim, 0, t->sizes[dim] - 1);
        if (s.status == TSR_OK && (i + 1 == n || upper->sizes[dim] == 0))
            s.status = check_last(c->out[0], upper, lower);
        t = CALL(&s, s.status == TSR_OK && upper->dtype == TSR_BOOL ? "logical_xor" : "sub", "tt", upper, lower);
    }
    return tsr_scope_return(c, &s, t);
}

/* ---- trapezoid ---- */

/* Differences of the sample points along dim, shaped to broadcast against y. */
static TsrTensor *point_steps(TsrScope *s, const TsrTensor *y, TsrTensor *x, int64_t dim, const char *name) {
    TsrTensor *view = x;
    if (tsr_ndim(x) == 1) {
        int64_t sizes[TSR_MAX_DIMS];
        if (x->sizes[0] != y->sizes[dim]) {
            s->status = tsr_error(TSR_RUNTIME_ERROR, "%s: There must be one `x` value for each sample point", name);
            return NULL;
        }
        for (int d = 0; d < tsr_ndim(y); d++) sizes[d] = d == dim ? x->sizes[0] : 1;
        view = MAKE(s, tsr_tensor_new_reshape, x, tsr_ndim(y), sizes);
    } else if (tsr_ndim(x) < tsr_ndim(y)) {
        int64_t sizes[TSR_MAX_DIMS];
        int pad = tsr_ndim(y) - tsr_ndim(x);
        for (int d = 0; d < tsr_ndim(y); d++) sizes[d] = d < pad ? 1 : x->sizes[d - pad];
        view = MAKE(s, tsr_tensor_new_reshape, x, tsr_ndim(y), sizes);
    }
    if (s->status != TSR_OK) return NULL;
    int64_t last = view->sizes[dim < tsr_ndim(view) ? dim : 0];
    TsrTensor *upper = SLICE(s, view, dim, 1, INT64_MAX), *lower = SLICE(s, view, dim, 0, last - 1);
    return CALL(s, "sub", "tt", upper, lower);
}

typedef struct Sides {
    TsrTensor *left, *right;
} Sides;

static Sides sides_of(TsrScope *s, TsrTensor *y, int64_t dim) {
    Sides r = {SLICE(s, y, dim, 0, y->sizes[dim] - 1), SLICE(s, y, dim, 1, INT64_MAX)};
    return r;
}

static TsrStatus check_points(const TsrTensor *y, const TsrTensor *x, const char *name) {
    if (y->dtype == TSR_BOOL || (x != NULL && x->dtype == TSR_BOOL))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "%s: received a bool input for %s`y`, but bool is not supported",
                         name, x != NULL ? "`x` or " : "");
    return TSR_OK;
}

/* The result for no samples: zeros without dim. */
static TsrTensor *zeros_without(TsrScope *s, const TsrTensor *y, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < tsr_ndim(y); d++)
        if (d != dim) sizes[n++] = y->sizes[d];
    return MAKE(s, tsr_zeros_new, n, sizes, y->dtype, y->device);
}

static TsrStatus wrap_sample_dim(int64_t *dim, const TsrTensor *y, bool cumulative) {
    if (tsr_ndim(y) == 0 && cumulative)
        return tsr_error(TSR_INDEX_ERROR, "slice() cannot be applied to a 0-dim tensor.");
    if (tsr_ndim(y) == 0)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)*dim);
    return tsr_wrap_dim(dim, tsr_ndim(y));
}

static TsrStatus trapezoid_x(TsrOpCall *c, bool cumulative) {
    TsrTensor *y = c->arg[0].t, *x = c->arg[1].t;
    int64_t dim = c->arg[2].i;
    const char *name = cumulative ? "cumulative_trapezoid" : "trapezoid";
    TSR_TRY(tsr_wrap_dim(&(int64_t){dim}, tsr_ndim(y)));
    if (cumulative) TSR_TRY(check_points(y, x, name));
    if (tsr_ndim(y) == 0 && (!cumulative || tsr_ndim(x) == 1))
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as 0 but tensor has no dimensions");
    TSR_TRY(wrap_sample_dim(&dim, y, cumulative));
    TsrScope s = {0};
    if (!cumulative && y->sizes[dim] == 0) return tsr_scope_return(c, &s, zeros_without(&s, y, dim));
    if (!cumulative) TSR_TRY(check_points(y, x, name));
    TsrTensor *steps = point_steps(&s, y, x, dim, name);
    if (s.status != TSR_OK) return tsr_scope_return(c, &s, NULL);
    Sides p = sides_of(&s, y, dim);
    TsrTensor *sum = CALL(&s, "add", "tt", p.left, p.right), *area = CALL(&s, "mul", "tt", sum, steps);
    TsrTensor *total = cumulative ? CALL(&s, "cumsum", "ti", area, dim) : CALL(&s, "sum", "tI", area, 1, &dim);
    return tsr_scope_return(c, &s, CALL(&s, "div", "ts", total, tsr_scalar_float(2)));
}

static double to_double(const TsrArg *a) { return a->kind == TSR_ARG_FLOAT ? a->f : tsr_scalar_to_double(a->s); }
static TsrScalar to_scalar(const TsrArg *a) { return a->kind == TSR_ARG_FLOAT ? tsr_scalar_float(a->f) : a->s; }

/* (y, *, dx, dim) */
static TsrStatus check_real_dx(const TsrOpCall *c, const char *name) {
    bool refused = c->arg[1].kind == TSR_ARG_SCALAR &&
                   (c->arg[1].s.kind == TSR_SCALAR_COMPLEX || c->arg[1].s.kind == TSR_SCALAR_BOOL);
    return refused ? tsr_error(TSR_RUNTIME_ERROR, "%s: Currently, we only support dx as a real number.", name) : TSR_OK;
}

TsrStatus op_trapezoid_dx(TsrOpCall *c) {
    TsrTensor *y = c->arg[0].t;
    int64_t dim = c->arg[2].i;
    TSR_TRY(wrap_sample_dim(&dim, y, false));
    TsrScope s = {0};
    if (y->sizes[dim] == 0) return tsr_scope_return(c, &s, zeros_without(&s, y, dim));
    TSR_TRY(check_points(y, NULL, "trapezoid"));
    TSR_TRY(check_real_dx(c, "trapezoid"));
    TsrTensor *first = MAKE(&s, tsr_tensor_new_select, y, dim, 0), *last = MAKE(&s, tsr_tensor_new_select, y, dim, -1);
    TsrTensor *ends = CALL(&s, "add", "tt", first, last), *half = CALL(&s, "mul", "ts", ends, tsr_scalar_float(0.5)),
              *sum = CALL(&s, "sum", "tI", y, 1, &dim);
    TsrTensor *inner = CALL(&s, "sub", "tt", sum, half);
    return tsr_scope_return(c, &s, CALL(&s, "mul", "ts", inner, to_scalar(&c->arg[1])));
}

TsrStatus op_cumulative_trapezoid_dx(TsrOpCall *c) {
    TsrTensor *y = c->arg[0].t;
    int64_t dim = c->arg[2].i;
    TSR_TRY(check_points(y, NULL, "cumulative_trapezoid"));
    TSR_TRY(check_real_dx(c, "cumulative_trapezoid"));
    TSR_TRY(wrap_sample_dim(&dim, y, true));
    TsrScope s = {0};
    Sides p = sides_of(&s, y, dim);
    TsrTensor *sum = CALL(&s, "add", "tt", p.left, p.right),
              *area = CALL(&s, "mul", "ts", sum, tsr_scalar_float(to_double(&c->arg[1]) / 2));
    return tsr_scope_return(c, &s, CALL(&s, "cumsum", "ti", area, dim));
}

TsrStatus op_trapezoid_x(TsrOpCall *c) { return trapezoid_x(c, false); }
TsrStatus op_cumulative_trapezoid_x(TsrOpCall *c) { return trapezoid_x(c, true); }

/* ---- gradient ---- */

typedef struct Gradient {
    TsrTensor *self;
    int n; /* of dims */
    int64_t dims[TSR_MAX_DIMS];
    const TsrArg *spacing; /* none, a number, numbers or tensors */
    int edge_order;
} Gradient;

static TsrTensor *scaled(TsrScope *s, TsrTensor *t, double factor) {
    return CALL(s, "mul", "ts", t, tsr_scalar_float(factor));
}

/* Weights of three points in a row. */
typedef struct Weights {
    TsrTensor *a, *b, *c;
} Weights;

/* a * x[i] + b * x[i + 1] + c * x[i + 2] along dim, for n positions from `at` on. */
static TsrTensor *weigh3(TsrScope *s, TsrTensor *x, int64_t dim, int64_t at, int64_t n, Weights w) {
    TsrTensor *xa = MAKE(s, tsr_tensor_new_narrow, x, dim, at, n),
              *xb = MAKE(s, tsr_tensor_new_narrow, x, dim, at + 1, n);
    TsrTensor *xc = MAKE(s, tsr_tensor_new_narrow, x, dim, at + 2, n);
    TsrTensor *pa = CALL(s, "mul", "tt", w.a, xa), *pb = CALL(s, "mul", "tt", w.b, xb),
              *pc = CALL(s, "mul", "tt", w.c, xc);
    TsrTensor *sum = CALL(s, "add", "tt", pa, pb);
    return CALL(s, "add", "tt", sum, pc);
}

static TsrTensor *edge_difference(TsrScope *s, TsrTensor *x, int64_t dim, int64_t at) {
    TsrTensor *upper = MAKE(s, tsr_tensor_new_narrow, x, dim, at + 1, 1),
              *lower = MAKE(s, tsr_tensor_new_narrow, x, dim, at, 1);
    return CALL(s, "sub", "tt", upper, lower);
}

/* w[0] * x[at] + w[1] * x[at + 1] + w[2] * x[at + 2] for the second-order edges: twice an integer is one, and may wrap
 * around before it is subtracted. */
static TsrTensor *edge_weighed(TsrScope *s, TsrTensor *x, int64_t dim, int64_t at, const double w[3]) {
    TsrTensor *a = scaled(s, MAKE(s, tsr_tensor_new_narrow, x, dim, at, 1), w[0]);
    TsrTensor *xb = MAKE(s, tsr_tensor_new_narrow, x, dim, at + 1, 1);
    TsrTensor *b = CALL(s, "mul", "ts", xb, tsr_scalar_int((int64_t)fabs(w[1])));
    TsrTensor *c = scaled(s, MAKE(s, tsr_tensor_new_narrow, x, dim, at + 2, 1), w[2]);
    TsrTensor *sum = CALL(s, w[1] < 0 ? "sub" : "add", "tt", a, b);
    return CALL(s, "add", "tt", sum, c);
}

static TsrTensor *gradient_even(TsrScope *s, const Gradient *g, int64_t dim, TsrScalar step) {
    TsrTensor *x = g->self;
    int64_t n = x->sizes[dim];
    TsrTensor *upper = MAKE(s, tsr_tensor_new_narrow, x, dim, 2, n - 2),
              *lower = MAKE(s, tsr_tensor_new_narrow, x, dim, 0, n - 2);
    TsrTensor *difference = CALL(s, "sub", "tt", upper, lower), *apart = CALL(s, "div", "ts", difference, step),
              *center = CALL(s, "div", "ts", apart, tsr_scalar_int(2));
    TsrTensor *first, *last;
    if (g->edge_order == 1) {
        first = edge_difference(s, x, dim, 0);
        last = edge_difference(s, x, dim, n - 2);
    } else {
        first = edge_weighed(s, x, dim, 0, (double[]){-1.5, 2, -0.5});
        last = edge_weighed(s, x, dim, n - 3, (double[]){0.5, -2, 1.5});
    }
    TsrTensor *parts[3] = {CALL(s, "div", "ts", first, step), center, CALL(s, "div", "ts", last, step)};
    return CALL(s, "cat", "Ti", 3, parts, dim);
}

/* Those of unevenly spaced points, from the two steps between them. */
static Weights center_weights(TsrScope *s, TsrTensor *d1, TsrTensor *d2) {
    TsrTensor *sum = CALL(s, "add", "tt", d1, d2), *minus = CALL(s, "neg", "t", d2),
              *m1 = CALL(s, "mul", "tt", d1, sum);
    TsrTensor *m2 = CALL(s, "mul", "tt", d2, sum), *product = CALL(s, "mul", "tt", d1, d2),
              *difference = CALL(s, "sub", "tt", d2, d1);
    Weights w = {CALL(s, "div", "tt", minus, m1), CALL(s, "div", "tt", difference, product),
                 CALL(s, "div", "tt", d1, m2)};
    return w;
}

/* At the first of three points. */
static Weights first_weights(TsrScope *s, TsrTensor *d1, TsrTensor *d2) {
    TsrTensor *sum = CALL(s, "add", "tt", d1, d2), *twice = scaled(s, d1, 2), *far = CALL(s, "add", "tt", twice, d2),
              *minus = CALL(s, "neg", "t", far);
    TsrTensor *m1 = CALL(s, "mul", "tt", d1, sum), *product = CALL(s, "mul", "tt", d1, d2),
              *m2 = CALL(s, "mul", "tt", d2, sum), *neg = CALL(s, "neg", "t", d1);
    Weights w = {CALL(s, "div", "tt", minus, m1), CALL(s, "div", "tt", sum, product), CALL(s, "div", "tt", neg, m2)};
    return w;
}

/* At the last of three points. */
static Weights last_weights(TsrScope *s, TsrTensor *d1, TsrTensor *d2) {
    TsrTensor *sum = CALL(s, "add", "tt", d1, d2), *minus = CALL(s, "neg", "t", sum), *twice = scaled(s, d2, 2),
              *far = CALL(s, "add", "tt", twice, d1);
    TsrTensor *m1 = CALL(s, "mul", "tt", d1, sum), *product = CALL(s, "mul", "tt", d1, d2),
              *m2 = CALL(s, "mul", "tt", d2, sum);
    Weights w = {CALL(s, "div", "tt", d2, m1), CALL(s, "div", "tt", minus, product), CALL(s, "div", "tt", far, m2)};
    return w;
}

static TsrTensor *shaped(TsrScope *s, TsrTensor *t, int ndim, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < ndim; d++) sizes[d] = d == dim ? -1 : 1;
    return MAKE(s, tsr_tensor_new_reshape, t, ndim, sizes);
}

static TsrTensor *uneven_edges(TsrScope *s, const Gradient *g, int64_t dim, TsrTensor *steps, TsrTensor *center) {
    TsrTensor *x = g->self, *first, *last;
    int64_t n = x->sizes[dim], m = s->status == TSR_OK ? steps->numel : 0;
    if (g->edge_order == 1) {
        TsrTensor *d0 = MAKE(s, tsr_tensor_new_select, steps, 0, 0),
                  *d1 = MAKE(s, tsr_tensor_new_select, steps, 0, m - 1);
        TsrTensor *df = edge_difference(s, x, dim, 0), *dl = edge_difference(s, x, dim, n - 2);
        first = CALL(s, "div", "tt", df, d0);
        last = CALL(s, "div", "tt", dl, d1);
    } else {
        TsrTensor *a = MAKE(s, tsr_tensor_new_select, steps, 0, 0), *b = MAKE(s, tsr_tensor_new_select, steps, 0, 1);
        Weights w = first_weights(s, a, b);
        first = weigh3(s, x, dim, 0, 1, w);
        a = MAKE(s, tsr_tensor_new_select, steps, 0, m - 2);
        b = MAKE(s, tsr_tensor_new_select, steps, 0, m - 1);
        w = last_weights(s, a, b);
        last = weigh3(s, x, dim, n - 3, 1, w);
    }
    TsrTensor *parts[3] = {first, center, last};
    return CALL(s, "cat", "Ti", 3, parts, dim);
}

static TsrStatus gradient_uneven(TsrTensor **out, const Gradient *g, int64_t dim, TsrTensor *points) {
    TsrScope s = {0}, e = {0};
    int ndim = tsr_ndim(g->self);
    TsrTensor *steps = CALL(&s, "diff", "t", points), *center = NULL;
    if (s.status == TSR_OK) {
        TsrTensor *d1 = SLICE(&s, steps, 0, 0, steps->sizes[0] - 1), *d2 = SLICE(&s, steps, 0, 1, INT64_MAX);
        Weights w = center_weights(&s, d1, d2);
        w = (Weights){shaped(&s, w.a, ndim, dim), shaped(&s, w.b, ndim, dim), shaped(&s, w.c, ndim, dim)};
        center = weigh3(&s, g->self, dim, 0, g->self->sizes[dim] - 2, w);
    }
    e.status = s.status;
    TsrTensor *whole = uneven_edges(&e, g, dim, steps, center);
    TsrStatus status = tsr_scope_end_new(out, &e, whole);
    s.status = status;
    (void)tsr_scope_end(&s);
    return status;
}

static TsrStatus gradient_even_new(TsrTensor **out, const Gradient *g, int64_t dim, TsrScalar step) {
    TsrScope s = {0};
    return tsr_scope_end_new(out, &s, gradient_even(&s, g, dim, step));
}

static TsrStatus check_gradient(const Gradient *g, bool dims_given) {
    const TsrArg *spacing = g->spacing;
    if (g->self->dtype == TSR_UINT8)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "torch.gradient does not support uint8 input.");
    bool many = spacing != NULL && (spacing->kind == TSR_ARG_SCALARS || spacing->kind == TSR_ARG_TENSORS);
    if (many && spacing->n != g->n && dims_given)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have "
            "the same length, but got a spacing argument of "
            "length %d and a dim argument of length %d.",
            spacing->n, g->n);
    if (many && spacing->n != g->n)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            "%d', since dim argument was not given, but got "
            "a list of length %d",
            tsr_ndim(g->self), spacing->n);
    if (g->edge_order != 1 && g->edge_order != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.gradient only supports edge_order=1 and edge_order=2.");
    return TSR_OK;
}

static TsrStatus check_gradient_places(const TsrArg *spacing) {
    for (int i = 0; spacing != NULL && spacing->kind == TSR_ARG_TENSORS && i < spacing->n; i++)
        if (tsr_ndim(spacing->tensors[i]) != 1)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "torch.gradient expected each element of spacing to have one dimension, but got an "
                             "element with %d dimensions!",
                             tsr_ndim(spacing->tensors[i]));
    return TSR_OK;
}

static TsrStatus check_gradient_dims(Gradient *g) {
    uint64_t seen = 0;
    TSR_TRY(tsr_dim_set(&seen, g->n, g->dims, tsr_ndim(g->self)));
    for (int i = 0; i < g->n; i++) TSR_TRY(tsr_wrap_own_dim(&g->dims[i], tsr_ndim(g->self)));
    for (int i = 0; i < g->n; i++)
        if (g->self->sizes[g->dims[i]] < g->edge_order + 1)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "torch.gradient expected each dimension size to be at least edge_order+1");
    return TSR_OK;
}

static TsrStatus gradient(TsrOpCall *c, const TsrArg *spacing, const TsrArg *dim, int64_t edge_order) {
    Gradient g = {.self = c->arg[0].t,
                  .spacing = spacing != NULL && tsr_arg_given(spacing) ? spacing : NULL,
                  .edge_order = (int)TSR_MAX(-1, TSR_MIN(edge_order, 3))};
    bool given = tsr_arg_given(dim);
    if (given && dim->kind == TSR_ARG_INT) g.dims[g.n++] = dim->i;
    for (int i = 0; given && dim->kind == TSR_ARG_INTS && i < dim->n && i < TSR_MAX_DIMS; i++)
        g.dims[g.n++] = dim->ints[i];
    for (int d = 0; !given && d < tsr_ndim(g.self); d++) g.dims[g.n++] = d;
    TSR_TRY(check_gradient(&g, given));
    TSR_TRY(check_gradient_dims(&g));
    TSR_TRY(check_gradient_places(g.spacing));
    if (tsr_ndim(g.self) == 0) return tsr_return_list_move(c, NULL, 0);
    TsrTensor *made[TSR_MAX_DIMS];
    TsrStatus status = TSR_OK;
    int k = 0;
    for (; k < g.n && status == TSR_OK; k++) {
        if (g.spacing != NULL && g.spacing->kind == TSR_ARG_TENSORS)
            status = gradient_uneven(&made[k], &g, g.dims[k], g.spacing->tensors[k]);
        else {
            TsrScalar step = g.spacing == NULL                    ? tsr_scalar_int(1)
                             : g.spacing->kind == TSR_ARG_SCALARS ? g.spacing->scalars[k]
                                                                  : g.spacing->s;
            status = gradient_even_new(&made[k], &g, g.dims[k], step);
        }
        if (status != TSR_OK) break;
    }
    if (status == TSR_OK) return tsr_return_list_move(c, made, g.n);
    tsr_free_all(made, k);
    return status;
}

/* (self, *, spacing, dim, edge_order) and (self, *, dim, edge_order) */
TsrStatus op_gradient(TsrOpCall *c) { return gradient(c, &c->arg[1], &c->arg[2], c->arg[3].i); }
TsrStatus op_gradient_dims(TsrOpCall *c) { return gradient(c, NULL, &c->arg[1], c->arg[2].i); }

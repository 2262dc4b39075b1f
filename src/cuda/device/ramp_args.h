/* ramp_args.h: what the kernel of evenly spaced numbers is given; ramp.c fills it in. The numbers are those of
 * TsrDeviceRamp (core/backend.h). */
typedef struct RampArgs {
    uint64_t data; /* address of a dense line */
    int64_t n;
    double start, step, end, base;
    int64_t start_i, step_i;
    float step_f;
    uint32_t kind; /* TsrRamp */
} RampArgs;

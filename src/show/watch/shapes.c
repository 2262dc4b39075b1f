/* Reads the sizes out of PyTorch's own message. */
#include "shapes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The four sizes of a product that does not fit: "(2x3 and 4x5)". */
static bool product_sizes(long long s[4], const char *message) {
    const char *at = strstr(message, "shapes cannot be multiplied (");
    return at != NULL &&
           sscanf(at, "shapes cannot be multiplied (%lldx%lld and %lldx%lld)", &s[0], &s[1], &s[2], &s[3]) == 4;
}

const char *shapes_hint(const char *message) {
    long long s[4];
    if (!product_sizes(s, message)) return NULL;
    return s[1] == s[3]   ? "the second one transposed would fit: .t()"
           : s[0] == s[2] ? "the first one transposed would fit: .t()"
                          : NULL;
}

const char *shapes_of_product(const char *message, char *buffer, size_t size) {
    long long s[4];
    if (!product_sizes(s, message)) return NULL;
    long long a = s[0], b = s[1], c = s[2], d = s[3];
    int wa = snprintf(NULL, 0, "%lld x ", a), wb = snprintf(NULL, 0, "%lld", b), wc = snprintf(NULL, 0, "%lld x ", c);
    int wd = snprintf(NULL, 0, "%lld", d), width = wa + wb > wc + wd ? wa + wb : wc + wd;
    snprintf(buffer, size, "mat1: %*s%lld x %lld\n%*s\nmat2: %*s%lld x %lld\n%*s\n", width - wa - wb, "", a, b,
             6 + width, "^", width - wc - wd, "", c, d, 6 + width - wd - 3, "^");
    return buffer;
}

/* sha512.h: the SHA-512 digest (FIPS 180-4), for seeding random by text. */
#ifndef LANG_MODULES_SHA512_H
#define LANG_MODULES_SHA512_H

#include <stddef.h>

enum { SHA512_BYTES = 64 };

void sha512(unsigned char out[SHA512_BYTES], const void *data, size_t size); /* FIPS 180-4 */

#endif

/* embed.h: a file's bytes as a part of the program, put there by the assembler. */
#ifndef CORE_BASE_EMBED_H
#define CORE_BASE_EMBED_H

#ifdef __wasm__ /* its assembler wants a section, a type and a size for each symbol, and what a symbol names is not \
                   empty */
#define TSR_EMBED_BEGIN(name) \
    ".section .rodata." name ",\"\",@\n.hidden " name "\n.hidden " name "_end\n.type " name ",@object\n.type " name \
    "_end,@object\n"
#define TSR_EMBED_END(name) ".byte 0\n.size " name ", " name "_end-" name "\n.size " name "_end, 1\n"
#else
#define TSR_EMBED_BEGIN(name) ".section .rodata\n"
#define TSR_EMBED_END(name) ".previous\n"
#endif

/* `symbol` and `symbol`_end are the bounds of the file's text. The path is from the root of the tree. */
#define TSR_EMBED(symbol, file) \
    __asm__(TSR_EMBED_BEGIN(#symbol) #symbol ":\n.incbin \"" file "\"\n" #symbol "_end:\n" TSR_EMBED_END(#symbol)); \
    extern const char symbol[] __attribute__((visibility("hidden"))); \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

#endif

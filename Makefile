# tsr: `make` builds the release binary, `make help` lists the targets.
# CONFIG picks the build folder (build/CONFIG) and flags: release (default), debug, asan, tsan, coverage, fuzz, web, i386.
CONFIG ?= release
BUILD ?= build/$(CONFIG)
PREFIX ?= /usr/local
DESTDIR ?=
# The line editor that the prompt loads: readline (or libedit where it is missing), libedit, none.
EDIT ?= readline
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
# V=1 shows the compiler's command lines.
QUIET := $(if $(V),,@)
SAY := @$(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),:,echo)
CCACHE := $(shell command -v ccache 2>/dev/null)

# $(call need,TOOL,PACKAGE...): a recipe's line; where the tool is missing, those of Debian's packages are installed. Without any: that of its name.
need = @command -v $(1) >/dev/null || scripts/setup $(or $(2),$(1))

CFLAGS_release := -O2 -g1 -DNDEBUG
CFLAGS_debug := -O0 -g3 -DTSR_DEBUG
CFLAGS_asan := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DTSR_DEBUG
CFLAGS_tsan := -O1 -g1 -fsanitize=thread
CFLAGS_fuzz := -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -DTSR_DEBUG -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
CFLAGS_coverage := -O0 -g --coverage -DTSR_DEBUG
# What nearly every browser has that unpacks the page. Vectors that kernels name are less code, those that the compiler makes of loops more.
WEB_TARGET := -Oz -mnontrapping-fptoint -msign-ext -msimd128 -fno-vectorize -fno-slp-vectorize
CFLAGS_i386 := -m32 -D_FILE_OFFSET_BITS=64 -msse2 -mfpmath=sse -mno-mmx -O2 -g1 -DNDEBUG -I$(BUILD)/lib/include
CFLAGS_web := $(WEB_TARGET) -DNDEBUG -I$(BUILD)/lib/include -Wno-unknown-pragmas -Wno-unused-function -Wno-unused-parameter -Wno-tautological-compare -Ddlopen=web_dlopen -Ddlsym=web_dlsym -Ddlclose=web_dlclose -Ddlerror=web_dlerror -DTSR_LEAN='"$(BUILD)/lean/"'
LDFLAGS_asan := -fsanitize=address,undefined
LDFLAGS_tsan := -fsanitize=thread
LDFLAGS_fuzz := -fsanitize=address,undefined
LDFLAGS_coverage := --coverage
LDFLAGS_i386 := -m32

# A status that is not OK leaves outputs unset, which gcc cannot know.
# psabi: vectors wider than the target's are passed between our own static functions only.
WARN := -Wall -Wextra -Werror -Wno-psabi $(if $(findstring clang,$(CC))$(filter web,$(CONFIG)),-Wno-pass-failed,-Wno-maybe-uninitialized)
# Files of more than 2 GB, on machines of 32 bits too.
LARGE_FILES := $(if $(filter 32,$(shell getconf LONG_BIT)),-D_FILE_OFFSET_BITS=64)
CFLAGS_ALL := -std=c17 -D_GNU_SOURCE $(LARGE_FILES) $(WARN) -fPIC -fvisibility=hidden -fno-semantic-interposition -fopenmp -ffp-contract=off -fno-math-errno -fno-trapping-math -Isrc $(CFLAGS_$(CONFIG)) $(CFLAGS)
# Static where Debian has the archive: every shared library costs each start about 0.1 ms. Those of libpng and libbz2 cannot be part of a shared library.
CORE_LIBS := -Wl,-Bstatic -lprotobuf-nanopb -lz -lzstd -Wl,-Bdynamic -lpng -lbz2 -fopenmp -lm -ldl -lpthread
LIBS := -Wl,-Bstatic -ltommath -lutf8proc -lpng -lbz2 $(filter-out -lpng -lbz2,$(CORE_LIBS))

# 32 bits: what armhf and i386 are to be right on, tried by gcc's other half. SSE2, as results are rounded on every other machine.
# No MMX, which comes with it: gcc would return vectors of 8 bytes in its registers, and what the x87 computes next would be nan.
ifeq ($(CONFIG),i386)
LIB_DIR := $(BUILD)/lib
LIBS := -L$(LIB_DIR)/lib -ltommath -lutf8proc -lprotobuf-nanopb -lpng -lz -lzstd -lbz2 -fopenmp -lm -ldl -lpthread
endif

# The browser's: emscripten's compiler, and the small libraries from Debian's sources (scripts/web-libs). Where node is not Debian's, its
# linker finds acorn by NODE_PATH; it was made for an older node, whose pages had no fetch of their own.
WEB := $(filter web,$(CONFIG))
CC_OBJECT = $(CC)
ifneq ($(WEB),)
CC := emcc
CC_OBJECT = $(EMCC_CLANG)
# What emcc would call: its front in Python takes as long as the compiler.
EMCC_CLANG := clang-14 $(filter-out -fvisibility=default,$(shell emcc --cflags 2>/dev/null)) -Wno-unused-command-line-argument
LIB_DIR := $(BUILD)/lib
CFLAGS_ALL := $(filter-out -fPIC -fopenmp -fno-semantic-interposition,$(CFLAGS_ALL))
LIBS := -L$(LIB_DIR)/lib -ltommath -lutf8proc -lprotobuf-nanopb -lpng -lz -lzstd -lbz2
LDFLAGS_web := -O3 -s MODULARIZE=1 -s EXPORT_NAME=createTsr -s ALLOW_MEMORY_GROWTH=1 -s MAXIMUM_MEMORY=4GB -s INITIAL_MEMORY=32MB -s TOTAL_STACK=8MB \
	-s FORCE_FILESYSTEM=1
NODE := NODE_PATH=/usr/share/nodejs NODE_OPTIONS=--no-experimental-fetch
endif

SRC := $(shell find src -name '*.c' -not -path 'src/cuda/*' -not -path 'src/web/*' | LC_ALL=C sort)
# Kernels NAME.simd.c are compiled once for each instruction set, into NAME.base.o and so on (kernels/simd.h). Not worth it, or not possible: NO_SIMD.
SIMD_SRC := $(filter %.simd.c,$(SRC))
CORE_SRC := $(filter-out $(SIMD_SRC),$(filter src/core/%,$(SRC)))
TOOL_SRC := $(filter-out src/core/%,$(SRC))
OBJ = $(patsubst src/%.c,$(BUILD)/obj/%.o,$(1))
ISAS := base $(if $(LIB_DIR),,$(if $(filter x86_64,$(shell uname -m)),avx2 avx512))
NO_SIMD := %/complex_block.base.o %/conv_pairs.base.o %/conv_pairs.avx2.o %/pairs.base.o %/pairs.avx2.o %/conv.base.o %/attention.base.o %/chain.base.o %/double_chain.base.o %/few.base.o %/thin.base.o %/grid.avx512.o %/bessel.avx512.o %/complex.avx512.o
SIMD_OBJ := $(filter-out $(NO_SIMD),$(foreach isa,$(ISAS),$(SIMD_SRC:src/%.simd.c=$(BUILD)/obj/%.$(isa).o)))
CORE_OBJ := $(call OBJ,$(CORE_SRC)) $(SIMD_OBJ)
TOOL_OBJ := $(call OBJ,$(TOOL_SRC))

# The plugin for CUDA devices, found beside the program: no header or library of NVIDIA's is needed. With it goes a driver without a GPU (--simulate-cuda).
CUDA_SRC := $(sort $(wildcard src/cuda/*.c src/cuda/kernels/*.c src/cuda/kernels/*/*.c))
CUDA_OBJ := $(call OBJ,$(CUDA_SRC))
SIMULATED_OBJ := $(call OBJ,$(sort $(wildcard src/cuda/simulated/*.c)))
PLUGINS := $(BUILD)/libtsr_cuda.so $(BUILD)/libtsr_cuda_simulated.so

all: $(BUILD)/tsr $(PLUGINS) $(BUILD)/make_pack ## the binary (build/tsr), the default
	$(if $(filter release,$(CONFIG)),@ln -sfn release/tsr build/tsr)

# At a fixed address, as Debian links python3: 23,000 addresses in tables need not be adjusted at each start, which costs a quarter of it.
NO_PIE := -no-pie
# What a start touches is put side by side: it is 60 pages less. scripts/order-start finds out what that is.
ORDER := $(if $(filter release,$(CONFIG)),src/start.ld)

# The program is linked twice: first to compile what is written in the language (src/*/prelude) and to sort the names of operators, then
# with that code and that index in it.
$(BUILD)/tsr $(BUILD)/tsr-thawed: $(CORE_OBJ) $(TOOL_OBJ) $(ORDER)
	$(SAY) '  link    $@'
	$(QUIET)$(CC) $(NO_PIE) $(ORDER:%=-T %) $(LDFLAGS_$(CONFIG)) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

$(BUILD)/tsr: $(BUILD)/obj/prelude_frozen.o $(BUILD)/obj/tsr_op_frozen.o
$(BUILD)/prelude.frozen $(BUILD)/index.frozen: $(BUILD)/%.frozen: $(BUILD)/tsr-thawed
	$(QUIET)$< --print-man $* >$@
$(BUILD)/obj/prelude_frozen.o: $(BUILD)/prelude.frozen
$(BUILD)/obj/tsr_op_frozen.o: $(BUILD)/index.frozen
$(BUILD)/obj/prelude_frozen.o $(BUILD)/obj/tsr_op_frozen.o: $(BUILD)/obj/%.o:
	$(QUIET)printf '.section .rodata\n.balign 8\n.globl %s\n.hidden %s\n%s: .incbin "%s"\n.section .note.GNU-stack,"",@progbits\n' $* $* $* $< | $(CC) $(LDFLAGS_$(CONFIG)) -c -x assembler -o $@ -

$(BUILD)/libtsr_cuda.so: $(CUDA_OBJ)
	$(QUIET)$(CC) -shared $(LDFLAGS_$(CONFIG)) $(LDFLAGS) -o $@ $^ -ldl -lpthread

$(BUILD)/libtsr_cuda_simulated.so: $(SIMULATED_OBJ)
	$(QUIET)$(CC) -shared $(LDFLAGS_$(CONFIG)) $(LDFLAGS) -o $@ $^ -ldl -lpthread -lm

# Compiles every kernel that the plugin can write by NVRTC, where there is one, and shows what ptxas and cuobjdump say of registers and spills.
CUDA_ARCHITECTURES ?= sm_75 sm_80 sm_90 sm_100 sm_120
$(BUILD)/check_kernels: $(wildcard tests/cuda/*.c) $(CUDA_OBJ) tests/cuda/check_kernels.h src/cuda/pack/host_alone.h
	$(QUIET)$(CC) $(CFLAGS_ALL) $(LDFLAGS_$(CONFIG)) -o $@ $(filter-out %.h,$^) -ldl -lpthread

cuda-check: $(BUILD)/check_kernels ## every kernel compiled for NVIDIA's GPUs, where NVRTC is found
	scripts/cuda-check $< $(CUDA_ARCHITECTURES)

# A pack of PTX for machines without NVIDIA's run-time compiler, which `make install` installs beside the plugin where it was made.
$(BUILD)/make_pack: src/cuda/pack/make_pack.c $(CUDA_OBJ) src/cuda/pack/host_alone.h
	$(QUIET)$(CC) $(CFLAGS_ALL) $(LDFLAGS_$(CONFIG)) -o $@ $(filter-out %.h,$^) -ldl -lpthread

cuda-pack: all $(BUILD)/make_pack ## kernels for machines with NVIDIA's driver alone, where NVRTC is found
	scripts/cuda-pack $(BUILD)/tsr $(BUILD)/make_pack $(BUILD)/tsr_cuda.pack

compiler:
	$(call need,$(firstword $(CC)),$(if $(WEB),emscripten,$(sort $(CC) $(CC:clang%=libclang-rt%-dev) $(CC:clang%=libomp%-dev))))

define COMPILE
	@mkdir -p $(dir $@)
	$(SAY) '  compile $(@:$(BUILD)/obj/%=%)'
	$(QUIET)$(CCACHE) $(CC_OBJECT) $(CFLAGS_ALL) $(TARGET_FLAGS) -MMD -MP -c -o $@ $<
endef
$(BUILD)/obj/%.o: src/%.c | compiler
	$(COMPILE)
$(foreach isa,$(ISAS),$(eval $(BUILD)/obj/%.$(isa).o: src/%.simd.c | compiler; $$(COMPILE)))

# Operators and kernels are not what the fuzz targets look for: uninstrumented they build in a fraction of the time.
ifeq ($(CONFIG),fuzz)
$(BUILD)/obj/core/ops/%.o $(BUILD)/obj/core/kernels/%.o: TARGET_FLAGS += -O0 -fno-sanitize=all
endif

ifneq ($(filter release,$(CONFIG)),)
# For src/start.ld.
$(BUILD)/obj/%.o: TARGET_FLAGS += -ffunction-sections -fdata-sections
# Kernels are optimised harder.
$(BUILD)/obj/core/kernels/%.o: TARGET_FLAGS += -O3
endif
# In the page products and the evaluator gain by some more code.
ifneq ($(WEB),)
$(BUILD)/obj/core/kernels/matrix/chain_plain.o: TARGET_FLAGS += -O2
$(BUILD)/obj/lang/vm/loop.o $(BUILD)/obj/lang/vm/call.o: TARGET_FLAGS += -Os
# Functions that elsewhere become part of each caller are there once: 11 KB less to send. Of Fourier transforms other lengths than
# powers of two take a half longer; products, sorts, sums, convolutions and softmax take as long as before.
$(addprefix $(BUILD)/obj/core/,kernels/%.o ops/%.o): TARGET_FLAGS += -Dalways_inline=unused
endif
$(BUILD)/obj/core/kernels/%.avx2.o: TARGET_FLAGS += -DTSR_SIMD_AVX2 -mavx2 -mfma -mf16c
$(BUILD)/obj/core/kernels/%.avx512.o: TARGET_FLAGS += -DTSR_SIMD_AVX512 -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl
$(BUILD)/obj/core/kernels/matrix/pairs.avx512.o $(BUILD)/obj/core/kernels/nn/conv_pairs.avx512.o: TARGET_FLAGS += -mavx512bf16

$(BUILD)/obj/repl/prompt/line.o: TARGET_FLAGS += -DTSR_EDIT_$(shell echo $(EDIT) | tr a-z A-Z)
# Objects that hold the text of other files: of the device, and of a prelude.
$(BUILD)/obj/cuda/source.o: $(shell sed -n 's/^PART(.*, "\(.*\)").*/\1/p' src/cuda/parts.def)
$(BUILD)/obj/cuda/simulated/nvrtc.o: src/cuda/simulated/host.cuh
$(BUILD)/obj/torch/sources.o: $(wildcard src/torch/prelude/*.tsr src/torch/prelude/*/*.tsr)
$(BUILD)/obj/systems/th.o $(BUILD)/obj/systems/caffe2_operator.o: $(wildcard src/systems/prelude/*.tsr)
$(BUILD)/obj/repl/commands.o: $(wildcard src/repl/prelude/*.tsr)
$(BUILD)/obj/show/plot/plot.o: src/show/plot/plot.tsr
$(BUILD)/obj/show/plot/browse.o: src/show/plot/browse.tsr
$(BUILD)/obj/show/page/page.o: src/show/page/page.css src/show/page/page.js
$(BUILD)/obj/lang/modules/sources.o: $(wildcard src/lang/modules/prelude/*.tsr)
$(BUILD)/obj/repl/lesson/course.o: $(wildcard lessons/*.md lessons/documents/*.md)
ifneq ($(WEB),)
LEAN := $(patsubst %,$(BUILD)/lean/%,$(shell find src -name '*.tsr'))
$(TOOL_OBJ): | $(LEAN)
$(BUILD)/lean/%: % scripts/web-lean
	@mkdir -p $(@D)
	$(QUIET)scripts/web-lean $< >$@
endif

-include $(CORE_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(CUDA_OBJ:.o=.d) $(SIMULATED_OBJ:.o=.d)

# ---- libraries that Debian has no packages of for a machine ----
ifneq ($(LIB_DIR),)
LIBRARIES := CCACHE=$(CCACHE) CC='$(CC_OBJECT)' AR=$(if $(WEB),emar,ar) CFLAGS='$(if $(WEB),$(WEB_TARGET),$(LDFLAGS_$(CONFIG)))'
$(CORE_OBJ) $(TOOL_OBJ): | $(LIB_DIR)/done
$(LIB_DIR)/done:
	$(call need,dpkg-source,dpkg-dev)
	$(QUIET)$(LIBRARIES) scripts/web-libs $(LIB_DIR)
$(LIB_DIR)/lib/libcheck.a: | $(LIB_DIR)/done
	$(QUIET)$(LIBRARIES) scripts/web-libs $(LIB_DIR) check
endif

# ---- the browser ----
ifneq ($(WEB),)
# What src/web has in their place (copies of the process, a terminal), and what the page is sent without.
TOOL_OBJ := $(filter-out %/repl/lesson/copy.o %/plot/browse.o %/plot/graphics.o %/modules/gc.o %/modules/unicodedata.o %/modules/re.o %/modules/regex.o %/modules/regex_compile.o,$(TOOL_OBJ))
WEB_OBJ := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(wildcard src/web/*.c))
$(WEB_OBJ): | $(LIB_DIR)/done
# Without the code of the preludes, which compiles in 30 ms there and would be a seventh of what is sent.
$(BUILD)/tsr.js $(BUILD)/tsr-node.js: $(CORE_OBJ) $(TOOL_OBJ) $(WEB_OBJ)
	$(SAY) '  link    $@'
	$(QUIET)$(NODE) emcc $(LDFLAGS_web) $(WEB_HOST) -o $@ $(filter-out $(WITHOUT),$^) $(LIBS)
	$(QUIET)wasm-opt -Os --enable-simd --enable-sign-ext --enable-nontrapping-float-to-int $(@:.js=.wasm) -o $(@:.js=.wasm)
# The page has no command line, which would be a thirtieth of what is sent; under node the tests are its files' and its arguments'.
$(BUILD)/tsr.js: WEB_HOST := --no-entry -s ENVIRONMENT=worker -s EXPORTED_FUNCTIONS=_malloc,_free -s EXPORTED_RUNTIME_METHODS=ccall,FS,UTF8ToString
$(BUILD)/tsr.js: WITHOUT := %/repl/main.o
$(BUILD)/tsr-node.js: WEB_HOST := -s ENVIRONMENT=node -s EXPORTED_RUNTIME_METHODS=callMain,FS,NODEFS -lnodefs.js
-include $(WEB_OBJ:.o=.d)
$(BUILD)/tsr.html: $(BUILD)/tsr.js scripts/web-page src/show/page/page.css $(wildcard src/web/*.html src/web/*.js src/web/*.css)
	$(QUIET)scripts/web-page $(BUILD)
endif
web: ## the page: build/web/tsr.html in one file, build/web/site/ for any host (emscripten)
	$(call need,emcc,emscripten)
	$(MAKE) CONFIG=web build/web/tsr.html

# node's and Chromium's: the transcripts under the one, the page in the other.
check-web: ## the page's tests: transcripts under node, and the page in headless Chromium; pictures of it under build/web
	$(call need,emcc,emscripten)
	$(call need,chromedriver,chromium chromium-driver)
	$(MAKE) web
	$(MAKE) CONFIG=web build/web/tsr-node.js
	python3 tests/web/transcripts.py tests/web/allowed scripts/web-node build/web/tsr-node.js
	@mkdir -p build/web/looks
	python3 tests/web/page.py build/web/tsr.html build/web/looks

check-i386: ## the unit tests and the transcripts by a tsr of 32 bits (gcc -m32)
	scripts/setup gcc-multilib
	$(MAKE) CONFIG=i386 build/i386/tsr build/i386/tests/run build/i386/tests/plugins
	TSR_TEST_BUILD=build/i386 build/i386/tests/run
	python3 tests/web/transcripts.py tests/web/allowed_i386 build/i386/tsr

# ---- the library ----
VERSION := $(shell sed -n 's/.*define TSR_VERSION "\(.*\)"/\1/p' src/core/base.h)
SONAME := libtsr.so.$(firstword $(subst ., ,$(VERSION)))
PUBLIC_HEADERS := $(wildcard src/core/*.h src/core/*.def)

lib: $(BUILD)/libtsr.a $(BUILD)/libtsr.so ## libtsr, static and shared

# One object, so that hidden names stay hidden from a program that links it statically too.
$(BUILD)/libtsr.a: $(CORE_OBJ)
	$(QUIET)$(LD) -r -o $(BUILD)/libtsr.o $^
	$(QUIET)objcopy --localize-hidden $(BUILD)/libtsr.o
	rm -f $@ && $(AR) rcs $@ $(BUILD)/libtsr.o

$(BUILD)/libtsr.so: $(CORE_OBJ) $(ORDER)
	$(QUIET)$(CC) -shared $(ORDER:%=-T %) -Wl,-soname,$(SONAME) -Wl,--exclude-libs,ALL $(LDFLAGS_$(CONFIG)) $(LDFLAGS) -o $@ $(CORE_OBJ) $(CORE_LIBS)

# Made each time: the PREFIX in it may be another one now.
$(BUILD)/tsr.pc:
	@mkdir -p $(dir $@)
	@printf 'prefix=%s\nlibdir=$${prefix}/lib\nincludedir=$${prefix}/include\n\nName: tsr\nDescription: tensors, views and their ownership\nVersion: %s\nLibs: -L$${libdir} -ltsr\nLibs.private: $(CORE_LIBS)\nCflags: -I$${includedir}\n' '$(PREFIX)' '$(VERSION)' > $@

MAN1 := $(wildcard man/*.1)
MAN5 := $(wildcard man/*.5)
MAN7 := $(wildcard man/*.7)

# Where the linker of programs looks, it has to be told that a library came or went.
TELL_LINKER = $(if $(DESTDIR),:,$(if $(filter /usr /usr/local,$(PREFIX)),PATH="$$PATH:/sbin:/usr/sbin" ldconfig || :,:))

install: all lib $(BUILD)/tsr.pc ## installs under PREFIX (DESTDIR= for packages)
	install -D -m 755 $(BUILD)/tsr $(DESTDIR)$(PREFIX)/bin/tsr
	install -D -m 644 $(BUILD)/libtsr.a $(DESTDIR)$(PREFIX)/lib/libtsr.a
	install -D -m 755 $(BUILD)/libtsr.so $(DESTDIR)$(PREFIX)/lib/libtsr.so.$(VERSION)
	ln -sf libtsr.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/libtsr.so
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib/tsr $(PLUGINS)
	[ ! -f $(BUILD)/tsr_cuda.pack ] || install -m 644 -t $(DESTDIR)$(PREFIX)/lib/tsr $(BUILD)/tsr_cuda.pack
	install -D -m 644 $(BUILD)/tsr.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/tsr.pc
	install -d $(DESTDIR)$(PREFIX)/include/tsr $(addprefix $(DESTDIR)$(PREFIX)/share/man/man,1 5 7)
	install -m 644 $(PUBLIC_HEADERS) $(DESTDIR)$(PREFIX)/include/tsr/
	$(if $(MAN1),install -m 644 $(MAN1) $(DESTDIR)$(PREFIX)/share/man/man1/)
	$(if $(MAN5),install -m 644 $(MAN5) $(DESTDIR)$(PREFIX)/share/man/man5/)
	$(if $(MAN7),install -m 644 $(MAN7) $(DESTDIR)$(PREFIX)/share/man/man7/)
	install -D -m 644 completions/tsr.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tsr
	install -D -m 644 completions/_tsr $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_tsr
	install -D -m 644 completions/tsr.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/tsr.fish
	@$(TELL_LINKER)

# Folders that are left empty go too, but those that every system has.
uninstall: ## removes what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/tsr $(DESTDIR)$(PREFIX)/lib/libtsr.* $(DESTDIR)$(PREFIX)/lib/pkgconfig/tsr.pc
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/man/man1/,$(notdir $(MAN1))) $(addprefix $(DESTDIR)$(PREFIX)/share/man/man5/,$(notdir $(MAN5))) $(addprefix $(DESTDIR)$(PREFIX)/share/man/man7/,$(notdir $(MAN7)))
	rm -rf $(DESTDIR)$(PREFIX)/include/tsr
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/lib/tsr/,$(notdir $(PLUGINS)) tsr_cuda.pack)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/,bash-completion/completions/tsr zsh/vendor-completions/_tsr fish/vendor_completions.d/tsr.fish)
	@cd $(DESTDIR)$(PREFIX) && rmdir $(if $(filter /usr /usr/local,$(DESTDIR)$(PREFIX)),,-p bin include) share/bash-completion/completions share/bash-completion share/zsh/vendor-completions share/zsh share/fish/vendor_completions.d share/fish lib/pkgconfig lib/tsr $(addprefix share/man/man,1 5 7) 2>/dev/null || :
	@$(TELL_LINKER)

# What is opened when it is first needed (a BLAS with LAPACK, the line editor, the pager) is recommended.
DEB := $(BUILD)/tsr_$(VERSION)_$(shell dpkg --print-architecture 2>/dev/null).deb
deb: all lib ## a Debian package, under build/
	rm -rf $(BUILD)/deb
	$(MAKE) install CONFIG=$(CONFIG) DESTDIR=$(BUILD)/deb PREFIX=/usr
	gzip -9n $(BUILD)/deb/usr/share/man/man*/*
	strip --strip-unneeded $(BUILD)/deb/usr/bin/tsr $(BUILD)/deb/usr/lib/libtsr.so.$(VERSION) $(BUILD)/deb/usr/lib/tsr/*.so
	install -D -m 644 LICENSE $(BUILD)/deb/usr/share/doc/tsr/copyright
	install -D -m 644 CHANGELOG.md $(BUILD)/deb/usr/share/doc/tsr/CHANGELOG.md
	install -d $(BUILD)/deb/DEBIAN
	printf 'Package: tsr\nVersion: %s\nArchitecture: %s\nMaintainer: The authors of tsr <tsr@localhost>\nSection: math\nPriority: optional\nInstalled-Size: %s\nDepends: libc6 (>= 2.36)\nRecommends: libsleef3, libopenblas0-openmp | libopenblas0, libreadline8, less\nDescription: tensor calculator for the terminal\n A small array language with the names of PyTorch that prints what PyTorch prints,\n and shows shapes, strides, reference counts, storages and copies; a filter for\n files of tensors and tables; a course on views and ownership.\n' '$(VERSION)' "$$(dpkg --print-architecture)" "$$(du -sk $(BUILD)/deb | cut -f 1)" >$(BUILD)/deb/DEBIAN/control
	dpkg-deb --root-owner-group --build $(BUILD)/deb $(DEB)

# ---- tests ----
# One Check suite a module, in the room that it tests, all in one program; T=name runs one suite.
TEST_SRC := $(sort $(wildcard tests/*.c tests/core/*/*.c tests/lang/*/*.c))
TRANSCRIPTS = $$(find tests/lang tests/torch tests/systems tests/show tests/programs tests/repl -name '*.txt' | LC_ALL=C sort)
TEST_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(TEST_SRC))
-include $(TEST_OBJ:.o=.d)
TOOL_LIB_OBJ := $(filter-out $(BUILD)/obj/repl/main.o,$(TOOL_OBJ))
DUMMY_FLAGS := $(if $(LIB_DIR),$(LDFLAGS_$(CONFIG))) -std=c17 -D_GNU_SOURCE $(WARN) -fPIC -shared -fvisibility=hidden -Isrc

$(BUILD)/obj/tests/%.o: tests/%.c | compiler
	@mkdir -p $(dir $@)
	$(SAY) '  compile $<'
	$(QUIET)$(CCACHE) $(CC) $(CFLAGS_ALL) -Itests -MMD -MP -c -o $@ $<

$(TEST_OBJ): | $(if $(LIB_DIR),$(LIB_DIR)/lib/libcheck.a)
$(BUILD)/tests/run: $(TEST_OBJ) $(CORE_OBJ) $(TOOL_LIB_OBJ)
	@mkdir -p $(dir $@)
	$(QUIET)$(CC) $(LDFLAGS_$(CONFIG)) $(LDFLAGS) -o $@ $^ $(if $(LIB_DIR),-L$(LIB_DIR)/lib -lcheck,-lcheck -lsubunit) -lrt $(LIBS)

# The language linked with nothing but the core: what points upwards from src/lang is missing here.
LANG_OBJ := $(filter $(BUILD)/obj/lang/%,$(TOOL_OBJ))
$(BUILD)/tests/language_alone: $(BUILD)/obj/tests/lang/language_alone.o $(CORE_OBJ) $(LANG_OBJ)
	@mkdir -p $(dir $@)
	$(QUIET)$(CC) $(LDFLAGS_$(CONFIG)) $(LDFLAGS) -o $@ $^ $(LIBS)

# What tests/oracle/check_parser.py compares with CPython's parser.
$(BUILD)/tests/parse_dump: $(BUILD)/obj/tests/oracle/parse_dump.o $(BUILD)/obj/tests/lang/syntax/ast_dump.o $(CORE_OBJ) $(TOOL_LIB_OBJ)
	@mkdir -p $(dir $@)
	$(QUIET)$(CC) $(LDFLAGS_$(CONFIG)) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests/plugins: tests/plugin/dummy_backend.c src/core/backend.h
	@mkdir -p $@/good $@/old $@/none
	$(CC) $(DUMMY_FLAGS) -o $@/good/libtsr_cuda.so $<
	$(CC) $(DUMMY_FLAGS) -DDUMMY_VERSION=999 -o $@/old/libtsr_cuda.so $<
	$(CC) $(DUMMY_FLAGS) -DDUMMY_DEVICES=0 -o $@/none/libtsr_cuda.so $<
	@touch $@

check: all $(BUILD)/tests/run $(BUILD)/tests/plugins $(BUILD)/tests/language_alone ## the unit tests of the core and the language; T=suite for one
	$(if $(T),,$(BUILD)/tests/language_alone)
	$(if $(T),CK_RUN_SUITE=$(T)) TSR_TEST_BUILD=$(BUILD) $(BUILD)/tests/run

debug asan: ## builds that configuration and runs the unit tests in it (asan: address and undefined-behaviour sanitizers)
	$(MAKE) CONFIG=$@ check

coverage: ## the unit tests, transcripts and the command line's, then each file's line coverage, the least covered first
	$(MAKE) CONFIG=coverage check
	build/coverage/tsr --doctest README.md man/*.[157] $(TRANSCRIPTS)
	for f in tests/repl/*.sh; do sh $$f build/coverage/tsr; done >build/coverage/cli.log 2>&1 || true
	@find build/coverage/obj -path '*/obj/tests' -prune -o -name '*.gcda' -exec gcov -n {} + | \
		awk -F"['%: ]+" '/^File/ {file = $$2 ~ /^src.*\.c$$/ ? $$2 : ""} /^Lines/ && file {printf "%6.2f%% of %4d lines  %s\n", $$3, $$5, file; file = ""}' | sort -n

tsan: ## tensors, every operator and interrupts shared by threads, parallel(), and kernels compiled beside, under the thread sanitizer
	$(MAKE) CONFIG=tsan all build/tsan/tests/run
	for s in tensor alloc threads interrupt; do CK_RUN_SUITE=$$s build/tsan/tests/run || exit 1; done
	OMP_NUM_THREADS=1 build/tsan/tsr --doctest tests/show/parallel.txt
	rm -rf build/tsan/cuda-cache
	TSR_CUDA_CACHE=build/tsan/cuda-cache OMP_NUM_THREADS=1 build/tsan/tsr --simulate-cuda tests/cuda/beside.tsr

# Check forks for each test, and valgrind looks at each child; faults on purpose it takes for the program's own.
VALGRIND := valgrind -q --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --suppressions=scripts/valgrind-known
valgrind: ## the unit tests and some transcripts under valgrind (of the longest sweeps a tenth); T=suite for one
	$(call need,valgrind)
	$(MAKE) CONFIG=debug all build/debug/tests/run build/debug/tests/plugins
	$(if $(T),CK_RUN_SUITE=$(T)) CK_TIMEOUT_MULTIPLIER=30 TSR_TEST_NO_FAULTS=1 TSR_TEST_BUILD=build/debug $(VALGRIND) build/debug/tests/run
	$(if $(T),,for f in tests/systems/*.txt tests/show/*.txt tests/lang/types/[bdlst]*.txt; do $(VALGRIND) build/debug/tsr --doctest $$f || exit 1; done)
	$(if $(T),,printf '%s\r' 'x = ones(2, 3)' 'x.t()' 'def f(a):' '    return a + 1' '' 'f(x)' '1 + x[9]' '%whos' exit | TSR_HISTORY= TERM=xterm script -qec '$(VALGRIND) build/debug/tsr' /dev/null)

# A fuzz target each for the parser and every loader; needs clang. FUZZ_TIME seconds each.
FUZZ_TIME ?= 60
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

fuzz: ## fuzzes the parser and the loaders with libFuzzer (clang), FUZZ_TIME seconds each
	$(MAKE) -j$(shell nproc) CONFIG=fuzz CC=clang $(addprefix build/fuzz/,$(FUZZ_TARGETS))
	for t in $(FUZZ_TARGETS); do mkdir -p build/fuzz/corpus/$$t && build/fuzz/$$t -max_total_time=$(FUZZ_TIME) -rss_limit_mb=4096 -artifact_prefix=build/fuzz/ build/fuzz/corpus/$$t $$(ls -d tests/fuzz/seeds/$$t 2>/dev/null) || exit 1; done

# One library of all of src, which each target takes what it needs from.
build/fuzz/libfuzzed.a: $(CORE_OBJ) $(TOOL_LIB_OBJ)
	rm -f $@ && $(AR) rcs $@ $^

build/fuzz/fuzz_%: build/fuzz/obj/tests/fuzz/fuzz_%.o build/fuzz/libfuzzed.a
	$(CC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(LIBS)
-include $(FUZZ_TARGETS:%=build/fuzz/obj/tests/fuzz/%.d)

bench: all ## tsr beside those of its peers that are there, as ratios in one run (BENCH= further arguments)
	$(call need,g++)
	scripts/bench $(BENCH)

sweep: all ## tsr beside PyTorch, call by call of the whole table, worst first (SWEEP= arguments of bench/sweep/sweep.py)
	python3 bench/sweep/sweep.py --tsr build/tsr $(SWEEP)

# What clang-format lays out: all C but tables (.def) and what a script made.
FORMATTED = $(shell git ls-files src tests examples bench | grep -E '\.(c|h|inc|cpp)$$' | grep -v -e unichar.inc -e pow10.inc -e bessel_tables.inc)

format: ## lays out the C of the whole tree as .clang-format says
	$(call need,clang-format)
	clang-format -i $(FORMATTED)

lint: ## the rules of includes, links, names and layout, and cppcheck's findings
	$(call need,clang-format)
	clang-format --dry-run -Werror $(FORMATTED)
	scripts/check-includes
	$(MAKE) -s all && scripts/check-links $(BUILD)
	scripts/check-ownership
	$(call need,cppcheck)
	cppcheck -q --std=c11 --enable=warning,portability --suppressions-list=scripts/lint-known --error-exitcode=1 -Isrc src

docs man: all ## prints man/tsr-ops.7 and the table of ideas from their tables, draws the pictures, checks the transcripts in the documentation
	$(BUILD)/tsr --print-man ops > man/tsr-ops.7
	$(BUILD)/tsr --print-man ideas > $(BUILD)/ideas.7
	sed -i -e '/^\.\\" ideas$$/,/^\.\\" end of ideas$$/{//!d}' -e '/^\.\\" ideas$$/r $(BUILD)/ideas.7' man/tsr-ownership.7
	scripts/pictures $(BUILD)/tsr README.md man/*.[157] lessons/*.md lessons/documents/*.md lessons/de/0*.md
	for f in README.md man/*.[157] lessons/*.md lessons/documents/*.md lessons/de/0*.md; do $(BUILD)/tsr --doctest $$f || exit 1; done

config: ## what was found on this machine
	@printf '%-16s %s\n' check "$$(pkg-config --modversion check 2>/dev/null || echo not found)"
	@printf '%-16s %s\n' sleef "$$(ls /usr/lib/*/libsleef.so.3 2>/dev/null | head -1 | grep . || echo not found)"
	@printf '%-16s %s\n' openblas "$$(ls /usr/lib/*/openblas-openmp/libopenblas.so.0 /usr/lib/*/libopenblas.so.0 2>/dev/null | head -1 || true)"

help: ## this list
	@awk -F ':.*## ' '/^[a-z -]+:.*## /{printf "%-24s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

clean: ## removes build/
	rm -rf build

.PHONY: all cuda-check cuda-pack compiler lib web check-web check-i386 $(BUILD)/tsr.pc install uninstall deb check debug asan coverage tsan valgrind fuzz bench sweep format lint docs man config help clean

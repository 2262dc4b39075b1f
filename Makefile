# tsr: `make` builds the release binary, `make help` lists the targets.
# CONFIG picks the build folder and flags: release (default), debug, asan, coverage.
CONFIG ?= release
BUILD ?= build/$(CONFIG)
PREFIX ?= /usr/local
DESTDIR ?=
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
CCACHE := $(shell command -v ccache 2>/dev/null)

CFLAGS_release := -O2 -g1 -DNDEBUG
CFLAGS_debug := -O0 -g3 -DTSR_DEBUG
CFLAGS_asan := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DTSR_DEBUG
CFLAGS_coverage := -O0 -g --coverage -DTSR_DEBUG
LDFLAGS_asan := -fsanitize=address,undefined
LDFLAGS_coverage := --coverage

WARN := -Wall -Wextra -Werror
CFLAGS_ALL := -std=c17 -D_GNU_SOURCE $(WARN) -fPIC -fvisibility=hidden -fopenmp -ffp-contract=off -fno-math-errno -fno-trapping-math -Isrc -Isrc/core $(CFLAGS_$(CONFIG)) $(CFLAGS)
# Static where Debian has the archive: every shared library costs each start about 0.1 ms.
LIBS := -Wl,-Bstatic -ltommath -lutf8proc -ljansson -lminizip -lz -lprotobuf-nanopb -Wl,-Bdynamic -lsleef -fopenmp -lm -ldl -lpthread

CORE_SRC := $(sort $(wildcard src/core/*.c src/core/kernels/*.c src/core/ops/*.c))
REPL_SRC := $(sort $(wildcard src/repl/*.c))
OBJ = $(patsubst src/%.c,$(BUILD)/obj/%.o,$(1))
CORE_OBJ := $(call OBJ,$(CORE_SRC))
REPL_OBJ := $(call OBJ,$(REPL_SRC))

all: $(BUILD)/tsr ## the binary (build/tsr), the default
	@ln -sfn $(CONFIG)/tsr build/tsr

$(BUILD)/tsr: $(CORE_OBJ) $(REPL_OBJ)
	$(CC) $(LDFLAGS_$(CONFIG)) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/obj/%.o: src/%.c
	@mkdir -p $(dir $@)
	$(CCACHE) $(CC) $(CFLAGS_ALL) $(TARGET_FLAGS) -MMD -MP -c -o $@ $<

# Kernels: optimised harder, and some compiled for several instruction sets, chosen at run time (kernels/simd.h).
ifeq ($(CONFIG),release)
$(BUILD)/obj/core/kernels/%.o: TARGET_FLAGS += -O3
endif
ifeq ($(shell uname -m),x86_64)
$(BUILD)/obj/core/kernels/%_avx2.o: TARGET_FLAGS += -mavx2 -mfma -mf16c
$(BUILD)/obj/core/kernels/%_avx512.o: TARGET_FLAGS += -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl
endif

-include $(CORE_OBJ:.o=.d) $(REPL_OBJ:.o=.d)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

clean: ## removes build/
	rm -rf build

.PHONY: all help clean

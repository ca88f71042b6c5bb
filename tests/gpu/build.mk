# SPDX-License-Identifier: MIT
#
# Builds the programs that tests/gpu/run starts, without configure. GNU make, in a folder of its
# own, where `run` wrote settings.mk, nvcc.mk and config.h:
#     make -f SOURCE/tests/gpu/build.mk
include settings.mk
-include nvcc.mk

FRAGMENTS = $(SRC)/Makefile.am $(shell find $(SRC)/engine $(SRC)/src $(SRC)/tests -name local.mk | sort)
sources = $(sort $(shell awk -v list=$(1) -v have=' $(HAVE) ' -f $(SRC)/tests/gpu/sources.awk \
	-v top=$(SRC)/ $(FRAGMENTS)))
objects = $(patsubst %,obj/%.o,$(1))
program_of = $(call objects,$(1) tests/gpu/absent.c) $(EXTRA_OBJECTS) libengine.a

# Of pictures nothing is decoded here, and there are no other hosts, so that libpng, libjpeg and
# libcrypto need not be there.
LEFT_OUT = engine/data/picture/jpeg.c engine/data/picture/png.c src/system/sha256.c
ENGINE = $(filter-out $(LEFT_OUT),$(foreach part,base spec net plan data device train board \
	cuda_backend $(CPU),$(call sources,lib$(part)_a_SOURCES))) tests/gpu/lite/codecs.c tests/gpu/lite/sha256.c
TELEMETRY = $(filter engine/nvml/% engine/telemetry/%,$(call sources,libserver_a_SOURCES))
LITE = $(STAND_INS:%=tests/gpu/lite/%.c)

CFLAGS ?= -O2 -g
INCLUDES = $(if $(STAND_INS),-I$(SRC)/tests/gpu/lite) -I. -I$(SRC) -I$(SRC)/src $(CUDA_INCLUDES)
DEFINES = -DHAVE_CONFIG_H -D_GNU_SOURCE -DDPARTUI_PKGDATADIR='"$(SRC)/etc"' \
	-DDPARTUI_PKGLIBDIR='"/nonexistent"' -DDPARTUI_SYSCONFDIR='"/etc"'
COMPILE = $(CC) -std=gnu11 -Wall -Wextra -Wno-format-truncation -Wno-unknown-pragmas $(DEFINES) \
	$(TEST_DEFINES) $(INCLUDES) -MD -MP -pthread
COMPILED = $(SRC) $(CC) $(TEST_DEFINES) $(CUDA_INCLUDES)

TRIAL = tests/reference/trial.c tests/reference/refnet.c tests/reference/refnet_conv.c tests/reference/refnet_ops.c tests/support.c \
	tests/reference/conformance_ops.c tests/reference/conformance_net.c tests/reference/conformance_rough.c \
	tests/reference/conformance_slices.c tests/reference/conformance_stages.c tests/reference/stage_pipeline.c
KERNELS = $(call sources,tests_engine_device_cuda_kernels_test_kernels_SOURCES)
PROGRAMS = gpu-info gpu-probe gpu-train test_gpu_device test_gpu_runs test_gpu_nccl test_kernels \
	test_conv_sim test_matmul_sim

all: $(PROGRAMS)

gpu-info: $(call program_of,tests/gpu/info.c)
gpu-probe: $(call program_of,tests/gpu/probe.c $(call sources,gpu_probe_parts) tests/support.c)
gpu-train: $(call program_of,tests/gpu/train.c)
test_gpu_device: $(call program_of,tests/gpu/test_gpu_device.c $(TRIAL))
test_gpu_runs: $(call program_of,tests/gpu/test_gpu_runs.c tests/engine/train/run/parallel_fixture.c \
	tests/recorder.c tests/support.c tests/trajectory.c)
test_kernels: $(call program_of,$(KERNELS))
test_conv_sim: $(call program_of,$(call sources,tests_engine_device_cuda_dnn_test_conv_sim_SOURCES))
test_matmul_sim: $(call program_of,$(call sources,tests_engine_device_cuda_dnn_test_matmul_sim_SOURCES))
test_gpu_nccl: $(call program_of,tests/gpu/test_gpu_nccl.c $(TRIAL))

$(PROGRAMS):
	@echo '  LINK    $@'
	@$(CC) $(OPENMP) -pthread -o $@ $^ $(LIBRARIES) $(CUDA_LIBRARIES) -lstdc++ -lm -ldl

MEMBERS = $(call objects,$(ENGINE) $(TELEMETRY) $(LITE))

libengine.a: $(MEMBERS) members
	@rm -f $@
	@$(AR) cr $@ $(MEMBERS)

# These change when what they say does.
members: FORCE
	@echo '$(MEMBERS)' | cmp -s - $@ || echo '$(MEMBERS)' >$@

compiled: FORCE
	@echo '$(COMPILED)' | cmp -s - $@ || echo '$(COMPILED)' >$@

stood-in: FORCE
	@echo '$(STAND_INS)' | cmp -s - $@ || echo '$(STAND_INS)' >$@

# With other stand-ins those are compiled again that include a header which may be one.
$(patsubst %.d,%.o,$(shell grep -rlE '/(jansson|libconfig|zlib|check)\.h' obj --include='*.d' \
	2>/dev/null)): stood-in

# As in the fragments.
obj/engine/data/%: private CFLAGS += -ffp-contract=off
obj/engine/train/%: private CFLAGS += -fopenmp-simd
obj/engine/device/cpu/%: private CFLAGS += $(OPENMP)

obj/%.c.o: $(SRC)/%.c config.h compiled
	@mkdir -p $(@D)
	@echo '  CC      $*.c'
	@$(COMPILE) $(CFLAGS) -c -o $@ $<

obj/%.cu.o: $(SRC)/%.cu config.h nvcc.mk
	@mkdir -p $(@D)
	@echo '  NVCC    $*.cu'
	@$(NVCC) -std=c++17 -O3 --generate-line-info $(GENCODE) $(DEFINES) $(INCLUDES) \
	  -Xcompiler=-fno-exceptions,-fno-rtti -MD -MP -MF $@.d -c -o $@ $<

.PHONY: all FORCE
.SUFFIXES:
-include $(shell find obj -name '*.d' 2>/dev/null)

# Kernels, compiled by nvcc; the rest is C.
cuda_kernels = \
	%D%/activation.cu \
	%D%/clip.cu \
	%D%/dropout.cu \
	%D%/elementwise.cu \
	%D%/flatten.cu \
	%D%/global_pool.cu \
	%D%/group_norm.cu \
	%D%/grouped.cu \
	%D%/input.cu \
	%D%/loss.cu \
	%D%/norm_backward.cu \
	%D%/norm_channels.cu \
	%D%/norm_take.cu \
	%D%/norm_forward.cu \
	%D%/pool.cu \
	%D%/update.cu \
	%D%/sums.cu
# What only the kernels include. The arithmetic needs no toolkit and is tested without one.
cuda_math = \
	%D%/activation_math.h \
	%D%/dropout_math.h \
	%D%/input_math.h \
	%D%/norm_math.h \
	%D%/philox.h \
	%D%/window_math.h
cuda_kernel_parts = \
	%D%/each.h \
	%D%/norm_channel.h \
	%D%/pack.h \
	%D%/sums.h

if HAVE_CUDA_TOOLKIT
libcuda_backend_a_SOURCES += %D%/kernels.h %D%/launch.h
endif

libnet_a_SOURCES += \
	%D%/file.c %D%/file.h \
	%D%/layers.c %D%/layers.h \
	%D%/order.c %D%/order.h \
	%D%/recipe.c %D%/recipe.h \
	%D%/text.c %D%/text.h

modelsdir = $(pkgdatadir)/models
dist_models_DATA = \
	etc/models/alexnet.conf etc/models/cifar-cnn.conf etc/models/lenet.conf \
	etc/models/linear.conf etc/models/mobilenet-small.conf etc/models/resnet18.conf \
	etc/models/smallnet.conf

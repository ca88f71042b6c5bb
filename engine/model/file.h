/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_MODEL_FILE_H
#define DPARTUI_ENGINE_MODEL_FILE_H

/*
 * The format of model files (read by net_load and net_load_default in engine/net/net.h).
 *
 * A model file is one libconfig file of at most 1 MiB; @include is refused. Settings of the file:
 *
 *   name             as shown and recorded; default: the file's name without ".conf"
 *   input            [channels, height, width]: the only input the model takes
 *   default_input    the same, where no data say otherwise: the model adapts to its data
 *   classes          the only number of classes
 *   default_classes  the same, where no data say otherwise
 *   mean, std        x = (pixel/255 - mean) / std: one number, or one per channel of the input
 *   layers           ( layer, layer, ... ), from the input to the logits, one per class
 *   order            see below
 *
 * One of input and default_input, and one of classes and default_classes, must be there. A layer is
 * a group with a `type`, or only the type's name ("relu") where no setting is needed:
 *
 *   conv            channels, kernel; stride = 1, pad = 0, bias = true
 *   batchnorm       eps = 1e-5, momentum = 0.1
 *   relu sigmoid tanh flatten global_avgpool
 *   maxpool avgpool kernel; stride = kernel, pad = 0 (at most half of the kernel; avgpool counts
 * it) linear          outputs; bias = true; flattens its input dropout         p = 0.5: share of
 * values dropped in training sequence        layers; a group with a name of its own residual
 * layers; the sum of what they give and the input, or what `shortcut` (a second list of layers)
 * makes of the input; then the layers of `after`
 *
 * kernel, stride and pad are one number or [height, width]. channels and outputs may be "classes".
 *
 * Every layer may have `name` and `repeat`. Names are PyTorch's: that of a parameter is made of the
 * names of the groups around it, its layer's and its own ("fc.1.weight"). A layer without a name is
 * called by its place in its list, counted from 0; in a residual those of `shortcut` and `after` by
 * "shortcut.0", "after.0". `repeat = N` puts a layer or group N times in a row: with a name they
 * are NAME.0, NAME.1 ...; without one each has a place of its own.
 *
 * Weight files hold the parameters in the order of the layers: those of `layers`, `shortcut` and
 * `after`. Where PyTorch's module has another one, `order` of the file, of a sequence or of a
 * residual lists the names of all its layers that have parameters.
 *
 * etc/models/resnet18.conf is the commented example.
 */

#endif

# SPDX-License-Identifier: MIT
#
# fish completion for dpartui.
# Made by 'dpartui completion fish' from the program's own tables: change those.

# The words before the cursor. Before the command --host is as good as after it.
function __dpartui_words
    set -l words (commandline -opc)
    if test "$words[2]" = --host; and test (count $words) -gt 2
        set -e words[2..3]
    else if string match -q -- '--host=*' "$words[2]"
        set -e words[2]
    end
    printf '%s\n' $words
end

# The command that was given; fails when it is another one than $argv.
function __dpartui_command --argument-names wanted
    set -l words (__dpartui_words)
    set -l command "$words[2]"
    if string match -q -- '-*' "$command"
        set command ''
    end
    test "$command" = "$wanted"
end

function __dpartui_first
    test (count (__dpartui_words)) -eq 1
end

# Is this the argument NUMBER of COMMAND, some of whose options take arguments?
function __dpartui_argument --argument-names command number
    __dpartui_command $command; or return
    set -l words (__dpartui_words)
    set -l takes $argv[3..-1]
    set -l place 0
    set -l option ''
    set -l ended ''
    for word in $words[3..-1]
        if test -n "$option"
            set option ''
        else if test -n "$ended"; or not string match -q -- '-?*' $word
            set place (math $place + 1)
        else if test "$word" = --
            set ended yes
        else if contains -- $word $takes
            set option $word
        end
    end
    test -z "$option"; and test $place -eq (math $number - 1)
end

# Offer an argument: SOURCE (words that only the machine knows), FILES ('*': any, '/': folders,
# else their ending), LIST (not empty: with commas), and fixed words.
function __dpartui_offer --argument-names source files list
    set -l program (string replace -r '^~/' "$HOME/" -- (commandline -opc)[1])
    set -l token (commandline -ct | string replace -r '^--[^=]*=' '')
    set -l before ''
    if test -n "$list"
        set before (string replace -r '[^,]*$' '' -- "$token")
    end
    printf '%s\n' $argv[4..-1]
    # Words of this machine are none of another host.
    if not contains -- "$source" hosts models; and string match -q -- '--host*' (commandline -opc)
        set source ''
    end
    if test -n "$source"
        for word in ($program completion words $source 2>/dev/null)
            printf '%s\n' "$before$word"
        end
    end
    if test -n "$files"
        set -l ending (string replace -r '^[*/]$' '' -- $files | string escape --style=regex)
        if test $files = /
            set ending /
        end
        # A command that has no completions of its own is offered all files.
        complete -C "__dpartui_nothing $token" | string match -r '.*(?:/|'$ending')$'
    end
end

complete -c dpartui -e
complete -c dpartui -f
complete -c dpartui -n __dpartui_first -a train -d 'Submit a run and follow it to its end'
complete -c dpartui -n __dpartui_first -a follow -d 'Show the progress of a run that waits or trains'
complete -c dpartui -n __dpartui_first -a eval -d 'Test saved weights: accuracy and loss on the test rows'
complete -c dpartui -n __dpartui_first -a predict -d 'What saved weights take pictures for: the class of each PNG or JPEG file'
complete -c dpartui -n __dpartui_first -a compare -d 'Train with several numbers of devices, strategies or other settings, and compare'
complete -c dpartui -n __dpartui_first -a devices -d 'List the devices of this machine, and what uses its GPUs'
complete -c dpartui -n __dpartui_first -a model -d 'Show a network\'s layers, parameters, FLOPs and memory'
complete -c dpartui -n __dpartui_first -a runs -d 'List runs, or change what is kept of them'
complete -c dpartui -n __dpartui_first -a show -d 'Show a run, epoch by epoch, or how two differ'
complete -c dpartui -n __dpartui_first -a export -d 'Write runs as a table, as JSON or as a picture'
complete -c dpartui -n __dpartui_first -a stop -d 'Stop a run, or take it out of the queue'
complete -c dpartui -n __dpartui_first -a check -d 'Check whether the run store and all checkpoints are whole'
complete -c dpartui -n __dpartui_first -a fetch -d 'Download fashion-mnist, mnist or cifar10'
complete -c dpartui -n __dpartui_first -a completion -d 'Print a shell\'s script for completion'
complete -c dpartui -n __dpartui_first -a engine -d 'Start, stop or look at the background engine'
complete -c dpartui -n __dpartui_first -a screen -d 'Write the workbench\'s screen as text'
complete -c dpartui -n "__dpartui_command ''" -l model -x -a "(__dpartui_offer 'models' '.conf' '')" -d 'network, by name or from a model description'
complete -c dpartui -n "__dpartui_command ''" -l data -x -a "(__dpartui_offer '' '/' '' 'fashion-mnist' 'mnist' 'cifar10' 'glyphs' 'random:')" -d 'fashion-mnist, mnist, cifar10, glyphs, random:ROWSxCOLUMNS, a folder or .npz'
complete -c dpartui -n "__dpartui_command ''" -l data-dir -x -a "(__dpartui_offer '' '/' '')" -d 'where named data lie'
complete -c dpartui -n "__dpartui_command ''" -l image-size -x -a "(__dpartui_offer '' '' '' 'own')" -d 'of pictures of a folder: resized, then cut; own: all have one'
complete -c dpartui -n "__dpartui_command ''" -l image-colour -x -a "(__dpartui_offer '' '' '' 'auto' 'grey' 'colour')" -d 'grey, colour, or auto: if any has it'
complete -c dpartui -n "__dpartui_command ''" -l test-share -x -d 'of each class, where there is no test/'
complete -c dpartui -n "__dpartui_command ''" -l skip-broken -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'leave out what cannot be read'
complete -c dpartui -n "__dpartui_command ''" -l devices -x -a "(__dpartui_offer 'devices' '' ',' 'all')" -d 'cpu:0-3; cuda:0,cuda:2-3; 0,1 (GPUs); free:N; all'
complete -c dpartui -n "__dpartui_command ''" -l gpus -x -d 'the first N GPUs'
complete -c dpartui -n "__dpartui_command ''" -l cpu-threads -x -d 'threads of each CPU device; 0: its share of the cores'
complete -c dpartui -n "__dpartui_command ''" -l hosts -x -d 'train on these hosts, with devices on each'
complete -c dpartui -n "__dpartui_command ''" -l hosts-file -x -a "(__dpartui_offer '' '*' '')" -d 'the same, a host to a line'
complete -c dpartui -n "__dpartui_command ''" -l launcher -x -d 'starts them: mpirun (default), srun, or a command with %n, %h, %p'
complete -c dpartui -n "__dpartui_command ''" -l host-limit -x -d 'of silence after which a host is given up'
complete -c dpartui -n "__dpartui_command ''" -l restarts -x -d 'resume by itself after the loss of a host, up to N times'
complete -c dpartui -n "__dpartui_command ''" -l batch -x -d 'global batch size, over all devices'
complete -c dpartui -n "__dpartui_command ''" -l lr -x -d 'learning rate'
complete -c dpartui -n "__dpartui_command ''" -l lr-schedule -x -a "(__dpartui_offer '' '' '' 'constant' 'step:' 'multistep:' 'cosine' 'linear' 'one-cycle' 'triangle' 'range')" -d 'constant, step:N, multistep:N,M, cosine, linear, one-cycle, ...'
complete -c dpartui -n "__dpartui_command ''" -l warmup -x -d 'in which lr rises from near 0; 0: none'
complete -c dpartui -n "__dpartui_command ''" -l optimizer -x -a "(__dpartui_offer '' '' '' 'sgd' 'nesterov' 'adam' 'adamw' 'rmsprop')" -d 'sgd, nesterov, adam, adamw or rmsprop'
complete -c dpartui -n "__dpartui_command ''" -l momentum -x -d 'of sgd, nesterov and rmsprop'
complete -c dpartui -n "__dpartui_command ''" -l weight-decay -x -d 'share of each weight that is taken off'
complete -c dpartui -n "__dpartui_command ''" -l beta1 -x -d 'decay of adam\'s mean of gradients'
complete -c dpartui -n "__dpartui_command ''" -l beta2 -x -d 'decay of adam\'s and rmsprop\'s mean of squares'
complete -c dpartui -n "__dpartui_command ''" -l eps -x -d 'added to the root of that mean'
complete -c dpartui -n "__dpartui_command ''" -l no-decay -x -a "(__dpartui_offer '' '' '' 'none' 'norm-bias')" -d 'norm-bias: weight decay spares these'
complete -c dpartui -n "__dpartui_command ''" -l clip-norm -x -d 'most that the norm of all gradients is'
complete -c dpartui -n "__dpartui_command ''" -l ema -x -d 'evaluate and save an average of the weights'
complete -c dpartui -n "__dpartui_command ''" -l epochs -x -d 'passes over the training rows'
complete -c dpartui -n "__dpartui_command ''" -l seed -x -d 'of weights, order, dropout and made data'
complete -c dpartui -n "__dpartui_command ''" -l strategy -x -a "(__dpartui_offer '' '' '' 'data' 'pipeline' 'tensor' 'mixed')" -d 'what devices divide: rows, the network, its layers, or rows and linear layers'
complete -c dpartui -n "__dpartui_command ''" -l micro-batches -x -d 'parts of a mini-batch in a pipeline (default: 4 for each stage)'
complete -c dpartui -n "__dpartui_command ''" -l replicas -x -d 'pipelines that divide the rows, each on some of the devices'
complete -c dpartui -n "__dpartui_command ''" -l stages -x -d 'last layer of each stage but the last (default: by measured times)'
complete -c dpartui -n "__dpartui_command ''" -l memory-limit -x -d 'memory that each device may use, such as 200M; 0: no limit'
complete -c dpartui -n "__dpartui_command ''" -l split -x -a "(__dpartui_offer '' '' '' 'chunk' 'even' 'balanced' 'weighted:' 'auto')" -d 'chunk, even, balanced, auto or weighted:W0,W1,...'
complete -c dpartui -n "__dpartui_command ''" -l sync -x -a "(__dpartui_offer '' '' '' 'allreduce' 'reduce-broadcast' 'central')" -d 'allreduce, reduce-broadcast or central'
complete -c dpartui -n "__dpartui_command ''" -l sync-bn -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'BatchNorm statistics over all devices'
complete -c dpartui -n "__dpartui_command ''" -l dtype -x -a "(__dpartui_offer '' '' '' 'default' 'f32' 'tf32' 'bf16')" -d 'f32, tf32 or bf16'
complete -c dpartui -n "__dpartui_command ''" -l init -x -a "(__dpartui_offer '' '.safetensors' '' 'normal:' 'uniform:' 'xavier-uniform' 'xavier-normal' 'kaiming-uniform' 'kaiming-normal' 'default')" -d 'normal:STD, kaiming-normal ..., default or a .safetensors file'
complete -c dpartui -n "__dpartui_command ''" -l recipe -x -a "(__dpartui_offer '' '' '' 'auto' 'none')" -d 'what the model file says of training'
complete -c dpartui -n "__dpartui_command ''" -l order -x -a "(__dpartui_offer '' '' '' 'shuffle' 'sequential')" -d 'shuffle or sequential'
complete -c dpartui -n "__dpartui_command ''" -l augment -x -a "(__dpartui_offer '' '' '' 'none' 'flip' 'crop' 'flip-crop')" -d 'of training pictures: none, flip, crop, flip-crop'
complete -c dpartui -n "__dpartui_command ''" -l label-smoothing -x -d 'share of a label for all classes alike'
complete -c dpartui -n "__dpartui_command ''" -l checkpoint-every -x -d 'epochs, minutes as in 10m, or off'
complete -c dpartui -n "__dpartui_command ''" -l noise-every -x -d 'steps between measures of the noise by one device; 0: none'
complete -c dpartui -n "__dpartui_command ''" -l deterministic -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'the same result in every run, if slower'
complete -c dpartui -n "__dpartui_command ''" -l train-rows -x -d 'use the first N training rows; 0: all'
complete -c dpartui -n "__dpartui_command ''" -l test-rows -x -d 'use the first N test rows; 0: all'
complete -c dpartui -n "__dpartui_command ''" -l validation -x -d 'share of the training rows to choose by; 0: none'
complete -c dpartui -n "__dpartui_command ''" -l patience -x -d 'end after so many without a better accuracy; 0: never'
complete -c dpartui -n "__dpartui_command ''" -l stop-at-acc -x -d 'end at this accuracy; 0: at none'
complete -c dpartui -n "__dpartui_command ''" -l max-steps -x -d 'stop after N steps in all; 0: no limit'
complete -c dpartui -n "__dpartui_command ''" -l notify -x -a "(__dpartui_offer '' '' '' 'bell' 'COMMAND')" -d 'when a run ends: ring, or run this'
complete -c dpartui -n "__dpartui_command ''" -l save -x -a "(__dpartui_offer '' '*' '')" -d 'write the final weights as safetensors'
complete -c dpartui -n "__dpartui_command ''" -l save-best -x -a "(__dpartui_offer '' '*' '')" -d 'write those of the best epoch'
complete -c dpartui -n "__dpartui_command ''" -l log -x -a "(__dpartui_offer '' '*' '')" -d 'write the events, one JSON object a line'
complete -c dpartui -n "__dpartui_command ''" -l tensorboard -x -a "(__dpartui_offer '' '/' '')" -d 'write DIR/run-N for TensorBoard'
complete -c dpartui -n "__dpartui_command ''" -l start -d 'submit that run at once, unless one is running'
complete -c dpartui -n "__dpartui_command ''" -l charset -x -a "(__dpartui_offer '' '' '' 'auto' 'utf8' 'ascii')" -d 'auto (by the locale), utf8 or ascii'
complete -c dpartui -n "__dpartui_command ''" -l palette -x -a "(__dpartui_offer '' '' '' 'default' 'colour-blind')" -d 'colours: default or colour-blind'
complete -c dpartui -n "__dpartui_command ''" -l background -x -a "(__dpartui_offer '' '' '' 'auto' 'dark' 'light')" -d 'of the terminal: auto, dark or light'
complete -c dpartui -n "__dpartui_command ''" -l canvas -x -a "(__dpartui_offer '' '' '' 'auto' 'braille' 'quadrant' 'ascii')" -d 'of curves: auto, braille, quadrant or ascii'
complete -c dpartui -n "__dpartui_command ''" -l mono -d 'no colours'
complete -c dpartui -n "__dpartui_command ''" -l record -x -a "(__dpartui_offer '' '*' '')" -d 'write down the session for `dpartui screen --replay`'
complete -c dpartui -n "__dpartui_command ''" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command ''" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command ''" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_command 'train'" -l model -x -a "(__dpartui_offer 'models' '.conf' '')" -d 'network, by name or from a model description'
complete -c dpartui -n "__dpartui_command 'train'" -l data -x -a "(__dpartui_offer '' '/' '' 'fashion-mnist' 'mnist' 'cifar10' 'glyphs' 'random:')" -d 'fashion-mnist, mnist, cifar10, glyphs, random:ROWSxCOLUMNS, a folder or .npz'
complete -c dpartui -n "__dpartui_command 'train'" -l data-dir -x -a "(__dpartui_offer '' '/' '')" -d 'where named data lie'
complete -c dpartui -n "__dpartui_command 'train'" -l image-size -x -a "(__dpartui_offer '' '' '' 'own')" -d 'of pictures of a folder: resized, then cut; own: all have one'
complete -c dpartui -n "__dpartui_command 'train'" -l image-colour -x -a "(__dpartui_offer '' '' '' 'auto' 'grey' 'colour')" -d 'grey, colour, or auto: if any has it'
complete -c dpartui -n "__dpartui_command 'train'" -l test-share -x -d 'of each class, where there is no test/'
complete -c dpartui -n "__dpartui_command 'train'" -l skip-broken -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'leave out what cannot be read'
complete -c dpartui -n "__dpartui_command 'train'" -l devices -x -a "(__dpartui_offer 'devices' '' ',' 'all')" -d 'cpu:0-3; cuda:0,cuda:2-3; 0,1 (GPUs); free:N; all'
complete -c dpartui -n "__dpartui_command 'train'" -l gpus -x -d 'the first N GPUs'
complete -c dpartui -n "__dpartui_command 'train'" -l cpu-threads -x -d 'threads of each CPU device; 0: its share of the cores'
complete -c dpartui -n "__dpartui_command 'train'" -l hosts -x -d 'train on these hosts, with devices on each'
complete -c dpartui -n "__dpartui_command 'train'" -l hosts-file -x -a "(__dpartui_offer '' '*' '')" -d 'the same, a host to a line'
complete -c dpartui -n "__dpartui_command 'train'" -l launcher -x -d 'starts them: mpirun (default), srun, or a command with %n, %h, %p'
complete -c dpartui -n "__dpartui_command 'train'" -l host-limit -x -d 'of silence after which a host is given up'
complete -c dpartui -n "__dpartui_command 'train'" -l restarts -x -d 'resume by itself after the loss of a host, up to N times'
complete -c dpartui -n "__dpartui_command 'train'" -l batch -x -d 'global batch size, over all devices'
complete -c dpartui -n "__dpartui_command 'train'" -l lr -x -d 'learning rate'
complete -c dpartui -n "__dpartui_command 'train'" -l lr-schedule -x -a "(__dpartui_offer '' '' '' 'constant' 'step:' 'multistep:' 'cosine' 'linear' 'one-cycle' 'triangle' 'range')" -d 'constant, step:N, multistep:N,M, cosine, linear, one-cycle, ...'
complete -c dpartui -n "__dpartui_command 'train'" -l warmup -x -d 'in which lr rises from near 0; 0: none'
complete -c dpartui -n "__dpartui_command 'train'" -l optimizer -x -a "(__dpartui_offer '' '' '' 'sgd' 'nesterov' 'adam' 'adamw' 'rmsprop')" -d 'sgd, nesterov, adam, adamw or rmsprop'
complete -c dpartui -n "__dpartui_command 'train'" -l momentum -x -d 'of sgd, nesterov and rmsprop'
complete -c dpartui -n "__dpartui_command 'train'" -l weight-decay -x -d 'share of each weight that is taken off'
complete -c dpartui -n "__dpartui_command 'train'" -l beta1 -x -d 'decay of adam\'s mean of gradients'
complete -c dpartui -n "__dpartui_command 'train'" -l beta2 -x -d 'decay of adam\'s and rmsprop\'s mean of squares'
complete -c dpartui -n "__dpartui_command 'train'" -l eps -x -d 'added to the root of that mean'
complete -c dpartui -n "__dpartui_command 'train'" -l no-decay -x -a "(__dpartui_offer '' '' '' 'none' 'norm-bias')" -d 'norm-bias: weight decay spares these'
complete -c dpartui -n "__dpartui_command 'train'" -l clip-norm -x -d 'most that the norm of all gradients is'
complete -c dpartui -n "__dpartui_command 'train'" -l ema -x -d 'evaluate and save an average of the weights'
complete -c dpartui -n "__dpartui_command 'train'" -l epochs -x -d 'passes over the training rows'
complete -c dpartui -n "__dpartui_command 'train'" -l seed -x -d 'of weights, order, dropout and made data'
complete -c dpartui -n "__dpartui_command 'train'" -l strategy -x -a "(__dpartui_offer '' '' '' 'data' 'pipeline' 'tensor' 'mixed')" -d 'what devices divide: rows, the network, its layers, or rows and linear layers'
complete -c dpartui -n "__dpartui_command 'train'" -l micro-batches -x -d 'parts of a mini-batch in a pipeline (default: 4 for each stage)'
complete -c dpartui -n "__dpartui_command 'train'" -l replicas -x -d 'pipelines that divide the rows, each on some of the devices'
complete -c dpartui -n "__dpartui_command 'train'" -l stages -x -d 'last layer of each stage but the last (default: by measured times)'
complete -c dpartui -n "__dpartui_command 'train'" -l memory-limit -x -d 'memory that each device may use, such as 200M; 0: no limit'
complete -c dpartui -n "__dpartui_command 'train'" -l split -x -a "(__dpartui_offer '' '' '' 'chunk' 'even' 'balanced' 'weighted:' 'auto')" -d 'chunk, even, balanced, auto or weighted:W0,W1,...'
complete -c dpartui -n "__dpartui_command 'train'" -l sync -x -a "(__dpartui_offer '' '' '' 'allreduce' 'reduce-broadcast' 'central')" -d 'allreduce, reduce-broadcast or central'
complete -c dpartui -n "__dpartui_command 'train'" -l sync-bn -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'BatchNorm statistics over all devices'
complete -c dpartui -n "__dpartui_command 'train'" -l dtype -x -a "(__dpartui_offer '' '' '' 'default' 'f32' 'tf32' 'bf16')" -d 'f32, tf32 or bf16'
complete -c dpartui -n "__dpartui_command 'train'" -l init -x -a "(__dpartui_offer '' '.safetensors' '' 'normal:' 'uniform:' 'xavier-uniform' 'xavier-normal' 'kaiming-uniform' 'kaiming-normal' 'default')" -d 'normal:STD, kaiming-normal ..., default or a .safetensors file'
complete -c dpartui -n "__dpartui_command 'train'" -l recipe -x -a "(__dpartui_offer '' '' '' 'auto' 'none')" -d 'what the model file says of training'
complete -c dpartui -n "__dpartui_command 'train'" -l order -x -a "(__dpartui_offer '' '' '' 'shuffle' 'sequential')" -d 'shuffle or sequential'
complete -c dpartui -n "__dpartui_command 'train'" -l augment -x -a "(__dpartui_offer '' '' '' 'none' 'flip' 'crop' 'flip-crop')" -d 'of training pictures: none, flip, crop, flip-crop'
complete -c dpartui -n "__dpartui_command 'train'" -l label-smoothing -x -d 'share of a label for all classes alike'
complete -c dpartui -n "__dpartui_command 'train'" -l checkpoint-every -x -d 'epochs, minutes as in 10m, or off'
complete -c dpartui -n "__dpartui_command 'train'" -l noise-every -x -d 'steps between measures of the noise by one device; 0: none'
complete -c dpartui -n "__dpartui_command 'train'" -l deterministic -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'the same result in every run, if slower'
complete -c dpartui -n "__dpartui_command 'train'" -l train-rows -x -d 'use the first N training rows; 0: all'
complete -c dpartui -n "__dpartui_command 'train'" -l test-rows -x -d 'use the first N test rows; 0: all'
complete -c dpartui -n "__dpartui_command 'train'" -l validation -x -d 'share of the training rows to choose by; 0: none'
complete -c dpartui -n "__dpartui_command 'train'" -l patience -x -d 'end after so many without a better accuracy; 0: never'
complete -c dpartui -n "__dpartui_command 'train'" -l stop-at-acc -x -d 'end at this accuracy; 0: at none'
complete -c dpartui -n "__dpartui_command 'train'" -l max-steps -x -d 'stop after N steps in all; 0: no limit'
complete -c dpartui -n "__dpartui_command 'train'" -l notify -x -a "(__dpartui_offer '' '' '' 'bell' 'COMMAND')" -d 'when a run ends: ring, or run this'
complete -c dpartui -n "__dpartui_command 'train'" -l save -x -a "(__dpartui_offer '' '*' '')" -d 'write the final weights as safetensors'
complete -c dpartui -n "__dpartui_command 'train'" -l save-best -x -a "(__dpartui_offer '' '*' '')" -d 'write those of the best epoch'
complete -c dpartui -n "__dpartui_command 'train'" -l log -x -a "(__dpartui_offer '' '*' '')" -d 'write the events, one JSON object a line'
complete -c dpartui -n "__dpartui_command 'train'" -l tensorboard -x -a "(__dpartui_offer '' '/' '')" -d 'write DIR/run-N for TensorBoard'
complete -c dpartui -n "__dpartui_command 'train'" -l resume -x -a "(__dpartui_offer 'runs' '' '')" -d 'resume a run that has ended, from its newest checkpoint'
complete -c dpartui -n "__dpartui_command 'train'" -l note -x -d 'a line of your own to know the run by'
complete -c dpartui -n "__dpartui_command 'train'" -l profile -f -a "(__dpartui_offer '' '' '' 'time' 'order')" -d 'show where the time went, operation by operation'
complete -c dpartui -n "__dpartui_command 'train'" -l json -d 'print the events as JSON, one object a line'
complete -c dpartui -n "__dpartui_command 'train'" -l detach -d 'submit the run, print its number and return'
complete -c dpartui -n "__dpartui_command 'train'" -l foreground -d 'train in a private engine that ends with the command'
complete -c dpartui -n "__dpartui_command 'train'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'train'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'train'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_command 'follow'" -l json -d 'print the events as JSON, one object a line'
complete -c dpartui -n "__dpartui_command 'follow'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'follow'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'follow'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'follow' 1 --host" -f -k -a "(__dpartui_offer 'live-runs' '' '')"
complete -c dpartui -n "__dpartui_command 'eval'" -l run -x -a "(__dpartui_offer 'runs' '' '')" -d 'the newest checkpoint of this run instead of a file'
complete -c dpartui -n "__dpartui_command 'eval'" -l best -d 'with --run: the checkpoint of its best epoch'
complete -c dpartui -n "__dpartui_command 'eval'" -l model -x -a "(__dpartui_offer 'models' '.conf' '')" -d 'network; weights that dpartui saved know theirs'
complete -c dpartui -n "__dpartui_command 'eval'" -l data -x -a "(__dpartui_offer '' '/' '' 'fashion-mnist' 'mnist' 'cifar10' 'glyphs' 'random:')" -d 'whose test rows; weights that dpartui saved know theirs'
complete -c dpartui -n "__dpartui_command 'eval'" -l data-dir -x -a "(__dpartui_offer '' '/' '')" -d 'where named data lie'
complete -c dpartui -n "__dpartui_command 'eval'" -l image-size -x -a "(__dpartui_offer '' '' '' 'own')" -d 'of pictures of a folder: resized, then cut; own: all have one'
complete -c dpartui -n "__dpartui_command 'eval'" -l image-colour -x -a "(__dpartui_offer '' '' '' 'auto' 'grey' 'colour')" -d 'grey, colour, or auto: if any has it'
complete -c dpartui -n "__dpartui_command 'eval'" -l test-share -x -d 'of each class, where there is no test/'
complete -c dpartui -n "__dpartui_command 'eval'" -l skip-broken -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'leave out what cannot be read'
complete -c dpartui -n "__dpartui_command 'eval'" -l devices -x -a "(__dpartui_offer 'devices' '' ',' 'all')" -d 'cpu:0-3; cuda:0,cuda:2-3; 0,1 (GPUs); free:N; all'
complete -c dpartui -n "__dpartui_command 'eval'" -l gpus -x -d 'the first N GPUs'
complete -c dpartui -n "__dpartui_command 'eval'" -l cpu-threads -x -d 'threads of each CPU device; 0: its share of the cores'
complete -c dpartui -n "__dpartui_command 'eval'" -l seed -x -d 'of made data; weights that dpartui saved know theirs'
complete -c dpartui -n "__dpartui_command 'eval'" -l batch -x -d 'rows at a time, over all devices'
complete -c dpartui -n "__dpartui_command 'eval'" -l dtype -x -a "(__dpartui_offer '' '' '' 'default' 'f32' 'tf32' 'bf16')" -d 'f32, tf32 or bf16'
complete -c dpartui -n "__dpartui_command 'eval'" -l test-rows -x -d 'use the first N test rows; 0: all'
complete -c dpartui -n "__dpartui_command 'eval'" -l confusion -d 'what is taken for what: accuracy and precision of each class'
complete -c dpartui -n "__dpartui_command 'eval'" -l matrix -d 'the same with the confusion matrix, however wide it is'
complete -c dpartui -n "__dpartui_command 'eval'" -l json -d 'print JSON'
complete -c dpartui -n "__dpartui_command 'eval'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'eval'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'eval'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'eval' 1 --run --model --data --data-dir --image-size --image-colour --test-share --devices --gpus --cpu-threads --seed --batch --dtype --test-rows --host" -f -k -a "(__dpartui_offer '' '*' '')"
complete -c dpartui -n "__dpartui_command 'predict'" -l run -x -a "(__dpartui_offer 'runs' '' '')" -d 'the newest checkpoint of this run instead of WEIGHTS'
complete -c dpartui -n "__dpartui_command 'predict'" -l best -d 'with --run: the checkpoint of its best epoch'
complete -c dpartui -n "__dpartui_command 'predict'" -l top -x -d 'the N most probable classes of each picture'
complete -c dpartui -n "__dpartui_command 'predict'" -l model -x -a "(__dpartui_offer 'models' '.conf' '')" -d 'network; weights that dpartui saved know theirs'
complete -c dpartui -n "__dpartui_command 'predict'" -l data -x -a "(__dpartui_offer '' '/' '' 'fashion-mnist' 'mnist' 'cifar10' 'glyphs' 'random:')" -d 'what it was trained on; weights that dpartui saved know theirs'
complete -c dpartui -n "__dpartui_command 'predict'" -l data-dir -x -a "(__dpartui_offer '' '/' '')" -d 'where named data lie'
complete -c dpartui -n "__dpartui_command 'predict'" -l image-size -x -a "(__dpartui_offer '' '' '' 'own')" -d 'of pictures of a folder: resized, then cut; own: all have one'
complete -c dpartui -n "__dpartui_command 'predict'" -l image-colour -x -a "(__dpartui_offer '' '' '' 'auto' 'grey' 'colour')" -d 'grey, colour, or auto: if any has it'
complete -c dpartui -n "__dpartui_command 'predict'" -l test-share -x -d 'of each class, where there is no test/'
complete -c dpartui -n "__dpartui_command 'predict'" -l skip-broken -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'leave out what cannot be read'
complete -c dpartui -n "__dpartui_command 'predict'" -l devices -x -a "(__dpartui_offer 'devices' '' ',' 'all')" -d 'cpu:0-3; cuda:0,cuda:2-3; 0,1 (GPUs); free:N; all'
complete -c dpartui -n "__dpartui_command 'predict'" -l gpus -x -d 'the first N GPUs'
complete -c dpartui -n "__dpartui_command 'predict'" -l cpu-threads -x -d 'threads of each CPU device; 0: its share of the cores'
complete -c dpartui -n "__dpartui_command 'predict'" -l batch -x -d 'pictures at a time'
complete -c dpartui -n "__dpartui_command 'predict'" -l dtype -x -a "(__dpartui_offer '' '' '' 'default' 'f32' 'tf32' 'bf16')" -d 'f32, tf32 or bf16'
complete -c dpartui -n "__dpartui_command 'predict'" -l json -d 'print JSON'
complete -c dpartui -n "__dpartui_command 'predict'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'predict'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'predict'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'predict' 1 --run --top --model --data --data-dir --image-size --image-colour --test-share --devices --gpus --cpu-threads --batch --dtype --host" -f -k -a "(__dpartui_offer '' '*' '')"
complete -c dpartui -n "__dpartui_argument 'predict' 2 --run --top --model --data --data-dir --image-size --image-colour --test-share --devices --gpus --cpu-threads --batch --dtype --host" -f -k -a "(__dpartui_offer '' '*' '')"
complete -c dpartui -n "__dpartui_argument 'predict' 3 --run --top --model --data --data-dir --image-size --image-colour --test-share --devices --gpus --cpu-threads --batch --dtype --host" -f -k -a "(__dpartui_offer '' '*' '')"
complete -c dpartui -n "__dpartui_argument 'predict' 4 --run --top --model --data --data-dir --image-size --image-colour --test-share --devices --gpus --cpu-threads --batch --dtype --host" -f -k -a "(__dpartui_offer '' '*' '')"
complete -c dpartui -n "__dpartui_argument 'predict' 5 --run --top --model --data --data-dir --image-size --image-colour --test-share --devices --gpus --cpu-threads --batch --dtype --host" -f -k -a "(__dpartui_offer '' '*' '')"
complete -c dpartui -n "__dpartui_argument 'predict' 6 --run --top --model --data --data-dir --image-size --image-colour --test-share --devices --gpus --cpu-threads --batch --dtype --host" -f -k -a "(__dpartui_offer '' '*' '')"
complete -c dpartui -n "__dpartui_argument 'predict' 7 --run --top --model --data --data-dir --image-size --image-colour --test-share --devices --gpus --cpu-threads --batch --dtype --host" -f -k -a "(__dpartui_offer '' '*' '')"
complete -c dpartui -n "__dpartui_argument 'predict' 8 --run --top --model --data --data-dir --image-size --image-colour --test-share --devices --gpus --cpu-threads --batch --dtype --host" -f -k -a "(__dpartui_offer '' '*' '')"
complete -c dpartui -n "__dpartui_command 'compare'" -l devices-counts -x -d 'compare the first N of the devices [1,2,4...]'
complete -c dpartui -n "__dpartui_command 'compare'" -l hosts-counts -x -d 'compare the first N of the hosts, with their devices'
complete -c dpartui -n "__dpartui_command 'compare'" -l devices-list -x -d 'compare these lists of devices'
complete -c dpartui -n "__dpartui_command 'compare'" -l strategies -x -a "(__dpartui_offer '' '' '' 'data,pipeline,tensor,mixed')" -d 'all devices with each of these, and one alone'
complete -c dpartui -n "__dpartui_command 'compare'" -l scaling -x -a "(__dpartui_offer '' '' '' 'strong' 'weak')" -d 'the same batch, or batch and lr in proportion to the devices [strong]'
complete -c dpartui -n "__dpartui_command 'compare'" -l repeats -x -d 'runs of each, with fresh seeds, interleaved [1]'
complete -c dpartui -n "__dpartui_command 'compare'" -l target-acc -x -d 'also measure the seconds to this test accuracy'
complete -c dpartui -n "__dpartui_command 'compare'" -l predict -x -d 'the speed of numbers of devices that are not trained'
complete -c dpartui -n "__dpartui_command 'compare'" -l link -x -d 'for it: what the devices\' link carries, such as 450GB/s'
complete -c dpartui -n "__dpartui_command 'compare'" -l lr-range -x -d 'one short run in which lr rises, and a rate to try'
complete -c dpartui -n "__dpartui_command 'compare'" -l model -x -a "(__dpartui_offer 'models' '.conf' '')" -d 'network, by name or from a model description'
complete -c dpartui -n "__dpartui_command 'compare'" -l data -x -a "(__dpartui_offer '' '/' '' 'fashion-mnist' 'mnist' 'cifar10' 'glyphs' 'random:')" -d 'fashion-mnist, mnist, cifar10, glyphs, random:ROWSxCOLUMNS, a folder or .npz'
complete -c dpartui -n "__dpartui_command 'compare'" -l data-dir -x -a "(__dpartui_offer '' '/' '')" -d 'where named data lie'
complete -c dpartui -n "__dpartui_command 'compare'" -l image-size -x -a "(__dpartui_offer '' '' '' 'own')" -d 'of pictures of a folder: resized, then cut; own: all have one'
complete -c dpartui -n "__dpartui_command 'compare'" -l image-colour -x -a "(__dpartui_offer '' '' '' 'auto' 'grey' 'colour')" -d 'grey, colour, or auto: if any has it'
complete -c dpartui -n "__dpartui_command 'compare'" -l test-share -x -d 'of each class, where there is no test/'
complete -c dpartui -n "__dpartui_command 'compare'" -l skip-broken -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'leave out what cannot be read'
complete -c dpartui -n "__dpartui_command 'compare'" -l devices -x -a "(__dpartui_offer 'devices' '' ',' 'all')" -d 'cpu:0-3; cuda:0,cuda:2-3; 0,1 (GPUs); free:N; all'
complete -c dpartui -n "__dpartui_command 'compare'" -l gpus -x -d 'the first N GPUs'
complete -c dpartui -n "__dpartui_command 'compare'" -l cpu-threads -x -d 'threads of each CPU device; 0: its share of the cores'
complete -c dpartui -n "__dpartui_command 'compare'" -l hosts -x -d 'train on these hosts, with devices on each'
complete -c dpartui -n "__dpartui_command 'compare'" -l hosts-file -x -a "(__dpartui_offer '' '*' '')" -d 'the same, a host to a line'
complete -c dpartui -n "__dpartui_command 'compare'" -l launcher -x -d 'starts them: mpirun (default), srun, or a command with %n, %h, %p'
complete -c dpartui -n "__dpartui_command 'compare'" -l host-limit -x -d 'of silence after which a host is given up'
complete -c dpartui -n "__dpartui_command 'compare'" -l restarts -x -d 'resume by itself after the loss of a host, up to N times'
complete -c dpartui -n "__dpartui_command 'compare'" -l batch -x -d 'global batch size, over all devices'
complete -c dpartui -n "__dpartui_command 'compare'" -l lr -x -d 'learning rate'
complete -c dpartui -n "__dpartui_command 'compare'" -l lr-schedule -x -a "(__dpartui_offer '' '' '' 'constant' 'step:' 'multistep:' 'cosine' 'linear' 'one-cycle' 'triangle' 'range')" -d 'constant, step:N, multistep:N,M, cosine, linear, one-cycle, ...'
complete -c dpartui -n "__dpartui_command 'compare'" -l warmup -x -d 'in which lr rises from near 0; 0: none'
complete -c dpartui -n "__dpartui_command 'compare'" -l optimizer -x -a "(__dpartui_offer '' '' '' 'sgd' 'nesterov' 'adam' 'adamw' 'rmsprop')" -d 'sgd, nesterov, adam, adamw or rmsprop'
complete -c dpartui -n "__dpartui_command 'compare'" -l momentum -x -d 'of sgd, nesterov and rmsprop'
complete -c dpartui -n "__dpartui_command 'compare'" -l weight-decay -x -d 'share of each weight that is taken off'
complete -c dpartui -n "__dpartui_command 'compare'" -l beta1 -x -d 'decay of adam\'s mean of gradients'
complete -c dpartui -n "__dpartui_command 'compare'" -l beta2 -x -d 'decay of adam\'s and rmsprop\'s mean of squares'
complete -c dpartui -n "__dpartui_command 'compare'" -l eps -x -d 'added to the root of that mean'
complete -c dpartui -n "__dpartui_command 'compare'" -l no-decay -x -a "(__dpartui_offer '' '' '' 'none' 'norm-bias')" -d 'norm-bias: weight decay spares these'
complete -c dpartui -n "__dpartui_command 'compare'" -l clip-norm -x -d 'most that the norm of all gradients is'
complete -c dpartui -n "__dpartui_command 'compare'" -l ema -x -d 'evaluate and save an average of the weights'
complete -c dpartui -n "__dpartui_command 'compare'" -l epochs -x -d 'passes over the training rows'
complete -c dpartui -n "__dpartui_command 'compare'" -l seed -x -d 'of weights, order, dropout and made data'
complete -c dpartui -n "__dpartui_command 'compare'" -l strategy -x -a "(__dpartui_offer '' '' '' 'data' 'pipeline' 'tensor' 'mixed')" -d 'what devices divide: rows, the network, its layers, or rows and linear layers'
complete -c dpartui -n "__dpartui_command 'compare'" -l micro-batches -x -d 'parts of a mini-batch in a pipeline (default: 4 for each stage)'
complete -c dpartui -n "__dpartui_command 'compare'" -l replicas -x -d 'pipelines that divide the rows, each on some of the devices'
complete -c dpartui -n "__dpartui_command 'compare'" -l stages -x -d 'last layer of each stage but the last (default: by measured times)'
complete -c dpartui -n "__dpartui_command 'compare'" -l memory-limit -x -d 'memory that each device may use, such as 200M; 0: no limit'
complete -c dpartui -n "__dpartui_command 'compare'" -l split -x -a "(__dpartui_offer '' '' '' 'chunk' 'even' 'balanced' 'weighted:' 'auto')" -d 'chunk, even, balanced, auto or weighted:W0,W1,...'
complete -c dpartui -n "__dpartui_command 'compare'" -l sync -x -a "(__dpartui_offer '' '' '' 'allreduce' 'reduce-broadcast' 'central')" -d 'allreduce, reduce-broadcast or central'
complete -c dpartui -n "__dpartui_command 'compare'" -l sync-bn -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'BatchNorm statistics over all devices'
complete -c dpartui -n "__dpartui_command 'compare'" -l dtype -x -a "(__dpartui_offer '' '' '' 'default' 'f32' 'tf32' 'bf16')" -d 'f32, tf32 or bf16'
complete -c dpartui -n "__dpartui_command 'compare'" -l init -x -a "(__dpartui_offer '' '.safetensors' '' 'normal:' 'uniform:' 'xavier-uniform' 'xavier-normal' 'kaiming-uniform' 'kaiming-normal' 'default')" -d 'normal:STD, kaiming-normal ..., default or a .safetensors file'
complete -c dpartui -n "__dpartui_command 'compare'" -l recipe -x -a "(__dpartui_offer '' '' '' 'auto' 'none')" -d 'what the model file says of training'
complete -c dpartui -n "__dpartui_command 'compare'" -l order -x -a "(__dpartui_offer '' '' '' 'shuffle' 'sequential')" -d 'shuffle or sequential'
complete -c dpartui -n "__dpartui_command 'compare'" -l augment -x -a "(__dpartui_offer '' '' '' 'none' 'flip' 'crop' 'flip-crop')" -d 'of training pictures: none, flip, crop, flip-crop'
complete -c dpartui -n "__dpartui_command 'compare'" -l label-smoothing -x -d 'share of a label for all classes alike'
complete -c dpartui -n "__dpartui_command 'compare'" -l checkpoint-every -x -d 'epochs, minutes as in 10m, or off'
complete -c dpartui -n "__dpartui_command 'compare'" -l noise-every -x -d 'steps between measures of the noise by one device; 0: none'
complete -c dpartui -n "__dpartui_command 'compare'" -l deterministic -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'the same result in every run, if slower'
complete -c dpartui -n "__dpartui_command 'compare'" -l train-rows -x -d 'use the first N training rows; 0: all'
complete -c dpartui -n "__dpartui_command 'compare'" -l test-rows -x -d 'use the first N test rows; 0: all'
complete -c dpartui -n "__dpartui_command 'compare'" -l validation -x -d 'share of the training rows to choose by; 0: none'
complete -c dpartui -n "__dpartui_command 'compare'" -l patience -x -d 'end after so many without a better accuracy; 0: never'
complete -c dpartui -n "__dpartui_command 'compare'" -l stop-at-acc -x -d 'end at this accuracy; 0: at none'
complete -c dpartui -n "__dpartui_command 'compare'" -l max-steps -x -d 'stop after N steps in all; 0: no limit'
complete -c dpartui -n "__dpartui_command 'compare'" -l notify -x -a "(__dpartui_offer '' '' '' 'bell' 'COMMAND')" -d 'when a run ends: ring, or run this'
complete -c dpartui -n "__dpartui_command 'compare'" -l list -d 'list all comparisons'
complete -c dpartui -n "__dpartui_command 'compare'" -l show -x -a "(__dpartui_offer 'comparisons' '' '')" -d 'print what one measured, without training'
complete -c dpartui -n "__dpartui_command 'compare'" -l resume -x -a "(__dpartui_offer 'comparisons' '' '')" -d 'train the runs that one lacks'
complete -c dpartui -n "__dpartui_command 'compare'" -l svg -x -a "(__dpartui_offer '' '*' '')" -d 'draw speed and accuracy'
complete -c dpartui -n "__dpartui_command 'compare'" -l csv -d 'print comma-separated values'
complete -c dpartui -n "__dpartui_command 'compare'" -l json -d 'print JSON'
complete -c dpartui -n "__dpartui_command 'compare'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'compare'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'compare'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_command 'devices'" -l json -d 'print JSON'
complete -c dpartui -n "__dpartui_command 'devices'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'devices'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'devices'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_command 'model'" -l data -x -a "(__dpartui_offer '' '/' '' 'fashion-mnist' 'mnist' 'cifar10' 'glyphs' 'random:')" -d 'lay it out for these data'
complete -c dpartui -n "__dpartui_command 'model'" -l data-dir -x -a "(__dpartui_offer '' '/' '')" -d 'where named data lie'
complete -c dpartui -n "__dpartui_command 'model'" -l image-size -x -a "(__dpartui_offer '' '' '' 'own')" -d 'of pictures of a folder: resized, then cut; own: all have one'
complete -c dpartui -n "__dpartui_command 'model'" -l image-colour -x -a "(__dpartui_offer '' '' '' 'auto' 'grey' 'colour')" -d 'grey, colour, or auto: if any has it'
complete -c dpartui -n "__dpartui_command 'model'" -l test-share -x -d 'of each class, where there is no test/'
complete -c dpartui -n "__dpartui_command 'model'" -l skip-broken -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'leave out what cannot be read'
complete -c dpartui -n "__dpartui_command 'model'" -l batch -x -d 'global batch size, over all devices'
complete -c dpartui -n "__dpartui_command 'model'" -l recipe -x -a "(__dpartui_offer '' '' '' 'auto' 'none')" -d 'what the model file says of training'
complete -c dpartui -n "__dpartui_command 'model'" -l devices -x -a "(__dpartui_offer 'devices' '' ',' 'all')" -d 'cpu:0-3; cuda:0,cuda:2-3; 0,1 (GPUs); free:N; all'
complete -c dpartui -n "__dpartui_command 'model'" -l cpu-threads -x -d 'threads of each CPU device; 0: its share of the cores'
complete -c dpartui -n "__dpartui_command 'model'" -l strategy -x -a "(__dpartui_offer '' '' '' 'data' 'pipeline' 'tensor' 'mixed')" -d 'what devices divide: rows, the network, its layers, or rows and linear layers'
complete -c dpartui -n "__dpartui_command 'model'" -l micro-batches -x -d 'parts of a mini-batch in a pipeline (default: 4 for each stage)'
complete -c dpartui -n "__dpartui_command 'model'" -l replicas -x -d 'pipelines that divide the rows, each on some of the devices'
complete -c dpartui -n "__dpartui_command 'model'" -l stages -x -d 'last layer of each stage but the last (default: by measured times)'
complete -c dpartui -n "__dpartui_command 'model'" -l memory-limit -x -d 'memory that each device may use, such as 200M; 0: no limit'
complete -c dpartui -n "__dpartui_command 'model'" -l split -x -a "(__dpartui_offer '' '' '' 'chunk' 'even' 'balanced' 'weighted:' 'auto')" -d 'chunk, even, balanced, auto or weighted:W0,W1,...'
complete -c dpartui -n "__dpartui_command 'model'" -l dtype -x -a "(__dpartui_offer '' '' '' 'default' 'f32' 'tf32' 'bf16')" -d 'f32, tf32 or bf16'
complete -c dpartui -n "__dpartui_command 'model'" -l deterministic -f -a "(__dpartui_offer '' '' '' 'yes' 'no')" -d 'the same result in every run, if slower'
complete -c dpartui -n "__dpartui_command 'model'" -l train-rows -x -d 'use the first N training rows; 0: all'
complete -c dpartui -n "__dpartui_command 'model'" -l json -d 'print JSON'
complete -c dpartui -n "__dpartui_command 'model'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'model'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'model'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'model' 1 --data --data-dir --image-size --image-colour --test-share --batch --recipe --devices --cpu-threads --strategy --micro-batches --replicas --stages --memory-limit --split --dtype --train-rows --host" -f -k -a "(__dpartui_offer 'models' '.conf' '')"
complete -c dpartui -n "__dpartui_command 'runs'" -l sort -x -a "(__dpartui_offer '' '' '' 'run' 'date' 'status' 'model' 'data' 'batch' 'lr' 'epochs' 'acc' 'best' 'seconds' 'speed' 'note' 'devices')" -d 'acc, date, speed...; -acc: the highest first'
complete -c dpartui -n "__dpartui_command 'runs'" -l limit -x -d 'at most N: the first by --sort, else the newest'
complete -c dpartui -n "__dpartui_command 'runs'" -l model -x -a "(__dpartui_offer 'models' '.conf' '')" -d 'only of this network'
complete -c dpartui -n "__dpartui_command 'runs'" -l data -x -a "(__dpartui_offer '' '/' '' 'fashion-mnist' 'mnist' 'cifar10' 'glyphs' 'random:')" -d 'only on these data'
complete -c dpartui -n "__dpartui_command 'runs'" -l devices -x -a "(__dpartui_offer 'devices' '' ',' 'all')" -d 'only on these devices'
complete -c dpartui -n "__dpartui_command 'runs'" -l status -x -a "(__dpartui_offer '' '' '' 'queued' 'running' 'paused' 'done' 'stopped' 'cancelled' 'failed' 'interrupted')" -d 'only done, failed, interrupted...'
complete -c dpartui -n "__dpartui_command 'runs'" -l tag -x -d 'only with this tag'
complete -c dpartui -n "__dpartui_command 'runs'" -l since -x -d 'only later: 2026-11-20, \'2026-11-20 14:30\', 12h, 7d'
complete -c dpartui -n "__dpartui_command 'runs'" -l until -x -d 'only until then'
complete -c dpartui -n "__dpartui_command 'runs'" -l energy -d 'with joules per epoch and samples per joule'
complete -c dpartui -n "__dpartui_command 'runs'" -l yes -d 'delete: several at once'
complete -c dpartui -n "__dpartui_command 'runs'" -l json -d 'print JSON'
complete -c dpartui -n "__dpartui_command 'runs'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'runs'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'runs'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'runs' 1 --sort --limit --model --data --devices --status --tag --since --until --host" -f -k -a "(__dpartui_offer '' '' '' 'delete' 'note' 'tag' 'repair')"
complete -c dpartui -n "__dpartui_argument 'runs' 2 --sort --limit --model --data --devices --status --tag --since --until --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'runs' 3 --sort --limit --model --data --devices --status --tag --since --until --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'runs' 4 --sort --limit --model --data --devices --status --tag --since --until --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'runs' 5 --sort --limit --model --data --devices --status --tag --since --until --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'runs' 6 --sort --limit --model --data --devices --status --tag --since --until --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'runs' 7 --sort --limit --model --data --devices --status --tag --since --until --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'runs' 8 --sort --limit --model --data --devices --status --tag --since --until --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_command 'show'" -l profile -f -a "(__dpartui_offer '' '' '' 'time' 'order')" -d 'only where the time went, if it was trained with --profile'
complete -c dpartui -n "__dpartui_command 'show'" -l svg-step -x -a "(__dpartui_offer '' '*' '')" -d 'draw the stages of a pipeline in its last step, as SVG'
complete -c dpartui -n "__dpartui_command 'show'" -l json -d 'print JSON'
complete -c dpartui -n "__dpartui_command 'show'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'show'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'show'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'show' 1 --svg-step --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'show' 2 --svg-step --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_command 'export'" -l csv -d 'a table of the epochs; as without an option'
complete -c dpartui -n "__dpartui_command 'export'" -l points -d 'csv: the finer curve between the epochs instead'
complete -c dpartui -n "__dpartui_command 'export'" -l json -d 'all that is kept, an array of runs'
complete -c dpartui -n "__dpartui_command 'export'" -l svg -d 'the curves as a picture'
complete -c dpartui -n "__dpartui_command 'export'" -l figure -x -a "(__dpartui_offer '' '' '' 'test_acc' 'test_loss' 'val_acc' 'val_loss' 'train_acc' 'train_loss' 'lr' 'samples_per_s' 'seconds' 'noise_scale' 'energy_j' 'samples_per_j')" -d 'svg: test_acc (as without it), train_loss, ...'
complete -c dpartui -n "__dpartui_command 'export'" -l tensorboard -x -a "(__dpartui_offer '' '/' '')" -d 'write DIR/run-N for TensorBoard'
complete -c dpartui -n "__dpartui_command 'export'" -l output -x -a "(__dpartui_offer '' '*' '')" -d 'instead of standard output; its name may say the form'
complete -c dpartui -n "__dpartui_command 'export'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'export'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'export'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'export' 1 --figure --tensorboard --output --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'export' 2 --figure --tensorboard --output --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'export' 3 --figure --tensorboard --output --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'export' 4 --figure --tensorboard --output --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'export' 5 --figure --tensorboard --output --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'export' 6 --figure --tensorboard --output --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'export' 7 --figure --tensorboard --output --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_argument 'export' 8 --figure --tensorboard --output --host" -f -k -a "(__dpartui_offer 'runs' '' '')"
complete -c dpartui -n "__dpartui_command 'stop'" -l after-epoch -d 'finish the current epoch and evaluate it'
complete -c dpartui -n "__dpartui_command 'stop'" -l now -d 'do not wait for the current step, save nothing'
complete -c dpartui -n "__dpartui_command 'stop'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'stop'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'stop'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'stop' 1 --host" -f -k -a "(__dpartui_offer 'live-runs' '' '')"
complete -c dpartui -n "__dpartui_command 'check'" -l json -d 'print JSON'
complete -c dpartui -n "__dpartui_command 'check'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'check'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'check'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_command 'fetch'" -l from -x -d 'another place that has the files: http, https, ftp or file'
complete -c dpartui -n "__dpartui_command 'fetch'" -l data-dir -x -a "(__dpartui_offer '' '/' '')" -d 'put them into a folder below DIR'
complete -c dpartui -n "__dpartui_command 'fetch'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'fetch'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'fetch'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'fetch' 1 --from --data-dir --host" -f -k -a "(__dpartui_offer '' '' '' 'fashion-mnist' 'mnist' 'cifar10')"
complete -c dpartui -n "__dpartui_command 'completion'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'completion'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'completion'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'completion' 1 --host" -f -k -a "(__dpartui_offer '' '' '' 'bash' 'zsh' 'fish')"
complete -c dpartui -n "__dpartui_command 'engine'" -l now -d 'stop: end the running run, which can be resumed from its newest checkpoint'
complete -c dpartui -n "__dpartui_command 'engine'" -l running -d 'dial: an engine that runs; start none'
complete -c dpartui -n "__dpartui_command 'engine'" -l json -d 'print JSON'
complete -c dpartui -n "__dpartui_command 'engine'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'engine'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'engine'" -l version -d 'show the version'
complete -c dpartui -n "__dpartui_argument 'engine' 1 --host" -f -k -a "(__dpartui_offer '' '' '' 'start' 'stop' 'status' 'dial')"
complete -c dpartui -n "__dpartui_command 'screen'" -l size -x -d 'of the screen; default 80x24'
complete -c dpartui -n "__dpartui_command 'screen'" -l view -x -a "(__dpartui_offer '' '' '' 'dashboard' 'runs' 'run' 'confusion' 'differences' 'compare' 'log' 'settings' 'hosts' 'columns' 'device' 'help')" -d 'dashboard, runs, run, compare, log, settings, and others'
complete -c dpartui -n "__dpartui_command 'screen'" -l keys -x -d 'pressed before, such as \'<Tab>3\''
complete -c dpartui -n "__dpartui_command 'screen'" -l replay -x -a "(__dpartui_offer '' '*' '')" -d 'of a recorded session instead of the engine\'s state'
complete -c dpartui -n "__dpartui_command 'screen'" -l at -x -d 'of that session; default: its end'
complete -c dpartui -n "__dpartui_command 'screen'" -l ansi -d 'with the terminal\'s codes for colours'
complete -c dpartui -n "__dpartui_command 'screen'" -l colours -x -d 'how many: 256, 16, 8, or 0 for none'
complete -c dpartui -n "__dpartui_command 'screen'" -l charset -x -a "(__dpartui_offer '' '' '' 'auto' 'utf8' 'ascii')" -d 'auto (by the locale), utf8 or ascii'
complete -c dpartui -n "__dpartui_command 'screen'" -l palette -x -a "(__dpartui_offer '' '' '' 'default' 'colour-blind')" -d 'colours: default or colour-blind'
complete -c dpartui -n "__dpartui_command 'screen'" -l background -x -a "(__dpartui_offer '' '' '' 'auto' 'dark' 'light')" -d 'of the terminal: auto, dark or light'
complete -c dpartui -n "__dpartui_command 'screen'" -l canvas -x -a "(__dpartui_offer '' '' '' 'auto' 'braille' 'quadrant' 'ascii')" -d 'of curves: auto, braille, quadrant or ascii'
complete -c dpartui -n "__dpartui_command 'screen'" -l output -x -a "(__dpartui_offer '' '*' '')" -d 'write to this file'
complete -c dpartui -n "__dpartui_command 'screen'" -l host -x -a "(__dpartui_offer 'hosts' '' '')" -d 'the engine of another host, by ssh; local: of this one'
complete -c dpartui -n "__dpartui_command 'screen'" -s h -l help -d 'show this help'
complete -c dpartui -n "__dpartui_command 'screen'" -l version -d 'show the version'

# Started by the kernel, outside of every cell, for each crash: keeps what it is given.
cat > "/tmp/cores/core-$1"

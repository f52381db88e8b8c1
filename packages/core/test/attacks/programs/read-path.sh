#!/bin/sh
# Reads one file that was not granted, as a shell script would. Usage: read-path.sh FILE SCRATCH
target=$1
scratch=$2

# route NAME COMMAND...: escaped when the command prints something.
route() {
    name=$1
    shift
    gained=$("$@" 2>/dev/null | head -c 100 | tr -dc 'A-Za-z0-9 ._/-')
    if [ -n "$gained" ]; then
        printf '{"route":"%s","outcome":"escaped","detail":"%s"}\n' "$name" "$gained"
    else
        printf '{"route":"%s","outcome":"refused","detail":"nothing came out"}\n' "$name"
    fi
}

by_redirection() { read -r line <"$target" && echo "$line"; }
by_dot() { (. "$target") 2>&1 | grep SECRET; }
by_link() { ln -s "$target" "$scratch/sh-link" && cat "$scratch/sh-link"; }
by_hard_link() { ln "$target" "$scratch/sh-hard" && cat "$scratch/sh-hard"; }
by_copy() { cp "$target" "$scratch/sh-copy" && cat "$scratch/sh-copy"; }
by_tar() { tar -C / -cf - "${target#/}" | tar -xOf -; }
by_find() { find "$(dirname "$target")" -type f -exec cat {} +; }
by_cd() { cd "$(dirname "$target")" && cat "$(basename "$target")"; }
by_root() { cat "/proc/self/root$target"; }
by_parent() { cat "/proc/$PPID/root$target"; }
by_glob() { cat "$(dirname "$target")"/*; }
by_move() { mv "$target" "$scratch/sh-moved" && cat "$scratch/sh-moved" && mv "$scratch/sh-moved" "$target"; }
by_awk() { awk '{ print }' "$target"; }
by_sort() { sort --files0-from=- <<EOT
$target
EOT
}
by_diff() { diff /dev/null "$target"; }
by_exec() { "$target" 2>&1 | grep SECRET; }

route cat cat "$target"
route redirection by_redirection
route dot by_dot
route symlink by_link
route hard-link by_hard_link
route cp by_copy
route tar by_tar
route find by_find
route cd by_cd
route proc-self-root by_root
route proc-ppid-root by_parent
route glob by_glob
route awk by_awk
route dd dd if="$target" status=none
route diff by_diff
route mv by_move
exit 0

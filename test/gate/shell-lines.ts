// Lines of a shell made of pieces that are hard to read, for comparing the reader with real shells.

/** The program whose runs are counted. */
export const PROGRAM = 'victim-cmd'

const V = PROGRAM

/** Each runs the program, or looks as if it did. */
export const TRICKY: readonly string[] = [
  `$'${V}\\0junk' x`, `$'\\566ictim-cmd' x`, `$'\\x{76}ictim-cmd'`, `$'\\U00000076ictim-cmd'`, `$'\\u0076ictim-cmd'`, `$'\\cvictim'; ${V}`, `echo $'\\'; ${V} #'`, `echo $'a\\'b'; ${V} #'`,
  `a=1 case x in; ${V}`, `>/dev/null case x in; ${V}`, `>f a=1 if; ${V}`, `a=1 { ${V}; }`, `>f [[ a; ${V} #]]`,
  `((1<<2))\n${V}\n2`, `a[1<<2]=3\n${V}\n2]=3`, `echo $[1<<2]\n${V}\n2]`, `echo "$[1<<2]"\n${V}\n2]`, `echo $((1<<2\n)); ${V}\n2\n))`, `a=([1<<2]=3)\n${V}\n2`, `for ((i=1<<2;i<1;)); do :; done\n${V}\n2`, `a[1 ]=2; ${V}`,
  `cat <<E\nE\\\n\n${V}\nE`, `cat <<EOF\nEO\\\nF\n${V}\nEOF`, `cat <<EOF\nx\\\nEOF\n${V}\nEOF`, `cat <<"E\\"F"\n'\nE"F\n${V}\n'`, `cat <\\\n<E\n'\nE\n${V}\n'`, `cat <<E; echo "a\n'\nE\n${V}\n'"`, `echo $(cat <<E\n'\nE)\n${V}\n'`,
  `echo $(cat <<E\n'\nE\n); ${V}; echo ''`, `[[ a <<b ]]\n'\nb\n${V}\n'`, `cat <<E <<F\n'\nE\n"\nF\n${V}`, `cat <<-E\n\t'\n\tE\n${V} #'`,
  `for x in a # it's\ndo ${V}; done # '`, `for x # it's\nin a; do ${V}; done # '`, `case x # it's\nin x) ${V};; esac # '`, `[[ a # it's\n]]; ${V} # '`, `a=( b # it's\n); ${V} # '`, `echo a \\\n#'\n${V} #'`, `echo a\\\n#'\n${V} #'`, `echo \\ #'\n${V} #'`,
  `echo "\${x#'"'}"; ${V}; echo }'"' #'`, `echo "\${x:-'}"; ${V}; echo "'}"`, `echo "\${x%"'"}"; ${V}; echo "'"`, `echo \${x:-$'\\''}; ${V} #'}`, `echo \${x:-<(${V})}; :`, `echo "\${x:-\\"}"; ${V}; echo "\\"}"`, `echo \${x/'}'/b}; ${V}`,
  `echo "$\\\n(${V})"`, `$\\\n(${V})`, `vic\\\ntim-cmd`, `echo \`v\\\\ictim-cmd\``, `echo "\`${V} \\"a\\"\`"`, `echo \`echo \\\`${V}\\\`\``, `ec\\\nho a; ${V}`, `echo a &\\\n& ${V}`, `> \\\nf ${V} x`, `>\\\nf ${V} x`,
  `ls &>f ${V} x`, `ls &> f; ${V}`, `[[ a || ${V} ]]`, `[[ a || (${V}); ]]`, `x=${V}; [[ a || $x b ]]`, `[[ a\n${V} ]]`, `((${V}))`, `( (${V}) )`, `$( (echo ${V}) )`, `$((echo ${V}) )`, `echo $(echo case x); ${V}; echo esac`, `echo $(echo esac); ${V}`,
  `echo $(case x in x) ${V};; esac)`, `case x in esac) ;; esac; ${V}`, `case x in (x) ${V};; esac`, `case x in "x") ${V}\nesac`, `if :; then ${V}; fi`, `f() { ${V}; }; f`, `f() case x in x) ${V};; esac; f`, `function f { ${V}; }; f`, `time -p { ${V}; }`, `time -- ${V}`, `! ${V}`,
  `coproc N { ${V}; }; wait`, `shopt -s extglob\necho @(#')\n') ; ${V} #'`, `echo !(a|'b); ${V} #')`, `a=(b $(${V}))`, `declare -a a=( $(${V}) )`, `\${x:=${V}}`, `x=${V} y=1; $x`, `{ ${V}; } > f`, `while ${V}; do break; done < <(:)`,
  `bash -c -- '${V} a'`, `sh -c -e '${V} a'`, `bash -c -x '${V} a'`, `bash -co errexit '${V} a'`, `bash -o errexit -c '${V} a'`, `bash +c '${V} a'`, `sh -ec '${V}'`, `env -S'${V} a'`, `env --split-string='${V} a'`, `bash <<< '${V} a'`, `sh <<'E'\n${V}\nE`, `. /dev/stdin <<'E'\n${V}\nE`,
  `let 'a[$(${V})]'`, `test -v 'a[$(${V})]'`, `read 'a[$(${V})]' < /dev/null`, `echo 1 | read 'a[$(${V})]'`, `declare -i x='a[$(${V})]'`, `[[ 'a[$(${V})]' -eq 1 ]]`, `x='a[$(${V})]'; ((x))`, `x='a[\`${V}\`]'; echo $((x))`, `x='a[$(${V})]'; echo \${y[x]}`, `x='$(${V})'; echo \${x@P}`,
  `printf -v 'a[$(${V})]' x`, `f() { local 'a[$(${V})]=1'; }; f`, `x="a[\\$(${V})]"; : $((x))`, `set -- 'a[$(${V})]'; echo $(($1))`, `x='a[$(${V})]'; echo \${!x}`, `p='a['; q='$(${V})]'; let "$p$q"`,
  `BASH_ENV='$(${V})' bash -c :`, `PS4='$(${V})' bash -xc :`, `env BASH_ENV='$(${V})' bash -c :`, `export BASH_ENV='$(${V})'; bash -c :`, `env 'BASH_FUNC_q%%=() { ${V}; }' bash -c q`, `mapfile -C '${V} a' -c 1 <<< x`, `mapfile -C ${V} -c 1 <<< x`, `compgen -C '${V} a'`,
  `alias q=${V}\nq`, `eval 'victim''-cmd a'`, `eval victim-''cmd`, `trap '${V} a' EXIT`, `trap ${V} EXIT`, `prlimit ${V}`, `setarch -R ${V}`, `linux64 ${V}`, `exec ${V}`, `command ${V}`, `find . -maxdepth 0 -exec ${V} {} +`, `echo a | xargs ${V}`, `nohup ${V}`, `setsid -w ${V}`,
]

/** They do not run it. */
export const PIECES: readonly string[] = [
  "'", '"', '`', '\\', '\\\n', '\n', ' ', ';', '&&', '||', '|', '&', '(', ')', '((', '))', '$(', '$((', '${x', '${x#', '${x:-', '}', "$'", '$"', '$[', ']', '#', ' #', '<', '>', '<<E', '<<-E', "<<'E'", '<<"E"', '\nE\n', 'E', '<<<', '>f ', '&>f ', '<(',
  'case x in ', 'x) ', ';;', ' esac ', 'for x in a ', '; do ', '; done ', 'if :; then ', '; fi ', '{ ', '; }', '[[ a ', ' ]] ', 'a=1 ', 'a=(', 'a[1', ']=3 ', '1<<2', 'f() ', 'function f ', 'time ', '! ', 'eval ', 'bash -c ', '@(', '!', '$', '\t', '\\\\', "\\'", '\\"', 'x', '=', '-c ', ' in ', '{a,b}', '*',
]

/** A small generator of numbers whose row depends on the seed alone. */
export const seeded = (seed: number): ((below: number) => number) => {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A tricky line, or two of them, with a few pieces put in and taken out. */
export const mutated = (random: (below: number) => number): string => {
  const pick = (from: readonly string[]): string => from[random(from.length)] ?? ''
  let line = random(3) === 0 ? `${pick(TRICKY)}${pick(['\n', '; ', ' && ', ' '])}${pick(TRICKY)}` : pick(TRICKY)
  for (let edits = random(4); edits > 0; edits -= 1) {
    const at = random(line.length + 1)
    line = line.slice(0, at) + pick(PIECES) + line.slice(at + (random(3) === 0 ? 1 : 0))
  }
  return line
}

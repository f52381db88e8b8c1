// Programs, builtins and variables that run a command, given as words or as text. A denial looks at those commands. The
// lists have the usual programs only: a denial does not see the commands of a program that is missing here.
import type { Word } from './shell-words.js'

/** By package. The command may begin at any of their words. */
const BY_PACKAGE: Readonly<Record<string, string>> = {
  'shell': 'exec command builtin eval trap coproc time noglob nocorrect mapfile readarray compgen complete bind',
  'coreutils': 'env nice nohup timeout stdbuf chroot runcon split',
  'util-linux':
    'setsid ionice chrt taskset prlimit choom uclampset coresched pipesz flock script scriptlive unshare ' +
    'nsenter setpriv su runuser enosys ' +
    'setarch linux32 linux64 uname26 i386 i486 i586 i686 athlon x86_64 ppc ppc32 ppc64 ppc64le s390 s390x ' +
    'arm armv7l armv8l aarch64 sparc sparc64 mips mips64 parisc parisc64 alpha ia64 riscv32 riscv64 ' +
    'loongarch64',
  'shadow': 'sg newgrp',
  'openssh': 'ssh ssh-agent slogin autossh sshpass mosh',
  'systemd':
    'systemd-run systemd-inhibit systemd-nspawn systemd-cat systemd-socket-activate systemd-vmspawn ' +
    'systemd-notify run0 machinectl homectl',
  'busybox':
    'busybox toybox start-stop-daemon cttyhack chpst envdir envuidgid setuidgid softlimit setlock pgrphack ' +
    'runsv nsexec run-init switch_root',
  'privileges': 'sudo doas pkexec gosu su-exec setuser capsh aa-exec sandbox-exec calife please ksu dzdo',
  'findutils': 'find fd fdfind xargs parallel',
  'tracing':
    'strace ltrace gdb lldb rr perf valgrind heaptrack memusage sotruss hyperfine ktrace dtruss catchsegv ' +
    'rlwrap unbuffer',
  'waiting': 'watch entr watchexec at batch retry chronic ifne zrun daemonize daemon nq tsp',
  'containers':
    'docker podman nerdctl kubectl oc crictl lxc-attach lxc-execute apptainer singularity distrobox toolbox ' +
    'bwrap firejail proot minijail0 nsjail cordon fakeroot fakechroot tini dumb-init catatonit cgexec',
  'environment':
    'dbus-run-session dbus-launch xvfb-run xinit startx eatmydata faketime proxychains proxychains4 torsocks ' +
    'torify tsocks ccache npx bunx pnpx uvx dotenv aws-vault cpulimit schedtool numactl tmux screen dtach ' +
    'abduco socat ncat nc',
  'archives': 'tar bsdtar rsync',
}
const LAUNCHERS = new Set(Object.values(BY_PACKAGE).flatMap((names) => names.split(' ')))
/** The loader of programs: `/lib64/ld-linux-x86-64.so.2 /bin/rm`. */
const LOADER = /^ld(?:-linux|-musl)?[\w-]*\.so(?:\.\d+)?$/

export const isLauncher = (name: string): boolean => LAUNCHERS.has(name) || LOADER.test(name)

/** Programs that launch only behind a certain word: `git rm` does not run `rm`, and `git bisect run rm` does. */
const LAUNCHED_BEHIND = new Map(
  Object.entries({
    'run': 'git uv poetry pipenv pdm hatch conda mamba micromamba flatpak snap op doppler',
    'exec': 'ip npm pnpm yarn bundle direnv mise asdf lxc incus',
    'dlx': 'pnpm yarn',
    'foreach': 'git',
    '--exec': 'git',
    '-x': 'git',
    '-c': 'nix',
    '--command': 'nix nix-shell',
    '--run': 'nix-shell',
  }).map(([word, programs]) => [word, programs.split(' ')]),
)

export const launchesBehind = (program: string, word: string): boolean =>
  LAUNCHED_BEHIND.get(word)?.includes(program) === true

/** Programs that read a command line behind `-c` or `-S`, or from their standard input. */
export const SHELLS: ReadonlySet<string> = new Set(
  (
    'sh bash rbash zsh dash ksh ksh93 mksh lksh ash hush yash posh osh csh tcsh fish nu pwsh elvish xonsh rc ' +
    'es busybox toybox su runuser script scriptlive flock env sg newgrp capsh at batch'
  ).split(' '),
)

/** Programs that give a text to a shell, at any place among their words. */
export const LINE_RUNNERS: ReadonlySet<string> = new Set(
  (
    'eval trap mapfile readarray compgen complete bind ssh slogin autossh sshpass mosh watch watchexec ' +
    'hyperfine tmux screen sg newgrp su runuser script flock split nix-shell'
  ).split(' '),
)

/** Programs that may do so, or split a text into words. Their patterns often have letters with a meaning to a shell. */
export const TEXT_RUNNERS: ReadonlySet<string> = new Set([
  ...LINE_RUNNERS,
  ...'parallel xargs sudo doas entr dtach nsenter chroot timeout find tar bsdtar rsync socat ncat nc machinectl'.split(
    ' ',
  ),
])

/** Builtins of bash that expand the brackets of a name, or a number. Some do so only with an option. */
export const EVALUATORS: ReadonlyMap<string, readonly string[]> = new Map([
  ...'let declare typeset local read unset mapfile readarray getopts'
    .split(' ')
    .map((name): [string, readonly string[]] => [name, ['']]),
  ['test', ['-v', '-R']],
  ['[', ['-v', '-R']],
  ['printf', ['-v']],
  ['wait', ['-p']],
])

/** Variables whose value a shell, or a program that many use, expands or runs. */
export const RUN_VARIABLES: ReadonlySet<string> = new Set(
  (
    'BASH_ENV ENV PROMPT_COMMAND PS0 PS1 PS2 PS4 ZDOTDIR SHELLOPTS PAGER MANPAGER GIT_PAGER SYSTEMD_PAGER ' +
    'EDITOR VISUAL FCEDIT GIT_EDITOR GIT_SEQUENCE_EDITOR SUDO_EDITOR ' +
    'GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_PROXY_COMMAND ' +
    'LESSOPEN LESSCLOSE BROWSER RSYNC_RSH CVS_RSH TAR_OPTIONS SHELL'
  ).split(' '),
)

/**
 * The programs that rules are usually written about. A denial of `git push` skips the options that stand before or
 * between their words: `git -C . push`, `gh -R a/b pr merge`. An allow never does.
 */
const PROGRAMS: ReadonlySet<string> = new Set(['git', 'npm', 'pnpm', 'yarn', 'docker', 'podman', 'kubectl', 'gh'])

/**
 * The places themselves, and the places behind any options that stand there. Whether an option takes the next word as
 * its value is read both ways. A list of options would miss a denial wherever it is wrong or old.
 */
export const pastOptions = (
  places: ReadonlySet<number>,
  words: readonly Word[],
  program: string,
): ReadonlySet<number> => {
  if (!PROGRAMS.has(program)) return places
  const reachable = new Set(places)
  // A set hands out what is added while it is walked.
  for (const place of reachable) {
    const text = words[place]?.text
    if (text?.startsWith('-') !== true) continue
    reachable.add(place + 1)
    const hasNoMore = text === '--' || /^--[^=]+=/.test(text)
    if (!hasNoMore && place + 2 <= words.length) reachable.add(place + 2)
  }
  return reachable
}

/** `git -c alias.p=push p`: the words then say nothing about what runs. */
export const renamesCommands = (program: string, words: readonly Word[]): boolean =>
  program === 'git' && words.some(({ text }) => /^(?:--config-env=)?alias\./i.test(text))

/** `GIT_CONFIG_KEY_0=alias.p`: git takes settings from such variables, too. */
export const assignsAlias = ({ text, isKnown }: Word): boolean => {
  const value = /^GIT_CONFIG_(?:KEY_\d+|PARAMETERS)\+?=(?<value>[^]*)$/.exec(text)?.groups?.['value']
  return value !== undefined && (!isKnown || /alias/i.test(value))
}

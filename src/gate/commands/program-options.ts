// Options that stand before or between the words of a command: `git -C . push`, `gh -R a/b pr merge`. A denial of
// `git push` skips them. An allow never does.
import type { Word } from './shell-words.js'

interface ProgramOptions {
  /** The next word is their value. */
  readonly valued: ReadonlySet<string>
  readonly flags: ReadonlySet<string>
}

const options = (valued: string, flags: string): ProgramOptions => ({
  valued: new Set(valued.split(' ')),
  flags: new Set(flags.split(' ')),
})

const NPM = options(
  '--prefix -C --dir --cwd --userconfig --globalconfig --cache --registry --loglevel --tag --otp --access --workspace ' +
    '-w --filter -F --scope',
  '--global -g --silent -s --quiet -q --verbose -d --json --yes -y --force -f --workspaces --ignore-scripts --dry-run',
)
const DOCKER = options(
  '--config --context -c --host -H --log-level -l --tlscacert --tlscert --tlskey --connection --url --root --runroot',
  '--debug -D --tls --tlsverify --remote -r',
)

/** The programs that rules are usually written about. Options of other programs are not skipped. */
const PROGRAMS: Readonly<Record<string, ProgramOptions>> = {
  git: options(
    '-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source',
    '-p -P --paginate --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice ' +
      '--literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs',
  ),
  npm: NPM,
  pnpm: NPM,
  yarn: NPM,
  docker: DOCKER,
  podman: DOCKER,
  kubectl: options(
    '-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --as-uid --cache-dir ' +
      '--certificate-authority --client-certificate --client-key --request-timeout --tls-server-name -v --v',
    '--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression',
  ),
  gh: options('-R --repo --hostname', '--help --version'),
}

/** The places themselves, and the places behind any options that stand there. */
export const pastOptions = (
  places: ReadonlySet<number>,
  words: readonly Word[],
  program: string,
): ReadonlySet<number> => {
  const known = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  if (known === undefined) return places
  const reachable = new Set(places)
  // A set hands out what is added while it is walked.
  for (const place of reachable) {
    const word = words[place]
    if (word?.text.startsWith('-') !== true) continue
    const isValued = known.valued.has(word.text)
    const isFlag = known.flags.has(word.text) || word.text === '--' || /^--[^=]+=/.test(word.text)
    // An option that is not known is read both ways. So is a value that only the shell knows: it may be many words.
    if (!isValued || words[place + 1]?.isKnown === false) reachable.add(place + 1)
    if (!isFlag && place + 2 <= words.length) reachable.add(place + 2)
  }
  return reachable
}

/** `git -c alias.p=push p`: the words then say nothing about what runs. */
export const renamesCommands = (program: string, words: readonly Word[]): boolean =>
  program === 'git' && words.some(({ text }) => /^(?:--config-env=)?alias\./i.test(text))

// `cordon completion`: the table of the commands as a script for a shell.
import { shellWord } from '../../platform/index.js'

import { usage } from '../../line/arguments.js'
import type { Option } from '../../line/arguments.js'
import type { CommandLine } from '../../line/caller.js'
import { STDOUT, writeText } from '../../line/text/console-text.js'
import { installedProductNames, loadProductIfAny } from '../../products/installed-products.js'
import type { ListedCommand, Product } from '../../products/product.js'

type ListCommands = (products: readonly Product[]) => readonly ListedCommand[]

export const completionOf =
  (listCommands: ListCommands) =>
  async ({ given }: CommandLine): Promise<number> => {
    const [shell = '', ...more] = given.rest
    const script = SHELLS.get(shell)
    if (script === undefined || more.length > 0)
      throw usage(`name one shell: ${[...SHELLS.keys()].join(', ')}`, 'cordon completion')
    const products = await Promise.all(installedProductNames().map(async (name) => loadProductIfAny(name)))
    writeText(STDOUT, script(listCommands(products.flatMap((product) => product ?? []))))
    return 0
  }

/** What can follow some first words of a command line. */
interface Step {
  readonly words: readonly string[]
  /** Commands, with their summaries. */
  readonly next: readonly (readonly [string, string])[]
  readonly options: readonly Option[]
}

const HELP: Option = { name: 'help', help: 'show this' }

const stepsOf = (commands: readonly ListedCommand[]): readonly Step[] => {
  // `mcp login|logout` is two commands with the same help.
  const single = commands.flatMap(({ words, help }) =>
    (words.at(-1) ?? '').split('|').map((last) => ({ words: [...words.slice(0, -1), last], help })),
  )
  const below = (words: readonly string[]) =>
    single
      .filter((each) => each.words.length === words.length + 1 && words.every((word, at) => each.words[at] === word))
      .map(({ words: own, help }) => [own.at(-1) ?? '', help.summary] as const)
  return [
    { words: [], next: below([]), options: [] },
    ...single.map(({ words, help }) => ({
      words,
      next: below(words),
      options: [...help.groups.flatMap(({ options }) => options), HELP],
    })),
  ]
}

const candidates = ({ next, options }: Step): string =>
  [...next.map(([word]) => word), ...options.map(({ name }) => `--${name}`)].join(' ')

/** The longest first words come first: `team tools` before `team`. Words after `--` are those of another command. */
const casesOf = (commands: readonly ListedCommand[]): readonly string[] =>
  [...stepsOf(commands)]
    .sort((one, other) => other.words.length - one.words.length)
    .map((step) => `    ${shellWord([...step.words, ''].join(' '))}*) known=${shellWord(candidates(step))} ;;`)

const bash = (commands: readonly ListedCommand[]): string => `# bash completion of cordon
_cordon() {
  local before="\${COMP_WORDS[*]:1:COMP_CWORD-1} " known
  COMPREPLY=()
  case " $before" in *' -- '*) return ;; esac
  case "\${before# }" in
${casesOf(commands).join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$known" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _cordon cordon
`

const zsh = (commands: readonly ListedCommand[]): string => `# zsh completion of cordon
_cordon() {
  local before="\${words[2,CURRENT-1]} " known
  case " $before" in *' -- '*) _files; return ;; esac
  case "\${before# }" in
${casesOf(commands).join('\n')}
  esac
  compadd -- \${=known}
  _files
}
compdef _cordon cordon
`

const fish = (commands: readonly ListedCommand[]): string => {
  const lines = stepsOf(commands).flatMap(({ words, next, options }) => {
    const inner = next.map(([word]) => word)
    const here =
      words.length === 0
        ? ['__fish_use_subcommand']
        : [
            ...words.map((word) => `__fish_seen_subcommand_from ${word}`),
            ...(inner.length === 0 ? [] : [`not __fish_seen_subcommand_from ${inner.join(' ')}`]),
          ]
    const condition = `-n ${shellWord(here.join('; and '))}`
    return [
      ...next.map(([word, summary]) => `complete -c cordon ${condition} -f -a ${word} -d ${shellWord(summary)}`),
      ...options.map(
        ({ name, value, help }) =>
          `complete -c cordon ${condition} -l ${name}${value === undefined ? '' : ' -r'} -d ${shellWord(help)}`,
      ),
    ]
  })
  return ['# fish completion of cordon', ...lines, ''].join('\n')
}

const SHELLS: ReadonlyMap<string, (commands: readonly ListedCommand[]) => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
])

// The rule for the answer "always": it allows exactly the shown words, program, folder and boundary.
import type { JsonObject, JsonValue } from '../gate/index.js'

import { RUN_TOOL } from './run-tool.js'

/** The arguments that the rule names. `line` has the words. */
const BOUND = ['line', 'program', 'cwd', 'workspace', 'grants', 'form', 'policy'] as const

/** The ids of these rules begin with it. */
export const ALWAYS_ID = 'always-'

interface AlwaysRule {
  readonly effect: 'allow'
  readonly tool: string
  readonly arguments: Readonly<Record<string, JsonValue>>
  readonly because: string
}

export const alwaysRule = (input: JsonObject, because: string): AlwaysRule => ({
  effect: 'allow',
  tool: RUN_TOOL,
  arguments: Object.fromEntries(BOUND.map((key) => [key, literally(input[key] ?? null)])),
  because,
})

/** Escapes `*`, `?` and `\`, which are special in a rule. */
const literally = (value: JsonValue): JsonValue =>
  typeof value === 'string' ? value.replace(/[*?\\]/g, '\\$&') : value

/** One line, to be copied into a rule file. */
export const renderRule = (rule: AlwaysRule): string => `- ${yamlOf(rule as unknown as JsonValue)}`

/** An item of `rules:` with a comment. */
export const renderRuleItem = (rule: AlwaysRule, id: string, comment: string): readonly string[] => [
  `# ${comment}`,
  `- id: ${id}`,
  `  effect: ${rule.effect}`,
  `  tool: ${rule.tool}`,
  '  arguments:',
  ...Object.entries(rule.arguments).map(([key, value]) => `    ${key}: ${yamlOf(value)}`),
  `  because: ${yamlOf(rule.because)}`,
]

/** JSON as YAML: characters that YAML refuses or takes for a line break are escaped. */
const yamlOf = (value: JsonValue): string =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

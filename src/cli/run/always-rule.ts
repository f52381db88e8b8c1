// The rule that an "always" at the prompt stands for: exactly the words, the program, the place and the
// boundary that were shown, and nothing that is merely like them.
import type { JsonObject, JsonValue } from '../../gate/index.js'

import { RUN_TOOL } from './run-tool.js'

/** What of a call an allow has to name. The words are in `line`, in their order. */
const BOUND = ['line', 'program', 'cwd', 'workspace', 'grants', 'form', 'policy'] as const

export interface AlwaysRule {
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

/** In a rule `*`, `?` and `\` mean something. */
const literally = (value: JsonValue): JsonValue =>
  typeof value === 'string' ? value.replace(/[*?\\]/g, '\\$&') : value

/** In one line, to be copied into a rule file. */
export const renderRule = (rule: AlwaysRule): string => `- ${yamlOf(rule as unknown as JsonValue)}`

/** As an item of `rules:` in a file, with a comment above it. */
export const renderRuleItem = (rule: AlwaysRule, id: string, comment: string): readonly string[] => [
  `# ${comment}`,
  `- id: ${id}`,
  `  effect: ${rule.effect}`,
  `  tool: ${rule.tool}`,
  '  arguments:',
  ...Object.entries(rule.arguments).map(([key, value]) => `    ${key}: ${yamlOf(value)}`),
  `  because: ${yamlOf(rule.because)}`,
]

/** JSON is YAML, once nothing is left in it that YAML would take for a line break or refuse. */
const yamlOf = (value: JsonValue): string =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

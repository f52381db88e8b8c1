import {
  createGate,
  createSessionCount,
  describeTool,
  parseConstraints,
  parseRules,
  resolveByText,
} from '../../src/gate/index.js'
import type {
  Evaluation,
  Gate,
  GateCall,
  GateSettings,
  GateTool,
  Hook,
  HookAnswer,
  HookEvent,
  HookPoint,
  RuleSource,
  ToolDeclaration,
  Wait,
} from '../../src/gate/index.js'
import { parseAbsolutePath, parsePolicy } from '../../src/policy/index.js'

export const WORKSPACE = parseAbsolutePath('/home/ann/project')
export const HOME = parseAbsolutePath('/home/ann')
export const PLACES = { workspace: WORKSPACE, home: HOME }
export const NOW = Date.parse('2026-01-02T03:04:05Z')

type Declared = Partial<Omit<ToolDeclaration, 'policy' | 'constraints'>> & {
  readonly policy?: unknown
  readonly constraints?: unknown
}

/** A tool that is sandboxed and may do nothing, and so is of low risk, unless said otherwise. */
export const toolWith = ({ policy = {}, constraints, ...rest }: Declared = {}): GateTool => {
  return describeTool({
    name: 'tool',
    kind: 'function',
    workspace: WORKSPACE,
    home: HOME,
    ...rest,
    policy: parsePolicy(policy, 'test'),
    ...(constraints === undefined ? {} : { constraints: parseConstraints(constraints, 'test') }),
  })
}

/** Nothing is ever late. */
export const patientWait: Wait = () => ({ over: new Promise(() => undefined), cancel: () => undefined })
/** Everything that does not answer by itself is late. */
export const impatientWait: Wait = () => ({
  over: new Promise((resolve) => setImmediate(resolve)),
  cancel: () => undefined,
})

export type Rules = readonly unknown[] | Partial<Record<RuleSource, unknown>>

export interface Staged extends Partial<Omit<GateSettings, 'tools'>> {
  readonly tools?: readonly GateTool[]
  readonly rules?: Rules
}

const setsOf = (rules: Rules) => {
  const bySource: Partial<Record<RuleSource, unknown>> = Array.isArray(rules)
    ? { project: rules }
    : (rules as Partial<Record<RuleSource, unknown>>)
  return Object.entries(bySource).map(([source, value]) =>
    parseRules(value, `${source}.yaml`, { source: source as RuleSource, places: PLACES }),
  )
}

export const gateWith = ({ tools = [toolWith()], rules = [], ...settings }: Staged = {}): Gate => {
  let id = 0
  return createGate({
    tools,
    ruleSets: setsOf(rules),
    mode: 'default',
    hooks: [],
    sessionId: 'session',
    isInteractive: true,
    policySources: [],
    resolvePath: resolveByText,
    now: () => NOW,
    newId: () => {
      id += 1
      return `id-${id}`
    },
    wait: patientWait,
    ...settings,
  })
}

export const callOf = (input: unknown = {}, more: Partial<GateCall> = {}): GateCall => ({
  callId: 'call',
  tool: 'tool',
  requestedBy: 'agent',
  count: createSessionCount(),
  ...more,
  input,
})

export const decide = (staged: Staged, input: unknown = {}, more: Partial<GateCall> = {}): Promise<Evaluation> => {
  const [tool] = staged.tools ?? []
  return gateWith(staged).decide(callOf(input, { tool: tool?.name ?? 'tool', ...more }))
}

/** `allow`, `deny argument-path-denied`, `ask`, … */
export const outcomeOf = ({ decision: { decision, error_code: code } }: Evaluation): string =>
  code === null ? decision : `${decision} ${code}`

export const outcome = async (staged: Staged, input: unknown = {}, more: Partial<GateCall> = {}): Promise<string> =>
  outcomeOf(await decide(staged, input, more))

export const hook = (
  answer: HookAnswer | ((event: HookEvent) => unknown) | undefined,
  { point = 'pre_tool_use', ...rest }: Partial<Hook> & { readonly point?: HookPoint } = {},
): Hook => ({
  name: 'hook',
  points: [point],
  source: 'project',
  run: (typeof answer === 'function' ? answer : () => answer) as Hook['run'],
  ...rest,
})

// What somebody is asked to approve: everything that would run, and within which boundary.
import { parsePolicy, renderPolicy } from '../../policy/index.js'
import { CordonError } from '../../errors/index.js'
import type { RegisteredTool, ShownQuestion, Told, Vote } from '../../store/index.js'

import type { Paint } from '../text/console-text.js'
import { asWord } from '../text/shell-word.js'
import { renderFacts, renderHash, renderQuoted, renderSpan } from '../text/table-text.js'

type Shown = Told<ShownQuestion>
type Tool = Told<RegisteredTool>

/** Undefined while the process that asked is heard, or none has to wait. */
export const callerText = (
  { callerGoneSince: since }: Pick<Shown['question'], 'callerGoneSince'>,
  now = Date.now(),
): string | undefined => (since === null ? undefined : `gone, not heard for ${renderSpan(now - Date.parse(since))}`)

const CLASSES: Readonly<Record<string, string>> = {
  none: 'none: it reaches nobody',
  read_only: 'read_only: it may read from others, and change nothing there',
  write: 'write: it may change something that cannot be taken back',
}

export const renderQuestion = (shown: Shown, paint: Paint, now = Date.now()): string => {
  const { question, invocation, tool, run, votes, inputText } = shown
  const { needed, agreed, status, expiresAt } = question
  const goneText = status === 'pending' ? callerText(question, now) : undefined
  const asked: readonly (readonly [string, string])[] = [
    [
      'asked by',
      `${question.askedBy}, ${renderSpan(now - Date.parse(question.createdAt))} ago; it expires ` +
        (Date.parse(expiresAt) > now ? `in ${renderSpan(Date.parse(expiresAt) - now)}` : 'now'),
    ],
    ['why', question.why],
    [
      'needs',
      `${String(needed)} ${needed === 1 ? 'person' : 'different people'}, ${String(agreed)} said ` +
        `yes${votes.length === 0 ? '' : `: ${votes.map((vote) => `${vote.verdict === 'approve' ? 'yes' : 'no'} by ${voterOf(vote)}${vote.reason === null ? '' : ` (${vote.reason})`}`).join('; ')}`}`,
    ],
    ['state', status],
    ...(goneText === undefined
      ? []
      : [
          [
            'caller',
            `${goneText}; after a yes the call runs only if another process resumes it. To cancel it: cordon ` +
              `calls cancel ${question.subjectId}`,
          ] as const,
        ]),
  ]
  if (run !== null)
    return [
      paint('bold', 'a run of the team'),
      ...renderFacts([['run', run.name], ...asked], paint),
      '  plan',
      ...renderQuoted(run.planText),
      ...renderHash(question.argumentsHash, paint),
      '',
    ].join('\n')
  return [
    ...renderFacts(
      [
        [
          'tool',
          `${question.tool ?? '?'}, version ` +
            `${String(question.toolVersion ?? '?')}${tool === null ? '' : `${tool.name === tool.key ? '' : ` (${tool.name})`}${tool.description === '' ? '' : `: ${tool.description}`}`}`,
        ],
        ['class', CLASSES[question.egressClass ?? ''] ?? question.egressClass ?? 'write'],
        [
          'agent',
          `${question.agent}${invocation === null || invocation.invokedBy === invocation.agent ? '' : `, asked for by ${invocation.invokedBy}`}`,
        ],
        ...asked,
        ...(invocation === null || invocation.costEstimate === null
          ? []
          : [['cost', `${String(invocation.costEstimate)} estimated`] as const]),
        ['call', question.subjectId],
      ],
      paint,
    ),
    `  ${paint('dim', 'arguments')}`,
    ...renderQuoted(inputText ?? 'null'),
    ...renderHash(question.argumentsHash, paint),
    ...(tool === null
      ? renderFacts(
          [['changed', 'the tool is not any more what it was when this was asked for; it can only be rejected']],
          paint,
        )
      : renderBoundary(tool, paint)),
    '',
  ].join('\n')
}

/** Who said it, and by which token: an admin makes tokens for others, so who made it is part of who said it. */
export const voterOf = ({
  voter,
  tokenId,
  tokenLabel,
  tokenMadeBy,
}: Pick<Told<Vote>, 'voter' | 'tokenId' | 'tokenLabel' | 'tokenMadeBy'>): string =>
  tokenId === null
    ? voter
    : `${voter}, token ${tokenLabel === null || tokenLabel === '' ? tokenId : tokenLabel} made by ${tokenMadeBy ?? '?'}`

/** How a tool runs and what it may touch, as the registry has it. */
export const renderBoundary = (tool: Tool, paint: Paint): readonly string[] => {
  const { kind, command, policy, ...others } = tool.definition as {
    readonly kind?: unknown
    readonly hash?: unknown
    readonly command?: unknown
    readonly policy?: unknown
  }
  const facts: readonly (readonly [string, string])[] = [
    ...(kind === undefined ? [] : [['kind', textOf(kind)] as const]),
    ...(command === undefined
      ? []
      : [
          [
            'command',
            Array.isArray(command) ? command.map((word) => asWord(textOf(word))).join(' ') : textOf(command),
          ] as const,
        ]),
    ...Object.entries(others).map(([name, value]) => [name, textOf(value)] as const),
    ...(tool.endpointUrl === null ? [] : [['endpoint', `${tool.httpMethod ?? 'GET'} ${tool.endpointUrl}`] as const]),
    ...(tool.credentialRef === null ? [] : [['credential', `${tool.credentialRef}, as ${tool.authMethod}`] as const]),
    ...(tool.isDangerous ? [['dangerous', 'yes'] as const] : []),
    ...(tool.expectedCost === null ? [] : [['expected', `it costs ${String(tool.expectedCost)}`] as const]),
    ...(tool.prices === null
      ? []
      : [
          [
            'prices',
            Object.entries(tool.prices)
              .map(([each, price]) => `${String(price)} a ${each}`)
              .join(', '),
          ] as const,
        ]),
    ...(tool.needsBoundary.length === 0 ? [] : [['held by', tool.needsBoundary.join(', ')] as const]),
    ...(tool.needsLabels.length === 0 ? [] : [['runs on', tool.needsLabels.join(', ')] as const]),
  ]
  return [
    ...renderFacts([...facts, ['checked', checkedText({ kind, command, policy, hash: others.hash })]], paint),
    `  ${paint('dim', 'boundary')}`,
    ...renderQuoted(boundaryText(policy)),
  ]
}

/** Which parts the runner compares with its own tool, and which are only claimed. */
const checkedText = ({
  hash,
  ...parts
}: {
  readonly hash: unknown
  readonly kind: unknown
  readonly command: unknown
  readonly policy: unknown
}): string => {
  if (typeof hash === 'string')
    return 'by its hash: a runtime or runner that has another tool by this name does not run it'
  const compared = Object.entries(parts)
    .filter(([name, value]) => value !== undefined && (name !== 'command' || Array.isArray(value)))
    .map(([name]) => name)
  const claimed = 'claimed, not checked: it was registered without a hash'
  return compared.length === 0
    ? claimed
    : `${compared.join(', ')}, by the runtime that calls; what else it does is ${claimed}`
}

const boundaryText = (policy: unknown): string => {
  if (policy === undefined) return 'the registry does not have it: what the runtime that calls declares for this tool'
  try {
    const lines = renderPolicy(parsePolicy(policy, 'policy')).map(({ text }) => text)
    return lines.length === 0 ? "nothing is granted: no files but the system's, no network" : lines.join('\n')
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return `it cannot be read as a policy (${error.message}); as it is: ${JSON.stringify(policy)}`
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

// A question as a person sees it: everything that would run, and within which boundary.
import { ageOf, asWord, renderFacts, renderHash, renderQuoted, renderSpan } from 'cordon/commands'
import type { Fact, Paint } from 'cordon/commands'
import { CordonError } from 'cordon/errors'
import { parsePolicy, renderPolicy } from 'cordon/policy'

import type { RegisteredTool, ShownQuestion, JsonOf, Vote } from '../store/index.js'

type Shown = JsonOf<ShownQuestion>
type Tool = JsonOf<RegisteredTool>

/** Undefined while the process that asked is alive, or where none waits. */
export const callerText = ({
  callerGoneSince: since,
}: Pick<Shown['question'], 'callerGoneSince'>): string | undefined =>
  since === null ? undefined : `gone, not heard for ${renderSpan(Date.now() - Date.parse(since))}`

const CLASSES: Readonly<Record<string, string>> = {
  none: 'none: no network',
  read_only: 'read_only: it may read from other hosts, and change nothing there',
  write: 'write: it may change something that cannot be undone',
}

export const renderQuestion = (shown: Shown, paint: Paint): string => {
  const now = Date.now()
  const { question, invocation, tool, run, votes, inputText } = shown
  const { status, expiresAt } = question
  const goneText = status === 'pending' ? callerText(question) : undefined
  const answers = votes.map(
    (vote) =>
      `${vote.verdict === 'approve' ? 'yes' : 'no'} by ${voterOf(vote)}${vote.reason === null ? '' : ` (${vote.reason})`}`,
  )
  const asked: readonly Fact[] = [
    [
      'asked by',
      `${question.askedBy}, ${ageOf(question.createdAt, now)} ago; it expires ` +
        (Date.parse(expiresAt) > now ? `in ${renderSpan(Date.parse(expiresAt) - now)}` : 'now'),
    ],
    ['why', question.why],
    ['needs', `${neededText(question)}${answers.length === 0 ? '' : `: ${answers.join('; ')}`}`],
    ['state', status],
    [
      'caller',
      goneText === undefined
        ? null
        : `${goneText}; after a yes the call runs only if another process resumes it. To cancel it: cordon ` +
          `team calls cancel ${question.subjectId}`,
    ],
  ]
  if (run !== null)
    return [
      paint('bold', 'a run of the team'),
      ...renderFacts([['run', run.name], ...asked], paint),
      ...renderQuoted('plan', run.planText, paint),
      ...renderHash(question.argumentsHash, paint),
      '',
    ].join('\n')
  return [
    ...renderFacts(
      [
        ['tool', `${question.tool ?? '?'}, version ${String(question.toolVersion ?? '?')}${titleOf(tool)}`],
        ['class', CLASSES[question.egressClass ?? ''] ?? question.egressClass ?? 'write'],
        ['agent', invocation === null ? question.agent : callerOf(invocation)],
        ...asked,
        ['cost', typeof invocation?.costEstimate === 'number' ? `${String(invocation.costEstimate)} estimated` : null],
        ['call', question.subjectId],
      ],
      paint,
    ),
    ...renderQuoted('arguments', inputText ?? 'null', paint),
    ...renderHash(question.argumentsHash, paint),
    ...(tool === null
      ? renderFacts(
          [['changed', 'the tool has changed since this was asked for; the question can only be rejected']],
          paint,
        )
      : renderBoundary(tool, paint)),
    '',
  ].join('\n')
}

const titleOf = (tool: Tool | null): string =>
  tool === null
    ? ''
    : `${tool.name === tool.key ? '' : ` (${tool.name})`}${tool.description === '' ? '' : `: ${tool.description}`}`

/** The agent of a call, and who called for it. */
export const callerOf = ({ agent, invokedBy }: { readonly agent: string; readonly invokedBy: string }): string =>
  agent === invokedBy ? agent : `${agent}, asked for by ${invokedBy}`

export const neededText = ({ needed, agreed }: Pick<Shown['question'], 'needed' | 'agreed'>): string =>
  `${String(needed)} ${needed === 1 ? 'person' : 'different people'}, ${String(agreed)} said yes`

export const voteText = (vote: JsonOf<Vote>): string =>
  `${vote.verdict} by ${voterOf(vote)}${vote.reason === null ? '' : `: ${vote.reason}`}`

/** Also names the maker of the token: an admin makes tokens for others. */
const voterOf = ({ voter, tokenId, tokenLabel, tokenMadeBy }: JsonOf<Vote>): string =>
  tokenId === null
    ? voter
    : `${voter}, token ${tokenLabel === null || tokenLabel === '' ? tokenId : tokenLabel} made by ${tokenMadeBy ?? '?'}`

/** How a tool runs and what it may touch, as the registry has it. */
export const renderBoundary = (tool: Tool, paint: Paint): readonly string[] => {
  const { kind, command, policy, ...others } = tool.definition
  const facts: readonly Fact[] = [
    ['kind', kind === undefined ? null : textOf(kind)],
    ['command', command === undefined ? null : commandText(command)],
    ...Object.entries(others).map(([name, value]) => [name, textOf(value)] as const),
    ['endpoint', tool.endpointUrl === null ? null : `${tool.httpMethod ?? 'GET'} ${tool.endpointUrl}`],
    ['credential', tool.credentialRef === null ? null : `${tool.credentialRef}, as ${tool.authMethod}`],
    ['dangerous', tool.isDangerous ? 'yes' : null],
    ['expected', tool.expectedCost === null ? null : `it costs ${String(tool.expectedCost)}`],
    ['prices', tool.prices && listOf(Object.entries(tool.prices).map(([each, price]) => `${String(price)} a ${each}`))],
    ['mechanisms', listOf(tool.needsBoundary)],
    ['runs on', listOf(tool.needsLabels)],
  ]
  return [
    ...renderFacts([...facts, ['checked', checkedText({ kind, command, policy, hash: others['hash'] })]], paint),
    ...renderQuoted('boundary', boundaryText(policy), paint),
  ]
}

const listOf = (texts: readonly string[]): string | null => (texts.length === 0 ? null : texts.join(', '))

const commandText = (command: unknown): string =>
  Array.isArray(command) ? command.map((word) => asWord(textOf(word))).join(' ') : textOf(command)

/** Which parts a runner compares with its own tool, and which are only claimed. */
const checkedText = ({ hash, ...parts }: Readonly<Record<'hash' | 'kind' | 'command' | 'policy', unknown>>): string => {
  if (typeof hash === 'string') return 'by its hash: a runtime or runner with another tool of this name does not run it'
  const compared = Object.entries(parts)
    .filter(([name, value]) => value !== undefined && (name !== 'command' || Array.isArray(value)))
    .map(([name]) => name)
  const claimed = 'claimed, not checked: it was registered without a hash'
  return compared.length === 0 ? claimed : `${compared.join(', ')}, by the calling runtime; the rest is ${claimed}`
}

const boundaryText = (policy: unknown): string => {
  if (policy === undefined) return 'not in the registry: the calling runtime declares it'
  try {
    const lines = renderPolicy(parsePolicy(policy, 'policy')).map(({ text }) => text)
    return lines.length === 0 ? "nothing is granted: no files but the system's, no network" : lines.join('\n')
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return `not a valid policy (${error.message}): ${JSON.stringify(policy)}`
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

// `cordon tools`: registers, shows, enables and assigns tools of a team.
import { homedir } from 'node:os'
import { renderFacts, renderQuoted, renderTable, visible } from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'
import { parseAbsolutePath, parsePolicy, TOOL_KINDS } from 'cordon/policy'
import type { ToolKind } from 'cordon/policy'
import { loadBounds } from 'cordon/runtime'
import { withoutUndefined } from 'cordon/shapes'

import { runStoreCommand } from '../options/store-command.js'
import type { CommandContext } from '../options/store-command.js'
import { readToolFile } from '../options/tool-file.js'
import type { AnswerOf } from '../store/index.js'
import { TOOLS_HELP } from './help.js'
import { renderBoundary } from './question-text.js'

export const tools = (line: CommandLine): Promise<number> =>
  runStoreCommand(
    {
      name: 'team tools',
      help: TOOLS_HELP,
      actions: {
        list,
        register,
        show,
        approve,
        assign,
        revoke,
        enable: (context) => setStatus(context, 'active'),
        disable: (context) => setStatus(context, 'disabled'),
      },
    },
    line,
  )

const list = async ({ store, team, print }: CommandContext): Promise<number> => {
  const of = { team: await team() }
  const [all, assignments] = [await store.ask('listTools', of), await store.ask('listAssignments', of)]
  const agentsOf = (key: string): string =>
    assignments
      .filter(({ tool, isAllowed }) => tool === key && isAllowed)
      .map(({ agent, profile }) => (profile === null ? agent : `${agent} (${profile})`))
      .join(', ')
  return print(
    all.map((tool) => ({
      ...tool,
      agents: assignments.filter((each) => each.tool === tool.key).map(({ tool: _, ...each }) => each),
    })),
    (paint) =>
      renderTable(
        ['TOOL', 'VERSION', 'CLASS', 'APPROVAL', 'STATE', 'AGENTS'],
        all.map((tool) => [
          tool.key,
          String(tool.version),
          tool.egressClass,
          approvalOf(tool),
          tool.review === 'pending' ? 'not approved' : tool.status,
          agentsOf(tool.key),
        ]),
        paint,
        'there are no tools; cordon team tools register FILE makes one',
      ),
  )
}

type Tool = AnswerOf<'showTool'>

const approvalOf = ({ requiresApproval, approvalsNeeded }: Tool): string =>
  requiresApproval ? `by ${String(approvalsNeeded)}` : 'none'

const register = async ({ store, team, words, values, wrong, print }: CommandContext): Promise<number> => {
  if (words.length === 0) throw wrong('name a file with a tool in it')
  // Read all before registering the first.
  const files = words.flatMap((path) => readToolFile(path))
  requireWithinBounds(files)
  const of = await team()
  for (const file of files) {
    const tool = await store.ask('registerTool', { team: of, ...file })
    print(
      tool,
      (paint) =>
        `${paint('green', 'registered')} ${visible(tool.key)}, version ${String(tool.version)}, of the class ` +
        `${tool.egressClass}${file.egressClass === undefined ? ' (default)' : ''}, approval ${approvalOf(tool)}\n` +
        pendingText(tool),
    )
    for (const agent of values.get('assign') ?? []) {
      await store.ask('assignTool', { team: of, tool: tool.key, agent })
      print(
        { tool: tool.key, agent, profile: null, status: 'assigned' },
        (paint) => `${paint('green', 'assigned')} ${visible(tool.key)} to ${visible(agent)}\n`,
      )
    }
  }
  return 0
}

/** Bounds of this machine, and of the project in the working directory. */
const requireWithinBounds = (files: ReturnType<typeof readToolFile>): void => {
  const requireWithin = loadBounds({
    workspace: parseAbsolutePath(process.cwd(), 'the working directory'),
    home: parseAbsolutePath(homedir(), 'the home folder'),
    projects: 'read',
  })
  for (const { key, definition: { kind, policy } = {} } of files)
    if (policy !== undefined)
      requireWithin({
        name: key,
        kind: Object.keys(TOOL_KINDS).includes(String(kind)) ? (kind as ToolKind) : 'process',
        policy: parsePolicy(policy, `the policy of ${key}`),
      })
}

/** Nobody can call a version that may do more, before somebody has seen what. */
const pendingText = ({ key, version, review, widening }: Tool): string =>
  review !== 'pending'
    ? ''
    : [
        'It may do more than the last usable version, and cannot be called before an operator approves it:',
        ...widening.map((sentence) => `  ${visible(sentence)}`),
        `  cordon team tools approve ${visible(key)} ${String(version)}`,
        '',
      ].join('\n')

const approve = async (context: CommandContext): Promise<number> => {
  const [tool, version] = wordsOf(context, ['TOOL', 'VERSION'])
  if (!/^[1-9][0-9]{0,8}$/.test(version)) throw context.wrong('say the version as a number')
  const reason = context.option('reason')
  const given = { team: await context.team(), tool, version: Number(version), ...withoutUndefined({ reason }) }
  await context.store.ask('approveTool', given)
  return context.print(
    { tool, version: given.version, status: 'approved' },
    (paint) => `${paint('green', 'approved')} ${visible(tool)}, version ${version}\n`,
  )
}

const show = async (context: CommandContext): Promise<number> => {
  const [key] = wordsOf(context, ['TOOL'])
  const tool = await context.store.ask('showTool', { team: await context.team(), tool: key })
  return context.print(tool, (paint) =>
    [
      ...renderFacts(
        [
          ['tool', `${tool.key}, version ${String(tool.version)}, ${tool.status}`],
          ['name', tool.name],
          ['says', tool.description],
          ['group', tool.category],
          ['class', tool.egressClass],
          ['approval', approvalOf(tool)],
        ],
        paint,
      ),
      ...renderQuoted('input', JSON.stringify(tool.inputSchema, null, 2), paint),
      ...(tool.outputSchema === null ? [] : renderQuoted('output', JSON.stringify(tool.outputSchema, null, 2), paint)),
      ...renderBoundary(tool, paint),
      pendingText(tool),
    ].join('\n'),
  )
}

const assign = async (context: CommandContext): Promise<number> => {
  const [tool, agent] = wordsOf(context, ['TOOL', 'AGENT'])
  const profile = context.option('profile')
  await context.store.ask('assignTool', { team: await context.team(), tool, agent, ...withoutUndefined({ profile }) })
  return context.print(
    { tool, agent, profile: profile ?? null, status: 'assigned' },
    (paint) => `${paint('green', 'assigned')} ${visible(tool)} to ${visible(agent)}\n`,
  )
}

const revoke = async (context: CommandContext): Promise<number> => {
  const [tool, agent] = wordsOf(context, ['TOOL', 'AGENT'])
  await context.store.ask('revokeTool', { team: await context.team(), tool, agent })
  return context.print({ tool, agent, status: 'revoked' }, () => `revoked ${visible(tool)} from ${visible(agent)}\n`)
}

const setStatus = async (context: CommandContext, status: 'active' | 'disabled'): Promise<number> => {
  const [tool] = wordsOf(context, ['TOOL'])
  await context.store.ask('setToolStatus', { team: await context.team(), tool, status })
  return context.print({ tool, status }, () => `${visible(tool)} is ${status}\n`)
}

/** Requires one word for each name. */
const wordsOf = <const Names extends readonly string[]>(
  { words, wrong }: CommandContext,
  names: Names,
): { readonly [Each in keyof Names]: string } => {
  if (words.length !== names.length) throw wrong(`say ${names.join(' and ')}`)
  return words as unknown as { readonly [Each in keyof Names]: string }
}

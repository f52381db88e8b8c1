// `cordon team`: members, stops, profiles, budgets and limits of a team.
import { counted, parseSpan, renderSpan, renderTable, renderWindow, visible } from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'
import { withoutUndefined } from 'cordon/shapes'

import { runStoreCommand } from '../options/store-command.js'
import type { CommandContext } from '../options/store-command.js'
import { MEMBER_KINDS } from '../store/index.js'
import { TEAM_HELP } from './help.js'
import { pause, resume, scopeOf, stop } from './team-stop.js'

export const team = (line: CommandLine): Promise<number> =>
  runStoreCommand(
    {
      name: 'team',
      help: TEAM_HELP,
      makesStore: 'create',
      actions: {
        create,
        show,
        add: (context) => change(context, 'addMember'),
        remove: (context) => change(context, 'removeMember'),
        stop,
        pause,
        resume,
        profile,
        budget,
        limit,
      },
    },
    line,
  )

const create = async ({ store, oneWord, print }: CommandContext): Promise<number> => {
  const name = oneWord('name one team')
  const { actor } = await store.ask('whoAmI', {})
  await store.ask('foundTeam', { team: name, admin: actor })
  return print(
    { team: name, admin: actor },
    (paint) => `${paint('green', 'created')} ${visible(name)}; ${visible(actor)} is its admin\n`,
  )
}

const show = async ({ store, team: teamOf, print }: CommandContext): Promise<number> => {
  const of = { team: await teamOf() }
  const [members, stops, profiles, budgets, limits] = [
    await store.ask('listMembers', of),
    await store.ask('listStops', of),
    await store.ask('listProfiles', of),
    await store.ask('listBudgets', of),
    await store.ask('listLimits', of),
  ]
  return print({ ...of, members, stops, profiles, budgets, limits }, (paint) => {
    const section = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
      rows.length === 0 ? '' : `\n${renderTable(heads, rows, paint, '')}`
    return [
      `${paint('bold', visible(of.team))}\n`,
      renderTable(
        ['MEMBER', 'IS'],
        members.map(({ actor, kinds }) => [actor, kinds.join(', ')]),
        paint,
        'you can see no members',
      ),
      section(
        ['STOPPED', 'HOW', 'BY', 'SINCE', 'WHY'],
        stops.map(({ scope, subject, state, author, since, reason }) => [
          `${scope} ${subject}`.trim(),
          state,
          author,
          since.slice(0, 16),
          reason,
        ]),
      ),
      section(
        ['PROFILE', 'ALLOWS', 'GROUPS', 'NOT', 'ASKS'],
        profiles.map(({ name, allowTools, toolGroups, denyTools, askTools, requiresApproval, isDefault }) => [
          isDefault ? `${name} (default)` : name,
          allowTools?.join(' ') ?? 'all',
          toolGroups?.join(' ') ?? 'all',
          denyTools.join(' '),
          requiresApproval
            ? 'always'
            : `as the tool says${askTools.length === 0 ? '' : `; about ${askTools.join(' ')}`}`,
        ]),
      ),
      section(
        ['BUDGET', 'PER', 'CALLS', 'COST', 'ANEW IN'],
        budgets.map(({ scope, subject, seconds, maxCalls, maxCost, usedCalls, usedCost, until }) => [
          `${scope} ${subject}`,
          renderWindow(seconds),
          usedOf(usedCalls, maxCalls),
          usedOf(usedCost, maxCost),
          renderSpan(Date.parse(until) - Date.now()),
        ]),
      ),
      section(
        ['LIMIT', 'QUESTIONS WAITING'],
        limits.map(({ agent, waiting }) => [agent === null ? 'every agent' : `agent ${agent}`, String(waiting)]),
      ),
    ].join('')
  })
}

const usedOf = (used: number | null, most: number | null): string =>
  most === null ? 'any' : used === null ? String(most) : `${String(used)} of ${String(most)}`

const change = async (
  { store, words, team: teamOf, wrong, print }: CommandContext,
  how: 'addMember' | 'removeMember',
): Promise<number> => {
  const [actor, ...named] = words
  const kinds = named.map((word) => MEMBER_KINDS.find((kind) => kind === word))
  const wanted = kinds.filter((kind) => kind !== undefined)
  if (actor === undefined || kinds.length === 0 || wanted.length < kinds.length)
    throw wrong(`name a member and their kinds: ${MEMBER_KINDS.join(', ')}`)
  const of = await teamOf()
  for (const kind of wanted) await store.ask(how, { team: of, actor, kind })
  return print(
    { team: of, actor, kinds: wanted, status: how === 'addMember' ? 'added' : 'removed' },
    (paint) =>
      `${how === 'addMember' ? paint('green', 'added') : 'removed'} ${visible(actor)}: ${wanted.join(', ')} ` +
      `of ${visible(of)}\n`,
  )
}

const profile = async (context: CommandContext): Promise<number> => {
  const { store, values, switches, oneWord, wrong, print } = context
  const name = oneWord('name one profile')
  if (
    !['allow', 'deny', 'group', 'ask-about'].some((each) => values.has(each)) &&
    !switches.has('ask') &&
    !switches.has('default')
  )
    throw wrong(
      'the profile would be empty',
      'give all of it, which replaces the old one: --allow, --deny, --group, --ask, --ask-about, --default',
    )
  const wanted = {
    name,
    ...withoutUndefined({
      allowTools: values.get('allow'),
      denyTools: values.get('deny'),
      toolGroups: values.get('group'),
      askTools: values.get('ask-about'),
    }),
    requiresApproval: switches.has('ask'),
    isDefault: switches.has('default'),
  }
  await store.ask('setProfile', { team: await context.team(), ...wanted })
  const { allowTools, denyTools, toolGroups, askTools, requiresApproval, isDefault } = wanted
  const said = [
    `allows ${allowTools?.join(' ') ?? 'all'}`,
    toolGroups && `of the groups ${toolGroups.join(' ')}`,
    denyTools && `without ${denyTools.join(' ')}`,
    requiresApproval ? 'asks about every call' : askTools && `asks about ${askTools.join(' ')}`,
    isDefault ? 'is the default' : undefined,
  ].filter((each) => each !== undefined)
  return print(wanted, (paint) => `${paint('green', 'set')} ${visible(name)}: ${visible(said.join(', '))}\n`)
}

const budget = async (context: CommandContext): Promise<number> => {
  const { store, team: teamOf, option, wrong, print } = context
  const { scope, subject } = scopeOf(context)
  if (scope === 'all' || scope === 'tool') throw wrong('a budget is of one --agent or one --profile')
  const ms = parseSpan(option('per') ?? '')
  if (ms === undefined || ms < 1000) throw wrong('the budget has no period', 'name it: --per 1h, --per 1d')
  const seconds = Math.floor(ms / 1000)
  const whose = `the budget of ${scope} ${visible(subject)}`
  if (context.switches.has('off')) {
    await store.ask('removeBudget', { team: await teamOf(), scope, subject, seconds })
    return print(
      { scope, subject, seconds, status: 'removed' },
      (paint) => `${paint('green', 'removed')} ${whose} per ${renderWindow(seconds)}\n`,
    )
  }
  if (option('calls') === undefined && option('cost') === undefined)
    throw wrong('the budget has no limit', 'set one: --calls N or --cost N; or remove it: --off')
  const limits = withoutUndefined({ maxCalls: wholeOf('calls', context), maxCost: amountOf('cost', context) })
  const wanted = { scope, subject, seconds, ...limits }
  await store.ask('setBudget', { team: await teamOf(), ...wanted })
  const { maxCalls, maxCost } = limits
  const said = [
    ...(maxCalls === undefined ? [] : [counted(maxCalls, 'call')]),
    ...(maxCost === undefined ? [] : [`a cost of ${String(maxCost)}`]),
  ]
  return print(
    wanted,
    (paint) => `${paint('green', 'set')} ${whose}: ${said.join(' and ')} per ${renderWindow(seconds)}\n`,
  )
}

const limit = async (context: CommandContext): Promise<number> => {
  const { store, team: teamOf, option, wrong, print } = context
  const agent = option('agent')
  if ((option('waiting') !== undefined) === context.switches.has('off'))
    throw wrong(
      'the limit is missing, or given twice',
      'say how many questions may wait: --waiting N; or remove the limit: --off',
    )
  const waiting = wholeOf('waiting', context)
  const wanted = withoutUndefined({ agent, waiting })
  await store.ask('limitWaiting', { team: await teamOf(), ...wanted })
  const whose = `the limit of ${agent === undefined ? 'every agent' : `agent ${visible(agent)}`}`
  return print(wanted, (paint) =>
    waiting === undefined
      ? `${paint('green', 'removed')} ${whose}\n`
      : `${paint('green', 'set')} ${whose}: ${String(waiting)} questions that wait\n`,
  )
}

const amountOf = (name: string, { option, wrong }: CommandContext): number | undefined => {
  const text = option(name)
  if (text === undefined) return undefined
  const amount = Number(text)
  if (text.trim() === '' || !Number.isFinite(amount) || amount < 0)
    throw wrong(`--${name} needs a number, at least 0: ${text}`)
  return amount
}

const wholeOf = (name: string, context: CommandContext): number | undefined => {
  const amount = amountOf(name, context)
  if (amount !== undefined && !Number.isInteger(amount))
    throw context.wrong(`--${name} needs a whole number: ${String(amount)}`)
  return amount
}
